"""What callers send, before anything is done with it."""

from typing import Any

import pytest

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.memory import validation
from commonplace.memory.model import MAX_CONTENT_BYTES, MAX_IMPORT, Import
from commonplace.memory.validation import Refused

ID = "0a1b2c3d-0000-4000-8000-00000000000a"


def new(**told: Any) -> Any:
    return validation.new_entry(**{"content": "Cars are red.", "entry_type": "fact", "roles": ["dev"], **told})


def test_entry_is_kept_as_it_is_sent() -> None:
    entry = new(tags=["vercel", "routing"], confidence=0.8, source_story="STORY-007", metadata={"n": 1})
    assert (entry.content, entry.entry_type, entry.roles) == ("Cars are red.", "fact", ("dev",))
    assert (entry.tags, entry.confidence, entry.source_story) == (("vercel", "routing"), 0.8, "STORY-007")
    assert entry.metadata == {"n": 1}


def test_what_is_left_out_has_the_defaults_of_the_seed() -> None:
    entry = new()
    assert (entry.tags, entry.confidence, entry.parent_id, entry.source_file, entry.metadata) == (
        (),
        1.0,
        None,
        None,
        {},
    )


def test_content_loses_the_empty_lines_around_it_and_nothing_else() -> None:
    assert new(content="\ufeff\r\n\n  indented\r\n\r\nsecond  line \n\n").content == "  indented\n\nsecond  line"


def test_tags_are_written_in_lower_case_and_once() -> None:
    assert new(tags=["API", " api ", "route   order"]).tags == ("api", "route order")


def test_names_of_sources_are_one_line_in_one_form_of_unicode() -> None:
    entry = new(source_story=" Re\u0301tro\u00a012 ", source_file="notes/cafe\u0301.md")
    assert (entry.source_story, entry.source_file) == ("Rétro 12", "notes/café.md")


def test_one_value_stands_for_a_list_of_it() -> None:
    assert new(roles="QA", tags="Lint").roles == ("qa",)


def test_roles_come_in_their_usual_order_and_once() -> None:
    assert new(roles=["qa", "pm", "qa"]).roles == ("pm", "qa")


def test_null_in_metadata_of_a_new_entry_is_left_out() -> None:
    assert new(metadata={"a": None, "b": 1}).metadata == {"b": 1}


def test_nulls_of_an_update_stay_to_remove_their_keys() -> None:
    assert validation.changes(metadata={"a": None}).metadata == {"a": None}


BAD: list[tuple[dict[str, Any], type[CommonplaceError], str]] = [
    ({"content": " \n\t"}, InvalidInput, "content"),
    ({"content": None}, InvalidInput, "content"),
    ({"content": 7}, InvalidInput, "content"),
    ({"content": "\u200b"}, InvalidInput, "content"),
    ({"content": "a\x00b"}, InvalidInput, "content"),
    ({"content": "half \ud800"}, InvalidInput, "content"),
    ({"content": "ä" * (MAX_CONTENT_BYTES // 2 + 1)}, TooLarge, "content"),
    ({"content": "a" * 3 * MAX_CONTENT_BYTES}, TooLarge, "content"),
    ({"entry_type": "opinion"}, InvalidInput, "entry_type"),
    ({"entry_type": None}, InvalidInput, "entry_type"),
    ({"entry_type": ["fact"]}, InvalidInput, "entry_type"),
    ({"roles": []}, InvalidInput, "roles"),
    ({"roles": None}, InvalidInput, "roles"),
    ({"roles": ["boss"]}, InvalidInput, "roles"),
    ({"roles": {"dev": 1}}, InvalidInput, "roles"),
    ({"tags": [""]}, InvalidInput, "tags"),
    ({"tags": [3]}, InvalidInput, "tags"),
    ({"tags": ["a" * 65]}, InvalidInput, "tags"),
    ({"tags": ["a\x07"]}, InvalidInput, "tags"),
    ({"tags": [f"t{n}" for n in range(31)]}, InvalidInput, "tags"),
    ({"confidence": 1.01}, InvalidInput, "confidence"),
    ({"confidence": -0.1}, InvalidInput, "confidence"),
    ({"confidence": float("nan")}, InvalidInput, "confidence"),
    ({"confidence": True}, InvalidInput, "confidence"),
    ({"confidence": "high"}, InvalidInput, "confidence"),
    ({"source_file": "a" * 501}, InvalidInput, "source_file"),
    ({"source_story": 7}, InvalidInput, "source_story"),
    ({"parent_id": "WRKF-1021"}, InvalidInput, "parent_id"),
    ({"parent_id": "0a1b2c3d00004000800000000000000a"}, InvalidInput, "parent_id"),
    ({"metadata": [1]}, InvalidInput, "metadata"),
    ({"metadata": {"a": float("inf")}}, InvalidInput, "metadata"),
    ({"metadata": {"a": 2**53}}, InvalidInput, "metadata"),
    ({"metadata": {"a": 10**5000}}, InvalidInput, "metadata"),
    ({"metadata": {1: "a"}}, InvalidInput, "metadata"),
    ({"metadata": {"a": b"bytes"}}, InvalidInput, "metadata"),
    ({"metadata": {"a": "\ud800"}}, InvalidInput, "metadata"),
    ({"metadata": {"a": [[[[[1]]]]]}}, InvalidInput, "metadata"),
    ({"metadata": {"a": "x" * 8_192}}, TooLarge, "metadata"),
]


@pytest.mark.parametrize(
    ("told", "error", "name"), BAD, ids=[f"{n}-{next(iter(each[0]))}" for n, each in enumerate(BAD)]
)
def test_what_cannot_be_kept_is_refused_with_the_name_of_the_field(
    told: dict[str, Any], error: type[CommonplaceError], name: str
) -> None:
    with pytest.raises(error) as refused:
        new(**told)
    assert f"`{name}`" in refused.value.message
    assert refused.value.hint


def test_refusal_names_the_valid_values_and_never_the_value_sent() -> None:
    with pytest.raises(InvalidInput) as refused:
        new(entry_type="secret words")
    assert refused.value.hint == "Use one of: fact, summary, template."
    assert "secret" not in str(refused.value.envelope())


def test_metadata_may_nest_as_deep_as_it_says_it_may() -> None:
    assert new(metadata={"a": [[[[1]]]]}).metadata == {"a": [[[[1]]]]}


def test_deeply_nested_metadata_is_refused_without_a_deep_recursion() -> None:
    value: Any = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(InvalidInput):
        new(metadata={"a": value})


def test_update_that_changes_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="Nothing"):
        validation.changes()


@pytest.mark.parametrize("limit", [0, 51, -1, "10", None, 1.5, True])
def test_limit_of_a_search_is_never_cut_to_size(limit: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        validation.asked(query="cars", limit=limit)
    assert "from 1 to 50" in refused.value.message


@pytest.mark.parametrize("limit", [1, 50, 10.0])
def test_limit_within_its_bounds_is_taken(limit: Any) -> None:
    assert validation.asked(query="cars", limit=limit).limit == int(limit)


@pytest.mark.parametrize("query", ["", " \u200b ", "\x00", 7, None])
def test_empty_query_is_refused(query: Any) -> None:
    with pytest.raises(InvalidInput, match="query"):
        validation.asked(query=query)


def test_query_of_a_thousand_characters_is_taken_and_no_longer_one() -> None:
    assert validation.asked(query="a" * 1_000)
    with pytest.raises(InvalidInput, match="longer"):
        validation.asked(query="a" * 1_001)


@pytest.mark.parametrize(
    "told", [{"limit": 0}, {"limit": 101}, {"offset": -1}, {"order_by": "id"}, {"order": "up"}, {"role": "boss"}]
)
def test_list_is_refused_what_it_cannot_do(told: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        validation.listing(**told)


def test_id_is_a_uuid_in_whatever_case() -> None:
    assert validation.entry_id(f" {ID.upper()} ") == ID
    for bad in ("", "acme/1", f"{{{ID}}}", f"urn:uuid:{ID}", ID[:-1], 7, None, ID.replace("0", "０")):
        with pytest.raises(InvalidInput):
            validation.entry_id(bad)


@pytest.mark.parametrize("version", [0, -1, "two", 1.5, 2**60])
def test_expected_version_is_one_that_can_be(version: Any) -> None:
    with pytest.raises(InvalidInput):
        validation.expected_version(version)


def test_entry_of_an_import_that_is_wrong_costs_the_others_nothing() -> None:
    good = {"content": "Cars.", "entry_type": "fact", "roles": ["dev"], "ref": "a"}
    first, second, third, fourth = validation.imports(
        [good, {**good, "roles": ["boss"]}, "text", {**good, "parent_ref": "b", "parent_id": ID}]
    )
    assert isinstance(first, Import)
    assert first.ref == "a"
    assert isinstance(second, Refused)
    assert "pm, dev, qa, all" in second.sentence
    assert isinstance(third, Refused)
    assert isinstance(fourth, Refused)
    assert "both" in fourth.sentence


def test_field_that_entries_do_not_have_is_refused_with_those_they_have() -> None:
    [refused] = validation.imports([{"content": "Cars.", "type": "fact", "roles": ["dev"]}])
    assert isinstance(refused, Refused)
    assert "entry_type" in refused.sentence


@pytest.mark.parametrize("values", [None, [], {}, "- content: x", 7])
def test_import_of_nothing_is_refused(values: Any) -> None:
    with pytest.raises(InvalidInput):
        validation.imports(values)


def test_import_of_too_many_is_refused_before_any_is_looked_at() -> None:
    with pytest.raises(TooLarge):
        validation.imports([None] * (MAX_IMPORT + 1))
