"""The REST function as deployed, over moto's AWS: its search gets all it can use, and can do without an index."""

import importlib
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.documents.index_source import record_from_document
from commonplace.kernel import aws
from commonplace.kernel.operator_key import fresh_key, key_hash
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records
from commonplace.search.models.local import LocalEmbeddings
from tests.aws_fixture import BUCKET
from tests.fakes.lambda_context import CONTEXT
from tests.fakes.library import FakeLibrary, garden
from tests.unit.documents.rest.events import payload_2

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

KEY = fresh_key()

Load = Callable[..., ModuleType]


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, s3: "S3Client") -> Iterator[Load]:
    """The handler over the garden, built anew from the environment as in a new process."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    index = tmp_path / "documents.sqlite"
    write_index(index)
    variables = {
        "STAGE": "dev",
        "CONTENT_BUCKET": BUCKET,
        "ACTIVITY_TABLE": "activity",
        "GITHUB_REPOSITORY": "example/garden",
        "GITHUB_BRANCH": "main",
        "INDEX_LOCATION": index.as_uri(),
        "RATE_LIMIT_READS": "0",
        "RATE_LIMIT_SEARCHES": "0",
        "OPERATOR_KEY_HASH": key_hash(KEY),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "123456789012",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }

    def built(**more: str) -> ModuleType:
        for name, value in (variables | more).items():
            monkeypatch.setenv(name, value)
        sys.modules.pop("functions.rest.handler", None)
        return importlib.import_module("functions.rest.handler")

    for key, stored in FakeLibrary(garden()).objects.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=stored.body)
    aws._session.cache_clear()
    yield built
    sys.modules.pop("functions.rest.handler", None)
    aws._session.cache_clear()


def write_index(path: Path) -> None:
    model = LocalEmbeddings()
    records = [record_from_document(document) for document in garden() if document.id != "seed-swap"]
    engine = EmbeddedEngine(path, model)
    engine.write(embed_records(records, model), ())
    engine.close()


def ask(handler: ModuleType, path: str, query: str = "", **headers: str) -> dict[str, Any]:
    answer: dict[str, Any] = handler.handler(payload_2(path, query, **headers), CONTEXT)
    return answer


def search(handler: ModuleType, query: str, **headers: str) -> dict[str, Any]:
    answer = ask(handler, "/api/v1/search", query, **headers)
    assert answer["statusCode"] == 200, answer["body"]
    found: dict[str, Any] = json.loads(answer["body"])
    return found


def test_a_search_has_models_documents_and_what_is_published(load: Load) -> None:
    handler = load()
    found = search(handler, "q=rotating+stewardship&include=documents")
    assert (found["fallback"], found["totalRelation"]) == (False, "candidates")
    assert found["results"][0]["document"]["content"].startswith("\r\n# Rotating stewardship")
    asked = "q=seeds&explain=true&expect=practice/seed-swap"
    told = search(handler, asked, authorization=f"Bearer {KEY}")["explanation"]
    assert told["expectation"]["verdict"] == "not-indexed"
    assert told["model"]
    unpublished = search(handler, asked.replace("seed-swap", "never"), authorization=f"Bearer {KEY}")
    assert unpublished["explanation"]["expectation"]["verdict"] == "not-published"


def test_an_explanation_needs_the_key_whose_hash_is_configured(load: Load) -> None:
    handler = load()
    assert ask(handler, "/api/v1/search", "q=x&explain=true")["statusCode"] == 401
    assert ask(handler, "/api/v1/search", "q=x&explain=true", authorization="Bearer cpo_x")["statusCode"] == 401
    assert "explanation" in search(load(EXPLAIN="anyone"), "q=x&explain=true")


def test_the_fusion_that_is_configured_is_the_one_in_use(load: Load) -> None:
    told = search(load(EXPLAIN="anyone", FUSION="rrf:0.3,0.7"), "q=governance&explain=true")
    assert "0.3" in told["explanation"]["fusion"]


def test_a_fusion_that_cannot_be_fails_at_import(load: Load) -> None:
    with pytest.raises(ValueError, match="weights"):
        load(FUSION="min-max:0,0")


def test_with_a_dead_opensearch_search_is_503_and_everything_else_answers(load: Load) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        endpoint = f"http://127.0.0.1:{closed.getsockname()[1]}"
        handler = load(SEARCH_ENGINE="opensearch", OPENSEARCH_ENDPOINT=endpoint)
        answer = ask(handler, "/api/v1/search", "q=governance")
        assert (answer["statusCode"], json.loads(answer["body"])["error"]["code"]) == (503, "UNAVAILABLE")
        assert int(answer["headers"]["retry-after"]) > 0
        assert endpoint.removeprefix("http://") not in answer["body"]
        for path in ("/api/v1/entries", "/api/v1/entries/tag/governance", "/llms.txt"):
            assert ask(handler, path)["statusCode"] == 200
        health = json.loads(ask(handler, "/health")["body"])
        assert (health["status"], health["index"]) == ("degraded", {"status": "unavailable"})
