"""The index function over moto's S3, with the events of the queue, the schedule and an operator."""

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
import pytest
from moto import mock_aws

from commonplace.adapters import clients
from commonplace.adapters.dynamodb_changes import DynamoChanges
from commonplace.adapters.s3 import S3ObjectStore
from commonplace.content.filters import Filters
from commonplace.content.store import content_key
from commonplace.search.changes import Change
from commonplace.search.records import RecordId
from tests.unit.search.records import TEST_EVENT, body_of, document, notification, publish, put, versions

Load = Callable[..., ModuleType]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3ObjectStore]:
    facts = {
        "STAGE": "dev",
        "CONTENT_BUCKET": "content",
        "INDEX_LOCATION": "s3://content/index/documents.sqlite",
        "EMBEDDING_PROVIDER": "local",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_ACCESS_KEY_ID": "123456789012",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in facts.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        client = boto3.session.Session(region_name="us-east-1").client("s3")
        client.create_bucket(Bucket="content")
        client.put_bucket_versioning(Bucket="content", VersioningConfiguration={"Status": "Enabled"})
        clients._session.cache_clear()
        yield S3ObjectStore(client, "content")
        clients._session.cache_clear()


@pytest.fixture
def load(store: S3ObjectStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """The handler, built anew from the environment as in a new process."""
    loaded: list[ModuleType] = []

    def load(**environment: str) -> ModuleType:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        sys.modules.pop("functions.index.handler", None)
        loaded.append(importlib.import_module("functions.index.handler"))
        return loaded[-1]

    yield load
    for module in loaded:
        module.ENGINE.close()
    sys.modules.pop("functions.index.handler", None)


def queue(*bodies: str) -> dict[str, Any]:
    """A batch as the event source mapping delivers it; the ids are m0, m1, ..."""
    return {
        "Records": [
            {
                "messageId": f"m{number}",
                "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
                "body": body,
                "attributes": {"ApproximateReceiveCount": "1", "SentTimestamp": "1767268800000"},
                "messageAttributes": {},
                "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:index",
                "awsRegion": "us-east-1",
            }
            for number, body in enumerate(bodies)
        ]
    }


def test_a_batch_of_the_queue_reaches_the_published_index(store: S3ObjectStore, load: Load) -> None:
    put(store, document("note/a b+ü", "Rain falls on the pools."))
    store.put(content_key("note", "bad"), b"{")
    handler = load()

    answer = handler.handler(
        queue(
            TEST_EVENT,
            body_of(notification("content/note/a b+ü.json")),
            body_of(notification("content/note/bad.json")),
            body_of(notification("content/note/gone.json", "ObjectRemoved:DeleteMarkerCreated")),
        ),
        None,
    )

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
    successor = load().ENGINE
    assert versions(successor) == {"note/a b+ü": 1}
    assert successor.candidates("pools", None, Filters(), 5).total == 1


def test_a_delete_marker_takes_the_document_out_of_the_index(store: S3ObjectStore, load: Load) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    handler = load()
    handler.handler({"source": "aws.events", "detail-type": "Scheduled Event"}, None)

    publish(store, [document("note/b", "wind")], generation=2)
    gone = notification("content/note/a.json", "ObjectRemoved:DeleteMarkerCreated")
    answer = handler.handler(queue(body_of(gone)), None)

    assert answer == {"batchItemFailures": []}
    assert versions(handler.ENGINE) == {"note/b": 1}


def test_the_schedule_reconciles_and_an_operator_rebuilds(store: S3ObjectStore, load: Load) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    handler = load()
    nothing = {"indexed": 0, "removed": 0, "unreadable": 0, "incomplete": 0, "remaining": 0, "swept": 0}

    first = handler.handler({"source": "aws.events"}, None)
    second = handler.handler({"source": "commonplace.operator"}, None)
    rebuilt = handler.handler({"source": "commonplace.operator", "rebuild": True}, None)

    assert (first, second, rebuilt) == (nothing | {"indexed": 2}, nothing, nothing | {"indexed": 2})


def test_a_function_with_another_provider_rebuilds_on_its_first_event(store: S3ObjectStore, load: Load) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    load().handler({"source": "aws.events"}, None)

    lexical = load(EMBEDDING_PROVIDER="none")
    answer = lexical.handler(queue(body_of(notification("content/note/a.json"))), None)

    assert answer == {"batchItemFailures": []}
    assert (versions(lexical.ENGINE), list(lexical.ENGINE.incomplete())) == ({"note/a": 1}, [])


def test_on_a_laptop_the_index_is_a_file(store: S3ObjectStore, load: Load, tmp_path: Path) -> None:
    put(store, document("note/a", "rain"))
    path = tmp_path / "index" / "documents.sqlite"

    load(INDEX_LOCATION=path.as_uri()).handler(queue(body_of(notification("content/note/a.json"))), None)

    assert path.is_file()
    assert store.get("index/documents.sqlite") is None


def test_an_event_of_nobody_known_is_refused(load: Load) -> None:
    with pytest.raises(ValueError, match="neither"):
        load().handler({"rebuild": True}, None)


def test_what_the_index_takes_is_told_in_the_table_that_is_set(store: S3ObjectStore, load: Load) -> None:
    client = clients.dynamodb()
    keys: list[Any] = [("pk", "HASH"), ("sk", "RANGE")]
    client.create_table(
        TableName="activity",
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
        BillingMode="PAY_PER_REQUEST",
    )
    feed = DynamoChanges(client, "activity")
    position = feed.position()
    put(store, document("note/a", "rain", generation=4))

    load(ACTIVITY_TABLE="activity").handler(queue(body_of(notification("content/note/a.json"))), None)

    assert feed.since(position)[0] == [Change(RecordId("note/a"), "written", 4, added=True)]
