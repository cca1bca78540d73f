"""Arguments as models send them: understood where there is one meaning, refused where there are two."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.arguments import forgive, understand
from commonplace.web.mcp.declaration import Arguments, NoArguments
from commonplace.web.mcp.rendering import MAX_ERROR_BYTES, sentence
from tests.fakes.toolsets import Asked, Entry, Filters


class Term(Arguments):
    term: str


class Flat(Arguments):
    query: str
    content_type: list[str] | None = None
    group: str | None = None
    cursor: str | None = None


class Draft(Arguments):
    content_type: str
    title: str
    content: str
    tags: list[str] | None = None


class Wanted(Arguments):
    id: str
    content_type: str | None = None
    fields: dict[str, Any] | None = None
    depth: float | None = None


UNDERSTOOD: list[tuple[type[Arguments], dict[str, Any], dict[str, Any]]] = [
    # names that models reach for
    *(
        (Asked, {name: "rock"}, {"query": "rock"})
        for name in (
            "query",
            "q",
            "text",
            "search",
            "question",
            "keywords",
            "Query",
            "search_query",
            "searchQuery",
            "QUERY",
        )
    ),
    *(
        (Asked, {"query": "a", name: 7}, {"query": "a", "limit": 7})
        for name in ("limit", "top_k", "topK", "k", "page_size", "pageSize", "per_page", "max_results", "count", "n")
    ),
    *((Term, {name: "dao"}, {"term": "dao"}) for name in ("term", "q", "query", "text", "word", "name", "Terms")),
    *(
        (Wanted, {name: "x"}, {"id": "x"})
        for name in ("id", "ID", "ids", "document_id", "doc_id", "documentId", "slug")
    ),
    *(
        (Flat, {"query": "a", name: "p"}, {"query": "a", "contentType": ["p"]})
        for name in ("contentType", "content_type", "type", "types", "contentTypes", "content-type")
    ),
    (Flat, {"query": "a", "groups": ["g"]}, {"query": "a", "group": "g"}),
    (Flat, {"query": "a", "continuation": "c"}, {"query": "a", "cursor": "c"}),
    *((Wanted, {name: "x"}, {"id": "x"}) for name in ("uri", "url", "path", "title", "name", "link", "document")),
    (
        Draft,
        {"type": "p", "name": "t", "body": "b", "keywords": "x, y"},
        {"contentType": "p", "title": "t", "content": "b", "tags": ["x", "y"]},
    ),
    (Filters, {"after": "2025"}, {"since": "2025"}),
    # numbers and truth values
    (Asked, {"query": "a", "limit": "7"}, {"query": "a", "limit": 7}),
    (Asked, {"query": "a", "limit": " 7.0 "}, {"query": "a", "limit": 7}),
    (Asked, {"query": "a", "limit": 7.0}, {"query": "a", "limit": 7}),
    (Asked, {"query": "a", "limit": [7]}, {"query": "a", "limit": 7}),
    (Asked, {"query": "a", "whole": "Yes"}, {"query": "a", "whole": True}),
    (Asked, {"query": "a", "whole": 0}, {"query": "a", "whole": False}),
    (Asked, {"query": 42}, {"query": "42"}),
    (Asked, {"query": ["rock", "pool"]}, {"query": "rock pool"}),
    (Wanted, {"id": "x", "depth": "1.5"}, {"id": "x", "depth": 1.5}),
    # lists and choices
    (Filters, {"contentType": "pattern"}, {"contentType": ["pattern"]}),
    (Filters, {"contentType": "pattern, Practices"}, {"contentType": ["pattern", "practice"]}),
    (Filters, {"contentType": '["PATTERN"]'}, {"contentType": ["pattern"]}),
    (Filters, {"contentType": ["Tide Tables", None]}, {"contentType": ["tide-table"]}),
    (Filters, {"groups": "a,b , c,"}, {"groups": ["a", "b", "c"]}),
    # objects, flat and nested
    (Asked, {"query": "a", "filters": '{"groups": "g"}'}, {"query": "a", "filters": {"groups": ["g"]}}),
    (Asked, {"query": "a", "filter": {"group": "g"}}, {"query": "a", "filters": {"groups": ["g"]}}),
    (Asked, {"query": "a", "groups": ["g"]}, {"query": "a", "filters": {"groups": ["g"]}}),
    (Asked, {"query": "a", "type": "Patterns"}, {"query": "a", "filters": {"contentType": ["pattern"]}}),
    (
        Asked,
        {"query": "a", "filters.since": "2025", "filters[groups]": "g"},
        {"query": "a", "filters": {"since": "2025", "groups": ["g"]}},
    ),
    (
        Asked,
        {"query": "a", "group": "g", "filters": {"since": "2025"}},
        {"query": "a", "filters": {"groups": ["g"], "since": "2025"}},
    ),
    (
        Flat,
        {"query": "a", "filters": {"group": "g", "contentType": "p"}},
        {"query": "a", "group": "g", "contentType": ["p"]},
    ),
    (Flat, {"params": {"q": "a"}}, {"query": "a"}),
    (Wanted, {"id": "x", "fields": '{"a": {"b": [1]}}'}, {"id": "x", "fields": {"a": {"b": [1]}}}),
    # absence
    (Asked, {"query": "a", "limit": None, "filters": None, "colour": None}, {"query": "a"}),
    (Asked, {"query": "a", "limit": "", "filters": {}}, {"query": "a", "filters": {}}),
    (Flat, {"query": "a", "group": " ", "cursor": ""}, {"query": "a"}),
    (Filters, {"contentType": "none"}, {}),
    # the same thing said twice
    (Asked, {"query": "a", "q": "a", "limit": "3", "top_k": 3}, {"query": "a", "limit": 3}),
]


@pytest.mark.parametrize(("model", "raw", "values"), UNDERSTOOD, ids=lambda value: str(value)[:60])
def test_there_is_one_meaning_and_it_is_found(
    model: type[Arguments], raw: dict[str, Any], values: dict[str, Any]
) -> None:
    assert forgive(raw, model)[0] == values
    assert understand(raw, model)[0] == model.model_validate(values)
    assert understand(raw, model)[1] == ()


NOTED: list[tuple[dict[str, Any], list[str]]] = [
    ({"query": "a", "limit": 500}, ["limit was taken as 20, the most there is."]),
    ({"query": "a", "limit": "-1"}, ["limit was taken as 1, the least there is."]),
    (
        {"query": "a", "colour": "red", "size": None},
        ["Left out, for there is no such argument: colour. Arguments here: query (required), limit, filters, whole."],
    ),
    (
        {"query": "a", "filters": {"colour": "red"}},
        ["Left out, for there is no such argument: filters.colour. Arguments here: contentType, groups, since."],
    ),
]


@pytest.mark.parametrize(("raw", "notes"), NOTED)
def test_a_tool_that_reads_says_what_it_changed_and_goes_on(raw: dict[str, Any], notes: list[str]) -> None:
    assert list(understand(raw, Asked)[1]) == notes


REFUSED: list[tuple[type[Arguments], dict[str, Any], str]] = [
    (Asked, {"query": "a", "q": "b"}, "query and q mean the same argument and differ"),
    (Asked, {"query": "a", "limit": 3, "k": 4}, "limit and k mean the same argument and differ"),
    (Asked, {"query": "a", "group": "g", "filters": {"groups": ["h"]}}, "group and groups mean the same"),
    (Asked, {"query": "a", "offset": 10}, "no argument offset"),
    (Asked, {"query": "a", "page": 2}, "no argument page"),
    (Asked, {"query": "a", "limit": "many"}, "limit: must be a whole number"),
    (Asked, {"query": "a", "limit": 2.5}, "limit: must be a whole number"),
    (Asked, {"query": "a", "limit": float("inf")}, "limit has to be a finite number"),
    (Asked, {"query": "a", "limit": float("nan")}, "limit has to be a finite number"),
    (Asked, {"query": {"a": 1}}, "query: must be a text"),
    (Asked, {}, "query is missing"),
    (Asked, {"query": None}, "query is missing"),
    (Asked, {"query": "a", "filters": "everything"}, "filters: must be"),
    (Filters, {"contentType": "patern"}, "contentType cannot be “patern”"),
    (Wanted, {"id": ["a", "b"]}, "id takes one value, and 2 came"),
    (Draft, {"id": "x", "content": "c", "contentType": "p"}, "title is missing"),
    (Term, {"name": "a", "word": "b"}, "name and word mean the same"),
]


@pytest.mark.parametrize(("model", "raw", "message"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_is_unclear_or_wrong_is_refused_in_plain_words(
    model: type[Arguments], raw: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        understand(raw, model)
    assert message in refused.value.message
    assert refused.value.hint
    assert "http" not in sentence(refused.value)


@pytest.mark.parametrize("raw", [{"id": "x", "title": "The X"}, {"title": "The X", "id": "x"}])
def test_a_name_beside_what_is_asked_for_only_describes_it(raw: dict[str, Any]) -> None:
    found, notes = understand(raw, Wanted)
    assert found == Wanted(id="x")
    assert notes[0].startswith("Left out, for there is no such argument: title.")


def test_what_was_left_out_is_said_beside_what_is_missing() -> None:
    with pytest.raises(InvalidInput, match=r"id is missing\. Left out, for there is no such argument: colour\."):
        understand({"colour": "red"}, Wanted)


def test_a_choice_that_is_none_names_the_valid_ones() -> None:
    with pytest.raises(InvalidInput) as refused:
        understand({"contentType": "patern"}, Filters)
    assert refused.value.hint == "Valid values: pattern, practice, tide-table."


@pytest.mark.parametrize("raw", [{"title": "x", "publish": True}, {"title": "x", "weight": 9}])
def test_a_tool_that_writes_does_nothing_that_was_not_asked_for(raw: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        understand(raw, Entry, lenient=False)


def test_a_tool_that_writes_still_understands_other_spellings() -> None:
    arguments, notes = understand({"Title": "x", "tag": "a, b", "weight": "2"}, Entry, lenient=False)
    assert arguments == Entry(title="x", tags=["a", "b"], weight=2)
    assert notes == ()


def test_a_tool_without_arguments_says_so() -> None:
    notes = understand({"verbose": True}, NoArguments)[1]
    assert notes == ("Left out, for there is no such argument: verbose. There are no arguments here.",)


def test_text_of_a_person_is_never_taken_apart() -> None:
    body = '{"this": "is a body, not an object"}, really'
    assert understand({"title": "a,b", "body": body}, Entry, lenient=False)[0] == Entry(title="a,b", body=body)


@pytest.mark.parametrize(
    "value",
    [
        [0] * 3_000,
        json.loads("[" * 20 + "]" * 20),
        "[" * 5_000 + "]" * 5_000,
        '{"filters":' * 1_000 + "{}" + "}" * 1_000,
        "[" + "0," * 4_000 + "0]",
    ],
    ids=["many", "deep", "deep text", "deep object text", "many in text"],
)
def test_there_is_an_end_to_how_much_is_understood(value: Any) -> None:
    with pytest.raises(InvalidInput):
        understand({"query": "a", "filters": {"groups": value, "args": value}, "args": value, "limit": value}, Asked)


def test_very_long_names_are_neither_matched_nor_repeated() -> None:
    notes = understand({"query": "a", "x" * 10_000: 1, "query" + "_" * 1_000: "b"}, Asked)[1]
    assert len("".join(notes)) < 400


def test_many_unknown_names_make_one_short_note() -> None:
    notes = understand({"query": "a"} | {f"unknown{at}": at for at in range(500)}, Asked)[1]
    assert len(notes) == 1
    assert "and 495 more" in notes[0]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
values = st.recursive(
    scalars | st.sampled_from(["Patterns", "a,b", '["x"]', '{"groups": 1}', "7", "1e999", "null", "{"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
words = st.sampled_from(
    [
        "query",
        "q",
        "text",
        "limit",
        "top_k",
        "filters",
        "filter",
        "filters.groups",
        "groups",
        "type",
        "args",
        "whole",
        "offset",
        "filters.filters",
        "title",
        "tags",
        "Title",
        "",
    ]
) | st.text(max_size=10)


@given(
    st.dictionaries(words, values, max_size=6), st.sampled_from([Asked, Filters, Entry, Flat, Wanted]), st.booleans()
)
def test_whatever_comes_is_understood_or_refused_in_bounds(
    raw: dict[str, Any], model: type[Arguments], lenient: bool
) -> None:
    try:
        understood, notes = understand(raw, model, lenient=lenient)
    except InvalidInput as error:
        assert len(sentence(error).encode("utf-8", "replace")) <= MAX_ERROR_BYTES
        return
    assert isinstance(understood, model)
    assert len("".join(notes)) < 2_000


@given(
    st.builds(
        Asked,
        query=st.text(min_size=1, max_size=20).filter(str.strip),
        limit=st.integers(1, 20),
        filters=st.none() | st.builds(Filters, groups=st.none() | st.lists(st.text(max_size=5), min_size=1)),
    )
)
def test_arguments_as_they_are_declared_stay_as_they_are(asked: Asked) -> None:
    raw = asked.model_dump(mode="json", by_alias=True)
    assert understand(raw, Asked) == (asked, ())


@given(st.dictionaries(words, values, max_size=5))
def test_what_was_understood_once_is_understood_the_same_again(raw: dict[str, Any]) -> None:
    try:
        once = forgive(raw, Asked)[0]
    except InvalidInput:
        return
    assert forgive(once, Asked)[0] == once
