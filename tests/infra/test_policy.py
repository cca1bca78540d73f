import json
from typing import Any

import pytest

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import Items, Objects
from commonplace.kernel.objects import OPERATIONS_PREFIX
from commonplace_local.cloud.template import stem
from tests.infra.templates import Template, as_list, lint_findings, reaches

NO_RESOURCE = {
    "comprehend:DetectPiiEntities": "Comprehend reads what it is given, which is no resource",
    "xray:PutTelemetryRecords": "X-Ray takes traces for no particular resource",
    "xray:PutTraceSegments": "X-Ray takes traces for no particular resource",
    "xray:GetSamplingRules": "X-Ray's sampling rules are the account's",
    "xray:GetSamplingTargets": "X-Ray's sampling rules are the account's",
    "logs:CreateLogDelivery": "log delivery of state machines knows no resources",
    "logs:DeleteLogDelivery": "log delivery of state machines knows no resources",
    "logs:DescribeLogGroups": "log delivery of state machines knows no resources",
    "logs:DescribeResourcePolicies": "log delivery of state machines knows no resources",
    "logs:GetLogDelivery": "log delivery of state machines knows no resources",
    "logs:ListLogDeliveries": "log delivery of state machines knows no resources",
    "logs:PutResourcePolicy": "log delivery of state machines knows no resources",
    "logs:UpdateLogDelivery": "log delivery of state machines knows no resources",
    "bedrock:Rerank": "reranking knows no resource; InvokeModel names the model",
}
"""Actions that AWS lets nobody narrow to a resource."""

EVERY = ("template", "default", "prod", "opensearch", "large", "serverless", "existing", "identified", "referenced")

ROLES = (
    "Webhook",
    "SyncRun",
    "SyncStore",
    "Index",
    "Site",
    "Rest",
    "Mcp",
    "Console",
    "AuthRole",
    "Signing",
    "Redaction",
)


@pytest.mark.parametrize("stage", EVERY)
def test_cdk_nag_finds_nothing_that_was_not_accepted(stage: str, request: pytest.FixtureRequest) -> None:
    synthesized: Template = request.getfixturevalue(stage)
    report = _nag(synthesized)
    assert report["violations"] == []
    assert report["conclusion"] == "success"


@pytest.mark.parametrize("stage", EVERY)
def test_every_accepted_finding_has_a_reason_that_is_a_sentence(stage: str, request: pytest.FixtureRequest) -> None:
    report = _nag(request.getfixturevalue(stage))
    assert report["suppressedViolations"]
    for finding in report["suppressedViolations"]:
        assert len(finding["reason"].split()) >= 6, finding
        assert finding["reason"].endswith("."), finding


@pytest.mark.parametrize("stage", EVERY)
def test_cfn_lint_finds_nothing(stage: str, request: pytest.FixtureRequest) -> None:
    synthesized: Template = request.getfixturevalue(stage)
    (file,) = synthesized.folder.glob("*.template.json")
    assert lint_findings(file.read_text()) == []


def test_cfn_lint_would_find_what_is_wrong() -> None:
    wrong = {"Type": "AWS::S3::Bucket", "Properties": {"Color": "green"}}
    (found,) = lint_findings(json.dumps({"Resources": {"Bucket": wrong}}))
    assert "'Color' was unexpected" in found


@pytest.mark.parametrize("stage", EVERY)
def test_no_role_may_do_everything(stage: str, request: pytest.FixtureRequest) -> None:
    template: Template = request.getfixturevalue(stage)
    for statement in template.statements():
        assert statement["Effect"] == "Allow"
        assert not [action for action in as_list(statement["Action"]) if "*" in action], statement


@pytest.mark.parametrize("stage", EVERY)
def test_only_actions_that_know_no_resource_are_allowed_on_all(stage: str, request: pytest.FixtureRequest) -> None:
    template: Template = request.getfixturevalue(stage)
    unbounded = [each for each in template.statements() if "*" in as_list(each["Resource"])]
    assert {action for each in unbounded for action in as_list(each["Action"])} <= NO_RESOURCE.keys()


def test_resource_policies_are_open_to_everyone_only_to_refuse(template: Template) -> None:
    documents = [
        properties["PolicyDocument"]
        for kind in ("AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy")
        for properties in template.properties(kind)
    ]
    assert len(documents) == 7
    for statement in (each for document in documents for each in document["Statement"]):
        anyone = statement["Principal"] in ("*", {"AWS": "*"})
        assert anyone == (statement["Effect"] == "Deny"), statement


@pytest.mark.parametrize("stage", EVERY)
def test_no_role_has_a_managed_policy(stage: str, request: pytest.FixtureRequest) -> None:
    template: Template = request.getfixturevalue(stage)
    assert all("ManagedPolicyArns" not in role for role in template.properties("AWS::IAM::Role"))


def test_every_function_has_a_role_of_its_own(template: Template) -> None:
    roles = [each["Role"]["Fn::GetAtt"][0] for each in template.properties("AWS::Lambda::Function")]
    assert len(set(roles)) == len(roles) == len(ROLES)


def test_what_serves_readers_cannot_reach_the_operators_files(template: Template) -> None:
    for role in ("Site", "Rest", "Mcp", "Index", "Webhook"):
        assert not [each for each in template.statements(role) if reaches(each, OPERATIONS_PREFIX)], role
    assert [each for each in template.statements("SyncRun") if reaches(each, OPERATIONS_PREFIX)]


@pytest.mark.parametrize("role", ["Rest", "Mcp"])
def test_what_serves_readers_writes_nothing_to_the_store(template: Template, role: str) -> None:
    actions = {action for each in template.statements(role) for action in as_list(each["Action"])}
    assert {action for action in actions if action.startswith("s3:")} == {"s3:GetObject", "s3:ListBucket"}


def test_only_runs_write_documents(template: Template) -> None:
    writers = {
        role
        for role in ROLES
        for each in template.statements(role)
        if {"s3:PutObject", "s3:DeleteObject"} & set(as_list(each["Action"])) and reaches(each, "content/")
    }
    assert writers == {"SyncRun"}


def test_agents_may_read_what_readers_may_read(template: Template) -> None:
    def objects(role: str) -> list[Any]:
        return [each for each in template.statements(role) if "s3" in str(each["Action"])]

    assert objects("Mcp") == objects("Rest") != []


def test_every_secret_is_read_by_those_alone_who_need_it(template: Template) -> None:
    readers = {
        (role, stem(secret["Ref"]))
        for role in ROLES
        for each in template.statements(role)
        if "secretsmanager:GetSecretValue" in as_list(each["Action"])
        for secret in as_list(each["Resource"])
    }
    assert readers == {
        *((role, "SecretsGithub") for role in ("Webhook", "SyncRun", "SyncStore")),
        ("Mcp", "SecretsGithubWriter"),
        *((role, "IdentityPseudonyms") for role in ("Rest", "Mcp", "Console", "AuthRole")),
        *((role, "IdentityRpc") for role in ("Rest", "Mcp", "Console", "AuthRole")),
        *((role, "IdentitySigning") for role in ("AuthRole", "Signing")),
    }


def test_a_server_that_only_reads_has_no_credential_to_write_with(existing: Template) -> None:
    assert "SecretsGithubWriter" not in {stem(name) for name in existing.of("AWS::SecretsManager::Secret")}
    assert not [each for each in existing.statements("Mcp") if "Github" in str(each["Resource"])]
    variables = existing.environment(existing.function("mcp"))
    assert variables["MCP_READ_ONLY"] == "true"
    assert not {"GITHUB_WRITER_SECRET_ARN", "GITHUB_API_URL"} & set(variables)
    assert "GithubWriterSecretArn" not in existing.body["Outputs"]


def test_listing_is_allowed_only_where_reading_is(template: Template) -> None:
    for role in ROLES:
        listed = [
            pattern.removesuffix("*")
            for each in template.statements(role)
            if "s3:ListBucket" in as_list(each["Action"])
            for pattern in each["Condition"]["StringLike"]["s3:prefix"]
        ]
        readable = [each for each in template.statements(role) if "s3:GetObject" in as_list(each["Action"])]
        assert all(any(reaches(each, prefix) for each in readable) for prefix in listed), role


def test_counters_state_of_runs_changes_and_records_are_apart(template: Template) -> None:
    def items(role: str) -> dict[str, set[str]]:
        return _items(template, role, "StateActivity")

    guards = {"counter#*": {"UpdateItem"}, "denied#*": {"PutItem"}}
    assert items("Rest") == guards | {"hive#*": {"PutItem"}, "memory#*": {"PutItem"}}
    assert items("Mcp") == guards | {
        "change#documents": {"Query"},
        "memory#*": {"PutItem"},
        "hive#*": {"PutItem"},
        "slots#listens": {"GetItem", "PutItem"},
    }
    assert items("AuthRole") == {"counter#*": {"UpdateItem"}, "audit#*": {"PutItem"}}
    notes = {f"index#{name}": {"GetItem", "PutItem", "DeleteItem"} for name in ("documents", "memory", "contributions")}
    upkeep = notes | {"memory#*": {"PutItem"}}
    assert items("IndexRole") == upkeep | {"change#*": {"PutItem"}}
    for role in ("Webhook", "SyncRun"):
        assert items(role).keys() == {"sync#example/knowledge-base#main"}
    assert items("SyncStore") == items("Signing") == {}


def test_the_console_reads_and_ends_sessions_and_can_neither_open_one_nor_touch_a_grant(template: Template) -> None:
    assert _items(template, "Console", "IdentityTable") == {
        "session#*": {"GetItem", "DeleteItem"},
        "provider#*": {"GetItem"},
    }
    assert _items(template, "Console", "StateCache") == {
        "roles#*": {"GetItem", "PutItem"},
        "*#vectors": {"BatchGetItem", "BatchWriteItem", "Query", "UpdateItem"},
    }


def test_the_console_has_what_its_pages_declare_and_records_what_is_done_there(template: Template) -> None:
    there = [each for each in CAPABILITIES if each.there({})]
    declared = [one for each in there for one in each.access if "console" in one.functions]
    own = {"counter#*": {"UpdateItem"}, "console#*": {"PutItem"}, "denied#*": {"PutItem"}}
    assert own.items() <= _items(template, "Console", "StateActivity").items()
    for table, name in (("activity", "StateActivity"), ("records", "StateRecords")):
        more = {key for one in declared if isinstance(one, Items) and one.table == table for key in one.partitions}
        assert _items(template, "Console", name).keys() == more | (own.keys() if table == "activity" else set())
    objects = [one for one in declared if isinstance(one, Objects)]
    reached = [each for each in template.statements("Console") if "s3:" in str(each["Action"])]
    assert bool(reached) == bool(objects)
    wanted = {f"s3:{action}" for one in objects for action in one.actions}
    assert {action for each in reached for action in as_list(each["Action"])} <= wanted | {"s3:ListBucket"}
    assert not {"s3:PutObject", "s3:DeleteObject"} & wanted, "pages change things through the services' own functions"


@pytest.mark.parametrize("stage", ["template", "prod"])
def test_what_redacts_logs_traces_and_reads_no_data(stage: str, request: pytest.FixtureRequest) -> None:
    template: Template = request.getfixturevalue(stage)
    actions = {action for each in template.statements("Redaction") for action in as_list(each["Action"])}
    chosen = {"comprehend:DetectPiiEntities"} if stage == "prod" else set()
    assert {action for action in actions if action.partition(":")[0] not in ("logs", "xray")} == chosen


def test_who_stores_texts_of_others_may_have_them_redacted(template: Template) -> None:
    callers = {
        role
        for role in ROLES
        for each in template.statements(role)
        if "lambda:InvokeFunction" in as_list(each["Action"])
        and any("RedactionFunctionAlias" in str(one) for one in as_list(each["Resource"]))
    }
    assert callers == {"Rest", "Mcp", "Console"}


def test_a_guard_reads_grants_and_can_neither_make_nor_widen_one(template: Template) -> None:
    for role in ("Rest", "Mcp"):
        assert _items(template, role, "IdentityTable") == {"grant#*": {"GetItem", "UpdateItem"}, "keys": {"GetItem"}}
        (update,) = [
            each
            for each in template.statements(role)
            if as_list(each["Action"]) == ["dynamodb:UpdateItem"] and "IdentityTable" in str(each["Resource"])
        ]
        allowed = update["Condition"]["ForAllValues:StringEquals"]["dynamodb:Attributes"]
        assert allowed == ["pk", "sk", "lastUsedAt", "lastUsedFrom"]
        assert "ALL_NEW" not in update["Condition"]["StringEqualsIfExists"]["dynamodb:ReturnValues"]


def test_public_keys_are_written_by_their_rotation_alone(template: Template) -> None:
    assert _items(template, "Signing", "IdentityTable") == {"keys": {"GetItem", "PutItem"}}
    for role in set(ROLES) - {"Signing", "AuthRole"}:
        assert "PutItem" not in _items(template, role, "IdentityTable").get("keys", set())


def test_the_key_of_identity_is_used_through_its_services_alone(template: Template) -> None:
    users = set()
    for role in ROLES:
        for each in template.statements(role):
            if any(action.startswith("kms:") for action in as_list(each["Action"])):
                assert each["Condition"]["StringEquals"].keys() == {"kms:ViaService"}
                users.add(role)
    assert users == {"Rest", "Mcp", "Console", "AuthRole", "Signing"}


def _items(template: Template, role: str, table: str) -> dict[str, set[str]]:
    """Partition -> what may be done with items in it."""
    found: dict[str, set[str]] = {}
    for each in template.statements(role):
        if table in str(each["Resource"]):
            keys = each.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
            for key in as_list(keys):
                found.setdefault(key, set()).update(
                    action.removeprefix("dynamodb:") for action in as_list(each["Action"])
                )
    return found


def _nag(template: Template) -> dict[str, Any]:
    (report,) = [each for each in template.report["pluginReports"] if each["pluginName"] == "AwsSolutions"]
    found: dict[str, Any] = report
    return found


def test_the_console_reads_reports_and_may_ask_for_a_run_and_for_nothing_else(template: Template) -> None:
    invoking = [each for each in template.statements("Console") if each["Action"] == "lambda:InvokeFunction"]
    called = {stem(one["Ref"]) for each in invoking for one in as_list(each["Resource"])}
    assert {name.removesuffix("live") for name in called} == {"WebhookFunctionAlias", "RedactionFunctionAlias"}
    reading = [each for each in template.statements("Console") if each["Action"] == "s3:GetObject"]
    prefixes = {part for each in reading for one in as_list(each["Resource"]) for part in one["Fn::Join"][1][1:]}
    assert prefixes >= {"/metadata/*", "/operations/reports/*", "/operations/history.json*"}
    assert {one for one in prefixes if one.startswith("/operations/")} == prefixes - {"/metadata/*", "/index/*"}
