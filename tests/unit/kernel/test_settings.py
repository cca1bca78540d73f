from pathlib import Path

import pytest

from commonplace.documents.settings import DocumentsSettings
from commonplace.kernel.environment import SettingsError
from commonplace.repository.settings import SyncSettings, WebhookSettings
from commonplace.search.settings import EmbeddingChoice, IndexSettings, RerankChoice, RetrievalSettings
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.settings import RestSettings

ENVIRONMENT = {
    "STAGE": "dev",
    "CONTENT_BUCKET": "content",
    "ACTIVITY_TABLE": "activity",
    "SYNC_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:commonplace-dev-sync",
    "GITHUB_REPOSITORY": "octo-org/field.notes",
    "GITHUB_BRANCH": "main",
    "GITHUB_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:github-AbCdEf",
    "INDEX_LOCATION": "s3://content/index/documents.sqlite",
    "BASE_URL": "https://kb.example.org",
}
KINDS = [WebhookSettings, SyncSettings, IndexSettings, RestSettings, McpSettings]


@pytest.mark.parametrize("kind", KINDS)
def test_a_complete_environment_is_read(kind: type[WebhookSettings]) -> None:
    assert kind.from_environ(ENVIRONMENT).stage == "dev"


def test_defaults_are_those_of_the_public_services() -> None:
    sync = SyncSettings.from_environ(ENVIRONMENT)
    rest = RestSettings.from_environ({name: ENVIRONMENT[name] for name in ENVIRONMENT if name != "BASE_URL"})

    assert (sync.github_api_url, DocumentsSettings.from_environ({}).exclude) == ("https://api.github.com", None)
    assert (rest.search_engine, rest.embedding_provider, rest.base_url) == ("embedded", EmbeddingChoice("local"), None)
    assert (rest.rerank_provider, rest.fusion, rest.cache_table) == (RerankChoice("none"), None, None)
    assert (rest.embedding_provider_next, rest.bedrock_region) == (None, None)
    assert (rest.explain, rest.operator_key_hash) == ("operators", None)
    assert (rest.site_name, rest.reads_per_minute, rest.searches_per_minute) == ("Commonplace", 600, 60)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (WebhookSettings, "ACTIVITY_TABLE SYNC_MACHINE_ARN GITHUB_REPOSITORY GITHUB_BRANCH GITHUB_SECRET_ARN"),
        (SyncSettings, "CONTENT_BUCKET ACTIVITY_TABLE GITHUB_REPOSITORY GITHUB_BRANCH GITHUB_SECRET_ARN"),
        (IndexSettings, "CONTENT_BUCKET INDEX_LOCATION"),
        (RestSettings, "CONTENT_BUCKET ACTIVITY_TABLE GITHUB_REPOSITORY GITHUB_BRANCH INDEX_LOCATION"),
        (McpSettings, "CONTENT_BUCKET ACTIVITY_TABLE GITHUB_REPOSITORY GITHUB_BRANCH INDEX_LOCATION BASE_URL"),
    ],
)
def test_a_missing_or_blank_variable_is_named(kind: type[WebhookSettings], names: str) -> None:
    for name in ["STAGE", *names.split()]:
        for without in ({key: ENVIRONMENT[key] for key in ENVIRONMENT if key != name}, ENVIRONMENT | {name: " "}):
            with pytest.raises(SettingsError, match=f"^{name} is not set. It must be "):
                kind.from_environ(without)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STAGE", "Production!"),
        ("GITHUB_REPOSITORY", "field.notes"),
        ("GITHUB_REPOSITORY", "octo-org/.."),
        ("GITHUB_REPOSITORY", "octo-org/notes/extra"),
        ("GITHUB_BRANCH", "two words"),
        ("GITHUB_BRANCH", "a..b"),
        ("GITHUB_BRANCH", "/main"),
        ("GITHUB_SECRET_ARN", "arn:aws:states:us-east-1:123456789012:stateMachine:x"),
        ("GITHUB_SECRET_ARN", "not-an-arn"),
        ("GITHUB_API_URL", "http://api.github.com"),
        ("GITHUB_API_URL", "https://user@api.github.com"),
        ("GITHUB_API_URL", "ftp://127.0.0.1"),
    ],
)
def test_a_malformed_sync_variable_is_named_with_its_valid_values(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        SyncSettings.from_environ(ENVIRONMENT | {name: value})


@pytest.mark.parametrize("value", ["drafts/", "{}", '["drafts/", 3]'])
def test_malformed_exclusions_are_named_with_their_valid_values(value: str) -> None:
    with pytest.raises(SettingsError, match=r"^EXCLUDE is malformed\. It must be "):
        DocumentsSettings.from_environ({"EXCLUDE": value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("INDEX_LOCATION", "https://example.org/index"),
        ("INDEX_LOCATION", "s3://bucket"),
        ("INDEX_LOCATION", "file://host/path"),
        ("SEARCH_ENGINE", "grep"),
        ("EMBEDDING_PROVIDER", "magic"),
        ("EMBEDDING_PROVIDER", "local:256"),
        ("EMBEDDING_PROVIDER", "bedrock-titan:300"),
        ("EMBEDDING_PROVIDER", "bedrock-cohere:96"),
        ("EMBEDDING_PROVIDER", "onnx:relative/folder"),
        ("EMBEDDING_PROVIDER", "onnx:"),
        ("EMBEDDING_PROVIDER_NEXT", "none"),
        ("EMBEDDING_PROVIDER_NEXT", "titan"),
        ("RERANK_PROVIDER", "local"),
        ("RERANK_PROVIDER", "onnx:model"),
        ("FUSION", "average"),
        ("FUSION", "min-max:1"),
        ("FUSION", "rrf:-1,1"),
        ("OPENSEARCH_ENDPOINT", "http://search.example.org"),
        ("OPENSEARCH_SERVICE", "ec2"),
        ("OPENSEARCH_INDEX", "Documents"),
        ("OPENSEARCH_PARAMETERS", "m=16"),
        ("OPENSEARCH_PARAMETERS", "[16]"),
        ("BEDROCK_REGION", "Frankfurt"),
        ("EXPLAIN", "nobody"),
        ("OPERATOR_KEY_HASH", "secret"),
        ("BASE_URL", "example.org"),
        ("RATE_LIMIT_READS", "-1"),
        ("RATE_LIMIT_READS", "many"),
        ("RATE_LIMIT_SEARCHES", "99999999"),
    ],
)
def test_a_malformed_rest_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        RestSettings.from_environ(ENVIRONMENT | {name: value})


def test_a_laptop_environment_is_read() -> None:
    laptop = ENVIRONMENT | {
        "GITHUB_API_URL": "http://127.0.0.1:8123/",
        "INDEX_LOCATION": "file:///data/documents.sqlite",
        "BASE_URL": "http://localhost:8000",
        "EXCLUDE": '["drafts/", "tools/"]',
        "GITHUB_BRANCH": "feature/näher",
    }

    sync, rest = SyncSettings.from_environ(laptop), RestSettings.from_environ(laptop)

    assert sync.github_api_url == "http://127.0.0.1:8123"
    assert DocumentsSettings.from_environ(laptop).exclude == ("drafts/", "tools/")
    assert (rest.index_location, rest.base_url) == ("file:///data/documents.sqlite", "http://localhost:8000")
    assert rest.branch == "feature/näher"


OPENSEARCH = {name: value for name, value in ENVIRONMENT.items() if name != "INDEX_LOCATION"} | {
    "SEARCH_ENGINE": "opensearch",
    "OPENSEARCH_ENDPOINT": "https://search.example.org",
}


@pytest.mark.parametrize("kind", [IndexSettings, RestSettings])
def test_opensearch_needs_an_endpoint_and_no_index_location(kind: type[IndexSettings]) -> None:
    settings = kind.from_environ(OPENSEARCH)

    assert (settings.search_engine, settings.index_location) == ("opensearch", None)
    assert (settings.opensearch_endpoint, settings.opensearch_service) == ("https://search.example.org", "es")
    assert (settings.opensearch_index, settings.opensearch_parameters) == ("commonplace-dev-documents", None)
    with pytest.raises(SettingsError, match=r"^OPENSEARCH_ENDPOINT is not set\. It must be an https:// URL"):
        kind.from_environ(OPENSEARCH | {"OPENSEARCH_ENDPOINT": " "})


def test_requests_to_this_machine_are_not_signed_unless_asked_for() -> None:
    laptop = OPENSEARCH | {"OPENSEARCH_ENDPOINT": "http://127.0.0.1:9200"}

    assert IndexSettings.from_environ(laptop).opensearch_service == "none"
    assert IndexSettings.from_environ(laptop | {"OPENSEARCH_SERVICE": "aoss"}).opensearch_service == "aoss"


def test_what_is_given_for_retrieval_is_read_the_same_by_writer_and_reader() -> None:
    given = OPENSEARCH | {
        "OPENSEARCH_INDEX": "kb",
        "OPENSEARCH_PARAMETERS": '{"m": 24}',
        "EMBEDDING_PROVIDER": "bedrock-titan",
        "EMBEDDING_PROVIDER_NEXT": "bedrock-cohere:512",
        "BEDROCK_REGION": "eu-central-1",
        "CACHE_TABLE": "cache",
    }

    writer, reader = IndexSettings.from_environ(given), RestSettings.from_environ(given)

    names = RetrievalSettings.model_fields
    assert [getattr(writer, name) for name in names] == [getattr(reader, name) for name in names]
    assert (writer.opensearch_index, writer.opensearch_parameters) == ("kb", '{"m": 24}')
    assert writer.embedding_provider == EmbeddingChoice("bedrock-titan", 1024)
    assert writer.embedding_provider_next == EmbeddingChoice("bedrock-cohere", 512)
    assert (writer.bedrock_region, writer.cache_table) == ("eu-central-1", "cache")


def test_retrieval_can_be_read_without_a_function_around_it() -> None:
    settings = RetrievalSettings.from_environ({"STAGE": "dev", "INDEX_LOCATION": "file:///index.sqlite"})
    assert settings == RetrievalSettings(index_location="file:///index.sqlite")


@pytest.mark.parametrize(
    ("documents", "memory"),
    [
        ("file:///data/documents.sqlite", "file:///data/memory.sqlite"),
        ("s3://bucket/index/documents.sqlite", "s3://bucket/index/memory.sqlite"),
        ("s3://documents/index/kb.sqlite", "s3://documents/index/kb-memory.sqlite"),
        ("file:///documents/my-documents.db", "file:///documents/my-memory.db"),
        ("file:///data/mydocuments", "file:///data/mydocuments-memory"),
    ],
)
def test_the_file_of_the_memory_is_a_sibling_of_that_of_the_documents(documents: str, memory: str) -> None:
    settings = RetrievalSettings(index_location=documents)

    assert settings.collection("memory").index_location == memory
    assert settings.collection("documents") is settings


@pytest.mark.parametrize(
    ("documents", "memory"),
    [("commonplace-dev-documents", "commonplace-dev-memory"), ("documents", "memory"), ("kb", "kb-memory")],
)
def test_the_index_of_the_memory_has_a_stem_of_its_own(documents: str, memory: str) -> None:
    settings = RetrievalSettings(search_engine="opensearch", opensearch_index=documents).collection("memory")

    assert (settings.opensearch_index, settings.index_location) == (memory, None)


@pytest.mark.parametrize("named", ["documents", "kb", "my-documents", "commonplace-dev-documents"])
def test_no_two_collections_share_an_index(named: str) -> None:
    settings = RetrievalSettings(index_location=f"s3://bucket/index/{named}.sqlite", opensearch_index=named)
    made = [settings.collection(name) for name in ("documents", "memory", "reference")]

    assert len({each.index_location for each in made}) == len({each.opensearch_index for each in made}) == len(made)


def test_only_the_reader_reranks_fuses_and_explains() -> None:
    given = ENVIRONMENT | {
        "RERANK_PROVIDER": "onnx:/opt/model folder",
        "FUSION": "rrf:0.3,0.7",
        "EXPLAIN": "anyone",
        "OPERATOR_KEY_HASH": "0f" * 32,
    }

    rest = RestSettings.from_environ(given)

    assert rest.rerank_provider == RerankChoice("onnx", Path("/opt/model folder"))
    assert (rest.fusion, rest.explain, rest.operator_key_hash) == ("rrf:0.3,0.7", "anyone", "0f" * 32)


def test_an_mcp_server_is_open_for_reading_and_modest_unless_it_is_told_otherwise() -> None:
    mcp = McpSettings.from_environ(ENVIRONMENT)

    assert (mcp.toolsets, mcp.read_only, mcp.allowed_origins) == (("knowledge",), False, ())
    assert (mcp.full_text_tier, mcp.resource_host, mcp.names_authors) == ("member", "commonplace", False)
    assert (mcp.reads_per_minute, mcp.searches_per_minute, mcp.writes_per_minute) == (60, 20, 10)
    assert (mcp.listens_per_account, mcp.listens, mcp.document_tokens) == (2, 5, 5_000)
    assert (mcp.github_api_url, mcp.github_writer_secret_arn) == ("https://api.github.com", None)
    assert (mcp.site_name, mcp.base_url, mcp.assumed_tier) == ("Commonplace", "https://kb.example.org", None)


def test_the_memory_has_limits_of_its_own_unless_it_is_told_otherwise() -> None:
    mcp = McpSettings.from_environ(ENVIRONMENT)
    told = McpSettings.from_environ(ENVIRONMENT | {"MCP_RATE_LIMITS": "{}", "MCP_SERVICE_RATE_FACTOR": "1"})
    account = McpSettings.from_environ(ENVIRONMENT | {"MCP_ACCOUNT_RATE_FACTOR": "1"})

    assert (mcp.rate_limits, mcp.service_rate_factor) == ({"memory": {"read": 300, "search": 120, "write": 120}}, 5)
    assert (told.rate_limits, told.service_rate_factor) == ({}, 1)
    assert told.toolset_limits == {"governance": {"read": 60, "search": 20, "write": 10}, "commons": {"search": 20}}
    named = McpSettings.from_environ(ENVIRONMENT | {"MCP_RATE_LIMITS": '{"governance": {"read": 5}}'})
    assert named.toolset_limits == {"governance": {"read": 5, "search": 20, "write": 10}, "commons": {"search": 20}}
    assert (mcp.account_rate_factor, account.account_rate_factor) == (3, 1)
    assert hash(mcp) != hash(mcp.model_copy(update={"site_name": "Another"}))  # connections are remembered by settings


def test_everything_of_an_mcp_server_can_be_told() -> None:
    mcp = McpSettings.from_environ(
        ENVIRONMENT
        | {
            "MCP_TOOLSETS": "knowledge, memory,knowledge",
            "MCP_READ_ONLY": "true",
            "MCP_ALLOWED_ORIGINS": "https://App.example.org/, http://localhost:6274",
            "MCP_FULL_TEXT_TIER": "public",
            "MCP_URI_HOST": "garden.example",
            "MCP_NAME_AUTHORS": "true",
            "MCP_DOCUMENT_TOKENS": "2300",
            "MCP_RATE_LIMIT_READS": "0",
            "GITHUB_WRITER_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:writer-AbCdEf",
        }
    )

    assert mcp.toolsets == ("knowledge", "memory")
    assert mcp.allowed_origins == ("https://app.example.org", "http://localhost:6274")
    assert (mcp.read_only, mcp.full_text_tier, mcp.uri_host) == (True, "public", "garden.example")
    assert (mcp.names_authors, mcp.reads_per_minute, mcp.document_tokens) == (True, 0, 2_300)
    assert (mcp.github_writer_secret_arn or "").endswith("secret:writer-AbCdEf")


@pytest.mark.parametrize(
    ("base_url", "told", "origins"),
    [
        ("https://kb.example.org", None, ("*",)),
        ("https://kb.example.org", "https://app.example.org", ("https://app.example.org",)),
        ("http://127.0.0.1:8787", None, ()),
        ("http://localhost:8787", "*", ("*",)),
    ],
)
def test_pages_of_every_origin_may_call_a_deployment_and_a_laptop_answers_its_own(
    base_url: str, told: str | None, origins: tuple[str, ...]
) -> None:
    given = ENVIRONMENT | {"BASE_URL": base_url} | ({"MCP_ALLOWED_ORIGINS": told} if told else {})
    assert McpSettings.from_environ(given).origins == origins


@pytest.mark.parametrize(
    ("told", "host"),
    [
        ({"SITE_NAME": "Café & Garden: our book"}, "cafe-garden-our-book"),
        ({"SITE_NAME": "図書館"}, "tushuguan"),
        ({"SITE_NAME": "📚"}, "commonplace"),
        ({"SITE_NAME": "word " * 16}, ("word-" * 13)[:63].strip("-")),
        ({"SITE_NAME": "Garden", "MCP_URI_HOST": "kb.garden"}, "kb.garden"),
    ],
)
def test_addresses_of_resources_carry_the_configured_name(told: dict[str, str], host: str) -> None:
    assert McpSettings.from_environ(ENVIRONMENT | told).resource_host == host


def test_every_origin_is_one_word() -> None:
    assert McpSettings.from_environ(ENVIRONMENT | {"MCP_ALLOWED_ORIGINS": "*"}).allowed_origins == ("*",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASE_URL", "http://kb.example.org"),
        ("MCP_TOOLSETS", "Knowledge"),
        ("MCP_TOOLSETS", "all"),
        ("MCP_TOOLSETS", "knowledge,,memory"),
        ("MCP_READ_ONLY", "yes"),
        ("MCP_ALLOWED_ORIGINS", "app.example.org"),
        ("MCP_ALLOWED_ORIGINS", "https://app.example.org/path"),
        ("MCP_ALLOWED_ORIGINS", "*,https://app.example.org"),
        ("MCP_ALLOWED_ORIGINS", "null"),
        ("MCP_FULL_TEXT_TIER", "admin"),
        ("MCP_URI_HOST", "Super Benefit"),
        ("MCP_NAME_AUTHORS", "1"),
        ("MCP_RATE_LIMIT_WRITES", "-1"),
        ("GITHUB_WRITER_SECRET_ARN", "secret"),
        ("MCP_ASSUMED_TIER", "admin"),
        ("MCP_RATE_LIMITS", "[]"),
        ("MCP_RATE_LIMITS", '{"memory": 5}'),
        ("MCP_RATE_LIMITS", '{"memory": {"reads": 5}}'),
        ("MCP_RATE_LIMITS", '{"memory": {"read": true}}'),
        ("MCP_RATE_LIMITS", '{"memory": {"read": -1}}'),
        ("MCP_RATE_LIMITS", '{"Memory": {}}'),
        ("MCP_SERVICE_RATE_FACTOR", "0"),
        ("MCP_SERVICE_RATE_FACTOR", "101"),
        ("MCP_ACCOUNT_RATE_FACTOR", "0"),
        ("MCP_ACCOUNT_RATE_FACTOR", "many"),
        ("MCP_LISTENS", "-1"),
        ("MCP_LISTENS_PER_ACCOUNT", "1001"),
    ],
)
def test_a_malformed_mcp_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        McpSettings.from_environ(ENVIRONMENT | {name: value})


@pytest.mark.parametrize("cloud", [{}, {"AWS_ENDPOINT_URL": " "}, {"AWS_ENDPOINT_URL": "https://aws.example.org"}])
def test_no_deployment_takes_strangers_for_members(cloud: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match=r"^MCP_ASSUMED_TIER is set\."):
        McpSettings.from_environ(ENVIRONMENT | {"MCP_ASSUMED_TIER": "member"} | cloud)


def test_a_laptop_may_assume_a_tier() -> None:
    laptop = {"AWS_ENDPOINT_URL": "http://127.0.0.1:5000", "MCP_ASSUMED_TIER": "vibecoder"}
    assert McpSettings.from_environ(ENVIRONMENT | laptop).assumed_tier == "vibecoder"
