"""S3's messages in the shapes AWS documents."""

import json
from typing import Any

import pytest

from commonplace.documents.index_source import record_of_key, records_of
from tests.unit.search.records import TEST_EVENT, body_of, notification


@pytest.mark.parametrize(
    "event",
    [
        "ObjectCreated:Put",
        "ObjectCreated:Copy",
        "ObjectCreated:CompleteMultipartUpload",
        "ObjectRemoved:Delete",
        "ObjectRemoved:DeleteMarkerCreated",
        "LifecycleExpiration:Delete",
    ],
)
@pytest.mark.parametrize("version", ["2.1", "2.3", "2.4", "2.10"])
def test_every_change_of_a_document_says_where_to_look(event: str, version: str) -> None:
    assert records_of(body_of(notification("content/note/a.json", event, eventVersion=version))) == ("note/a",)


@pytest.mark.parametrize(
    ("encoded", "record"),
    [
        ("content/note/red+flower.json", "note/red flower"),
        ("content/note/a+b%2B%C3%BC.json", "note/a b+ü"),
        ("content%2Fnote%2Fa%2Bb.json", "note/a+b"),
        ("content/note/dot.dot...json", "note/dot.dot.."),
    ],
)
def test_keys_are_form_encoded(encoded: str, record: str) -> None:
    sent = notification("x")
    sent["s3"]["object"]["key"] = encoded

    assert records_of(body_of(sent)) == (record,)


def test_a_message_may_hold_several_records_and_names_each_once() -> None:
    keys = ("content/note/a.json", "content/note/b.json", "content/note/a.json")

    assert records_of(body_of(*(notification(key) for key in keys))) == ("note/a", "note/b")


@pytest.mark.parametrize(
    "key", ["metadata/manifest.json", "raw/x.md", "content/a.json", "content/note/a/b.json", "content/note/a.txt"]
)
def test_keys_that_are_no_documents_are_passed_over(key: str) -> None:
    assert record_of_key(key) is None
    assert records_of(body_of(notification(key))) == ()


def test_the_test_message_of_s3_asks_for_nothing() -> None:
    assert records_of(TEST_EVENT) == ()


NO_NOTIFICATIONS: tuple[Any, ...] = (
    {},
    {"Event": "something else"},
    {"Records": [{"eventVersion": "2.1"}]},
    {"Records": [notification("content/note/a.json", eventVersion="3.0")]},
    {"Records": "none"},
    [],
    "text",
    None,
)


def test_anything_else_is_refused() -> None:
    for body in [*(json.dumps(body) for body in NO_NOTIFICATIONS), "", "{", "\ud800"]:
        with pytest.raises(ValueError, match=r"valid|notification"):
            records_of(body)
