"""Pages: what no call is right without stands whole on the first; together they hold everything, each in its room."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import (
    Catalogue,
    CommandAnswer,
    EndpointAnswer,
    Entry,
    Example,
    Hit,
    Parameter,
    Place,
    SearchAnswer,
    UnknownOption,
)
from commonplace.reference.tools.answers import ANSWER_TOKENS, EntryData, cost
from commonplace.reference.tools.pages import (
    LEAST_TOKENS,
    MOST_TOKENS,
    NOTES_TOKENS,
    PAGE_TOKENS,
    ROOM,
    fit_many,
    page_of,
)
from tests.examples import examples
from tests.fakes.catalogues import catalogue, entry
from tests.unit.reference.tools.desks import Desk, desk, hit, hits, tokens
from tests.unit.web.mcp.talking import text_of

PROSE = "Lists every person that the directory knows, with the groups they belong to. "
DENSE = "潮--09"


def option(number: int, *, place: Place = "option", required: bool = False, said: str = PROSE) -> Parameter:
    named = {"option": f"--option-{number}", "argument": f"<file-{number}>"}.get(place, f"address.line{number}")
    kind = None if place == "argument" else "<value>" if place == "option" else "string"
    return Parameter(name=named, place=place, type=kind, required=required, description=said.strip())


def command(*parameters: Parameter, id: str = "cmd-do", **told: Any) -> Entry:
    facts = {"type": "command", "name": "helios do", "syntax": "helios do [options]", "parameters": list(parameters)}
    return entry(id, **(facts | told))


def endpoint(*parameters: Parameter, **told: Any) -> Entry:
    facts = {"type": "api", "method": "POST", "path_template": "/api/v1/users", "parameters": list(parameters)}
    return entry("api-do", **(facts | told))


def placed(one: Entry, *others: Entry) -> Hit:
    return hit(catalogue("helios", one, *others), one.id)


def all_pages(one: Hit, room: int = ROOM) -> list[tuple[EntryData, str]]:
    first = page_of(one, 1, room)
    return [first, *(page_of(one, number, room) for number in range(2, (first[0].pages or 1) + 1))]


def names(found: EntryData, kind: str = "parameters") -> list[str]:
    groups: dict[str, Sequence[str]] = getattr(found, kind) or {}
    return [re.split(r"[ :]", row)[0] for rows in groups.values() for row in rows]


REQUIRED = [option(number, place="body", required=True, said=PROSE * 3) for number in range(12)]


def test_what_no_call_is_right_without_is_never_cut() -> None:
    one = endpoint(
        *(option(number, place="query") for number in range(80)),
        *REQUIRED,
        authentication="Bearer token in the header `Authorization`, with the scope users:write.",
        content=PROSE * 100,
        examples=[Example(description="Create one", code="curl -X POST https://helios.example/api/v1/users")],
        related_ids=["api-others"],
    )
    data, text = page_of(placed(one))
    assert cost(data, text) <= ROOM
    assert names(data, "required") == [parameter.name for parameter in REQUIRED]
    for wanted in ("```\nPOST /api/v1/users\n```", one.authentication, one.examples[0].code):
        assert str(wanted) in text
    for parameter in REQUIRED:
        assert f"`{parameter.name}` (string)" in text
    assert text.index("Body, required:") < text.index("Example:") < text.index("Query parameters:")
    assert data.related_ids is None


def test_many_required_parameters_lose_their_descriptions_and_then_go_beyond_the_room() -> None:
    many = [option(number, place="body", required=True) for number in range(40)]
    data, text = page_of(placed(endpoint(*many)))
    assert cost(data, text) <= ROOM
    assert names(data, "required") == [parameter.name for parameter in many]
    data, text = page_of(placed(endpoint(*(option(number, place="body", required=True) for number in range(300)))))
    assert len(names(data, "required")) == 300
    assert ROOM < cost(data, text) < MOST_TOKENS
    assert PROSE.strip()[:20] not in text


def test_more_required_parameters_than_any_answer_has_room_for_go_on_first_on_the_next_pages() -> None:
    many = [option(number, place="body", required=True) for number in range(1_000)]
    found = all_pages(placed(endpoint(*many, option(1, place="query"))), 2_000)
    assert [name for page, _ in found for name in names(page, "required")] == [one.name for one in many]
    assert all(cost(*page) <= MOST_TOKENS + ROOM for page in found)


@pytest.mark.parametrize("count", [0, 5, 25, 45])
def test_the_options_of_most_commands_stand_on_the_first_page(count: int) -> None:
    data, text = page_of(placed(command(*map(option, range(count)), content=PROSE * 30)))
    assert cost(data, text) <= ROOM
    assert names(data) == [f"--option-{number}" for number in range(count)]
    assert ("Descriptions are shortened: get_command with maxTokens" in text) is (count >= 25)
    assert text.count("…") == (count if count == 25 else 0)


def test_a_short_text_stands_on_the_first_page_beside_shortened_descriptions() -> None:
    data, text = page_of(placed(command(*map(option, range(22)), content="Three words here. " + PROSE)))
    assert data.pages is None
    assert "Three words here." in text
    assert len(names(data)) == text.count("…") == 22


def test_a_larger_answer_says_more_of_each_option() -> None:
    one = placed(command(*map(option, range(40))))
    assert PROSE.strip() not in page_of(one)[1]
    assert page_of(one, room=4_000)[1].count(PROSE.strip()) == 40


def field(name: str, said: str = PROSE, **told: Any) -> Parameter:
    return Parameter(name=name, place="body", type="string", description=said, **told)


@pytest.mark.parametrize(
    "note", ["required in the body", "required with `Single`", "only with `Single`, required there"]
)
def test_fields_that_a_body_needs_which_may_be_left_out_count_as_required(note: str) -> None:
    said = f"{PROSE * 4}({note}; at most 90 characters)"
    fields = [field(f"other{number}") for number in range(60)]
    for needed in (field("size", said), field("size", f"({note})")):
        data, text = page_of(placed(endpoint(*fields, needed)))
        assert list(data.required or {}) == ["body"]
        assert names(data, "required") == ["size"]
        assert note in text
        assert note in str(data.required)
    data, text = page_of(
        placed(endpoint(field("owner.name", said), field("size", "It says (required in the body) too.")))
    )
    assert data.required is None


def test_when_a_nested_field_is_required_is_said_however_short_its_line() -> None:
    fields = [field(f"owner.part{number}", f"{PROSE * 3}(required in `owner`)") for number in range(60)]
    found = all_pages(placed(endpoint(*fields)))
    rows = [row for page, _ in found for row in (page.parameters or {}).get("body", ())]
    assert len(rows) == 60
    assert all("(string; required in `owner`)" in row for row in rows)


def test_fields_of_fields_come_after_those_that_hold_them_where_room_is_scarce() -> None:
    told = [
        f"{parent}{below}" for parent in (f"part{number}" for number in range(20)) for below in ("", ".a", ".b[].c")
    ]
    found = all_pages(placed(endpoint(*map(field, told))))
    assert [name for page, _ in found for name in names(page)] == sorted(
        told, key=lambda name: name.count(".") + name.count("[]")
    )
    assert names(page_of(placed(endpoint(*map(field, told[:6]))))[0]) == told[:6]


@pytest.mark.parametrize("count", [25, 40, 70])
@pytest.mark.parametrize("required", [0, 1, 15])
def test_the_length_that_is_named_gives_descriptions_whole(count: int, required: int) -> None:
    needed = [option(number, required=True) for number in range(500, 500 + required)]
    for content in ("", PROSE * 9, PROSE * 40):
        here = paging(*needed, *map(option, range(count)), content=content)
        found = re.search(
            r"get_command with maxTokens (\d+) gives them whole\.", text_of(here.call("get_command", command="x"))
        )
        assert found
        whole = text_of(here.call("get_command", command="x", maxTokens=int(found[1])))
        assert "shortened" not in whole
        assert whole.count(f"{PROSE.strip()}\n--") + whole.count(f"{PROSE.strip()}\n```\n") >= count + required


def test_options_that_most_commands_have_come_last_and_bare_where_room_is_scarce() -> None:
    general = [option(number, said=f"General {PROSE}") for number in range(900, 920)]
    others = [command(*general, id=f"cmd-{number}", name=f"helios do {number}") for number in range(5)]
    one = placed(command(*general, *map(option, range(60))), *others)
    found = all_pages(one)
    told = [name for page, _ in found for name in names(page)]
    assert told == [f"--option-{number}" for number in [*range(60), *range(900, 920)]]
    assert not any("General" in text for _, text in found)
    assert any(PROSE[:20] in text for _, text in found)
    few = placed(command(*general[:2], option(1)), *others)
    assert names(page_of(few)[0]) == ["--option-900", "--option-901", "--option-1"]


def test_pages_hold_everything_once_in_a_fixed_order() -> None:
    shown = [Example(description=f"Number {number}", code=f"helios do {number}", output="done") for number in range(9)]
    content = "\n\n".join(f"Paragraph {number}. {PROSE}" for number in range(60)).strip()
    one = placed(
        command(*map(option, range(90)), content=content, examples=shown, related_ids=["cmd-other", "cmd-third"])
    )
    found = all_pages(one)
    assert len(found) > 3
    assert [name for page, _ in found for name in names(page)] == [f"--option-{number}" for number in range(90)]
    assert "".join(page.content or "" for page, _ in found) == f"`helios do [options]`\n\n{content}"
    assert "".join(text for _, text in found).count("helios do [options]") == 2
    assert [example.code for page, _ in found for example in page.examples or ()] == [one.code for one in shown]
    assert [page.related_ids for page, _ in found if page.related_ids] == [["cmd-other", "cmd-third"]]
    kinds = [kind for page, _ in found for kind in ("parameters", "content", "related_ids") if getattr(page, kind)]
    assert kinds == sorted(kinds, key=["parameters", "content", "related_ids"].index)
    assert found == all_pages(one)


@pytest.mark.parametrize("most", range(400, 1_400, 100))
def test_what_else_to_see_takes_room_from_nothing_and_begins_no_page(most: int) -> None:
    parameters = [option(number) for number in range(30)]
    with_others, without = (
        all_pages(placed(command(*parameters, content=PROSE * 20, related_ids=ids)), most) for ids in (["cmd-x"], [])
    )
    assert len(with_others) == len(without)
    assert [names(page) for page, _ in with_others] == [names(page) for page, _ in without]
    assert not any(page.related_ids for page, _ in with_others[:-1])


def test_each_page_says_where_it_goes_on() -> None:
    found = all_pages(placed(command(*map(option, range(120)), content=PROSE * 60)))
    for number, (data, text) in enumerate(found, 1):
        last = number == len(found)
        assert (data.page, data.pages) == (number, len(found))
        assert (data.next_page, data.truncated) == ((None, None) if last else (number + 1, True))
        assert (f"Page {number} of {len(found)}; page {number + 1} of get_command goes on with" in text) is not last
        assert ("Descriptions are shortened" in text) is (number == 1)
        if number > 1:
            assert text.startswith(f"`helios do`, page {number} of {len(found)}.")
    assert re.search(r"page 2 of get_command goes on with \d+ options", found[0][1])


def test_what_stands_on_one_page_is_not_called_cut() -> None:
    data, text = page_of(placed(command(option(1), content="Three words here.")))
    assert (data.page, data.pages, data.next_page, data.truncated) == (None, None, None, None)
    assert "Three words here." in text
    assert not re.search(r"\bpage\b", text)


@pytest.mark.parametrize("number", [0, -1, 2, 10_000])
def test_a_page_that_is_not_there_is_said_not_to_be(number: int) -> None:
    with pytest.raises(InvalidInput, match=f"There is no page {number} of `helios do`") as raised:
        page_of(placed(command(option(1))), number)
    assert raised.value.hint == "All of it is on one page."
    with pytest.raises(InvalidInput) as raised:
        page_of(placed(command(content=PROSE * 100)), 77)
    assert re.fullmatch(r"It has \d pages of this length\.", str(raised.value.hint))


def test_a_code_block_that_a_page_divides_is_one_on_both() -> None:
    rows = [f"step {number}: {PROSE}" for number in range(80)]
    one = placed(entry("guide-long", content="Run this.\n\n```sh\n" + "\n".join(rows) + "\n```\n\nThat is all."))
    for _, text in all_pages(one):
        for token in MarkdownIt().parse(text):
            assert "step" not in token.content or token.type == "fence"


def test_every_usage_is_to_be_typed_as_it_stands() -> None:
    usages = ["helios do -d <name>...", "helios do (-m | -M) [<old>] <new>"]
    data, text = page_of(placed(command(usages=usages)))
    assert text.startswith("```\nhelios do [options]\n" + "\n".join(usages) + "\n```")
    assert data.usages == usages


def test_the_content_of_a_command_has_its_syntax_unless_that_is_long_and_its_text_says_it_once() -> None:
    data, text = page_of(placed(command(content="Three words here.")))
    assert data.content == "`helios do [options]`\n\nThree words here."
    assert text.count("helios do [options]") == 1
    written = "**Syntax:**\n```\nhelios do [options]\n```\n\nThree words here."
    data, text = page_of(placed(command(content=written)))
    assert (data.content, text.count("helios do [options]")) == (written, 1)
    long = "helios do " + " ".join(f"[--option-{number}]" for number in range(30))
    assert page_of(placed(command(syntax=long, content="Three words here.")))[0].content == "Three words here."


def test_aliases_and_values_of_an_option_stand_with_it() -> None:
    message = Parameter(name="--message", aliases=["-m"], place="option", type="<msg>", description="The message.")
    flag = Parameter(name="--all", place="option")
    data, text = page_of(placed(command(message, flag)))
    assert "Options:\n```\n--message, -m <msg>  The message.\n--all\n```" in text
    assert data.parameters == {"option": ["--message, -m <msg>: The message.", "--all"]}


def test_a_short_example_is_shown_before_a_long_one_and_of_outputs_the_beginning() -> None:
    long = Example(description="Long", code="helios do " * 300)
    short = Example(description="Short", code="helios do", output="\n".join(["done and done"] * 200))
    data, text = page_of(placed(command(examples=[long, short])))
    assert next(one.code for one in data.examples or ()) == "helios do"
    assert str((data.examples or [])[0].output).endswith("…")
    assert text.count("done and done") < 50


def test_what_was_inferred_says_so() -> None:
    data, text = page_of(placed(command(confidence="inferred")))
    assert data.confidence == "inferred"
    assert text.startswith("This was inferred from the program's source")
    data, text = page_of(placed(command()))
    assert data.confidence is None
    assert "inferred" not in text


def unsure(one: Entry, *unknown: UnknownOption) -> Hit:
    return hit(catalogue("uv", one), one.id, "arguments", unknown_options=unknown)


def test_options_that_do_not_exist_are_said_with_the_nearest() -> None:
    one = unsure(command(name="uv sync"), UnknownOption("--frozn", ("--frozen",)), UnknownOption("--zzz"))
    here = desk(one.catalogue)
    here.reference.one, here.reference.found = CommandAnswer(one), SearchAnswer((one,))
    said = "There is no option `--frozn` of `uv sync`; nearest: `--frozen`."
    for tool, asked in (("get_command", {"command": "x"}), ("search_knowledge", {"query": "x"})):
        result = here.call(tool, **asked)
        assert said in text_of(result)
        assert "There is no option `--zzz` of `uv sync`." in text_of(result)
        data = result.structured_content
        data = data["results"][0] if "results" in data else data
        assert data["unknownOptions"] == [
            {"name": "--frozn", "nearest": ["--frozen"]},
            {"name": "--zzz", "nearest": []},
        ]
    here.reference.found = SearchAnswer((one, one))
    assert said in text_of(here.call("search_knowledge", query="x"))


def test_query_parameters_that_do_not_exist_are_said_with_the_nearest() -> None:
    one = unsure(endpoint(), UnknownOption("per_pge", ("per_page",)))
    here = desk(one.catalogue)
    here.reference.paths = EndpointAnswer((one,))
    result = here.call("get_api_endpoint", path="/api/v1/users?per_pge=3")
    assert "There is no parameter `per_pge` of `POST /api/v1/users`; nearest: `per_page`." in text_of(result)
    assert result.structured_content["endpoints"][0]["unknownOptions"] == [{"name": "per_pge", "nearest": ["per_page"]}]


def paging(*parameters: Parameter, **told: Any) -> Desk:
    one = placed(command(*parameters, **told))
    place = desk(one.catalogue)
    place.reference.one = CommandAnswer(one)
    return place


def test_a_caller_pages_and_says_how_much_an_answer_may_hold() -> None:
    here = paging(*map(option, range(90)), content=PROSE * 40)
    counts = {}
    for most in (LEAST_TOKENS * 2, ANSWER_TOKENS, 3_000, MOST_TOKENS):
        first = here.data("get_command", command="x", maxTokens=most)
        counts[most] = first.get("pages", 1)
        for number in range(1, counts[most] + 1):
            assert tokens(here.call("get_command", command="x", maxTokens=most, page=number)) <= most
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert counts[MOST_TOKENS] == 1 < counts[ANSWER_TOKENS]
    assert here.data("get_command", command="x") == here.data("get_command", command="x", page=1, maxTokens=1_000)
    assert here.data("get_command", command="x", page_number=2)["page"] == 2


def test_a_page_out_of_range_is_an_error_that_says_how_many_there_are() -> None:
    here = paging(content=PROSE * 100)
    for page in (0, 99):
        code, text = here.error("get_command", command="x", page=page)
        assert (code, f"There is no page {page}" in text) == ("INVALID_INPUT", True)
        assert "pages of this length" in text


def test_amounts_beyond_the_bounds_are_taken_as_the_bounds() -> None:
    here = paging(*map(option, range(90)), content=PROSE * 40)
    for given_, taken in ((1, LEAST_TOKENS), (1_000_000, MOST_TOKENS)):
        data = here.data("get_command", command="x", maxTokens=given_)
        assert data | {"notes": None} == here.data("get_command", command="x", maxTokens=taken) | {"notes": None}


def test_several_methods_have_no_pages_but_each_has() -> None:
    book = catalogue(
        "helios", *(entry(f"api-{method}", type="api", method=method, path_template="/x") for method in ("GET", "PUT"))
    )
    here = desk(book)
    here.reference.paths = EndpointAnswer(hits(book, "api-GET", "api-PUT"))
    assert len(here.data("get_api_endpoint", path="/x")["endpoints"]) == 2
    code, text = here.error("get_api_endpoint", path="/x", page=2)
    assert (code, "Give a method: GET, PUT." in text) == ("INVALID_INPUT", True)


def test_of_several_methods_what_each_requires_comes_before_the_rest_of_any() -> None:
    methods: list[Any] = ["DELETE", "GET", "PUT"]
    book = catalogue(
        "helios",
        *(
            endpoint(
                field("name", "The name.", required=True), field("size", "The size."), content=PROSE * 8, method=method
            ).model_copy(update={"id": f"api-{method}"})
            for method in methods
        ),
    )
    here = desk(book)
    here.reference.paths = EndpointAnswer(hits(book, *(f"api-{method}" for method in methods)))
    for most, count in ((1_000, 1), (1_500, 3)):
        told = here.data("get_api_endpoint", path="/api/v1/users", maxTokens=most)["endpoints"]
        assert [one.get("required") for one in told] == [{"body": ["name (string): The name."]}] * 3
        whole = [one for one in told if "content" in one]
        assert whole == told[:count]
        assert all(("continuedBy" in one) is (one not in whole) for one in told)


@pytest.mark.parametrize("served", [1, 2])
def test_where_several_products_are_served_each_result_says_which_it_is_of(served: int) -> None:
    first = catalogue("git", command(name="git do"), endpoint(), title="Git", version="2.39.5")
    here = desk(*[first, catalogue("uv")][:served])
    found = hits(first, "cmd-do", "api-do")
    here.reference.found, here.reference.one = SearchAnswer(found), CommandAnswer(found[0])
    here.reference.paths = EndpointAnswer(found[1:])
    for tool, asked, count in (
        ("search_knowledge", {"query": "x"}, 2),
        ("get_command", {"command": "x"}, 1),
        ("get_api_endpoint", {"path": "/x"}, 1),
        ("list_commands", {}, 1),
    ):
        result = here.call(tool, **asked)
        told = text_of(result).count("Git 2.39.5")
        assert told == (count if served == 2 else 0), tool
        assert str(result.structured_content).count("'product': 'Git 2.39.5'") == (count if served == 2 else 0), tool


def test_a_search_shows_whole_what_has_room_and_of_the_rest_the_head() -> None:
    long = command(
        *map(option, range(90)),
        option(91, required=True),
        id="cmd-long",
        name="helios long",
        syntax="helios long [options] --option-91",
    )
    short = command(option(1), id="cmd-short", name="helios short", content="Three words here.")
    here = desk(book := catalogue("helios", long, short))
    here.reference.found = SearchAnswer(hits(book, "cmd-long", "cmd-short"))
    result = here.call("search_knowledge", query="x")
    first, second = result.structured_content["results"]
    assert first["required"] == {"option": [f"--option-91 <value>: {PROSE.strip()}"]}
    assert "parameters" not in first
    assert first["continuedBy"] == "get_command"
    assert "That is its beginning: get_command has all of it." in text_of(result)
    assert (second["content"], "continuedBy" in second) == ("`helios do [options]`\n\nThree words here.", False)
    here.reference.found = SearchAnswer(hits(book, "cmd-long"))
    result = here.call("search_knowledge", query="x")
    (only,) = result.structured_content["results"]
    assert len(only["parameters"]["option"]) > 15
    assert only["continuedBy"] == "get_command"
    assert {"truncated", "nextPage", "page"}.isdisjoint(only)


def largest(id: str = "cmd-largest", letters: str = PROSE, **told: Any) -> Entry:
    """Long in everything, of these letters."""

    def text(characters: int) -> str:
        return (letters * (characters // len(letters) + 1))[:characters]

    example = Example(description=text(200), code=text(800), output=text(8_000))
    facts = {
        "type": "command",
        "title": text(200),
        "summary": text(500),
        "name": text(200),
        "syntax": text(500),
        "content": text(9_000),
        "keywords": [text(50)] * 50,
        "aliases": [text(200)] * 50,
        "examples": [example] * 20,
        "related_ids": [f"cmd-{number}" for number in range(50)],
        "source": text(500),
    }
    return entry(id, **(facts | told))


HUGE = {
    "prose": largest(),
    "dense": largest(letters=DENSE),
    "lines": largest(letters="a\n"),
    "code": largest(letters="```\n| x |\n"),
    "quotes": largest(letters='"\\'),
    "an endpoint": largest(type="api", name=None, syntax=None, method="GET", path_template="/x" * 250),
}


@pytest.mark.parametrize("name", HUGE)
def test_of_the_largest_entry_only_what_is_never_cut_goes_beyond_the_room(name: str) -> None:
    one = placed(HUGE[name])
    found = all_pages(one)
    assert "".join(page.content or "" for page, _ in found) == HUGE[name].content.strip()
    bare = page_of(placed(HUGE[name].model_copy(update={"content": "", "examples": HUGE[name].examples[:1]})))
    for data, text in found:
        alone = data.examples is not None and len(data.examples) == 1
        assert cost(data, text) <= (ROOM if data.page != 1 and not alone else max(ROOM, cost(*bare) + PAGE_TOKENS))


@pytest.mark.parametrize("count", [2, 5, 20])
def test_many_long_entries_of_prose_fit(count: int) -> None:
    place = desk(book := catalogue("helios", HUGE["prose"]))
    found = (hit(book, "cmd-largest", "words", score=0.5),) * count
    place.reference.found, place.reference.paths = SearchAnswer(found, fallback=True), EndpointAnswer(found)
    for tool, arguments in (("search_knowledge", {"query": "x", "limit": 20}), ("get_api_endpoint", {"path": "/x"})):
        result = place.call(tool, **arguments)
        assert tokens(result) <= ANSWER_TOKENS, tool
        told = result.structured_content.get("results") or result.structured_content["endpoints"]
        assert 1 <= len(told) <= count
        if len(told) < count:
            assert f"{count - len(told)} more" in result.content[0].text


def test_every_entry_of_the_seeds_product_fits_on_a_page(here: Desk, helios: Catalogue) -> None:
    for one in helios.entries:
        here.reference.one = CommandAnswer(hit(helios, one.entry.id))
        result = here.call("get_command", command="x")
        assert tokens(result) <= ANSWER_TOKENS
        if one.entry.type == "command":
            assert "truncated" not in result.structured_content, one.entry.id


def test_five_results_fit_and_of_twenty_at_least_the_names(here: Desk, helios: Catalogue) -> None:
    ids = [one.entry.id for one in helios.entries if not one.entry.deprecated]
    for start in range(0, len(ids) - 20, 7):
        here.reference.found = SearchAnswer(hits(helios, *ids[start : start + 20]))
        five, twenty = (here.call("search_knowledge", query="x", limit=limit) for limit in (5, 20))
        assert tokens(five) <= ANSWER_TOKENS >= tokens(twenty)
        assert len(five.structured_content["results"]) == 5
        data = twenty.structured_content
        assert len(data["results"]) >= 3
        assert len(data["results"]) + len(data["more"]) >= 12
        assert all(f"`{name}`" in text_of(twenty) for name in data["more"])


texts = st.text(max_size=60)
places: st.SearchStrategy[Place] = st.sampled_from(["argument", "option", "query", "body"])


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    shown = st.builds(Example, description=texts, code=texts, output=st.none() | st.text(max_size=800))
    parameters = st.builds(
        Parameter,
        name=st.text(min_size=1, max_size=40),
        place=places,
        type=st.none() | texts,
        required=st.booleans(),
        description=st.text(max_size=200),
    )
    return entry(
        draw(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,99}", fullmatch=True)),
        type="command",
        name=draw(st.text(min_size=1, max_size=100)),
        syntax=draw(st.none() | st.text(min_size=1, max_size=200)),
        title=draw(st.text(min_size=1, max_size=100)),
        summary=draw(st.text(max_size=200)),
        content=draw(st.text(max_size=200)) * draw(st.integers(0, 30)),
        parameters=draw(st.none() | st.lists(parameters, max_size=40)),
        examples=draw(st.lists(shown, max_size=4)),
        related_ids=draw(st.lists(st.from_regex(r"[a-z0-9]{1,99}", fullmatch=True), max_size=8)),
    )


@settings(max_examples=examples(15, soak=600), deadline=None)
@given(entries(), st.sampled_from([LEAST_TOKENS, 500, ANSWER_TOKENS, MOST_TOKENS]))
def test_pages_of_anything_hold_all_of_it_and_only_the_first_may_need_more(one: Entry, most: int) -> None:
    room = most - NOTES_TOKENS
    found = all_pages(placed(one), room)
    rows = {"required": 0, "parameters": 0}
    for data, text in found:
        for kind in rows:
            rows[kind] += sum(map(len, (getattr(data, kind) or {}).values()))
        only_one = sum(map(bool, (data.parameters, data.content, data.examples, data.related_ids))) == 1
        assert data.page in (None, 1) or cost(data, text) <= room or only_one
    required = [parameter for parameter in one.parameters or () if parameter.required]
    assert rows == {"required": len(required), "parameters": len(one.parameters or ()) - len(required)}
    assert "".join(data.content or "" for data, _ in found).endswith(one.content.strip())
    assert sum(len(data.examples or ()) for data, _ in found) == len(one.examples)


@settings(max_examples=examples(10, soak=400), deadline=None)
@given(st.lists(entries(), min_size=2, max_size=6))
def test_many_of_anything_fit_but_for_a_single_one(found: list[Entry]) -> None:
    book = catalogue("helios", *found)
    shown = fit_many([Hit(book, one, "words", 0.5) for one in book.entries], ROOM)
    assert len(shown) == 1 or sum(cost(*one) for one in shown) <= ROOM
