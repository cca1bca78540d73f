"""The application behind API Gateway: both payloads, binary and large bodies, and the whole function over S3."""

import base64
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import boto3
import pytest
from moto import mock_aws

from commonplace.kernel import aws
from commonplace.web.gateway import MAX_TEXT_BYTES, Gateway
from commonplace.web.rest.declaration import Site
from tests.fakes.lambda_context import CONTEXT
from tests.fakes.library import garden, make
from tests.unit.documents.rest.conftest import World
from tests.unit.documents.rest.events import payload_1, payload_2

ROOT = Path(__file__).parents[4]
HANDLER = ROOT / "functions" / "rest" / "handler.py"
ENVIRONMENT = {
    "STAGE": "test",
    "CONTENT_BUCKET": "content",
    "ACTIVITY_TABLE": "activity",
    "GITHUB_REPOSITORY": "example/garden",
    "GITHUB_BRANCH": "main",
    "EMBEDDING_PROVIDER": "none",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
}

Ask = Callable[[dict[str, Any]], dict[str, Any]]
both_payloads = pytest.mark.parametrize("event", [payload_2, payload_1])


pytestmark = pytest.mark.usefixtures("loop")


@pytest.fixture
def ask(world: World) -> Ask:
    gateway = Gateway(world.app(Site(name="The garden")))
    return lambda event: gateway(event, cast(Any, None))


@both_payloads
def test_document_answers_either_payload(ask: Ask, event: Callable[..., dict[str, Any]]) -> None:
    answer = ask(event("/api/v1/entries/practice/seed-swap"))
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert json.loads(answer["body"])["id"] == "seed-swap"
    assert answer["headers"]["etag"].startswith('"')
    assert answer["headers"]["ratelimit-remaining"] == "599"


@both_payloads
def test_repeated_parameters_arrive_all(ask: Ask, event: Callable[..., dict[str, Any]]) -> None:
    answer = ask(event("/api/v1/entries", "tags=governance&tags=roles"))
    assert [entry["id"] for entry in json.loads(answer["body"])["entries"]] == ["rotating-stewardship"]


@both_payloads
def test_binary_attachment_travels_as_base64(ask: Ask, event: Callable[..., dict[str, Any]]) -> None:
    answer = ask(event("/api/v1/attachments/seedlings.png"))
    assert answer["isBase64Encoded"] is True
    assert base64.b64decode(answer["body"]) == b"\x89PNG\r\n\x1a\n\x00\xff"


@both_payloads
@pytest.mark.parametrize("path", ["/feed.json", "/api/v1/schemas/pattern.json", "/llms.txt"])
def test_text_travels_as_text(ask: Ask, event: Callable[..., dict[str, Any]], path: str) -> None:
    assert ask(event(path))["isBase64Encoded"] is False


@both_payloads
def test_head_and_conditional_requests_have_no_body(ask: Ask, event: Callable[..., dict[str, Any]]) -> None:
    head = ask(event("/api/v1/entries/practice/seed-swap", method="HEAD"))
    assert (head["statusCode"], head["body"]) == (200, "")
    unchanged = ask(event("/api/v1/entries/practice/seed-swap", **{"if-none-match": head["headers"]["etag"]}))
    assert (unchanged["statusCode"], unchanged["body"]) == (304, "")


@both_payloads
def test_request_body_over_the_limit_is_413(ask: Ask, event: Callable[..., dict[str, Any]]) -> None:
    answer = ask(event("/api/v1/entries", method="POST") | {"body": "x" * 262_145})
    assert answer["statusCode"] == 413
    assert json.loads(answer["body"])["error"]["code"] == "TOO_LARGE"


@both_payloads
@pytest.mark.parametrize("host", ["[::1]:8080", "a:b:c", "api:port", ""])
def test_host_that_is_none_breaks_nothing(ask: Ask, event: Callable[..., dict[str, Any]], host: str) -> None:
    answer = ask(event("/llms.txt", host=host, Host=host))
    assert answer["statusCode"] == 200


@both_payloads
def test_event_without_headers_breaks_nothing(ask: Ask, event: Callable[..., dict[str, Any]]) -> None:
    assert ask(event("/llms.txt") | {"headers": None, "multiValueHeaders": None})["statusCode"] == 200


def test_limits_count_the_address_the_gateway_saw(world: World) -> None:
    gateway = Gateway(world.app(Site(reads_per_minute=1)))
    first, other = payload_2("/api/v1/tags"), payload_2("/api/v1/tags")
    other["requestContext"]["http"]["sourceIp"] = "192.0.2.2"
    statuses = [gateway(event, cast(Any, None))["statusCode"] for event in (first, first, other)]
    assert statuses == [200, 429, 200]


def test_large_text_is_sent_so_that_it_fits_a_function_answer(world: World) -> None:
    text = '"\\\n' * (MAX_TEXT_BYTES // 4)
    world.store.publish([make("file", "quotes", "quotes.md", content=text)])
    answer = Gateway(world.app())(payload_2("/api/v1/entries/file/quotes"), cast(Any, None))
    assert answer["isBase64Encoded"] is True
    assert json.loads(base64.b64decode(answer["body"]))["content"] == text
    assert len(json.dumps(answer)) < 6_291_456


def test_function_starts_without_what_only_others_need() -> None:
    program = (
        f"import sys, os, json; sys.path[:0] = [{str(HANDLER.parent)!r}, {str(ROOT / 'layers' / 'core')!r}]\n"
        f"os.environ.update({ENVIRONMENT | {'INDEX_LOCATION': 's3://content/index/documents.sqlite'}!r})\n"
        "import handler; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(json.loads(told.stdout))
    assert "fastapi" in loaded
    assert loaded.isdisjoint(
        {"mcp", "web3", "yaml", "markdown_it", "numpy", "wordllama", "tokenizers", "httpx", "moto"}
    )


def aws_client(service: str) -> Any:
    return boto3.session.Session("test", "test", region_name="us-east-1").client(service)  # type: ignore[call-overload]


@pytest.fixture
def function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """The function as it is deployed, over an emulated store with the garden in it."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("INDEX_LOCATION", (tmp_path / "documents.sqlite").as_uri())
    with mock_aws():
        aws_client("s3").create_bucket(Bucket="content")
        aws_client("dynamodb").create_table(
            TableName="activity",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[
                {"AttributeName": "pk", "AttributeType": "S"},
                {"AttributeName": "sk", "AttributeType": "S"},
            ],
            BillingMode="PAY_PER_REQUEST",
        )
        aws._session.cache_clear()
        spec = importlib.util.spec_from_file_location("rest_function", HANDLER)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)

        def ask(event: dict[str, Any]) -> dict[str, Any]:
            answer: dict[str, Any] = module.handler(event, CONTEXT)
            return answer

        yield ask
    aws._session.cache_clear()


def fill(world: World) -> None:
    client = aws_client("s3")
    for key, stored in world.store.objects.items():
        client.put_object(Bucket="content", Key=key, Body=stored.body)


def test_function_serves_what_the_bucket_holds(function: Ask, world: World) -> None:
    fill(world)
    answer = function(payload_2("/api/v1/entries/pattern/rotating-stewardship"))
    expected = next(document for document in garden() if document.id == "rotating-stewardship")
    assert json.loads(answer["body"])["content"] == expected.content
    assert answer["headers"]["ratelimit-remaining"] == "599"
    health = json.loads(function(payload_2("/health"))["body"])
    assert (health["status"], health["documents"]) == ("ok", 11)


def test_function_counts_reads_in_the_table_without_keeping_addresses(function: Ask) -> None:
    function(payload_2("/api/v1/entries"))
    items = aws_client("dynamodb").scan(TableName="activity")["Items"]
    assert len(items) == 1
    assert "192.0.2.1" not in json.dumps(items)


def test_function_searches_an_index_that_is_still_empty(function: Ask, world: World) -> None:
    fill(world)
    answer = function(payload_2("/api/v1/search", "q=who+carries+what"))
    assert (answer["statusCode"], json.loads(answer["body"])["results"]) == (200, [])


def test_function_before_the_first_sync_serves_an_empty_library(function: Ask) -> None:
    assert json.loads(function(payload_1("/api/v1/entries"))["body"])["total"] == 0
    assert function(payload_1("/api/v1/sync"))["statusCode"] == 404
