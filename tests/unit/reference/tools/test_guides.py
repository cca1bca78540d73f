"""`get_guide`: a whole guide, page by page; and filters by product and version, over the real service."""

from dataclasses import dataclass
from typing import Any

import pytest

from commonplace.reference.model import Catalogue
from commonplace.reference.ports import Edition
from commonplace.reference.service import Reference
from tests.fakes.catalogues import catalogue, entry
from tests.unit.reference.tools.desks import Desk, member, tokens
from tests.unit.web.mcp.talking import ERAS, text_of

TEXT = "\n\n".join(
    f"## Step {number}\n\nLook at the pool and write down what lives in it, once more." for number in range(90)
)


@dataclass
class OnShelf:
    catalogues: tuple[Catalogue, ...]

    def edition(self) -> Edition:
        return Edition(self.catalogues, "1")


def serving(*catalogues: Catalogue, **told: Any) -> Desk:
    reference: Any = Reference(OnShelf(catalogues))
    return Desk(reference, **told)


def tides(name: str = "tides", **told: Any) -> Catalogue:
    return catalogue(
        name,
        entry("guide-first-count", title="Your first count", content=TEXT, aliases=["Counting for beginners"]),
        entry("guide-tides", title="When the tide turns", content="Look at the table."),
        entry("feature-maps", type="feature", title="Maps of the shore", content="Maps."),
        entry("trouble-wet", type="troubleshooting", title="The book got wet", content="Dry it."),
        entry("setting-units", type="setting", title="Units", content="Metres or feet."),
        entry("cmd-count", type="command", title="Count", name="tides count", syntax="tides count"),
        entry("api-get-pools", type="api", title="Pools", method="GET", path_template="/pools"),
        **told,
    )


@pytest.fixture
def here() -> Desk:
    return serving(tides())


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize("most", [400, 1_000, 8_000])
def test_pages_of_a_guide_are_the_whole_of_it(mode: str, most: int) -> None:
    here, content, page = serving(tides(), mode=mode), "", 1
    while True:
        result = here.call("get_guide", guide="guide-first-count", page=page, maxTokens=most)
        assert tokens(result) <= most
        data = result.structured_content
        assert ("truncated" in data) is ("nextPage" in data)
        content += data["content"]
        assert data["content"].strip() in text_of(result)
        if "nextPage" not in data:
            break
        assert f"page {page + 1} of get_guide goes on with the text." in text_of(result)
        page = data["nextPage"]
    assert content == TEXT
    assert (page == 1) is (most == 8_000)


@pytest.mark.parametrize(
    ("asked", "id"),
    [
        ("guide-tides", "guide-tides"),
        ("When the tide turns", "guide-tides"),
        ("when-the-tide-turns", "guide-tides"),
        ("counting for beginners", "guide-first-count"),
        ("Maps of the shore", "feature-maps"),
        ("trouble-wet", "trouble-wet"),
        ("units", "setting-units"),
    ],
)
def test_guides_features_troubleshooting_and_settings_are_got_by_id_title_or_alias(
    here: Desk, asked: str, id: str
) -> None:
    assert here.data("get_guide", guide=asked)["id"] == id
    assert here.data("get_guide", title=asked)["id"] == id


@pytest.mark.parametrize("asked", ["when the tides turn", "tide turns", "whn the tide turns"])
def test_a_guide_that_is_not_there_is_answered_with_titles_that_are(here: Desk, asked: str) -> None:
    code, text = here.error("get_guide", guide=asked)
    assert code == "NOT_FOUND"
    assert f"There is no guide “{asked}”." in text
    assert "`When the tide turns`" in text
    assert "report_gap" not in text
    here.caller = member()
    assert "report_gap" in here.error("get_guide", guide=asked)[1]


def test_a_deprecated_guide_is_answered_by_what_replaced_it() -> None:
    old = entry("guide-old", title="Count by hand", deprecated=True, replaced_by="guide-new")
    here = serving(catalogue("tides", old, entry("guide-new", title="Count by eye", content="Look.")))
    result = here.call("get_guide", guide="count by hand")
    assert text_of(result).startswith("`Count by hand` was replaced by `Count by eye`.")
    data = result.structured_content
    assert (data["id"], data["insteadOf"], data["content"]) == ("guide-new", "Count by hand", "Look.")


def test_what_is_no_guide_is_sent_to_the_tool_that_knows_it(here: Desk) -> None:
    assert "get_command gives `tides count`." in here.error("get_guide", guide="cmd-count")[1]
    assert "get_api_endpoint gives `GET /pools`." in here.error("get_guide", guide="api-get-pools")[1]


@pytest.mark.parametrize("asked", ["", " ", "\x00", "x" * 501])
def test_a_guide_of_no_name_is_bad_input(here: Desk, asked: str) -> None:
    assert here.error("get_guide", guide=asked)[0] == "INVALID_INPUT"


def test_a_title_that_several_products_have_needs_the_product(here: Desk) -> None:
    here = serving(tides(), tides("waves", version="2"))
    code, text = here.error("get_guide", guide="Units")
    assert (code, "Give catalogue: `tides` or `waves`." in text) == ("INVALID_INPUT", True)
    assert here.data("get_guide", guide="Units", catalogue="waves")["catalogue"] == "waves"
    assert here.data("get_guide", guide="setting-units", version="2")["product"] == "Waves 2"


def shelf() -> Desk:
    """Three products, of one of which there are two versions."""
    facts = {"type": "command", "name": "tides count", "syntax": "tides count"}
    return serving(
        *(
            catalogue(
                f"tides-{number}",
                entry("cmd-count", **facts, content=f"Version {number}."),
                entry("api-pools", type="api", method="GET", path_template="/pools", content=f"Version {number}."),
                title="Tides",
                version=f"{number}.0",
            )
            for number in (1, 2)
        ),
        tides("waves"),
    )


LOOK_UPS: list[tuple[str, dict[str, str]]] = [
    ("search_knowledge", {"query": "tides count"}),
    ("get_command", {"command": "tides count"}),
    ("get_api_endpoint", {"path": "/pools"}),
    ("list_commands", {}),
]


@pytest.mark.parametrize(("tool", "asked"), LOOK_UPS)
@pytest.mark.parametrize(
    ("filters", "product"),
    [
        ({"catalogue": "tides-1"}, "Tides 1.0"),
        ({"version": "2.0"}, "Tides 2.0"),
        ({"catalogue": "Tides", "version": "2.0"}, "Tides 2.0"),
        ({"catalogue": "WAVES", "version": "all"}, "Waves"),
    ],
)
def test_every_look_up_is_limited_to_a_product_and_a_version(
    tool: str, asked: dict[str, str], filters: dict[str, str], product: str
) -> None:
    result = shelf().call(tool, **asked, **filters)
    assert not result.is_error, text_of(result)
    told = str(result.structured_content)
    assert told.count(f"'product': '{product}'") == told.count("'product'") == 1
    assert product in text_of(result)


@pytest.mark.parametrize(("tool", "asked"), [*LOOK_UPS, ("get_guide", {"guide": "Units"})])
@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"catalogue": "nope"}, "in use: tides-1, tides-2, waves."),
        ({"version": "9"}, "in use: 1.0, 2.0."),
        ({"catalogue": "tides-1", "version": "2.0"}, "in use: 1.0."),
        ({"catalogue": "waves", "version": "2.0"}, "in use: none."),
    ],
)
def test_a_product_or_version_that_is_not_served_is_answered_with_those_that_are(
    tool: str, asked: dict[str, str], filters: dict[str, str], said: str
) -> None:
    result = shelf().call(tool, **asked, **filters)
    assert result.is_error is (tool != "search_knowledge")
    kind = "catalogue" if filters == {"catalogue": "nope"} else "version"
    assert f"There is no {kind} “{filters[kind]}”" in text_of(result)
    assert said.casefold() in text_of(result).casefold()
    assert tool != "search_knowledge" or result.structured_content["results"] == []


def test_commands_of_one_name_in_several_products_are_all_listed() -> None:
    listed = shelf().data("list_commands")
    assert [(one["product"], list(one["commands"])) for one in listed["groups"]] == [
        ("Tides 1.0", ["tides count"]),
        ("Tides 2.0", ["tides count"]),
        ("Waves", ["tides count"]),
    ]


def test_the_schema_names_the_products_and_versions_that_are_served() -> None:
    tools = shelf().ask(lambda client: client.list_tools()).tools
    (search,) = (tool.input_schema["properties"] for tool in tools if tool.name == "search_knowledge")
    assert search["catalogue"]["description"] == "In use: tides-1, tides-2, waves"
    assert search["version"]["description"] == "In use: 1.0, 2.0"
    for tool in tools:
        assert tool.name == "report_gap" or {"catalogue", "version"} <= tool.input_schema["properties"].keys()
