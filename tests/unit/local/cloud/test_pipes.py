import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace_local.cloud.event_sources import Pipe, filled, fits, parse_filter, parse_template


def change(partition: str, sort: str = "one") -> dict[str, Any]:
    return {"eventName": "INSERT", "dynamodb": {"Keys": {"pk": {"S": partition}, "sk": {"S": sort}}}}


def of_partition(*rules: Any) -> dict[str, Any]:
    return {"dynamodb": {"Keys": {"pk": {"S": list(rules)}}}}


def pipe(*patterns: dict[str, Any], template: str | None = None) -> Pipe:
    return Pipe(
        table="records",
        queue="index",
        filters=tuple(parse_filter(json.dumps(pattern)) for pattern in patterns),
        message=parse_template(template) if template else None,
    )


@pytest.mark.parametrize(
    ("rules", "passing"),
    [
        (["a#entries"], {"a#entries"}),
        ([{"suffix": "#entries"}], {"a#entries", "b#entries"}),
        ([{"prefix": "b#"}], {"b#entries", "b#jobs"}),
        ([{"suffix": "#jobs"}, "a#entries"], {"a#entries", "b#jobs"}),
    ],
)
def test_a_rule_is_the_whole_text_its_beginning_or_its_end(rules: list[Any], passing: set[str]) -> None:
    made = pipe(of_partition(*rules))
    assert {name for name in ("a#entries", "b#entries", "b#jobs") if made.passes(change(name))} == passing


def test_a_record_passes_one_filter_of_many_and_every_field_of_it() -> None:
    both = {"eventName": ["REMOVE"]} | of_partition({"suffix": "#jobs"})
    made = pipe(of_partition("a#entries"), both)
    assert made.passes(change("a#entries"))
    assert not made.passes(change("b#jobs"))
    assert made.passes(change("b#jobs") | {"eventName": "REMOVE"})


def test_what_a_record_lacks_fits_no_rule() -> None:
    assert not fits({"dynamodb": {"Keys": {"pk": {"S": ["a"]}}}}, {"dynamodb": {"Keys": "text"}})
    assert not fits({"a": ["b"]}, {})
    assert pipe().passes({}), "without a filter everything passes"


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"a": "b"}',
        '{"a": [1]}',
        '{"a": [{"numeric": [">", 1]}]}',
        '{"a": [{"prefix": "b", "suffix": "c"}]}',
        '{"a": [{"prefix": 1}]}',
    ],
)
def test_a_filter_that_asks_for_more_than_is_known_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="filter"):
        parse_filter(text)


@pytest.mark.parametrize("text", ['{"a": 1}', "[]", '"<$.a>"', '{"a": "<aws.pipes.pipe-name>"}', '{"a": "<$.a[0]>"}'])
def test_a_template_that_is_no_object_of_texts_and_paths_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="input template"):
        parse_template(text)


@given(st.text(), st.text())
def test_whatever_the_keys_are_a_message_is_json_that_says_them(partition: str, sort: str) -> None:
    made = pipe(template='{"pk": "<$.dynamodb.Keys.pk.S>", "sk": "<$.dynamodb.Keys.sk.S>", "table": "records"}')
    assert json.loads(made.body(change(partition, sort))) == {"pk": partition, "sk": sort, "table": "records"}


def test_without_a_template_the_record_is_sent_and_what_is_absent_is_empty() -> None:
    assert json.loads(pipe().body(change("a"))) == change("a")
    assert filled("<$.no.such> and <$.eventName>", change("a")) == " and INSERT"
