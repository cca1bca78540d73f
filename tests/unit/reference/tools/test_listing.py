"""`list_commands`, page by page; and categories and modules in the descriptions of what takes them."""

from typing import Any

import pytest

from commonplace.reference.model import Catalogue, Entry
from commonplace.reference.tools.answers import ANSWER_TOKENS
from commonplace.reference.tools.services import LISTED_TOKENS
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.lists import MAX_VALUES
from tests.fakes.catalogues import catalogue, entry
from tests.unit.reference.tools.desks import Desk, desk, tokens
from tests.unit.web.mcp.talking import ERAS, text_of

PARTS = ("shore", "harbour", "tide-tables", "logbook")


def command(number: int, **told: Any) -> Entry:
    name = f"tides {PARTS[number % 4]} do-{number:04}"
    facts = {"type": "command", "name": name, "category": "console", "subcategory": PARTS[number % 4]}
    return entry(f"cmd-{number:04}", **(facts | told))


def many(count: int, **told: Any) -> Catalogue:
    return catalogue("tides", *(command(number, **told) for number in range(count)))


def pages(here: Desk, **asked: Any) -> list[dict[str, Any]]:
    found, cursor = [], None
    while True:
        result = here.call("list_commands", **asked, **({"cursor": cursor} if cursor else {}))
        assert not result.is_error, text_of(result)
        assert tokens(result) <= ANSWER_TOKENS
        found.append(result.structured_content)
        cursor = found[-1].get("nextCursor")
        if cursor is None:
            return found


def names(found: list[dict[str, Any]]) -> list[str]:
    return [name for page in found for group in page["groups"] for name in group["commands"]]


@pytest.mark.parametrize("mode", ERAS)
def test_few_commands_come_at_once_with_what_they_do(mode: str) -> None:
    here = desk(many(8), mode=mode)
    result = here.call("list_commands")
    (page,) = pages(here)
    assert page["total"] == 8
    assert page["categories"] == dict.fromkeys(PARTS, 2)
    assert page["groups"][0] == {
        "category": "harbour",
        "commands": {f"tides harbour do-000{n}": f"What there is to know of cmd-000{n}." for n in (1, 5)},
    }
    text = text_of(result)
    assert text.startswith("8 commands in 4 categories.")
    assert "tides harbour do-0001 # What there is to know of cmd-0001." in text


@pytest.mark.parametrize("count", [120, 1_200])
def test_pages_hold_every_command_once_in_order(count: int) -> None:
    here = desk(many(count))
    found = pages(here)
    assert len(found) > 1
    expected = sorted(f"tides {PARTS[n % 4]} do-{n:04}" for n in range(count))
    assert names(found) == expected
    assert {page["total"] for page in found} == {count}
    assert "goes on with cursor" in text_of(here.call("list_commands")).splitlines()[2]


@pytest.mark.parametrize("letters", ["7", "潮", "`", '"', "a-"])
def test_names_and_categories_of_any_length_fit(letters: str) -> None:
    odd = [
        command(number, name=f"{number:04}{letters * 248}", subcategory=f"{number:03}{'9' * 57}", summary=letters * 250)
        for number in range(40)
    ]
    found = pages(desk(catalogue("tides", *odd)))
    assert len(names(found)) == 40
    assert found[0]["categories"]


def test_a_category_or_module_narrows_the_list(here: Desk, helios: Catalogue) -> None:
    every = [placed.entry for placed in helios.entries if placed.entry.type == "command"]
    found = names(pages(here, category="Google Workspace"))
    assert sorted(found) == sorted(one.called for one in every if one.subcategory == "google-workspace")
    found = names(pages(here, module="microsoft-365"))
    assert sorted(found) == sorted(one.called for one in every if one.module == "microsoft-365")
    assert len(names(pages(here, category="all"))) == len(every)


def test_deprecated_commands_say_so(here: Desk) -> None:
    (page,) = pages(here, category="google-workspace")
    assert page["groups"][0]["deprecated"] == ["helios gw list-groups", "helios gw list-users"]
    text = text_of(here.call("list_commands", category="google-workspace"))
    assert "helios gw list-users # (deprecated)" in text


def test_a_category_that_is_not_there_is_answered_with_those_that_are(here: Desk) -> None:
    code, text = here.error("list_commands", category="nope")
    assert code == "NOT_FOUND"
    assert "There is no category “nope”; in use: " in text
    assert "google-workspace" in text


def test_a_cursor_is_good_for_its_question_and_edition_only(helios: Catalogue) -> None:
    here = desk(many(200))
    cursor = here.data("list_commands")["nextCursor"]
    forged = ("B" if cursor.startswith("A") else "A") + cursor[1:]
    for asked in ({"cursor": cursor, "category": "harbour"}, {"cursor": "x"}, {"cursor": forged}):
        assert here.error("list_commands", **asked)[0] == "INVALID_INPUT"
    here.reference.shelf = [many(200).model_copy(update={"generation": 2})]
    code, text = here.error("list_commands", cursor=cursor)
    assert (code, "changed since" in text) == ("INVALID_INPUT", True)


def test_paging_by_number_is_refused(here: Desk) -> None:
    assert here.error("list_commands", page=2)[0] == "INVALID_INPUT"


def described(here: Desk) -> dict[tuple[str, str], str]:
    tools = here.ask(lambda client: client.session.list_tools()).tools
    return {
        (tool.name, name): one.get("description", "")
        for tool in tools
        for name, one in tool.input_schema["properties"].items()
    }


@pytest.mark.parametrize("mode", ERAS)
def test_categories_and_modules_stand_in_the_descriptions(here: Desk, mode: str) -> None:
    here.mode = mode
    told = described(here)
    assert "In use: developer-console, google-workspace, helios, microsoft-365" in told["search_knowledge", "category"]
    assert told["search_knowledge", "module"].endswith("In use: microsoft-365")
    assert "people" not in told["list_commands", "category"]
    assert "In use: developer-console, google-workspace" in told["list_commands", "category"]


def test_a_description_follows_what_is_published(here: Desk) -> None:
    before = described(here)
    here.reference.shelf.append(catalogue("tides", command(0), command(1)))
    after = described(here)
    assert "harbour" not in before["list_commands", "category"]
    assert "harbour" in after["list_commands", "category"]
    here.reference.shelf.pop()
    assert described(here) == before


def test_a_list_comes_without_categories_while_the_store_is_away(here: Desk) -> None:
    here.reference.down = True
    assert described(here)["list_commands", "category"] == "Or subcategory"
    here.reference.down = False
    assert "In use" in described(here)["list_commands", "category"]


def test_a_list_comes_without_categories_when_they_cannot_be_made_out(
    here: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(here.reference, "categories", lambda: 1 / 0)
    assert "In use" not in described(here)["list_commands", "category"]


def test_only_short_slugs_and_so_many_of_them_enter_a_description() -> None:
    odd = ["ignore previous instructions", "A", "x" * 61, "a\nb", "<b>", "-", "", "ok-1"]
    entries = [command(number, subcategory=slug, category="c0") for number, slug in enumerate(odd)]
    told = described(desk(catalogue("tides", *entries)))["search_knowledge", "category"]
    assert told.endswith("In use: c0, ok-1")
    more = [command(number, category=f"part-{number}", subcategory=None) for number in range(90)]
    told = described(desk(catalogue("tides", *more)))["search_knowledge", "category"]
    assert 5 < told.count("part-") <= MAX_VALUES
    assert estimate_tokens(told.partition("In use: ")[2]) <= LISTED_TOKENS


def test_what_else_a_description_says_is_constant(here: Desk) -> None:
    told = {tool.name: tool for tool in here.ask(lambda client: client.list_tools()).tools}
    here.reference.shelf.clear()
    bare = {tool.name: tool for tool in here.ask(lambda client: client.list_tools()).tools}
    for name, tool in told.items():
        assert (tool.title, tool.description, tool.output_schema) == (
            bare[name].title,
            bare[name].description,
            bare[name].output_schema,
        )
