"""The MCP function as deployed, over moto's AWS: what it loads, what it wires, what it refuses to start with."""

import importlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from commonplace.capabilities import served_toolsets
from commonplace.documents.index_source import record_from_document
from commonplace.documents.tools import toolset
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.kernel import aws
from commonplace.kernel.environment import SettingsError
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records
from commonplace.search.models.local import LocalEmbeddings
from commonplace.web.mcp.app import principals
from commonplace.web.mcp.declaration import Toolset
from commonplace.web.mcp.rendering import REMOVED, cleaned
from tests.aws_fixture import BUCKET, TABLE
from tests.fakes.catalogues import publish
from tests.fakes.lambda_context import CONTEXT
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.store import FakeObjectStore
from tests.reference_files import helios
from tests.unit.web.mcp.test_invisible import all_poisoned, served
from tests.unit.web.mcp.world import body_of, call, legacy, modern

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

ROOT = Path(__file__).parents[3]
ENVIRONMENT = {
    "STAGE": "dev",
    "CONTENT_BUCKET": BUCKET,
    "ACTIVITY_TABLE": TABLE,
    "GITHUB_REPOSITORY": "example/garden",
    "GITHUB_BRANCH": "main",
    "BASE_URL": "https://kb.example.org",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "123456789012",
    "AWS_SECRET_ACCESS_KEY": "x",
    "AWS_CONFIG_FILE": os.devnull,
    "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
}
REMEMBERING = {"RECORDS_TABLE": "records", "CACHE_TABLE": "cache"}
REFERRING = {"CATALOGUES": '[{"name": "helios", "folder": "reference"}]'}
HEAVY = (
    *("boto3", "botocore", "fastapi", "numpy", "tokenizers", "httpx", "markdown_it", "rapidfuzz", "orjson"),
    *("wordllama", "yaml", "joserfc", "moto", "tree_sitter"),
)
"""The bare package `botocore`, without anything in it, is Powertools' and half a millisecond."""

Load = Callable[..., ModuleType]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index") / "documents.sqlite"
    model = LocalEmbeddings()
    engine = EmbeddedEngine(path, model)
    engine.write(embed_records([record_from_document(document) for document in garden()], model), ())
    engine.close()
    return path


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, index: Path, s3: "S3Client", dynamodb: "DynamoDBClient") -> Iterator[Load]:
    """The handler over the garden, built anew from the environment as in a new process."""
    for name in [name for name in os.environ if name.startswith(("AWS_", "MCP_"))]:
        monkeypatch.delenv(name)
    levels = {name: logging.getLogger(name).level for name in ("commonplace", "mangum", "mcp")}

    def built(**more: str) -> ModuleType:
        for name, value in (ENVIRONMENT | {"INDEX_LOCATION": index.as_uri()} | more).items():
            monkeypatch.setenv(name, value)
        sys.modules.pop("functions.mcp.handler", None)
        return importlib.import_module("functions.mcp.handler")

    for key, stored in FakeLibrary(garden()).objects.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=stored.body)
    aws._session.cache_clear()
    yield built
    sys.modules.pop("functions.mcp.handler", None)
    aws._session.cache_clear()
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


def ask(function: ModuleType, event: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = function.handler(event, CONTEXT)
    return answer


def called(function: ModuleType, name: str, era: Any = modern, **arguments: Any) -> dict[str, Any]:
    result: dict[str, Any] = body_of(ask(function, era("tools/call", call(name, **arguments))))["result"]
    return result


def test_a_start_loads_nothing_that_a_call_may_not_need() -> None:
    variables = ENVIRONMENT | REMEMBERING | REFERRING | {"INDEX_LOCATION": "s3://content/index/documents.sqlite"}
    program = (
        f"import sys, os, json; sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / 'layers' / 'core')!r}]\n"
        f"os.environ.update({variables!r})\n"
        "import functions.mcp.handler\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules if name != 'botocore'})))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(json.loads(told.stdout))
    assert "mcp" in loaded
    assert sorted(loaded.intersection(HEAVY)) == []


@pytest.mark.parametrize("era", [modern, legacy])
def test_a_search_finds_what_is_published(load: Load, era: Any) -> None:
    result = called(load(), "search_knowledge", era, query="rotating stewardship")
    assert not result.get("isError")
    assert "rotating-stewardship" in json.dumps(result["structuredContent"])


def test_calls_are_counted_in_the_table_without_keeping_addresses(load: Load) -> None:
    answer = ask(load(), modern("tools/list"))
    assert answer["headers"]["ratelimit-remaining"] == "59"
    items = aws.dynamodb().scan(TableName="activity")["Items"]
    assert len(items) == 1
    assert "192.0.2.1" not in json.dumps(items)


def test_limits_are_those_that_are_configured(load: Load) -> None:
    function = load(MCP_RATE_LIMIT_READS="1")
    assert [ask(function, modern("tools/list"))["statusCode"] for _ in range(2)] == [200, 429]


def test_the_memory_is_counted_apart(load: Load) -> None:
    laptop = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "MCP_ASSUMED_TIER": "member"}
    limits = {"MCP_RATE_LIMIT_READS": "2", "MCP_RATE_LIMITS": '{"memory": {"read": 1}}'}
    function = load(**laptop, **limits, **REMEMBERING, MCP_TOOLSETS="knowledge,memory")
    codes = [called(function, name)["_meta"]["commonplace/error"]["code"] for name in ("kb_stats", "kb_stats")]
    assert codes[1] == "RATE_LIMITED" != codes[0]
    assert [ask(function, modern("tools/list"))["statusCode"] for _ in range(3)] == [200, 200, 429]


def test_somebody_unknown_reads_no_whole_document_and_a_laptops_member_does(load: Load) -> None:
    wanted = {"contentType": "practice", "id": "seed-swap"}
    denied = called(load(), "get_document", **wanted)
    assert denied["content"][0]["text"] == "Access denied. This tool requires member access."
    laptop = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "MCP_ASSUMED_TIER": "member"}
    function = load(**laptop)
    assert function.SETTINGS.assumed_tier == "member"
    listed = body_of(ask(function, modern("tools/list")))["result"]["tools"]
    assert "create_draft" not in {tool["name"] for tool in listed}  # it is for vibecoders


def test_full_text_can_be_everybodys(load: Load) -> None:
    result = called(load(MCP_FULL_TEXT_TIER="public"), "get_document", contentType="practice", id="seed-swap")
    assert "About seed swap." in result["content"][0]["text"]


def test_without_a_writers_secret_nothing_can_be_proposed(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:writer-AbCdEf"
    given: list[KnowledgeServices] = []
    declare = toolset.knowledge_toolset

    def noted(using: KnowledgeServices) -> Toolset:
        given.append(using)
        return declare(using)

    monkeypatch.setattr(toolset, "knowledge_toolset", noted)
    for variables in ({}, {"GITHUB_WRITER_SECRET_ARN": arn}):
        load(**variables)
    assert [using.proposals is None for using in given] == [True, False]


def test_a_deployment_that_only_reads_has_no_tools_that_write(load: Load) -> None:
    for variables, writes in (({}, True), ({"MCP_READ_ONLY": "true"}, False)):
        listed = body_of(ask(load(**variables), modern("tools/list")))["result"]["tools"]
        assert ("create_draft" in {tool["name"] for tool in listed}) is writes


def test_a_toolset_of_nobody_stops_the_start(load: Load) -> None:
    with pytest.raises(ValueError, match="There is no toolset attic"):
        load(MCP_TOOLSETS="attic")


def test_the_memory_is_there_where_it_has_a_table(load: Load) -> None:
    with pytest.raises(ValueError, match="There is no toolset memory"):
        load(MCP_TOOLSETS="memory")
    listed = body_of(ask(load(MCP_TOOLSETS="memory", **REMEMBERING), modern("tools/list")))["result"]["tools"]
    assert [tool["name"] for tool in listed if tool["name"].startswith("kb_")] == [tool["name"] for tool in listed]
    assert len(listed) == 11


def test_the_reference_is_there_where_there_are_catalogues(load: Load) -> None:
    with pytest.raises(ValueError, match="There is no toolset reference"):
        load(MCP_TOOLSETS="reference")
    for more, count in (({}, 5), (REMEMBERING, 6)):
        function = load(MCP_TOOLSETS="reference", **REFERRING, **more)
        listed = body_of(ask(function, modern("tools/list")))["result"]["tools"]
        assert len(listed) == count
        assert ("report_gap" in {tool["name"] for tool in listed}) is bool(more)


@pytest.mark.parametrize("era", [modern, legacy])
def test_no_tool_of_any_toolset_answers_with_what_nobody_sees(load: Load, era: Any) -> None:
    redact = {"REDACT_FUNCTION": "arn:aws:lambda:us-east-1:123456789012:function:redact"}
    function = load(**REMEMBERING, **REFERRING, **redact, COUNTER_SECRET="x" * 32)
    names = [toolset.name for toolset in function.TOOLSETS]
    assert names == ["knowledge", "memory", "reference", "hive"]
    ask = served(*map(all_poisoned, function.TOOLSETS))
    tools = [(toolset.name, tool.name) for toolset in function.TOOLSETS for tool in toolset.tools]
    assert len(tools) > 30
    for name, tool in tools:
        result = body_of(ask(era("tools/call", call(tool), path=f"/mcp/{name}")))["result"]
        assert result["_meta"][REMOVED] > 0, tool
        assert "Tides" in result["content"][0]["text"]
        assert cleaned(json.dumps(result, ensure_ascii=False))[1] == 0, tool


@pytest.mark.parametrize("era", [modern, legacy])
def test_a_command_is_looked_up_in_what_is_published_and_nobody_is_asked_again(
    load: Load, era: Any, s3: "S3Client", monkeypatch: pytest.MonkeyPatch
) -> None:
    published = FakeObjectStore()
    publish(published, helios())
    function = load(MCP_TOOLSETS="reference", **REFERRING)
    for key, stored in published.objects.items():
        s3.put_object(Bucket="content", Key=key, Body=stored.body)
    first = called(function, "get_command", era, command="helios gw users list")
    assert first["structuredContent"]["id"] == "cmd-gw-users-list"

    monkeypatch.setattr(type(function.OBJECTS._deferred()), "get", None)
    monkeypatch.setattr(type(function.OBJECTS._deferred()), "get_if_changed", None)
    again = called(function, "get_command", era, command="helios gw users get")
    assert again["structuredContent"]["id"] == "cmd-gw-users-get"
    missed = called(function, "get_command", era, command="helios get-users")
    assert missed["isError"]
    assert "helios gw users list" in missed["content"][0]["text"]


def test_a_reference_that_nothing_was_published_of_answers_that_nothing_is_there(load: Load) -> None:
    function = load(MCP_TOOLSETS="reference", **REFERRING)
    assert called(function, "get_command", command="helios gw users list")["isError"]
    assert ask(function, modern("tools/list"))["statusCode"] == 200


@pytest.mark.parametrize(("tier", "level"), [("member", "write"), ("vibecoder", "admin")])
def test_a_laptops_callers_reach_every_toolset_and_one_organisation(load: Load, tier: str, level: str) -> None:
    laptop = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "MCP_ASSUMED_TIER": tier, "ORGANISATION": "acme"}
    function = load(**laptop, **REMEMBERING)
    known = principals(function.SETTINGS, function.IDENTITY, served_toolsets(os.environ), None)
    principal = known.identify({}, "https://kb.example.org/mcp")
    assert principal.organisation == "acme"
    assert principal.scopes == {f"knowledge:{level}", f"memory:{level}", f"hive:{level}"}


IDENTIFYING = {
    "IDENTITY_TABLE": "identity",
    "ROLE_CACHE_TABLE": "cache",
    "IDENTITY_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:identity-AbCdEf",
    "RPC_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:rpc-AbCdEf",
}


@pytest.mark.parametrize("identity", [IDENTIFYING, {}])
def test_a_token_beside_an_assumed_tier_is_never_ignored(load: Load, identity: dict[str, str]) -> None:
    laptop = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "MCP_ASSUMED_TIER": "vibecoder"}
    function = load(**laptop, **identity)
    assert ask(function, modern("tools/list"))["statusCode"] == 200
    for era in (modern, legacy):
        event = era("tools/list")
        event["headers"]["authorization"] = "Bearer x"
        assert ask(function, event)["statusCode"] == 401


def test_a_deployment_without_an_address_stops_the_start(load: Load) -> None:
    with pytest.raises(SettingsError, match=r"^BASE_URL is not set\."):
        load(BASE_URL="")


def test_an_event_that_keeps_the_function_warm_is_answered(load: Load) -> None:
    assert ask(load(), {"source": "aws.events"}) == {"ok": True}


def test_when_the_store_is_away_a_tool_says_so_and_lists_go_on(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    function = load(CONTENT_BUCKET="elsewhere")
    assert ask(function, modern("tools/list"))["statusCode"] == 200
    result = called(function, "list_groups")
    assert result["isError"]
    assert result["content"][0]["text"].startswith("UNAVAILABLE")
    assert "elsewhere" not in json.dumps(result)


def test_the_server_says_what_it_is_and_where(load: Load) -> None:
    info = body_of(ask(load(SITE_NAME="The garden"), modern("server/discover")))["result"]
    told = info.get("serverInfo") or info["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert (told["title"], told["websiteUrl"]) == ("The garden", "https://kb.example.org/connect")
    assert told["icons"][0]["src"] == "https://kb.example.org/icon.png"
