import json
import re
from collections.abc import Callable
from typing import Any, get_args
from uuid import uuid4

import pytest

from commonplace.documents.content.keys import CONTENT_PREFIX
from commonplace.hive.model import Draft
from commonplace.identity.settings import AuthSettings, GuardSettings
from commonplace.identity.telemetry import Event, Outcome
from commonplace.identity.telemetry import record as record_event
from commonplace.kernel.audit import Author
from commonplace.memory.model import Asked
from commonplace.memory.operations import note_query
from commonplace.reference.library import REFERENCE_PREFIX, catalogue_key, manifest_key
from commonplace.web.mcp.calls import CallRecord, record
from commonplace_local.cloud.event_sources import Pipe, parse_filter, parse_template
from commonplace_local.cloud.template import stem
from infra.front import REST_PATHS
from infra.identity import AUTH_PATHS, CONSOLE_PATHS
from tests.fakes.hives import FakeHive
from tests.fakes.metrics import NAMESPACE, Counted, Metrics
from tests.infra.templates import Template


def test_the_bucket_is_versioned_encrypted_and_closed(template: Template) -> None:
    (bucket,) = template.properties("AWS::S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}


def test_the_bucket_and_the_queues_are_reached_over_tls_only(template: Template) -> None:
    documents = [
        *template.properties("AWS::S3::BucketPolicy"),
        *template.properties("AWS::SQS::QueuePolicy"),
        *template.properties("AWS::SNS::TopicPolicy"),
    ]
    for document in documents:
        refused = [each["Condition"] for each in document["PolicyDocument"]["Statement"] if each["Effect"] == "Deny"]
        assert {"Bool": {"aws:SecureTransport": "false"}} in refused
    assert len(template.of("AWS::SQS::QueuePolicy")) == len(template.of("AWS::SQS::Queue"))


def test_what_a_run_leaves_behind_expires(template: Template) -> None:
    (bucket,) = template.properties("AWS::S3::Bucket")
    rules = bucket["LifecycleConfiguration"]["Rules"]
    expiring = {rule["Prefix"]: rule["ExpirationInDays"] for rule in rules if "ExpirationInDays" in rule}
    assert expiring == {"operations/runs/": 7, "operations/blobs/": 7, "operations/reports/": 90}
    (housekeeping,) = [rule for rule in rules if "Prefix" not in rule]
    assert housekeeping["NoncurrentVersionExpiration"] == {"NoncurrentDays": 30}
    assert housekeeping["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 7}


def test_only_changes_of_documents_and_of_what_is_published_of_catalogues_are_queued(template: Template) -> None:
    (bucket,) = template.properties("AWS::S3::Bucket")
    configured = bucket["NotificationConfiguration"]["QueueConfigurations"]
    rules = [
        (each["Event"], {rule["Name"]: rule["Value"] for rule in each["Filter"]["S3Key"]["Rules"]})
        for each in configured
    ]
    manifests = {"prefix": REFERENCE_PREFIX, "suffix": "/manifest.json"}
    assert rules == [
        (event, told)
        for told in ({"prefix": CONTENT_PREFIX}, manifests)
        for event in ("s3:ObjectCreated:*", "s3:ObjectRemoved:*")
    ]
    assert manifest_key("helios").startswith(manifests["prefix"])
    assert manifest_key("helios").endswith(manifests["suffix"])
    assert not catalogue_key("helios", "0" * 64).endswith(manifests["suffix"])


def test_the_bucket_waits_for_the_policy_that_lets_it_send(template: Template) -> None:
    (bucket,) = template.of("AWS::S3::Bucket").values()
    (needed,) = bucket["DependsOn"]
    assert template.body["Resources"][needed]["Type"] == "AWS::SQS::QueuePolicy"


def test_the_queue_of_the_index_takes_messages_of_its_own_bucket_alone(template: Template) -> None:
    (bucket,) = template.properties("AWS::S3::Bucket")
    queues = {each["Queue"]["Fn::GetAtt"][0] for each in bucket["NotificationConfiguration"]["QueueConfigurations"]}
    (policy,) = [
        each["PolicyDocument"]["Statement"]
        for each in template.properties("AWS::SQS::QueuePolicy")
        if {one["Ref"] for one in each["Queues"]} == queues
    ]
    (allowed,) = [each for each in policy if each["Effect"] == "Allow"]
    assert (allowed["Action"], allowed["Principal"]) == ("sqs:SendMessage", {"Service": "s3.amazonaws.com"})
    conditions = allowed["Condition"]
    assert conditions.keys() == {"StringEquals", "ArnEquals"}
    assert conditions["StringEquals"] == {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}
    # The very expression that names the bucket: the stack's own id is in it, so no other bucket has the name.
    arn = conditions["ArnEquals"]["aws:SourceArn"]["Fn::Join"][1]
    name = bucket["BucketName"]["Fn::Join"][1]
    assert arn[0:2] == ["arn:", {"Ref": "AWS::Partition"}]
    assert [f":s3:::{name[0]}", *name[1:]] == arn[2:]
    assert {"Fn::Select": [2, {"Fn::Split": ["/", {"Ref": "AWS::StackId"}]}]} in name


def test_no_name_of_a_bucket_is_too_long(template: Template) -> None:
    (bucket,) = template.properties("AWS::S3::Bucket")
    written = sum(len(part) for part in bucket["BucketName"]["Fn::Join"][1] if isinstance(part, str))
    longest_stage, stack_id = 16, len(str(uuid4()))
    assert written - len("dev") + longest_stage + stack_id <= 63


def test_every_queue_redrives_to_a_dead_letter_queue_that_keeps_for_fourteen_days(template: Template) -> None:
    queues = template.of("AWS::SQS::Queue")
    dead = _dead_letter_queues(template)
    assert len(dead) == 3
    for name, queue in queues.items():
        assert (name in dead) != ("RedrivePolicy" in queue["Properties"]), name
        assert queue["Properties"]["MessageRetentionPeriod"] == 14 * 86_400, name
        assert queue["Properties"]["SqsManagedSseEnabled"] is True, name


def test_every_dead_letter_queue_has_an_alarm(template: Template) -> None:
    watched = {
        dimension["Value"]["Fn::GetAtt"][0]
        for alarm in template.properties("AWS::CloudWatch::Alarm")
        if alarm.get("MetricName") == "ApproximateNumberOfMessagesVisible" and alarm["Threshold"] == 1
        for dimension in alarm["Dimensions"]
    }
    assert watched == _dead_letter_queues(template)


def test_no_message_is_handed_out_twice_while_it_is_worked_on(template: Template) -> None:
    for queue in _mappings(template):
        visibility = template.body["Resources"][queue]["Properties"]["VisibilityTimeout"]
        assert visibility >= 6 * template.function("index")["Timeout"]


def test_the_index_is_fed_in_batches_whose_failures_are_partial(template: Template) -> None:
    mappings = {stem(queue): mapping for queue, mapping in _mappings(template).items()}
    for mapping in mappings.values():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["ScalingConfig"] == {"MaximumConcurrency": 2}
    documents, records = mappings["IndexQueue"], mappings["IndexRecordsQueue"]
    assert (documents["BatchSize"], documents["MaximumBatchingWindowInSeconds"]) == (100, 1)
    assert (records["BatchSize"], records.get("MaximumBatchingWindowInSeconds", 0)) == (10, 0), (
        "searches follow at once"
    )


def test_the_table_of_records_alone_tells_of_its_writes_and_only_keys(template: Template) -> None:
    told = {
        stem(name): each["Properties"]["StreamSpecification"]
        for name, each in template.of("AWS::DynamoDB::GlobalTable").items()
        if "StreamSpecification" in each["Properties"]
    }
    assert told == {"StateRecords": {"StreamViewType": "KEYS_ONLY"}}


def test_a_pipe_queues_changes_of_entries_and_jobs_and_nothing_else(template: Template) -> None:
    (properties,) = template.properties("AWS::Pipes::Pipe")
    source, target = properties["SourceParameters"], properties["TargetParameters"]
    pipe = Pipe(
        table="records",
        queue="",
        filters=tuple(parse_filter(each["Pattern"]) for each in source["FilterCriteria"]["Filters"]),
        message=parse_template(target["InputTemplate"]),
    )
    kept = ("acme#memory#entries", "acme#memory#jobs")
    others = ("acme#memory#cards", "acme#memory#hashes", "acme#memory#once", "acme#memory#pieces#1", "organisations")
    assert all(pipe.passes(_change(partition)) for partition in kept)
    assert not [partition for partition in others if pipe.passes(_change(partition))]
    assert json.loads(pipe.body(_change("acme#memory#entries"))) == {
        "table": "records",
        "pk": "acme#memory#entries",
        "sk": "one",
    }


def test_a_pipe_sends_what_its_queue_takes_at_once_and_gives_up_nothing(template: Template) -> None:
    (properties,) = template.properties("AWS::Pipes::Pipe")
    reading = properties["SourceParameters"]["DynamoDBStreamParameters"]
    assert (reading["BatchSize"], reading["StartingPosition"]) == (10, "TRIM_HORIZON")
    assert not {"MaximumRetryAttempts", "MaximumRecordAgeInSeconds", "MaximumBatchingWindowInSeconds"} & reading.keys()
    assert reading["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0] in _dead_letter_queues(template)
    assert stem(properties["Source"]["Fn::GetAtt"][0]) == "StateRecords"
    assert stem(properties["Target"]["Fn::GetAtt"][0]) == "IndexRecordsQueue"


def test_tables_are_on_demand_restorable_and_forget(template: Template) -> None:
    tables = template.properties("AWS::DynamoDB::GlobalTable")
    assert len(tables) == 4
    for table in tables:
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        assert [key["AttributeName"] for key in table["KeySchema"]] == ["pk", "sk"]
        assert table["TimeToLiveSpecification"] == {"AttributeName": "expiresAt", "Enabled": True}
        (replica,) = table["Replicas"]
        assert replica["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}


def test_grants_and_private_keys_are_under_a_key_of_their_own_that_rotates(template: Template) -> None:
    (name,) = [name for name in template.of("AWS::KMS::Key") if name.startswith("Identity")]
    key = {"Fn::GetAtt": [name, "Arn"]}
    assert template.of("AWS::KMS::Key")[name]["Properties"]["EnableKeyRotation"] is True
    tables = {stem(name): each["Properties"] for name, each in template.of("AWS::DynamoDB::GlobalTable").items()}
    assert tables["IdentityTable"]["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
    assert tables["IdentityTable"]["Replicas"][0]["SSESpecification"] == {"KMSMasterKeyId": key}
    secrets = {stem(name): each["Properties"] for name, each in template.of("AWS::SecretsManager::Secret").items()}
    assert {name for name, each in secrets.items() if each.get("KmsKeyId") == key} == {
        "IdentityPseudonyms",
        "IdentitySigning",
    }


def test_keys_that_sign_tokens_are_made_at_once_and_changed_every_month(template: Template) -> None:
    (schedule,) = template.properties("AWS::SecretsManager::RotationSchedule")
    assert schedule["SecretId"]["Ref"].startswith("IdentitySigning")
    assert schedule["RotateImmediatelyOnUpdate"] is True
    assert schedule["RotationRules"] == {"AutomaticallyAfterDays": 30}
    (secret,) = [each for name, each in template.of("AWS::SecretsManager::Secret").items() if "Signing" in name]
    assert secret["Properties"]["SecretString"] == '{"keys": []}'


def test_endpoints_of_chains_are_those_configured(identified: Template, template: Template) -> None:
    def endpoints(stage: Template) -> dict[str, list[str]]:
        (secret,) = [each for name, each in stage.of("AWS::SecretsManager::Secret").items() if "Rpc" in name]
        read: dict[str, list[str]] = json.loads(secret["Properties"]["SecretString"])
        return read

    assert endpoints(identified) == {
        "optimism": ["https://a.example/v1", "https://b.example"],
        "mainnet": ["https://c.example"],
    }
    assert [len(urls) for urls in endpoints(template).values()] == [2, 2]


def test_what_is_configured_of_identity_reaches_the_authorization_server(identified: Template) -> None:
    settings = AuthSettings.from_environ(identified.environment(identified.function("auth")))
    assert (settings.oidc_issuer, settings.oidc_client_id) == ("https://id.example.org", "commonplace")
    assert settings.oidc_secret_arn
    assert settings.oidc_claims_seconds == 12 * 3_600
    assert settings.oidc_parameters == {"access_type": "offline", "prompt": "consent"}
    assert "OidcSecretArn" in identified.body["Outputs"]
    assert (settings.hats_chain_id, settings.siwe_chain_id) == (11155420, 11155420)
    guards = [GuardSettings.from_environ(identified.environment(identified.function(name))) for name in ("rest", "mcp")]
    assert {guard.role_map.organisation for guard in guards if guard} == {"club"}
    assert all(guard and guard.role_map.hats.keys() == {"30.3.1"} for guard in guards)


def test_functions_start_from_snapshots_where_that_is_asked_for(identified: Template, template: Template) -> None:
    started = {
        each["FunctionName"].removeprefix("commonplace-dev-")
        for each in identified.properties("AWS::Lambda::Function")
        if each.get("SnapStart") == {"ApplyOn": "PublishedVersions"}
    }
    assert started == {"site", "rest", "mcp", "console", "auth", "redact"}
    assert not [each for each in template.properties("AWS::Lambda::Function") if "SnapStart" in each]


def test_prod_outlives_its_stack(prod: Template) -> None:
    for kind in ("AWS::S3::Bucket", "AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret"):
        kept = [(each["DeletionPolicy"], each["UpdateReplacePolicy"]) for each in prod.of(kind).values()]
        assert set(kept) == {("RetainExceptOnCreate", "Retain")}, kind
    replicas = [table["Replicas"][0] for table in prod.properties("AWS::DynamoDB::GlobalTable")]
    assert all(replica["DeletionProtectionEnabled"] for replica in replicas)


def test_a_creation_that_is_rolled_back_leaves_nothing_with_a_fixed_name(
    prod: Template, large: Template, synthesized: Callable[..., Template]
) -> None:
    stage = {"stage": "prod", "repository": "example/knowledge-base", "branch": "main"}
    serverless = synthesized(**stage, engine="opensearch", openSearchService="serverless")
    for made in (prod, large, serverless):
        resources = made.body["Resources"].values()
        assert {each["DeletionPolicy"] for each in resources if "DeletionPolicy" in each} == {
            "Delete",
            "RetainExceptOnCreate",
        }
        # Nothing deletes what is protected, a rollback neither: AWS chooses the names of the tables.
        protected = {each["Type"] for each in resources if "DeletionProtection" in json.dumps(each)}
        assert protected == {"AWS::DynamoDB::GlobalTable"}
        assert not [each for each in made.properties("AWS::DynamoDB::GlobalTable") if "TableName" in each]


def test_dev_goes_with_its_stack(template: Template) -> None:
    kinds = ("AWS::S3::Bucket", "AWS::DynamoDB::GlobalTable", "AWS::SecretsManager::Secret")
    assert {each["DeletionPolicy"] for kind in kinds for each in template.of(kind).values()} == {"Delete"}


def test_the_template_has_no_function_or_resource_of_cdks_own(template: Template) -> None:
    kinds = {each["Type"] for each in template.body["Resources"].values()}
    assert not [kind for kind in kinds if kind.startswith("Custom::") or kind == "AWS::CloudFormation::CustomResource"]


def test_the_webhook_has_a_secret_that_nobody_chose(template: Template) -> None:
    (secret,) = [
        each for each in template.properties("AWS::SecretsManager::Secret") if "webhook" in each["Description"]
    ]
    assert secret["GenerateSecretString"]["GenerateStringKey"] == "webhookSecret"
    assert secret["GenerateSecretString"]["SecretStringTemplate"] == '{"token": ""}'
    assert "SecretString" not in secret


def test_what_writes_to_github_starts_without_a_credential(template: Template) -> None:
    secrets = template.properties("AWS::SecretsManager::Secret")
    (secret,) = [each for each in secrets if "drafts" in each["Description"]]
    assert secret["SecretString"] == '{"token": ""}'


def test_routes_are_the_webhook_agents_sign_in_and_everything_else(template: Template) -> None:
    resources = template.body["Resources"]
    routes = {
        route["RouteKey"]: resources[route["Target"]["Fn::Join"][1][1]["Ref"]]["Properties"]["IntegrationUri"]["Ref"]
        for route in template.properties("AWS::ApiGatewayV2::Route")
    }
    assert {key: alias.partition("Function")[0] for key, alias in routes.items()} == {
        "POST /webhooks/github": "Webhook",
        "ANY /mcp": "Mcp",
        "ANY /mcp/{proxy+}": "Mcp",
        **{f"ANY {path}": "Console" for path in CONSOLE_PATHS},
        **{f"ANY {path}": "Auth" for path in AUTH_PATHS},
        **{f"ANY {path}": "Rest" for path in REST_PATHS},
        "$default": "Site",
    }
    assert {each["PayloadFormatVersion"] for each in template.properties("AWS::ApiGatewayV2::Integration")} == {"2.0"}


def test_the_api_is_throttled_and_logs_no_query(template: Template) -> None:
    (stage,) = template.properties("AWS::ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"] == {"ThrottlingBurstLimit": 200, "ThrottlingRateLimit": 100}
    logged = stage["AccessLogSettings"]["Format"]
    assert "$context.status" in logged
    assert "query" not in logged.lower()


def test_a_domain_of_ones_own_is_the_only_way_in(prod: Template) -> None:
    (api,) = prod.properties("AWS::ApiGatewayV2::Api")
    (domain,) = prod.properties("AWS::ApiGatewayV2::DomainName")
    assert api["DisableExecuteApiEndpoint"] is True
    assert domain["DomainName"] == "knowledge.example.org"
    assert domain["DomainNameConfigurations"][0]["SecurityPolicy"] == "TLS_1_2"
    assert prod.body["Outputs"]["BaseUrl"]["Value"] == "https://knowledge.example.org"
    assert "DomainTarget" in prod.body["Outputs"]


def test_schedules_reach_both_halves_and_lose_nothing(template: Template) -> None:
    rules = {rule["ScheduleExpression"]: rule["Targets"] for rule in template.properties("AWS::Events::Rule")}
    assert rules.keys() == {"rate(1 hour)", "rate(6 hours)", "rate(5 minutes)"}
    for (target,) in rules.values():
        assert target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0] in _dead_letter_queues(template)
    inputs = {rate: target["Input"] for rate, (target,) in rules.items() if "Input" in target}
    assert inputs.keys() == {"rate(5 minutes)"}, "elsewhere the functions tell a schedule by the event's own source"
    assert json.loads(inputs["rate(5 minutes)"]) == {"source": "aws.events", "complete": True}


def test_every_alarm_tells_the_one_topic_when_it_goes_off_and_when_it_is_over(template: Template) -> None:
    (topic,) = template.of("AWS::SNS::Topic")
    alarms = template.properties("AWS::CloudWatch::Alarm")
    for alarm in alarms:
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": topic}], alarm["AlarmName"]
        assert alarm["AlarmDescription"].endswith("."), alarm["AlarmName"]


def test_what_can_go_wrong_has_an_alarm(template: Template) -> None:
    names = {
        alarm["AlarmName"].removeprefix("commonplace-dev-") for alarm in template.properties("AWS::CloudWatch::Alarm")
    }
    functions = (
        "webhook",
        "sync-run",
        "sync-store",
        "index",
        "site",
        "rest",
        "mcp",
        "console",
        "auth",
        "rotate",
        "redact",
    )
    assert names == {
        *(f"{function}-errors" for function in functions),
        *(f"{function}-throttled" for function in functions),
        "index-dead-letters",
        "records-dead-letters",
        "records-late",
        "records-pipe",
        "invocations-dead-letters",
        "invocations-lost",
        "sync-failed",
        "sync-late",
        "index-late",
        "api-errors",
        "hive-queue-age",
        "mcp-failures",
        "auth-sign-ins",
        "auth-tokens",
        "auth-failures",
        "auth-denied",
        "token-reuse",
        "rpc-down",
    }


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Metrics:
    return Metrics(monkeypatch, capsys)


def call(outcome: str = "ok", method: str = "tools/call", name: str = "define_term") -> CallRecord:
    return CallRecord(
        method=method,
        name=name,
        outcome=outcome,
        milliseconds=1.5,
        answer_tokens=90,
        era="modern",
        tier="public",
        client="a client",
    )


def test_calls_of_agents_are_counted(metrics: Metrics, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        record(call())
    (line,) = [vars(each) for each in caplog.records]
    assert (line["message"], line["method"], line["milliseconds"]) == ("mcp call", "tools/call", 1.5)
    assert (line["target"], line["outcome"]) == ("define_term", "ok")
    assert metrics.counted() == [
        Counted("McpCalls", 1, "Count", {"Method": "tools/call", "Outcome": "ok"}),
        Counted("McpToolCalls", 1, "Count", {"Tool": "define_term", "Outcome": "ok"}),
        Counted("McpToolMilliseconds", 1.5, "Milliseconds", {"Tool": "define_term"}),
    ]
    record(call("-32601", "resources/read", "kb://document/{ref}"))
    assert metrics.counted() == [Counted("McpCalls", 1, "Count", {"Method": "resources/read", "Outcome": "-32601"})]


@pytest.mark.parametrize("outcome", ["INTERNAL_ERROR", "-32603"])
def test_calls_that_end_in_an_error_nobody_expected_are_an_alarm(
    template: Template, metrics: Metrics, outcome: str
) -> None:
    record(call(outcome, "prompts/get"))
    assert metrics.counted()[1:] == [Counted("McpFailures", 1)]
    (alarm,) = [each for each in _alarms(template) if each["AlarmName"].endswith("-mcp-failures")]
    assert (alarm["Namespace"], alarm["MetricName"]) == (NAMESPACE, "McpFailures")
    assert "Dimensions" not in alarm


def test_the_dashboard_searches_for_what_is_counted(template: Template, metrics: Metrics) -> None:
    record(call())
    record_event("signin")
    note_query(Asked(query="a secret", phase="dev"), fallback=False)
    draft = Draft(content="The gateway throttles after a minute.", category="bug_fix")
    FakeHive().hive.contribute(Author(organisation="acme", account="a" * 32), draft)
    counted = {(each.metric, *each.dimensions) for each in metrics.counted()}
    (dashboard,) = template.properties("AWS::CloudWatch::Dashboard")
    searched = re.findall(r"SEARCH\('{([^}]*)} MetricName=\W+(\w+)", json.dumps(dashboard["DashboardBody"]))
    assert {(name, *schema.split(",")[1:]) for schema, name in searched} == counted
    assert {schema.split(",")[0] for schema, _ in searched} == {NAMESPACE}


def test_searches_of_the_memory_are_counted_by_phase_and_role_alone(
    metrics: Metrics, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO"):
        note_query(Asked(query="a secret", phase="dev"), fallback=True)
    (line,) = [vars(each) for each in caplog.records]
    assert (line["message"], line["phase"], line["role"], line["fallback"]) == ("memory query", "dev", "all", True)
    assert "secret" not in str(line)
    assert metrics.counted() == [
        Counted("MemoryQueries", 1, "Count", {"Phase": "dev", "Role": "all"}),
        Counted("MemoryFallbacks", 1),
    ]


def test_what_waits_on_the_way_of_the_memory_is_an_alarm(template: Template) -> None:
    alarms = {each["AlarmName"].removeprefix("commonplace-dev-records-"): each for each in _alarms(template)}
    late, pipe = alarms["late"], alarms["pipe"]
    assert stem(late["Dimensions"][0]["Value"]["Fn::GetAtt"][0]) == "IndexRecordsQueue"
    assert (late["MetricName"], late["Threshold"]) == ("ApproximateAgeOfOldestMessage", 300)
    (made,) = template.properties("AWS::Pipes::Pipe")
    assert pipe["Dimensions"] == [{"Name": "PipeName", "Value": made["Name"]}]
    assert (pipe["Namespace"], pipe["MetricName"]) == ("AWS/EventBridge/Pipes", "ExecutionFailed")


def test_what_happens_to_identity_is_logged_and_counted(metrics: Metrics, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        record_event("reuse", "denied", "refresh_reused")
    (line,) = [vars(each) for each in caplog.records]
    assert (line["message"], line["event"], line["outcome"]) == ("auth event", "reuse", "denied")
    assert metrics.counted() == [Counted("AuthEvents", 1, "Count", {"Event": "reuse", "Outcome": "denied"})]


def test_alarms_of_identity_ask_for_events_and_outcomes_that_there_are(template: Template) -> None:
    asked = [
        {item["Name"]: item["Value"] for item in metric["MetricStat"]["Metric"]["Dimensions"]}
        for alarm in _alarms(template)
        for metric in alarm.get("Metrics", [])
        if metric.get("MetricStat", {}).get("Metric", {}).get("MetricName") == "AuthEvents"
    ]
    assert {each["Event"] for each in asked} <= set(get_args(Event))
    assert {each["Outcome"] for each in asked} <= set(get_args(Outcome))
    assert {"signin", "token", "refresh", "reuse", "rpc", "denied"} <= {each["Event"] for each in asked}


@pytest.mark.parametrize(("stage", "seconds", "periods"), [("template", 3600, 3), ("prod", 900, 4)])
def test_silence_of_the_sync_is_an_alarm(
    stage: str, seconds: int, periods: int, request: pytest.FixtureRequest
) -> None:
    (alarm,) = [each for each in _alarms(request.getfixturevalue(stage)) if each["AlarmName"].endswith("-sync-late")]
    assert alarm["TreatMissingData"] == "breaching"
    assert alarm["ComparisonOperator"] == "LessThanThreshold"
    assert (alarm["Period"], alarm["EvaluationPeriods"]) == (seconds, periods)


def test_alarms_can_reach_a_topic_that_is_encrypted(template: Template) -> None:
    (topic,) = template.properties("AWS::SNS::Topic")
    (key,) = [each for name, each in template.of("AWS::KMS::Key").items() if name.startswith("Observability")]
    assert topic["KmsMasterKeyId"]
    assert key["Properties"]["EnableKeyRotation"] is True
    principals = [each["Principal"] for each in key["Properties"]["KeyPolicy"]["Statement"]]
    assert {"Service": "cloudwatch.amazonaws.com"} in principals


def test_somebody_is_told_where_an_address_is_configured(template: Template, prod: Template) -> None:
    (subscription,) = prod.properties("AWS::SNS::Subscription")
    assert (subscription["Protocol"], subscription["Endpoint"]) == ("email", "operators@example.org")
    assert not template.of("AWS::SNS::Subscription")


def test_outputs_tell_what_an_operator_needs(template: Template) -> None:
    assert template.body["Outputs"].keys() == {
        "ActivityTable",
        "AlarmTopicArn",
        "AuthFunction",
        "BaseUrl",
        "CacheTable",
        "ConsoleFunction",
        "ContentBucket",
        "DashboardUrl",
        "DlqUrls",
        "GithubSecretArn",
        "GithubWriterSecretArn",
        "IdentitySecretArn",
        "IdentityTable",
        "IndexFunction",
        "IndexQueueUrl",
        "McpFunction",
        "McpUrl",
        "Organisation",
        "RecordsQueueUrl",
        "RecordsTable",
        "RestFunction",
        "RestUrl",
        "RedactFunction",
        "RotateFunction",
        "RpcSecretArn",
        "SigningSecretArn",
        "SiteFunction",
        "SyncMachineArn",
        "SyncRunFunction",
        "SyncStoreFunction",
        "WebhookFunction",
        "WebhookUrl",
    }


def _mappings(template: Template) -> dict[str, dict[str, Any]]:
    """By the queue that is read."""
    mappings = template.properties("AWS::Lambda::EventSourceMapping")
    return {each["EventSourceArn"]["Fn::GetAtt"][0]: each for each in mappings}


def _change(partition: str) -> dict[str, Any]:
    """As the stream tells of it."""
    return {"eventName": "MODIFY", "dynamodb": {"Keys": {"pk": {"S": partition}, "sk": {"S": "one"}}}}


def _alarms(template: Template) -> list[dict[str, Any]]:
    return template.properties("AWS::CloudWatch::Alarm")


def _dead_letter_queues(template: Template) -> set[str]:
    redriven = {
        queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]
        for queue in template.properties("AWS::SQS::Queue")
        if "RedrivePolicy" in queue
    }
    targets = [target for rule in template.properties("AWS::Events::Rule") for target in rule["Targets"]]
    return redriven | {target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0] for target in targets}
