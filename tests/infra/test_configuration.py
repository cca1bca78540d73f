import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra.configuration import Configuration, ConfigurationError, from_context
from infra.providers import deployed
from infra.requirements import ROOT

PROD = {"stage": "prod", "repository": "example/knowledge-base", "branch": "main"}


def test_nothing_needs_to_be_configured_to_try_it() -> None:
    assert from_context({}) == Configuration()


def test_the_context_that_is_committed_is_valid() -> None:
    assert from_context(json.loads((ROOT / "cdk.json").read_text())["context"]).stage == "dev"


def test_keys_of_cdk_itself_are_left_alone() -> None:
    flags = {"@aws-cdk/core:explicitStackTags": True, "aws:cdk:bundling-stacks": [], "availability-zones:account=1": []}
    assert from_context(flags) == Configuration()


def test_what_is_for_laptops_alone_is_no_key_of_a_deployment() -> None:
    for key in ("localAccounts", "mcpAssumedTier", "cimdLoopback"):
        with pytest.raises(ConfigurationError, match=f"unknown context {key};"):
            from_context({key: "Ada=member"})


def test_an_unknown_key_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown context brnach; known are .*branch.*repository"):
        from_context({"brnach": "main"})


def test_numbers_may_come_as_text_from_the_command_line() -> None:
    assert from_context({"reconcileMinutes": "15"}).reconcile_minutes == 15


def test_patterns_may_come_as_text_from_the_command_line() -> None:
    assert from_context({"exclude": '["drafts/", "tools/"]'}).exclude == '["drafts/", "tools/"]'


@pytest.mark.parametrize(
    ("key", "value", "read"),
    [
        ("mcpReadOnly", "true", True),
        ("mcpReadOnly", "false", False),
        ("nameAuthors", True, True),
        ("mcpToolsets", ["knowledge"], "knowledge"),
        ("mcpToolsets", " knowledge", "knowledge"),
        ("mcpAllowedOrigins", "*", "*"),
        (
            "mcpAllowedOrigins",
            ["https://a.example.org", "https://b.example.org"],
            "https://a.example.org,https://b.example.org",
        ),
        ("mcpAllowedOrigins", "https://a.example.org,https://b.example.org:8443", None),
        ("mcpRateLimits", {"memory": {"search": 0}}, '{"memory":{"search":0}}'),
        ("mcpRateLimits", "{}", "{}"),
        ("kbMinConfidence", 0.25, "0.25"),
        ("kbMinConfidence", "1", "1"),
        ("serviceRateFactor", "10", 10),
        ("accountRateFactor", "1", 1),
        ("listensPerAccount", "0", 0),
        ("listens", 20, 20),
        ("catalogues", [{"name": "helios", "folder": "reference/"}], '[{"name":"helios","folder":"reference/"}]'),
        ("catalogues", '[ {"name": "api", "branch": "v2"} ]', '[{"name":"api","branch":"v2"}]'),
    ],
)
def test_what_agents_meet_may_come_as_json_or_as_text(key: str, value: Any, read: Any) -> None:
    name = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)
    assert getattr(from_context({key: value}), name) == (value if read is None else read)


def test_an_empty_value_means_the_default() -> None:
    assert from_context({"alarmEmail": "", "domain": None}) == Configuration()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("stage", "Dev"),
        ("stage", "a-name-that-is-too-long"),
        ("repository", "no-owner"),
        ("repository", "owner/.."),
        ("branch", "two words"),
        ("branch", "a..b"),
        ("domain", "https://example.org"),
        ("certificateArn", "arn:aws:iam::123456789012:role/x"),
        ("engine", "elasticsearch"),
        ("openSearchService", "ec2"),
        ("openSearchVersion", "3.3"),
        ("openSearchVersion", "2.19"),
        ("openSearchVersion", "4.1"),
        ("openSearchVersion", "latest"),
        ("openSearchInstanceType", "t3.small"),
        ("openSearchInstanceType", "t2.small.search"),
        ("openSearchNodes", 0),
        ("openSearchZones", 4),
        ("openSearchMasterType", "large"),
        ("openSearchStorageGb", 9),
        ("openSearchMaxOcu", 3),
        ("openSearchEndpoint", "http://127.0.0.1:9200"),
        ("openSearchEndpoint", "https://kb.example.org/path"),
        ("openSearchArn", "arn:aws:s3:::bucket"),
        ("openSearchParameters", "m=24"),
        ("openSearchParameters", '{"M": 24}'),
        ("openSearchParameters", '{"m": "many"}'),
        ("openSearchParameters", json.dumps({"synonyms": ["one, two"] * 300})),
        ("bedrockRegion", "Virginia"),
        ("embeddingProvider", "bedrock"),
        ("embeddingProvider", "bedrock-titan:300"),
        ("embeddingProviderNext", "openai:mine"),
        ("embeddingProviderNext", "none"),
        ("rerankProvider", "bedrock-titan"),
        ("rerankProvider", "onnx:"),
        ("fusion", "sum"),
        ("fusion", "rrf:0.5"),
        ("fusion", "rrf:0.5, 0.5"),
        ("fusion", "rrf:0,0"),
        ("operatorKeyHash", "secret"),
        ("removalPolicy", "snapshot"),
        ("region", "Frankfurt"),
        ("account", "12345"),
        (
            "siteName",
            """ line
break """,
        ),
        ("documentUrl", "https://kb.example.org/{id}"),
        ("documentUrl", f"https://kb.example.org/{'x' * 300}/{{type}}/{{id}}"),
        ("githubApiUrl", "http://github.example.org"),
        ("githubApiUrl", "https://github.example.org/api/"),
        ("alarmEmail", "nobody"),
        ("logRetentionDays", 31),
        ("reconcileMinutes", "4"),
        ("reconcileMinutes", "1441"),
        ("reconcileMinutes", True),
        ("indexReconcileHours", 0),
        ("rateLimitReads", "-1"),
        ("rateLimitSearches", "many"),
        ("mcpToolsets", "Knowledge"),
        ("mcpToolsets", "knowledge,knowledge"),
        ("mcpToolsets", "knowledge,"),
        ("mcpToolsets", "all"),
        ("mcpToolsets", "nothing"),
        ("mcpToolsets", []),
        ("mcpToolsets", ["knowledge", 3]),
        ("mcpReadOnly", "yes"),
        ("mcpReadOnly", 1),
        ("mcpAllowedOrigins", "http://chat.example.org"),
        ("mcpAllowedOrigins", "https://chat.example.org/"),
        ("mcpAllowedOrigins", "https://chat.example.org,*"),
        ("fullTextTier", "admin"),
        ("uriHost", "super benefit"),
        ("uriHost", "-"),
        ("nameAuthors", "no"),
        ("rateLimitMcpReads", "-1"),
        ("rateLimitMcpWrites", 1_000_001),
        ("rateLimitMcpSearches", 1.5),
        ("mcpRateLimits", "[]"),
        ("mcpRateLimits", {"memory": {"reads": 300}}),
        ("mcpRateLimits", {"memory": {"read": -1}}),
        ("mcpRateLimits", {f"toolset-{number}": {"read": 100} for number in range(20)}),
        ("serviceRateFactor", 0),
        ("accountRateFactor", 0),
        ("listensPerAccount", -1),
        ("listens", "1001"),
        ("mcpToolsets", "knowledge,reference"),
        ("catalogues", "helios"),
        ("catalogues", "{}"),
        ("catalogues", []),
        ("catalogues", [{"name": "Helios"}]),
        ("catalogues", [{"name": "a"}, {"name": "a", "folder": "b"}]),
        ("catalogues", [{"name": "a", "folder": "../b"}]),
        ("catalogues", [{"name": "a", "repository": "no-owner"}]),
        ("catalogues", [{"name": "a", "token": "secret"}]),
        ("catalogues", [{"name": f"c{number}"} for number in range(11)]),
        ("catalogues", [{"name": f"c{number}", "folder": "f" * 120} for number in range(9)]),
        ("serviceRateFactor", "101"),
        ("accountRateFactor", "101"),
        ("kbDefaultSearchLimit", 0),
        ("kbDefaultSearchLimit", 51),
        ("kbMinConfidence", "1.1"),
        ("kbMinConfidence", -0.1),
        ("kbMinConfidence", "half"),
        ("kbMinConfidence", True),
        ("kbBatchSize", 101),
        ("throttleRate", 0),
        ("throttleBurst", 5001),
        ("organisation", "Super Benefit"),
        ("roleMap", '{"hats": {"30.x": {}}}'),
        ("roleMap", {"addresses": {"0x1": {"tier": "member"}}}),
        ("roleMap", "no-such-file.json"),
        ("roleMap", {"addresses": {f"0x{n:040x}": {"tier": "member"} for n in range(40)}}),
        ("hatsContract", "0x3bc1"),
        ("hatsChainId", 0),
        ("siweChainId", "optimism"),
        ("optimismRpcUrls", "http://node.example.org"),
        ("optimismRpcUrls", ["https://a.example", "https://a.example"]),
        ("mainnetRpcUrls", "wss://node.example.org"),
        ("registrationsPerDay", -1),
        ("signInsPerHour", "many"),
        ("agentSessionsPerHour", 1_000_001),
        ("oidcIssuer", "http://id.example.org"),
        ("oidcIssuer", "https://id.example.org/"),
        ("oidcClientId", "two words"),
        ("oidcClaimsHours", 0),
        ("oidcParameters", "scope=openid"),
        ("waap", "[]"),
        ("waap", {"title": "t" * 500}),
        ("snapStart", "sometimes"),
        ("exclude", "drafts/"),
        ("exclude", '["drafts/", 3]'),
    ],
)
def test_a_value_out_of_bounds_is_refused_by_name(key: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=key):
        from_context({key: value})


def test_prod_says_what_it_serves() -> None:
    committed: dict[str, object] = json.loads((ROOT / "cdk.json").read_text())["context"]
    nothing: dict[str, object] = {}
    for context in (nothing, committed):
        with pytest.raises(ConfigurationError, match="stage prod needs repository and branch"):
            from_context({**context, "stage": "prod"})


def test_prod_keeps_its_data_unless_told_and_cannot_be_told() -> None:
    assert from_context(PROD).retains
    with pytest.raises(ConfigurationError, match="can only be retain"):
        from_context({**PROD, "removalPolicy": "destroy"})


def test_other_stages_may_keep_their_data_too() -> None:
    assert not from_context({"stage": "dev"}).retains
    assert from_context({"stage": "staging", "removalPolicy": "retain"}).retains


def test_a_domain_and_its_certificate_come_together() -> None:
    arn = "arn:aws:acm:eu-central-1:123456789012:certificate/00000000-0000-0000-0000-000000000000"
    with pytest.raises(ConfigurationError, match="certificateArn"):
        from_context({"domain": "knowledge.example.org"})
    with pytest.raises(ConfigurationError, match="domain"):
        from_context({"certificateArn": arn})
    configured = from_context({"domain": "knowledge.example.org", "certificateArn": arn})
    assert configured.base_url == "https://knowledge.example.org"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("openSearchVersion", "3.5"),
        ("openSearchVersion", 3.7),
        ("openSearchParameters", '{"m": 24, "refreshInterval": "500ms"}'),
        ("openSearchParameters", {"m": 24}),
        ("embeddingProvider", "bedrock-titan"),
        ("embeddingProvider", "bedrock-cohere:1536"),
        ("rerankProvider", "bedrock-amazon"),
        ("fusion", "min-max:0.3,0.7"),
        ("operatorKeyHash", "0f" * 32),
    ],
)
def test_what_the_functions_understand_can_be_configured(key: str, value: Any) -> None:
    name = re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)
    configured = getattr(from_context({"engine": "opensearch", key: value}), name)
    assert configured == (json.dumps(value, separators=(",", ":")) if isinstance(value, dict) else str(value))


def test_a_role_map_is_an_object_its_text_or_a_file(tmp_path: Path) -> None:
    roles = {"hats": {"30.3.1": {"role": "editor", "tier": "vibecoder"}}}
    text = json.dumps(roles, separators=(",", ":"))
    (tmp_path / "roles.json").write_text(json.dumps(roles, indent=2))
    for given in (roles, json.dumps(roles), str(tmp_path / "roles.json")):
        assert from_context({"roleMap": given}).role_map == text


def test_what_functions_are_told_fits_into_their_environment() -> None:
    roles = {"addresses": {f"0x{n:040x}": {"tier": "member"} for n in range(20)}}
    assert from_context({"roleMap": roles}).role_map
    with pytest.raises(ConfigurationError, match="together"):
        from_context({"roleMap": roles, "openSearchParameters": {"synonyms": ["a, " + "b" * 900]}})
    with pytest.raises(ConfigurationError, match="together"):
        from_context({"roleMap": roles, "catalogues": [{"name": f"c{n}", "folder": "f" * 190} for n in range(4)]})


def test_a_provider_and_our_name_there_come_together() -> None:
    for alone in (
        {"oidcIssuer": "https://id.example.org"},
        {"oidcClientId": "us"},
        {"oidcName": "Club"},
        {"oidcParameters": "a=b"},
    ):
        with pytest.raises(ConfigurationError, match="oidcIssuer"):
            from_context(alone)
    both = from_context({"oidcIssuer": "https://id.example.org/realms/club", "oidcClientId": "us", "oidcName": "Club"})
    assert both.oidc_client_id == "us"


def test_endpoints_may_come_as_json_or_as_text() -> None:
    given = ["https://a.example/v2/key", "https://b.example:8545"]
    assert from_context({"optimismRpcUrls": given}) == from_context({"optimismRpcUrls": ",".join(given)})


def test_an_engine_before_its_faults_were_mended_is_refused_with_the_reason() -> None:
    with pytest.raises(
        ConfigurationError, match=r"3\.5 or newer, not 3\.3: before 3\.5 filters inside nested k-NN fail"
    ):
        from_context({"engine": "opensearch", "openSearchVersion": "3.3"})


def test_a_classic_collection_is_refused_with_the_reason() -> None:
    with pytest.raises(ConfigurationError, match="neither ids nor versions of our own"):
        from_context({"engine": "opensearch", "openSearchService": "serverless-classic"})


def test_a_domain_of_ones_own_is_named_in_full() -> None:
    endpoint, arn = "https://kb.eu-central-1.es.amazonaws.com", "arn:aws:es:eu-central-1:123456789012:domain/kb"
    for half in ({"openSearchEndpoint": endpoint}, {"openSearchArn": arn}):
        with pytest.raises(ConfigurationError, match="set both"):
            from_context({"engine": "opensearch", **half})
    whole = {"engine": "opensearch", "openSearchEndpoint": endpoint, "openSearchArn": arn}
    assert not from_context(whole).makes_domain
    with pytest.raises(ConfigurationError, match="not one of a serverless"):
        from_context({**whole, "openSearchService": "serverless"})


def test_every_zone_gets_as_many_nodes() -> None:
    with pytest.raises(ConfigurationError, match="multiple of openSearchZones"):
        from_context({"engine": "opensearch", "openSearchNodes": "3", "openSearchZones": "2"})


def test_a_collection_cannot_be_told_to_use_lucene() -> None:
    with pytest.raises(ConfigurationError, match="faiss only"):
        from_context(
            {"engine": "opensearch", "openSearchService": "serverless", "openSearchParameters": '{"engine": "lucene"}'}
        )


def test_a_change_of_model_is_for_an_index_that_can_stand_beside_another() -> None:
    for model in ("bedrock-titan", "openai"):
        with pytest.raises(ConfigurationError, match="needs engine opensearch"):
            from_context({"engine": "embedded", "embeddingProviderNext": model})
    with pytest.raises(ConfigurationError, match="the model to change to"):
        from_context({"engine": "opensearch", "embeddingProviderNext": "local"})


def test_a_model_of_ones_own_is_a_folder_that_is_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"has no model\.onnx"):
        from_context({"embeddingProvider": f"onnx:{tmp_path}"})
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).touch()
    configured = from_context({"embeddingProvider": f"onnx:{tmp_path}", "rerankProvider": f"onnx:{tmp_path}"})
    assert configured.model_folders == (str(tmp_path),)
    assert deployed(configured.embedding_provider) == f"onnx:/opt/models/{tmp_path.name}"


def test_folders_of_models_have_different_names(tmp_path: Path) -> None:
    for parent in ("first", "second"):
        (tmp_path / parent / "model").mkdir(parents=True)
        for name in ("model.onnx", "tokenizer.json"):
            (tmp_path / parent / "model" / name).touch()
    with pytest.raises(ConfigurationError, match="different names"):
        from_context(
            {"embeddingProvider": f"onnx:{tmp_path}/first/model", "rerankProvider": f"onnx:{tmp_path}/second/model"}
        )


def test_a_toolset_that_requires_something_is_named_only_beside_it() -> None:
    with pytest.raises(ConfigurationError, match="mcpToolsets names reference, which needs catalogues"):
        from_context({"mcpToolsets": "knowledge,reference"})
    assert from_context({"mcpToolsets": "reference", "catalogues": '[{"name": "helios"}]'}).mcp_toolsets == "reference"
