"""Every answer fits into 1,000 tokens, of text or of data, whatever a catalogue holds, and is of use."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.reference.model import Catalogue, CommandAnswer, EndpointAnswer, Entry, Example, Hit, SearchAnswer
from commonplace.reference.tools.answers import ANSWER_TOKENS, ROOM, cost, fit_many, fit_one
from tests.examples import examples
from tests.fakes.catalogues import catalogue, entry
from tests.unit.reference.tools.desks import Desk, desk, hit, hits, tokens
from tests.unit.web.mcp.talking import text_of

PROSE = "Lists every person that the directory knows, with the groups they belong to. "
DENSE = "潮--09"


def largest(id: str = "cmd-largest", letters: str = PROSE, **told: Any) -> Entry:
    """At every bound that validation has, of these letters."""

    def text(characters: int) -> str:
        return (letters * (characters // len(letters) + 1))[:characters]

    example = Example(description=text(200), code=text(8_000), output=text(8_000))
    facts = {
        "type": "command",
        "title": text(200),
        "summary": text(500),
        "name": text(500),
        "syntax": text(500),
        "content": text(65_000),
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
    "digits": largest("9" * 200, letters="7", category="8" * 60, subcategory="6" * 60, module="5" * 60),
    "lines": largest(letters="a\n"),
    "code": largest(letters="```\n| x |\n"),
    "quotes": largest(letters='"\\'),
    "short examples": largest(examples=[Example(description="Do it", code="helios do it")] * 20),
    "an endpoint": largest(type="api", name=None, syntax=None, method="GET", path_template="/x" * 250),
}


def shelf(*entries: Entry) -> Catalogue:
    return catalogue("helios", *entries)


@pytest.mark.parametrize("name", HUGE)
def test_the_largest_entry_fits(name: str) -> None:
    place = desk(book := shelf(HUGE[name]))
    place.reference.one = CommandAnswer(hit(book, HUGE[name].id))
    result = place.call("get_command", command="x")
    assert tokens(result) <= ANSWER_TOKENS
    assert result.structured_content["truncated"] is True
    assert result.content[1].uri == f"reference://entries/helios/{HUGE[name].id}"


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_many_of_the_largest_entries_fit(name: str, count: int) -> None:
    place = desk(book := shelf(HUGE[name]))
    found = (hit(book, HUGE[name].id, "words", score=0.5),) * count
    place.reference.found, place.reference.paths = SearchAnswer(found, fallback=True), EndpointAnswer(found)
    for tool, arguments in (("search_knowledge", {"query": "x", "limit": 20}), ("get_api_endpoint", {"path": "/x"})):
        result = place.call(tool, **arguments)
        assert tokens(result) <= ANSWER_TOKENS, tool
        told = result.structured_content.get("results") or result.structured_content["endpoints"]
        assert 1 <= len(told) <= count
        if len(told) < count:
            assert f"{count - len(told)} more" in result.content[0].text


def test_every_entry_of_the_seeds_product_fits(here: Desk, helios: Catalogue) -> None:
    costs = []
    for placed in helios.entries:
        here.reference.one = CommandAnswer(hit(helios, placed.entry.id))
        costs.append(tokens(here.call("get_command", command="x")))
    assert max(costs) <= ANSWER_TOKENS


def test_five_results_fit_and_of_twenty_at_least_the_names(here: Desk, helios: Catalogue) -> None:
    ids = [placed.entry.id for placed in helios.entries if not placed.entry.deprecated]
    for start in range(0, len(ids) - 20, 7):
        here.reference.found = SearchAnswer(hits(helios, *ids[start : start + 20]))
        five, twenty = (here.call("search_knowledge", query="x", limit=limit) for limit in (5, 20))
        assert tokens(five) <= ANSWER_TOKENS >= tokens(twenty)
        assert len(five.structured_content["results"]) == 5
        data = twenty.structured_content
        assert len(data["results"]) >= 3
        assert len(data["results"]) + len(data["more"]) >= 12
        assert all(f"`{name}`" in text_of(twenty) for name in data["more"])


def test_what_is_typed_is_told_whole_or_not_at_all() -> None:
    syntax = "helios " + " ".join(f"[--option-{number} <value>]" for number in range(18))
    for letters in (PROSE, DENSE):
        one = largest(letters=letters, name="helios do", syntax=syntax)
        told, text = fit_one(hit(shelf(one), one.id))
        assert told.syntax in (syntax, None)
        assert told.name in ("helios do", None)
        assert (syntax in text) is (told.syntax is not None)


def test_a_long_text_is_cut_and_names_the_resource() -> None:
    one = entry("guide-long", content="\n\n".join(PROSE * 3 for _ in range(40)))
    told, text = fit_one(hit(shelf(one), one.id))
    assert one.content.startswith(str(told.content))
    assert len(str(told.content)) > 500
    assert text.endswith("This is not all of it: read reference://entries/helios/guide-long")


def test_a_short_entry_is_told_whole() -> None:
    one = entry("guide-short", content="Three words here.", examples=[Example(description="Do it", code="do it")])
    told, text = fit_one(hit(shelf(one), one.id))
    assert told.truncated is None
    assert told.content == "Three words here."
    assert "do it" in text


def test_three_examples_at_most_are_told() -> None:
    many = [Example(description=f"Number {number}", code=f"do {number}") for number in range(9)]
    told, _ = fit_one(hit(shelf(entry("a", examples=many)), "a"))
    assert [one.code for one in told.examples or ()] == ["do 0", "do 1", "do 2"]
    assert told.truncated is None


texts = st.text(max_size=60)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    command = draw(st.booleans())
    examples = st.builds(Example, description=texts, code=texts, output=st.none() | st.text(max_size=800))
    return entry(
        draw(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,199}", fullmatch=True)),
        type="command" if command else "guide",
        name=draw(st.text(min_size=1, max_size=500)) if command else None,
        syntax=draw(st.none() | st.text(min_size=1, max_size=500)) if command else None,
        title=draw(st.text(min_size=1, max_size=200)),
        summary=draw(st.text(max_size=500)),
        content=draw(st.text(max_size=200)) * draw(st.integers(0, 50)),
        examples=draw(st.lists(examples, max_size=4)),
        related_ids=draw(st.lists(st.from_regex(r"[a-z0-9]{1,200}", fullmatch=True), max_size=8)),
    )


@settings(max_examples=examples(30, soak=600), deadline=None)
@given(st.lists(entries(), min_size=1, max_size=6))
def test_no_entry_costs_more_than_its_room(found: list[Entry]) -> None:
    book = shelf(*found)
    answers = [Hit(book, placed, "words", 0.5) for placed in book.entries]
    for one in answers:
        assert cost(*fit_one(one)) <= ROOM
    assert sum(cost(*shown) for shown in fit_many(answers, ROOM)) <= ROOM
