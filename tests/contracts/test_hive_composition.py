"""The hive as settings make it, over moto's tables: nothing that redacts, no index yet."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commonplace.hive.composition import new_id, services
from commonplace.hive.model import Asked, AutoApproval, Draft, Rules
from commonplace.hive.operations import HiveServices
from commonplace.kernel import aws
from commonplace.kernel.audit import Author
from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.search.settings import RetrievalSettings
from tests.aws_fixture import TABLE
from tests.dynamodb_fixture import dump, new_table
from tests.fakes.store import FakeObjectStore

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OTTER = Author(organisation="acme", account="a" * 32, name="otter")


@pytest.fixture
def environ(dynamodb: "DynamoDBClient", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    aws._session.cache_clear()
    yield {
        "RECORDS_TABLE": new_table(dynamodb, "records"),
        "CACHE_TABLE": "cache",
        "ACTIVITY_TABLE": TABLE,
        "STAGE": "dev",
        "REDACT_FUNCTION": "arn:aws:lambda:us-east-1:123456789012:function:redact",
        "ORGANISATION_NAMES": '{"acme": "Acme DAO"}',
        "EMBEDDING_PROVIDER": "none",
        "SEARCH_ENGINE": "embedded",
        "INDEX_LOCATION": f"file://{tmp_path}/documents.sqlite",
    }
    aws._session.cache_clear()


def made(environ: dict[str, str]) -> HiveServices:
    return services(environ, RetrievalSettings.from_environ(environ), FakeObjectStore())


def test_without_the_function_that_redacts_nothing_is_stored(
    environ: dict[str, str], dynamodb: "DynamoDBClient"
) -> None:
    with pytest.raises(Unavailable, match="nothing was stored"):
        made(environ).hive.contribute(OTTER, Draft(content="Retries need jitter.", category="bug_fix"))
    assert "jitter" not in dump(dynamodb, environ["RECORDS_TABLE"])


def test_rules_figures_and_empty_searches_need_no_more_than_the_table(environ: dict[str, str]) -> None:
    composed = made(environ)
    rules = composed.reviews.change_rules(OTTER, Rules(approvals=(AutoApproval(id="r", agent="otter"),)))
    assert made(environ).reviews.rules(OTTER) == rules
    stats = composed.reviews.stats(OTTER)
    assert (stats.pending, stats.model, stats.model_changed) == (0, "", False)
    with pytest.raises(Unavailable):
        composed.reviews.change_rules(OTTER, Rules(patterns=("a+",), revision=1))


def test_a_search_before_there_is_an_index_finds_nothing_and_says_what_to_do(environ: dict[str, str]) -> None:
    answer = made(environ).hive.search(OTTER, Asked(query="jitter"))
    assert (answer.results, answer.total) == ((), 0)
    assert "add_knowledge" in str(answer.hint)


@pytest.mark.parametrize("missing", ["RECORDS_TABLE", "REDACT_FUNCTION", "ACTIVITY_TABLE"])
def test_what_is_missing_is_said_at_once(environ: dict[str, str], missing: str) -> None:
    with pytest.raises(SettingsError, match=missing):
        made({name: value for name, value in environ.items() if name != missing})


def test_ids_are_of_their_own() -> None:
    ids = {new_id() for _ in range(1_000)}
    assert len(ids) == 1_000
    assert all(len(id) == 29 and id.startswith("hv_") for id in ids)
