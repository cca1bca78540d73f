"""The index of what is contributed on a real node, as the index function keeps it up through a change of the model."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.hive.collection import COLLECTION, collection
from commonplace.hive.deployment import DeploymentConfiguration
from commonplace.hive.search import HiveSearch
from commonplace.hive.store import DynamoContributions
from commonplace.search.collections import IndexContext, IndexFunction
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.model import IndexMismatch
from commonplace.search.opensearch.client import OpenSearchClient
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.settings import RetrievalSettings
from tests.aws_fixture import aws, dynamodb, dynamodb_client, session
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.hive_items import CONTRIBUTED, item
from tests.fakes.store import FakeObjectStore
from tests.unit.hive.test_collection import AUTHOR, ENVIRON, NOW, add, event

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

__all__ = ["aws", "dynamodb", "dynamodb_client", "session"]

pytestmark = pytest.mark.opensearch

OLD, NEW = FakeEmbeddings("1"), FakeEmbeddings("2")
Deployed = Callable[..., IndexFunction]


@pytest.fixture
def deployed(dynamodb: "DynamoDBClient", opensearch_settings: RetrievalSettings) -> Deployed:
    def function(*models: FakeEmbeddings) -> IndexFunction:
        context = IndexContext(
            environ=ENVIRON,
            settings=opensearch_settings,
            objects=FakeObjectStore(),
            dynamodb=lambda: dynamodb,
            models=models,
            note=lambda _collection: None,
            changes=None,
        )
        made = collection(context)
        assert made is not None
        return IndexFunction([made])

    return function


def step(function: IndexFunction, name: str, **told: Any) -> dict[str, Any]:
    return function({"source": "commonplace.operator", "collection": COLLECTION, "step": name, **told}, None)


def test_a_change_of_the_model_is_seen_and_taken_over_by_the_next_generation(
    deployed: Deployed,
    dynamodb: "DynamoDBClient",
    opensearch: OpenSearchClient,
    opensearch_settings: RetrievalSettings,
) -> None:
    store = DynamoContributions(dynamodb, "activity", "activity")
    kept = DeploymentConfiguration(dynamodb, "activity", lambda: CONTRIBUTED).read
    add(store, item("acme", "hv_1", "The gateway throttles."), item("globex", "hv_2", "The gateway waits."))
    assert deployed(OLD)(event("hv_1"), None) == {"batchItemFailures": []}
    assert deployed(OLD)({"source": "aws.events"}, None)["indexed"] == 1

    with pytest.raises(IndexMismatch):
        deployed(NEW)(event("hv_1"), None)
    changed = kept()
    assert changed is not None
    assert (changed.model, changed.configured) == (model_fingerprint(OLD), model_fingerprint(NEW))

    both = deployed(OLD, NEW)
    assert step(both, "begin")["action"] == "build"
    answer = step(both, "build")
    while answer["action"] == "build":
        answer = step(both, "build", progress=answer["progress"])
    store.delete("globex", item("globex", "hv_2", "").id, AUTHOR.record("hive.delete", NOW.timestamp()))
    assert both(event("hv_2", owner="globex"), None) == {"batchItemFailures": []}
    assert step(both, "swap")["action"] == "swapped"

    assert deployed(NEW)({"source": "aws.events"}, None)["indexed"] == 0
    now = kept()
    assert now is not None
    assert (now.model, now.changed, now.before) == (model_fingerprint(NEW), False, model_fingerprint(OLD))
    engine = OpenSearchEngine(opensearch, opensearch_settings.collection(COLLECTION).opensearch_index, NEW)
    assert dict(engine.versions()) == {"acme/hv_1": 1}
    ((found, cosine),) = HiveSearch(engine, [NEW], store, {}).similar("acme", "The gateway throttles.", 5)
    assert found == "hv_1"
    assert cosine == pytest.approx(1.0, abs=1e-3)
