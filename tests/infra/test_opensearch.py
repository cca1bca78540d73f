"""A stack with OpenSearch: the domain, a collection, one that is there already, and who may do what in them."""

import ast
import json
import re
from collections import Counter
from collections.abc import Callable
from fnmatch import fnmatch
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from commonplace.capabilities import CAPABILITIES
from commonplace.search.opensearch.roles import REVISION
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.settings import IndexSettings
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.settings import RestSettings
from infra.requirements import ROOT
from infra.search_alarms import DOMAIN_ALARMS, OPTIONAL_ALARMS, ROTATION_STUCK
from tests.infra.templates import Template, as_list
from tests.unit.search.opensearch.scripted import Scripted, scripted

ADAPTER = ROOT / "layers/core/commonplace/search/opensearch"
READING = {"roles", "open_index", "multi_search", "fetch", "held", "counts"}
"""Functions that a search comes through; the rest of the adapter writes, lists or builds."""

DOMAIN = "domain/commonplace-dev/"


def domain(template: Template) -> dict[str, Any]:
    (properties,) = template.properties("AWS::OpenSearchService::Domain")
    return properties


def test_a_domain_is_made_unless_another_engine_is_asked_for(default: Template, template: Template) -> None:
    def kinds(of: Template) -> Counter[str]:
        return Counter(each["Type"].removeprefix("AWS::") for each in of.body["Resources"].values())

    assert kinds(default) - kinds(template) == {
        "OpenSearchService::Domain": 1,
        "CloudFormation::CustomResource": 1,
        "Logs::ResourcePolicy": 1,
        "Logs::LogGroup": 6,
        "StepFunctions::StateMachine": 1,
        "Lambda::Function": 2,
        "Lambda::Version": 2,
        "Lambda::Alias": 2,
        "Lambda::EventInvokeConfig": 1,
        "IAM::Role": 3,
        "IAM::Policy": 3,
        "CloudWatch::Alarm": 12,
    }
    for name in ("index", "index-build", "rest", "mcp"):
        variables = default.environment(default.function(name))
        assert variables["SEARCH_ENGINE"] == "opensearch"
        assert variables["OPENSEARCH_INDEX"] == "commonplace-dev-documents"
    assert {"SearchEndpoint", "IndexBuildMachineArn", "BootstrapFunction"} <= default.body["Outputs"].keys()


def test_the_smallest_domain_is_what_is_made(default: Template, opensearch: Template) -> None:
    assert {**domain(default), "AccessPolicies": None} == {**domain(opensearch), "AccessPolicies": None}


def test_a_stack_on_the_embedded_engine_has_nothing_of_opensearch(template: Template) -> None:
    kinds = {each["Type"] for each in template.body["Resources"].values()}
    assert not [kind for kind in kinds if "OpenSearch" in kind]
    assert not [each for each in _alarms(template) if "fallbacks" in each["AlarmName"]]


def test_everything_is_encrypted_everywhere(opensearch: Template) -> None:
    properties = domain(opensearch)
    assert properties["EncryptionAtRestOptions"] == {"Enabled": True}
    assert properties["NodeToNodeEncryptionOptions"] == {"Enabled": True}
    assert properties["DomainEndpointOptions"]["EnforceHTTPS"] is True
    assert properties["DomainEndpointOptions"]["TLSSecurityPolicy"].startswith("Policy-Min-TLS-1-2")


def test_the_smallest_domain_is_one_small_node_on_gp3(opensearch: Template) -> None:
    properties = domain(opensearch)
    assert properties["EngineVersion"] == "OpenSearch_3.5"
    assert properties["EBSOptions"] == {"EBSEnabled": True, "VolumeType": "gp3", "VolumeSize": 10}
    cluster = properties["ClusterConfig"]
    assert (cluster["InstanceType"], cluster["InstanceCount"]) == ("t3.small.search", 1)
    assert not cluster["ZoneAwarenessEnabled"]
    assert not cluster["DedicatedMasterEnabled"]


def test_a_large_domain_is_spread_over_zones_and_has_masters(large: Template) -> None:
    properties = domain(large)
    assert properties["EngineVersion"] == "OpenSearch_3.7"
    assert properties["EBSOptions"]["VolumeSize"] == 50
    cluster = properties["ClusterConfig"]
    assert cluster["ZoneAwarenessConfig"] == {"AvailabilityZoneCount": 3}
    assert (cluster["DedicatedMasterType"], cluster["DedicatedMasterCount"]) == ("m7g.medium.search", 3)
    rest = RestSettings.from_environ(large.environment(large.function("rest")))
    assert IndexParameters.parse(rest.opensearch_parameters or "").replicas == 1


def test_the_domain_stays_or_goes_as_the_rest_of_the_data_does(opensearch: Template, large: Template) -> None:
    def policies(template: Template) -> tuple[str, str]:
        (resource,) = template.of("AWS::OpenSearchService::Domain").values()
        return resource["DeletionPolicy"], resource["UpdateReplacePolicy"]

    assert policies(opensearch) == ("Delete", "Delete")
    assert policies(large) == ("RetainExceptOnCreate", "Retain")


def test_a_new_version_is_taken_in_place(opensearch: Template) -> None:
    (resource,) = opensearch.of("AWS::OpenSearchService::Domain").values()
    assert resource["UpdatePolicy"] == {"EnableVersionUpgrade": True}


def test_passwords_are_nowhere_and_the_master_is_the_bootstrap_function(opensearch: Template) -> None:
    security = domain(opensearch)["AdvancedSecurityOptions"]
    assert security["Enabled"] is True
    assert security["InternalUserDatabaseEnabled"] is False
    master = security["MasterUserOptions"]
    assert master.keys() == {"MasterUserARN"}
    assert master["MasterUserARN"]["Fn::GetAtt"][0] == _role(opensearch, "bootstrap")


def test_the_access_policy_names_the_functions_roles_and_nobody_else(opensearch: Template) -> None:
    statements = domain(opensearch)["AccessPolicies"]["Statement"]
    named = [arn["Fn::GetAtt"][0] for each in statements for arn in as_list(each["Principal"]["AWS"])]
    functions = ("index", "index-build", "site", "console", "rest", "mcp", "bootstrap")
    assert set(named) == {_role(opensearch, name) for name in functions}
    assert {each["Effect"] for each in statements} == {"Allow"}


@pytest.mark.parametrize("name", ["index", "index-build", "site", "console", "rest", "mcp", "bootstrap"])
def test_policy_and_role_allow_the_same_requests(opensearch: Template, name: str) -> None:
    assert _allowed_by_policy(opensearch, name) == _allowed_by_role(opensearch, name) != set()


def test_the_master_may_look_after_the_roles_of_its_stage_and_ask_nothing_else(opensearch: Template) -> None:
    api = "_plugins/_security/api"
    assert _allowed_by_role(opensearch, "bootstrap") == {
        (method, f"{api}/{kind}/commonplace-dev-*")
        for method in ("GET", "PUT", "DELETE")
        for kind in ("roles", "rolesmapping")
    }


@pytest.mark.parametrize("name", ["site", "console", "rest", "mcp"])
def test_readers_may_search_and_nothing_that_changes_an_index(opensearch: Template, name: str) -> None:
    assert _allowed_by_role(opensearch, name) == {
        ("GET", "commonplace-dev-*/_alias"),
        ("GET", "commonplace-dev-*/_mapping"),
        ("GET", "commonplace-dev-*/_stats/refresh"),
        ("POST", "commonplace-dev-*/_search"),
        ("POST", "commonplace-dev-*/_mget"),
        ("POST", "_msearch"),
    }


def test_a_writer_may_reach_no_index_by_name_that_is_not_of_its_stage(opensearch: Template) -> None:
    paths = {path for name in ("index", "index-build") for _, path in _allowed_by_role(opensearch, name)}
    assert {path for path in paths if not path.startswith("_")} == {
        path for path in paths if path.startswith("commonplace-dev-")
    }
    assert {path for path in paths if path.startswith("_")} == {
        "_msearch",
        "_search",
        "_bulk",
        "_aliases",
        "_search/point_in_time",
    }


def test_every_request_of_the_adapter_is_allowed_to_whoever_sends_it(opensearch: Template) -> None:
    sent = {file.stem: _sent(file) for file in sorted(ADAPTER.glob("*.py"))}
    assert sum(map(len, sent.values())) > 15
    assert {name for requests in sent.values() for name, _ in requests} >= READING
    for module, requests in sent.items():
        for name, request in requests:
            assert _is_allowed(request, _allowed_by_role(opensearch, "index")), (module, request)
            if name in READING:
                assert _is_allowed(request, _allowed_by_role(opensearch, "rest")), (module, request)


def test_an_existing_domain_gets_the_functions_half_alone(existing: Template) -> None:
    assert not existing.of("AWS::OpenSearchService::Domain")
    assert not existing.of("AWS::CloudFormation::CustomResource")
    names = {each["FunctionName"] for each in existing.properties("AWS::Lambda::Function")}
    assert "commonplace-dev-bootstrap" not in names
    resources = [
        resource
        for each in existing.statements("Rest")
        if any(action.startswith("es:") for action in as_list(each["Action"]))
        for resource in as_list(each["Resource"])
    ]
    assert resources
    assert all(resource.startswith("arn:aws:es:eu-central-1:123456789012:domain/kb/") for resource in resources)
    rest = RestSettings.from_environ(existing.environment(existing.function("rest")))
    assert rest.opensearch_endpoint == "https://search-kb-abc.eu-central-1.es.amazonaws.com"
    assert rest.opensearch_service == "es"


def test_an_existing_collection_is_asked_by_name_and_marked_as_an_experiment(
    synthesized: Callable[..., Template],
) -> None:
    arn = "arn:aws:aoss:eu-central-1:123456789012:collection/abc123"
    stack = synthesized(
        engine="opensearch",
        openSearchService="serverless",
        openSearchEndpoint="https://abc123.eu-central-1.aoss.amazonaws.com",
        openSearchArn=arn,
    )
    for name in ("site", "console", "rest", "mcp", "index", "index-build"):
        statements = stack.statements(_role(stack, name))
        (allowed,) = [each for each in statements if each["Action"] == "aoss:APIAccessAll"]
        assert allowed["Resource"] == arn
    assert not [kind for kind in {each["Type"] for each in stack.body["Resources"].values()} if "Serverless" in kind]
    assert "experimental" in json.dumps(stack.report["pluginReports"])


def test_the_roles_inside_the_domain_are_made_when_it_stands(opensearch: Template) -> None:
    (resource,) = opensearch.of("AWS::CloudFormation::CustomResource").values()
    properties = resource["Properties"]
    assert properties["Names"] == "commonplace-dev"
    assert properties["Revision"] == REVISION
    readers = {arn["Fn::GetAtt"][0] for arn in properties["Readers"]}
    assert readers == {_role(opensearch, name) for name in ("site", "console", "rest", "mcp")}
    writers = {arn["Fn::GetAtt"][0] for arn in properties["Writers"]}
    assert writers == {_role(opensearch, "index"), _role(opensearch, "index-build")}
    (domain_id,) = opensearch.of("AWS::OpenSearchService::Domain")
    assert domain_id in resource["DependsOn"]
    policy = [name for name in opensearch.of("AWS::IAM::Policy") if name.startswith("OpenSearchBootstrapRole")]
    assert set(policy) <= set(resource["DependsOn"])
    assert properties["ServiceTimeout"] >= 2 * opensearch.function("bootstrap")["Timeout"]


def test_slow_and_failed_requests_are_logged_to_groups_that_only_this_domain_may_write(opensearch: Template) -> None:
    published = domain(opensearch)["LogPublishingOptions"]
    assert published.keys() == {"SEARCH_SLOW_LOGS", "INDEX_SLOW_LOGS", "ES_APPLICATION_LOGS"}
    groups = {each["CloudWatchLogsLogGroupArn"]["Fn::GetAtt"][0] for each in published.values()}
    (policy,) = opensearch.properties("AWS::Logs::ResourcePolicy")
    text = "".join(
        part if isinstance(part, str) else json.dumps(part) for part in policy["PolicyDocument"]["Fn::Join"][1]
    )
    assert all(group in text for group in groups)
    assert '"aws:SourceArn":"arn:' in text
    assert ":domain/commonplace-dev" in text
    (resource,) = opensearch.of("AWS::OpenSearchService::Domain").values()
    assert set(opensearch.of("AWS::Logs::ResourcePolicy")) <= set(resource["DependsOn"])


def test_a_collection_is_nextgen_and_sleeps_when_nobody_searches(serverless: Template) -> None:
    (group,) = serverless.properties("AWS::OpenSearchServerless::CollectionGroup")
    assert group["Generation"] == "NEXTGEN"
    assert group["CapacityLimits"] == {
        "MinIndexingCapacityInOcu": 0,
        "MinSearchCapacityInOcu": 0,
        "MaxIndexingCapacityInOcu": 8,
        "MaxSearchCapacityInOcu": 8,
    }
    (collection,) = serverless.properties("AWS::OpenSearchServerless::Collection")
    assert (collection["Type"], collection["CollectionGroupName"]) == ("VECTORSEARCH", group["Name"])


def test_whoever_synthesizes_a_collection_is_told_that_it_is_an_experiment(serverless: Template) -> None:
    assert "experimental" in json.dumps(serverless.report["pluginReports"])


def test_a_collection_lets_each_function_at_the_indexes_of_its_stage(serverless: Template) -> None:
    (access,) = serverless.properties("AWS::OpenSearchServerless::AccessPolicy")
    text = "".join(part if isinstance(part, str) else part["Fn::GetAtt"][0] for part in access["Policy"]["Fn::Join"][1])
    rules = {tuple(rule["Principal"]): rule["Rules"] for rule in json.loads(text)}
    assert rules.keys() == {
        (_role(serverless, name),) for name in ("index", "index-build", "site", "console", "rest", "mcp")
    }
    for kinds in rules.values():
        assert [rule["Resource"] for rule in kinds] == [
            ["index/commonplace-dev/commonplace-dev-*"],
            ["collection/commonplace-dev"],
        ]
    for name in ("site", "console", "rest", "mcp"):
        indexes, aliases = rules[(_role(serverless, name),)]
        assert indexes["Permission"] == ["aoss:DescribeIndex", "aoss:ReadDocument"]
        assert aliases["Permission"] == ["aoss:DescribeCollectionItems"]


def test_a_collection_needs_no_roles_inside(serverless: Template) -> None:
    assert not serverless.of("AWS::CloudFormation::CustomResource")
    for name in ("site", "console", "rest", "mcp", "index", "index-build"):
        statements = serverless.statements(_role(serverless, name))
        (allowed,) = [each for each in statements if each["Action"] == "aoss:APIAccessAll"]
        assert allowed["Resource"]["Fn::GetAtt"][1] == "Arn"


def test_a_collection_is_searched_with_faiss_and_signed_for(serverless: Template) -> None:
    settings = IndexSettings.from_environ(serverless.environment(serverless.function("index")))
    assert settings.opensearch_service == "aoss"
    assert IndexParameters.parse(settings.opensearch_parameters or "").engine == "faiss"


@pytest.mark.parametrize("name", ["index", "index-build"])
def test_whoever_writes_is_told_what_readers_are_told(opensearch: Template, name: str) -> None:
    def told(settings: IndexSettings | RestSettings) -> tuple[Any, ...]:
        return (
            settings.search_engine,
            settings.opensearch_endpoint,
            settings.opensearch_service,
            settings.opensearch_index,
            settings.opensearch_parameters,
            settings.embedding_provider,
            settings.embedding_provider_next,
        )

    rest = RestSettings.from_environ(opensearch.environment(opensearch.function("rest")))
    writer = IndexSettings.from_environ(opensearch.environment(opensearch.function(name)))
    assert told(rest) == told(writer)
    assert rest.opensearch_index == "commonplace-dev-documents"
    assert IndexParameters.parse(rest.opensearch_parameters or "").m == 24


def test_what_is_configured_of_the_ranking_reaches_readers_alone(opensearch: Template) -> None:
    rest = RestSettings.from_environ(opensearch.environment(opensearch.function("rest")))
    mcp = McpSettings.from_environ(opensearch.environment(opensearch.function("mcp")))
    for settings in (rest, mcp):
        assert (settings.fusion, settings.rerank_provider.kind) == ("rrf:0.4,0.6", "bedrock-cohere")
    assert rest.operator_key_hash == "0" * 64
    assert "OPERATOR_KEY_HASH" not in opensearch.environment(opensearch.function("mcp"))
    assert not {"FUSION", "RERANK_PROVIDER", "OPERATOR_KEY_HASH"} & set(
        opensearch.environment(opensearch.function("index"))
    )


def test_models_are_allowed_by_name(opensearch: Template) -> None:
    titan, cohere, rerank = "amazon.titan-embed-text-v2:0", "cohere.embed-v4:0", "cohere.rerank-v3-5:0"
    assert _models(opensearch, "index") == {titan, cohere}
    assert _models(opensearch, "index-build") == {titan, cohere}
    for name in ("site", "console", "rest", "mcp"):
        assert _models(opensearch, name) == {titan, cohere, rerank}
    profiles = [
        each for each in opensearch.statements(_role(opensearch, "index")) if "inference-profile/" in json.dumps(each)
    ]
    assert [("Condition" in each, as_list(each["Action"])) for each in profiles] == [
        (False, ["bedrock:InvokeModel"]),
        (True, ["bedrock:InvokeModel"]),
    ]
    assert json.dumps(profiles[1]["Resource"]).count("-*::foundation-model/cohere.embed-v4:0") == 2
    reranking = [each for each in opensearch.statements() if "bedrock:Rerank" in as_list(each["Action"])]
    assert len(reranking) == 4
    assert not [each for each in opensearch.statements("Webhook") if "bedrock" in json.dumps(each)]


def test_the_default_stack_calls_no_model(template: Template) -> None:
    assert "bedrock" not in json.dumps([*template.statements()])


def test_each_function_has_its_own_part_of_the_cache(opensearch: Template, template: Template) -> None:
    def partitions(function: str) -> dict[str, set[str]]:
        return {
            key: {action.removeprefix("dynamodb:") for action in as_list(each["Action"])}
            for each in opensearch.statements(_role(opensearch, function))
            if "StateCache" in json.dumps(each["Resource"])
            for key in each.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
        }

    def cached(function: str) -> dict[str, set[str]]:
        return {key: actions for key, actions in partitions(function).items() if key != "roles#*"}

    vectors = {"*#vectors": {"BatchGetItem", "BatchWriteItem", "UpdateItem"}}
    assert cached("index") == cached("index-build") == vectors
    ranked = {"rerank#*": {"GetItem", "PutItem"}}
    assert cached("site") == ranked
    counted = {"*#vectors": {"BatchGetItem", "BatchWriteItem", "Query", "UpdateItem"}}
    for name in ("mcp", "rest", "console"):
        assert cached(name) == ranked | counted, "the memory reports how many vectors it has"
    for name in ("index", "rest", "mcp"):
        assert "CACHE_TABLE" in opensearch.environment(opensearch.function(name))
    assert "CACHE_TABLE" not in template.environment(template.function("site"))


def test_a_model_of_ones_own_comes_in_layers_of_those_who_use_it(
    synthesized: Callable[..., Template], tmp_path: Path
) -> None:
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / "encoder").mkdir(exist_ok=True)
        (tmp_path / "encoder" / name).touch()
    stack = synthesized(engine="embedded", embeddingProvider=f"onnx:{tmp_path}/encoder")
    for name, more in {"index": 2, "site": 2, "rest": 2, "mcp": 2, "sync-run": 0, "webhook": -1}.items():
        properties = stack.function(name)
        assert len(properties["Layers"]) == 3 + more, name
        assert properties["MemorySize"] == (2048 if more == 2 else properties["MemorySize"])
    index = IndexSettings.from_environ(stack.environment(stack.function("index")))
    assert index.cache_table, "a slow model goes on where it was stopped"
    assert "*#vectors" in json.dumps([*stack.statements(_role(stack, "index"))])
    assert str(index.embedding_provider.folder) == "/opt/models/encoder"
    assert "model-fallbacks" in " ".join(each["AlarmName"] for each in _alarms(stack))


def test_no_function_reaches_an_index_file_that_is_not_there(opensearch: Template) -> None:
    for name in ("index", "index-build", "rest"):
        assert "/index/" not in json.dumps([*opensearch.statements(_role(opensearch, name))])


def test_building_an_index_has_all_the_time_there_is_and_no_queue(opensearch: Template) -> None:
    build, index = opensearch.function("index-build"), opensearch.function("index")
    assert (build["Timeout"], index["Timeout"]) == (900, 120)
    assert build["Environment"] == index["Environment"]
    assert build["Code"] == index["Code"]
    assert "sqs:" not in json.dumps([*opensearch.statements(_role(opensearch, "index-build"))])


def test_the_machine_calls_the_build_function_and_nothing_else(opensearch: Template) -> None:
    (machine,) = [
        each
        for each in opensearch.properties("AWS::StepFunctions::StateMachine")
        if each["StateMachineName"] == "commonplace-dev-index-build"
    ]
    definition = machine["DefinitionString"]
    assert set(re.findall(r"\$\{(\w+)\}", definition)) == machine["DefinitionSubstitutions"].keys()
    allowed = [
        each
        for each in opensearch.statements("MigrationMachine")
        if not each["Action"][0].startswith(("logs:", "xray:"))
    ]
    assert [(each["Action"], each["Resource"]) for each in allowed] == [
        ("lambda:InvokeFunction", machine["DefinitionSubstitutions"]["IndexArn"])
    ]
    waits = [state["TimeoutSeconds"] for state in json.loads(definition)["States"].values() if state["Type"] == "Task"]
    assert min(waits) > opensearch.function("index-build")["Timeout"]
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is False


def test_what_can_go_wrong_in_a_domain_has_an_alarm(opensearch: Template) -> None:
    alarms = {each["AlarmName"].removeprefix("commonplace-dev-"): each for each in _alarms(opensearch)}
    of_others = {alarm.name for each in CAPABILITIES if each.requires for alarm in each.alarms}
    assert set(OPTIONAL_ALARMS) - of_others - {ROTATION_STUCK} <= alarms.keys()
    for expected in DOMAIN_ALARMS:
        alarm = alarms[expected.name]
        assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/ES", expected.metric)
        assert {each["Name"]: each["Value"] for each in alarm["Dimensions"]} == {
            "ClientId": {"Ref": "AWS::AccountId"},
            "DomainName": "commonplace-dev",
        }


def test_storage_is_low_when_three_quarters_of_it_are_used(opensearch: Template, large: Template) -> None:
    thresholds = [
        each["Threshold"]
        for template in (opensearch, large)
        for each in _alarms(template)
        if each["MetricName" if "MetricName" in each else "AlarmName"] == "FreeStorageSpace"
    ]
    assert thresholds == [0.25 * 10 * 1024, 0.25 * 50 * 1024]


def test_alarms_are_for_what_is_there(template: Template, serverless: Template, existing: Template) -> None:
    def optional(each: Template) -> set[str]:
        return {alarm["AlarmName"].removeprefix("commonplace-dev-") for alarm in _alarms(each)} & set(OPTIONAL_ALARMS)

    assert optional(template) == set()
    assert optional(serverless) == {"search-errors", "search-latency", "index-build-failed"}
    assert optional(existing) == {"index-build-failed"}


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("search/embeddings.py", "the query could not be embedded, searching words only"),
        ("search/embeddings.py", "embedding failed, indexing words only"),
        ("search/rerank.py", "reranking failed, keeping the fused order"),
        ("memory/parts.py", "entries are kept without vectors"),
    ],
)
def test_going_on_without_a_model_is_counted_where_it_is_logged(opensearch: Template, file: str, message: str) -> None:
    (alarm,) = [each for each in _alarms(opensearch) if each["AlarmName"].endswith("-model-fallbacks")]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("Commonplace/dev", "ModelFallbacks")
    assert "Dimensions" not in alarm
    code = (ROOT / "layers/core/commonplace" / file).read_text()
    assert re.search(rf'count\("ModelFallbacks"\)\n +logger\.warning\("{message}"', code)


def test_an_operator_is_told_where_the_index_is_and_how_to_build_it(opensearch: Template, template: Template) -> None:
    more = opensearch.body["Outputs"].keys() - template.body["Outputs"].keys()
    assert more == {"SearchEndpoint", "IndexBuildMachineArn", "IndexBuildFunction", "BootstrapFunction"}


def _alarms(template: Template) -> list[dict[str, Any]]:
    return template.properties("AWS::CloudWatch::Alarm")


def _role(template: Template, function: str) -> str:
    return str(template.function(function)["Role"]["Fn::GetAtt"][0])


def _models(template: Template, function: str) -> set[str]:
    statements = template.statements(_role(template, function))
    allowed = [each for each in statements if as_list(each["Action"]) == ["bedrock:InvokeModel"]]
    resources = [resource for each in allowed for resource in as_list(each["Resource"])]
    named = [str(resource["Fn::Join"][1][-1]) for resource in resources]
    return {model for each in named if (model := each.partition("::foundation-model/")[2])}


def _allowed_by_role(template: Template, function: str) -> set[tuple[str, str]]:
    return _requests([*template.statements(_role(template, function))])


def _allowed_by_policy(template: Template, function: str) -> set[tuple[str, str]]:
    role = _role(template, function)
    statements = domain(template)["AccessPolicies"]["Statement"]
    return _requests(
        [each for each in statements if role in [arn["Fn::GetAtt"][0] for arn in as_list(each["Principal"]["AWS"])]]
    )


def _requests(statements: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """Method and path of what is allowed of the domain."""
    return {
        (action.removeprefix("es:ESHttp").upper(), str(resource["Fn::Join"][1][-1]).partition(DOMAIN)[2])
        for each in statements
        for action in as_list(each["Action"])
        if action.startswith("es:")
        for resource in as_list(each["Resource"])
    }


def _is_allowed(request: tuple[str, str], allowed: set[tuple[str, str]]) -> bool:
    return any(method == request[0] and fnmatch(request[1], path) for method, path in allowed)


def _sent(file: Path) -> list[tuple[str, tuple[str, str]]]:
    """For every call of the client in the module the function it stands in, and the method and path that are sent."""
    functions = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.FunctionDef)]
    calls = [(each.name, node) for each in functions for node in ast.walk(each) if isinstance(node, ast.Call)]
    return [(name, request) for name, call in calls for request in _requested(call)]


def _requested(call: ast.Call) -> list[tuple[str, str]]:
    """What the client makes of the call: of an index of the stage, and of a body that does not matter."""
    *owner, api = ast.unparse(call.func).split(".")
    where = next((owner.index(name) for name in ("client", "_client") if name in owner), None)
    if where is None or "transport" in owner:
        return []
    script = Scripted()
    arguments = {str(each.arg): _argument(each) for each in call.keywords}
    attrgetter(".".join([*owner[where + 1 :], api]))(scripted(script))(**arguments)
    return [(asked.method, asked.path.removeprefix("/")) for asked in script.asked]


def _argument(given: ast.keyword) -> Any:
    if given.arg == "body":
        return [{}]
    if given.arg == "metric":
        return ast.literal_eval(given.value)
    if given.arg != "index" or not isinstance(given.value, ast.JoinedStr):
        return "commonplace-dev-documents"
    parts = given.value.values
    return "".join(str(each.value) if isinstance(each, ast.Constant) else "commonplace-dev-documents" for each in parts)
