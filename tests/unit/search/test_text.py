"""Words, names and snippets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.search.analysis import terms
from commonplace.search.names import grade, names_of
from commonplace.search.query import Query
from commonplace.search.snippets import SNIPPET_CHARACTERS, Snippet, snippet
from commonplace.search.text import clean_query, fold, fold_in_place, name_key, plain, query_terms, words
from tests.unit.search.records import record


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# Title #tag", "Title #tag"),
        ("See [the *pools*](a/b.md) and ![a map](m.png).", "See the pools and a map."),
        ("[[crabs|Crabs]] and [[tides]]", "Crabs and tides"),
        ("- **bold** and `code`\n- ~~old~~", "bold and code\nold"),
        ("| a | b |\n|---|---|\n| c | d |", "a b\nc d"),
        ("> quoted\n\n---", "quoted"),
        ("snake_case and 2*3*4", "snake_case and 2*3*4"),
        ("```python\nx = 1\n```", "x = 1"),
        ("[a](b(c).md) d", "a d"),
    ],
)
def test_markup_is_taken_away_and_words_stay(markdown: str, text: str) -> None:
    assert plain(markdown) == text


@given(st.text())
def test_any_text_can_be_cleaned_folded_and_taken_apart(text: str) -> None:
    query = clean_query(text)

    query.encode("utf-8")
    assert clean_query(query) == query
    assert all(word == fold(word) for word in words(text))
    assert len(fold_in_place(text)) == len(text)
    assert len(plain(text).split("\n")) <= len(text.split("\n"))


def test_a_query_loses_its_stop_words_unless_it_has_no_others() -> None:
    assert query_terms("What is the tide?") == ["tide"]
    assert query_terms("to be or not to be") == ["not"]
    assert query_terms("who are we") == ["who", "are", "we"]


@pytest.mark.parametrize(
    ("query", "name", "order"),
    [
        ("DAO", "DAO", 3),
        (" dao ", "DAO", 2),
        ("#dao", "DAO", 1),
        ("#dao", "D.A.O.", 4),
        ("#dao", "DAOs", 4),
        ("dao", "data", 0),
        ("Café", "cafe", 2),
        ("C++", "C", 1),
        ("?!", "!?", 0),
    ],
)
def test_a_name_is_matched_as_exactly_as_it_is_written(query: str, name: str, order: int) -> None:
    grades = (0.0, *(grade(Query.of(text), [("t", "ab")]) for text in ("#ab", "AB", "ab", "a-b")))

    assert grade(Query.of(query), [("t", name)]) == grades[order]


@given(st.text(min_size=1), st.sampled_from(["t", "a", "m"]))
def test_a_name_always_names_itself_best(name: str, kind: str) -> None:
    name = clean_query(name)
    best = grade(Query.of(name), [(kind, name)])

    assert best > 0
    others = (name.upper(), f"#{name}", f" {name} ", f"What is {name}?")
    assert all(grade(Query.of(other), [(kind, name)]) <= best for other in others)
    assert name_key(name) == name_key(name.strip())


@given(st.text(alphabet="abc déß潮.\n ", max_size=900), st.text(alphabet="abcé ", max_size=20))
def test_a_snippet_is_part_of_the_text_and_about_as_long_as_asked(text: str, query: str) -> None:
    found = snippet(text, Query.of(query)).text

    inner = found.removeprefix("… ").removesuffix(" …")
    assert inner in " ".join(plain(text).split())
    assert len(inner) <= SNIPPET_CHARACTERS + 80


def test_a_snippet_shows_the_words_that_were_looked_for() -> None:
    text = "wind " * 200 + "Here two crabs governed a pool. " + "rain " * 200

    found = snippet(text, Query.of("who governs crabs?")).text

    assert "two crabs governed a pool" in found
    assert found.startswith("… ")
    assert found.endswith(" …")
    assert not any(word not in (text + "…") for word in found.split())


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("A [short](x) text.", Query.of("anything")) == Snippet("A short text.")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["tide", "Tides", "crab", "Ébb", "of", "the", "…"]), max_size=200), st.data())
def test_marks_are_the_words_that_were_found_and_nothing_else(said: list[str], data: st.DataObject) -> None:
    asked = data.draw(st.lists(st.sampled_from(["tide", "ebb", "crabs"]), unique=True))

    found = snippet(" ".join(said), Query.of(" ".join(asked)))

    marked = [found.text[start:end] for start, end in found.marks]
    assert marked == [word for word in found.text.split() if {*terms(word)} & {*terms(" ".join(asked))}]
    assert list(found.marks) == sorted(found.marks)


def test_the_window_is_chosen_by_the_words_that_were_found() -> None:
    text = "The mice were many. " + "rain " * 200 + "One mouse slept. " + "wind " * 200

    assert "One mouse slept" in snippet(text, Query.of("mouse")).text


def test_a_window_with_two_words_is_better_than_one_with_two_forms_of_one() -> None:
    text = "Tide and tides. " + "rain " * 200 + "A crab at the tide. " + "wind " * 200

    assert "A crab at the tide" in snippet(text, Query.of("tides crabs")).text


def test_a_title_is_named_by_its_main_part_as_well_and_less_surely() -> None:
    title = "What is a tide? - A first look"
    names = [name for name in names_of(record("note/1", title=title, aliases=["Tides"])) if name[0] in "tam"]
    kinds = {kind: grade(Query.of("What is a tide?"), [(kind, name)]) for kind, name in names}

    assert names == [("t", title), ("a", "Tides"), ("m", "What is a tide?")]
    assert kinds["t"] == 0
    assert 0 < kinds["a"] < kinds["m"] < grade(Query.of("Tides"), [("a", "Tides")])
    assert "m" not in dict(names_of(record("note/1", title="Coordi-nations")))
