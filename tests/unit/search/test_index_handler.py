"""The index function over moto's S3 and DynamoDB, with the events of queues, schedules and an operator."""

import importlib
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.documents.content.keys import content_key
from commonplace.kernel import aws
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.memory.model import Entry, EntryId, content_hash
from commonplace.memory.store import DynamoEntries
from commonplace.search.filters import Filters
from commonplace.search.model import RecordId
from commonplace.search.query import Query
from commonplace.search.source import Change
from commonplace.search.store import DynamoChanges
from tests.aws_fixture import BUCKET
from tests.fakes.catalogues import catalogue, entry
from tests.fakes.catalogues import publish as publish_catalogue
from tests.fakes.lambda_context import CONTEXT
from tests.unit.search.records import TEST_EVENT, body_of, document, notification, publish, put, versions

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

Load = Callable[..., ModuleType]


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch, s3: "S3Client") -> Iterator[S3ObjectStore]:
    facts = {
        "STAGE": "dev",
        "CONTENT_BUCKET": BUCKET,
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
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    aws._session.cache_clear()
    yield S3ObjectStore(s3, BUCKET)
    aws._session.cache_clear()


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
        engine_of(module).close()
    sys.modules.pop("functions.index.handler", None)


def engine_of(handler: ModuleType) -> Any:
    """The index of the documents."""
    return handler.INDEX.collections["documents"].operations.indexers[0].engine


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
        CONTEXT,
    )

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
    successor = engine_of(load())
    assert versions(successor) == {"note/a b+ü": 1}
    assert successor.candidates(Query.of("pools"), None, Filters(), 5).total == 1


def test_a_delete_marker_takes_the_document_out_of_the_index(store: S3ObjectStore, load: Load) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    handler = load()
    handler.handler({"source": "aws.events", "detail-type": "Scheduled Event"}, CONTEXT)

    publish(store, [document("note/b", "wind")], generation=2)
    gone = notification("content/note/a.json", "ObjectRemoved:DeleteMarkerCreated")
    answer = handler.handler(queue(body_of(gone)), CONTEXT)

    assert answer == {"batchItemFailures": []}
    assert versions(engine_of(handler)) == {"note/b": 1}


def test_the_schedule_reconciles_and_an_operator_rebuilds(store: S3ObjectStore, load: Load) -> None:
    publish(store, [document("note/a", "rain"), document("note/b", "wind")], generation=1)
    handler = load()
    nothing = {"indexed": 0, "removed": 0, "unreadable": 0, "incomplete": 0, "remaining": 0, "swept": 0}

    first = handler.handler({"source": "aws.events"}, CONTEXT)
    second = handler.handler({"source": "commonplace.operator"}, CONTEXT)
    rebuilt = handler.handler({"source": "commonplace.operator", "rebuild": True}, CONTEXT)

    assert (first, second, rebuilt) == (nothing | {"indexed": 2}, nothing, nothing | {"indexed": 2})


def test_a_function_with_another_provider_rebuilds_on_its_first_event(store: S3ObjectStore, load: Load) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    load().handler({"source": "aws.events"}, CONTEXT)

    lexical = load(EMBEDDING_PROVIDER="none")
    answer = lexical.handler(queue(body_of(notification("content/note/a.json"))), CONTEXT)

    assert answer == {"batchItemFailures": []}
    assert (versions(engine_of(lexical)), list(engine_of(lexical).incomplete())) == ({"note/a": 1}, [])


def test_on_a_laptop_the_index_is_a_file(store: S3ObjectStore, load: Load, tmp_path: Path) -> None:
    put(store, document("note/a", "rain"))
    path = tmp_path / "index" / "documents.sqlite"

    load(INDEX_LOCATION=path.as_uri()).handler(queue(body_of(notification("content/note/a.json"))), CONTEXT)

    assert path.is_file()
    assert store.get("index/documents.sqlite") is None


def test_an_event_of_nobody_known_is_refused(load: Load) -> None:
    with pytest.raises(ValueError, match="neither"):
        load().handler({"rebuild": True}, CONTEXT)


def table(name: str) -> None:
    keys: list[Any] = [("pk", "HASH"), ("sk", "RANGE")]
    aws.dynamodb().create_table(
        TableName=name,
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys],
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name, _ in keys],
        BillingMode="PAY_PER_REQUEST",
    )


TABLES = {"RECORDS_TABLE": "records", "CACHE_TABLE": "cache", "ACTIVITY_TABLE": "activity"}
AUDIT = AuditRecord(event="memory.add", outcome="ok", at=0.0, organisation="acme")


@pytest.fixture
def entries(store: S3ObjectStore) -> DynamoEntries:
    for name in TABLES.values():
        table(name)
    return DynamoEntries(aws.dynamodb(), "records", "activity")


def remember(entries: DynamoEntries, organisation: str, *contents: str) -> None:
    made = [
        Entry(
            organisation=organisation,
            id=EntryId(f"e{number}"),
            content=content,
            content_hash=content_hash(content),
            entry_type="fact",
            roles=("dev",),
            tags=(),
            confidence=1.0,
            created_at="2026-01-01T12:00:00.000000Z",
            updated_at="2026-01-01T12:00:00.000000Z",
        )
        for number, content in enumerate(contents)
    ]
    entries.add(organisation, made, AUDIT)


def told(organisation: str, kind: str, id: str) -> str:
    return json.dumps({"table": "records", "pk": f"{organisation}#memory#{kind}", "sk": id})


def test_entries_have_an_index_beside_that_of_the_documents(
    store: S3ObjectStore, load: Load, entries: DynamoEntries
) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    remember(entries, "acme", "rain on the roof", "wind")
    remember(entries, "globex", "rain")
    handler = load(**TABLES)

    batch = [told("acme", "entries", "e0"), body_of(notification("content/note/a.json")), told("no one", "jobs", "x")]
    answer = handler.handler(queue(*batch, told("acme", "jobs", "gone")), CONTEXT)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m2"}]}
    assert versions(engine_of(handler)) == {"note/a": 1}
    assert store.get("index/memory.sqlite") is not None
    answer = handler.handler({"source": "aws.events"}, CONTEXT)
    assert (answer["indexed"], answer["memory"]["indexed"]) == (0, 2)


def test_without_a_table_of_entries_their_messages_fail(store: S3ObjectStore, load: Load) -> None:
    answer = load().handler(queue(told("acme", "entries", "e0")), CONTEXT)

    assert answer == {"batchItemFailures": [{"itemIdentifier": "m0"}]}


def test_an_operator_names_the_collection(store: S3ObjectStore, load: Load, entries: DynamoEntries) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    remember(entries, "acme", "rain", "wind")
    handler = load(**TABLES)
    ask = {"source": "commonplace.operator"}

    assert handler.handler({**ask, "rebuild": True, "collection": "memory"}, CONTEXT)["indexed"] == 2
    assert handler.handler({**ask, "rebuild": True}, CONTEXT)["indexed"] == 1
    step = handler.handler({**ask, "step": "plan", "input": {"collection": "memory"}}, CONTEXT)
    assert (step["action"], step["collection"]) == ("refused", "memory")
    refused = handler.handler({**ask, "step": "plan", "collection": "people"}, CONTEXT)
    assert (refused["action"], refused["hint"]) == ("refused", "Collections here: documents, memory, contributions.")
    assert refused["collection"] == "people"
    only = handler.handler({**ask, "collection": "memory"}, CONTEXT)
    assert only.keys() == {"memory"}


def test_one_index_that_cannot_be_compared_does_not_keep_the_other_from_it(
    store: S3ObjectStore, load: Load, entries: DynamoEntries, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(entries, "acme", "rain")
    handler = load(**TABLES)

    def fail(_enough: object) -> None:
        raise Unavailable("The store does not answer.")

    monkeypatch.setattr(handler.INDEX.collections["documents"].operations, "reconcile", fail)
    with pytest.raises(Unavailable):
        handler.handler({"source": "aws.events"}, CONTEXT)

    assert handler.handler({"source": "aws.events", "collection": "memory"}, CONTEXT)["memory"]["indexed"] == 0


def test_vectors_come_by_themselves_once_the_model_answers(
    store: S3ObjectStore, load: Load, entries: DynamoEntries, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(entries, "acme", "rain")
    put(store, document("note/a", "rain"))
    handler = load(**TABLES)
    event = {"source": "aws.events", "complete": True}
    nothing = {"indexed": 0, "removed": 0, "unreadable": 0, "incomplete": 0, "remaining": 0, "swept": 0}
    assert handler.handler(event, CONTEXT) == {"documents": nothing, "memory": nothing, "contributions": nothing}

    def away(_texts: object, **_told: object) -> None:
        raise Unavailable("The model does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(type(handler.CONTEXT.models[0]), "embed", lambda _self, texts, **told: away(texts, **told))
        handler.handler(queue(told("acme", "entries", "e0"), body_of(notification("content/note/a.json"))), CONTEXT)
        assert handler.handler(event, CONTEXT)["memory"] == nothing | {"incomplete": 1}

    assert handler.handler(event, CONTEXT) == {
        "documents": nothing | {"indexed": 1},
        "memory": nothing | {"indexed": 1},
        "contributions": nothing,
    }


CATALOGUES = {"CATALOGUES": '[{"name": "helios"}]', "GITHUB_REPOSITORY": "example/product", "GITHUB_BRANCH": "main"}


def test_a_manifest_brings_the_entries_of_its_catalogue_into_an_index_of_their_own(
    store: S3ObjectStore, load: Load
) -> None:
    publish(store, [document("note/a", "rain")], generation=1)
    publish_catalogue(store, catalogue("helios", entry("a"), entry("b")))
    handler = load(**CATALOGUES)

    told = [body_of(notification(key)) for key in ("reference/helios/manifest.json", "content/note/a.json")]
    assert handler.handler(queue(*told, "{}"), CONTEXT) == {"batchItemFailures": [{"itemIdentifier": "m2"}]}

    assert versions(engine_of(handler)) == {"note/a": 1}
    assert store.get("index/reference.sqlite") is not None
    answer = handler.handler({"source": "aws.events"}, CONTEXT)
    assert (answer["indexed"], answer["reference"]["indexed"]) == (0, 0)
    ask = {"source": "commonplace.operator", "rebuild": True, "collection": "reference"}
    assert handler.handler(ask, CONTEXT)["indexed"] == 2


def test_an_index_of_entries_that_takes_no_writes_keeps_no_document_from_its_own(
    store: S3ObjectStore, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(store, document("note/a", "rain"))
    handler = load(**CATALOGUES)

    def fail(_enough: object) -> None:
        raise Unavailable("The index does not answer.")

    monkeypatch.setattr(handler.INDEX.collections["reference"].operations, "reconcile", fail)
    told = [body_of(notification(key)) for key in ("reference/helios/manifest.json", "content/note/a.json")]

    assert handler.handler(queue(*told), CONTEXT) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert versions(engine_of(handler)) == {"note/a": 1}


def test_without_catalogues_a_manifest_is_nobodys_matter(store: S3ObjectStore, load: Load) -> None:
    handler = load()

    answer = handler.handler(queue(body_of(notification("reference/helios/manifest.json"))), CONTEXT)

    assert answer == {"batchItemFailures": []}
    assert store.get("index/reference.sqlite") is None


def test_entries_of_catalogues_that_lack_vectors_get_them_by_the_schedule(
    store: S3ObjectStore, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    table("activity")
    publish_catalogue(store, catalogue("helios", entry("a")))
    handler = load(ACTIVITY_TABLE="activity", **CATALOGUES)

    def away(*_texts: object, **_told: object) -> None:
        raise Unavailable("The model does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(type(handler.CONTEXT.models[0]), "embed", away)
        handler.handler(queue(body_of(notification("reference/helios/manifest.json"))), CONTEXT)

    assert handler.handler({"source": "aws.events", "complete": True}, CONTEXT)["reference"]["indexed"] == 1


def test_what_the_index_takes_is_told_in_the_table_that_is_set(store: S3ObjectStore, load: Load) -> None:
    table("activity")
    feed = DynamoChanges(aws.dynamodb(), "activity")
    position = feed.position()
    put(store, document("note/a", "rain", generation=4))

    load(ACTIVITY_TABLE="activity").handler(queue(body_of(notification("content/note/a.json"))), CONTEXT)

    assert feed.since(position)[0] == [Change(RecordId("note/a"), "written", 4, added=True)]
