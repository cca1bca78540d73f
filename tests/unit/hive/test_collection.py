"""The collection of what is contributed, as the index function keeps it up: items, the model, the age of the queue."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import pytest

from commonplace.hive import collection as room
from commonplace.hive.collection import COLLECTION, Upkeep
from commonplace.hive.deployment import DeploymentConfiguration, KeptModel
from commonplace.hive.model import Contribution, stamp
from commonplace.hive.store import DynamoContributions
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Unavailable
from commonplace.search import providers
from commonplace.search.collections import IndexContext, IndexFunction
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.model import EmbeddingProvider
from commonplace.search.settings import RetrievalSettings
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.hive_items import item
from tests.fakes.metrics import Metrics
from tests.fakes.store import FakeObjectStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


ENVIRON = {"RECORDS_TABLE": "activity", "ACTIVITY_TABLE": "activity"}
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
AUTHOR = Author(organisation="acme", account="account-of-acme")
OLD, NEW = FakeEmbeddings("1"), FakeEmbeddings("2")
Make = Callable[[EmbeddingProvider | None], Upkeep]


@pytest.fixture
def make(dynamodb: "DynamoDBClient", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """The collection as a process with this model has it."""
    opened: list[EmbeddedEngine] = []

    def engine(settings: RetrievalSettings, _objects: object, model: EmbeddingProvider | None, **_: bool) -> object:
        assert settings.index_location is not None
        assert settings.index_location.endswith("contributions.sqlite")
        opened.append(EmbeddedEngine(tmp_path / "contributions.sqlite", model))
        return opened[-1]

    monkeypatch.setattr(providers, "search_engine", engine)

    def made(model: EmbeddingProvider | None) -> Upkeep:
        context = IndexContext(
            environ=ENVIRON,
            settings=RetrievalSettings(index_location=(tmp_path / "documents.sqlite").as_uri()),
            objects=FakeObjectStore(),
            dynamodb=lambda: dynamodb,
            models=[model],
            note=lambda _collection: None,
            changes=None,
        )
        found = room.collection(context)
        assert found is not None
        return found

    yield made
    for each in opened:
        each.close()


@pytest.fixture
def store(dynamodb: "DynamoDBClient") -> DynamoContributions:
    return DynamoContributions(dynamodb, "activity", "activity")


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Metrics:
    return Metrics(monkeypatch, capsys)


@pytest.fixture
def kept(dynamodb: "DynamoDBClient") -> Callable[[], KeptModel | None]:
    return DeploymentConfiguration(dynamodb, "activity", lambda: stamp(NOW)).read


def add(store: DynamoContributions, *contributions: Contribution) -> None:
    for one in contributions:
        store.add(one, AUTHOR.record("hive.contribute", NOW.timestamp()))


def event(*ids: str, owner: str = "acme") -> dict[str, object]:
    bodies = [{"table": "records", "pk": f"{owner}#hive#items", "sk": id} for id in ids]
    return {"Records": [{"messageId": str(at), "body": json.dumps(body)} for at, body in enumerate(bodies)]}


def test_without_a_table_of_records_there_is_no_such_collection() -> None:
    context = cast(Any, SimpleNamespace(environ={}))

    assert room.collection(context) is None


def test_items_come_into_the_index_and_leave_it_as_the_store_has_them(make: Make, store: DynamoContributions) -> None:
    upkeep = make(OLD)
    function = IndexFunction([upkeep])
    one = item("acme", "hv_1", "The gateway throttles.")
    add(store, one, item("acme", "hv_2", "The gateway waits.", status="pending"))

    assert function(event("hv_1", "hv_2"), None) == {"batchItemFailures": []}
    assert dict(upkeep.operations.indexers[0].engine.versions()) == {"acme/hv_1": 1}

    store.delete("acme", one.id, AUTHOR.record("hive.delete", NOW.timestamp()))
    assert function(event("hv_1"), None) == {"batchItemFailures": []}
    assert dict(upkeep.operations.indexers[0].engine.versions()) == {}


def test_no_table_remembers_the_vectors_of_what_was_indexed(
    make: Make, store: DynamoContributions, dynamodb: "DynamoDBClient"
) -> None:
    upkeep = make(OLD)
    add(store, item("acme", "hv_1", "The gateway throttles."))
    before = {item["pk"]["S"] for item in dynamodb.scan(TableName="activity")["Items"]}
    IndexFunction([upkeep])(event("hv_1"), None)

    assert list(upkeep.operations.indexers[0].engine.incomplete()) == []
    after = {item["pk"]["S"] for item in dynamodb.scan(TableName="activity")["Items"]}
    assert after - before == {"public#hive#deployment"}


def test_what_no_message_told_of_is_found_by_the_comparison(make: Make, store: DynamoContributions) -> None:
    one = item("acme", "hv_1", "The gateway throttles.")
    add(store, one, item("acme", "hv_2", "The gateway waits.", status="pending"))

    answer = IndexFunction([make(OLD)])({"source": "aws.events", "collection": COLLECTION}, None)

    assert (answer["indexed"], answer["removed"]) == (1, 0)


def test_the_age_of_the_queue_is_that_of_the_contribution_that_waits_longest(
    make: Make, store: DynamoContributions, metrics: Metrics
) -> None:
    upkeep = make(None)
    upkeep.clock = lambda: NOW
    upkeep.reconcile()
    ages = (("acme", "hv_1", 3), ("globex", "hv_2", 9), ("globex", "hv_3", 8))
    add(store, item("acme", "hv_0", "approved long ago", contributed_at=stamp(NOW - timedelta(days=90))))
    for owner, id, days in ages:
        waiting = item(owner, id, f"waits as {id}", status="pending", contributed_at=stamp(NOW - timedelta(days=days)))
        add(store, waiting)
    upkeep.reconcile()

    assert [one.value for one in metrics.counted() if one.metric == "HiveQueueAgeDays"] == [0.0, 9.0]


def test_the_model_is_kept_at_the_first_start(make: Make, kept: Callable[[], KeptModel | None]) -> None:
    assert kept() is None
    make(OLD).take([])

    found = kept()
    assert found is not None
    assert (found.model, found.changed, found.before) == (model_fingerprint(OLD), False, "")


def test_a_change_of_the_model_is_logged_and_counted_and_taken_over_with_the_index(
    make: Make,
    store: DynamoContributions,
    kept: Callable[[], KeptModel | None],
    metrics: Metrics,
    caplog: pytest.LogCaptureFixture,
) -> None:
    add(store, item("acme", "hv_1", "The gateway throttles."))
    make(OLD).reconcile()
    metrics.counted()
    caplog.clear()

    later = make(NEW)
    later.take([])
    changed = kept()
    assert changed is not None
    assert (changed.model, changed.configured, changed.changed) == (*map(model_fingerprint, (OLD, NEW)), True)
    assert [one.metric for one in metrics.counted()] == ["HiveModelChanges"]
    (warned,) = [one for one in caplog.records if one.levelno == logging.WARNING]
    assert "model has changed" in warned.message

    later.reconcile()  # an index in one file is built anew on the spot
    now = kept()
    assert now is not None
    assert (now.model, now.changed, now.before) == (model_fingerprint(NEW), False, model_fingerprint(OLD))


def test_a_change_that_is_taken_back_is_none(make: Make, kept: Callable[[], KeptModel | None]) -> None:
    make(OLD).take([])
    before = kept()
    make(NEW).take([])
    make(OLD).take([])

    assert kept() == before


def test_two_processes_that_start_at_the_same_time_keep_one_model(dynamodb: "DynamoDBClient") -> None:
    class Overtaken(DeploymentConfiguration):
        """Has looked before the other one wrote."""

        looks: ClassVar = iter([False])

        def read(self) -> KeptModel | None:
            return super().read() if next(self.looks, True) else None

    was = DeploymentConfiguration(dynamodb, "activity", lambda: stamp(NOW)).compare("first@1/64", None)

    assert Overtaken(dynamodb, "activity", lambda: stamp(NOW)).compare("second@1/64", None) == was


def test_a_store_that_is_away_does_not_keep_items_out_of_the_index(
    make: Make, store: DynamoContributions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise Unavailable("away")

    monkeypatch.setattr(DeploymentConfiguration, "compare", away)
    upkeep = make(OLD)
    add(store, replace(item("acme", "hv_1", "The gateway throttles.")))

    assert IndexFunction([upkeep])(event("hv_1"), None) == {"batchItemFailures": []}
    assert dict(upkeep.operations.indexers[0].engine.versions()) == {"acme/hv_1": 1}
