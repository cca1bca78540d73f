"""Builders of the template's resources on this machine, by type.

A builder makes the resource through its service's own API, so boto3 validates what CDK lets through, or notes it in
`Parts` for the host, the gateway, the pollers and the scheduler. Properties that would change behaviour and are not
handled here raise.
"""

import json
import re
import secrets
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from commonplace_local.cloud.environment import ACCOUNT, REGION
from commonplace_local.cloud.event_sources import Pipe, QueueMapping, parse_filter, parse_template
from commonplace_local.cloud.http_api import Route
from commonplace_local.cloud.lambda_host import PAUSES_SECONDS, AsyncConfig
from commonplace_local.cloud.runtime import Function
from commonplace_local.cloud.schedules import RotatedSecret, Rule, Target, parse
from commonplace_local.cloud.template import Attributes, Builder, Stack, TemplateError, stem

SOURCE = "commonplace:source"
FUNCTIONS = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/laptop"
DEFAULT_CONCURRENCY = 4
PLACEHOLDER = re.compile(r"\$\{\w+\}")
SECONDS_BETWEEN_RETRIES = re.compile(r'("IntervalSeconds"\s*:\s*)\d+')

# Nothing on a laptop answers to these; who refers to one gets a placeholder.
WITHOUT_EFFECT = (
    "AWS::ApiGateway::Account",
    "AWS::ApiGateway::Deployment",
    "AWS::ApiGateway::GatewayResponse",
    "AWS::ApiGateway::Stage",
    "AWS::ApiGatewayV2::Stage",
    "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard",
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::Role",
    "AWS::KMS::Key",
    "AWS::Lambda::LayerVersion",
    "AWS::Lambda::Permission",
    "AWS::Logs::LogGroup",
    "AWS::S3::BucketPolicy",
    "AWS::SNS::Topic",
    "AWS::SNS::TopicPolicy",
    "AWS::SQS::QueuePolicy",
)


READERS = 2
"""Of one stream, as DynamoDB has it."""


@dataclass(slots=True)
class Parts:
    """The parts of a template, by logical id."""

    functions: dict[str, Function] = field(default_factory=dict)
    buckets: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    queues: dict[str, str] = field(default_factory=dict)  # URLs
    secrets: dict[str, str] = field(default_factory=dict)  # ARNs
    machines: dict[str, str] = field(default_factory=dict)  # ARNs
    mappings: dict[str, QueueMapping] = field(default_factory=dict)
    pipes: dict[str, Pipe] = field(default_factory=dict)
    asynchronous: dict[str, AsyncConfig] = field(default_factory=dict)  # by the ARN of an alias
    rotations: list[RotatedSecret] = field(default_factory=list)
    rules: dict[str, Rule] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    notifications: dict[str, dict[str, Any]] = field(default_factory=dict)  # by bucket name
    deferred: list[Callable[[], None]] = field(default_factory=list)  # slow, and nobody needs the result


def refuse(logical_id: str, properties: Mapping[str, Any], *names: str) -> None:
    """Raise when the resource has one of these properties, none of which a laptop can honour."""
    for name in names:
        if properties.get(name):
            raise TemplateError(f"{logical_id} has the property {name}, which the laptop cloud does not emulate.")


class Builders:
    """The builders, bound to where functions live, which clients to use and what this start overrides.

    `secret_values` are what this start gives, by logical id, its stem, or description.
    """

    def __init__(
        self,
        client: Callable[[str], Any],
        root: Path,
        http_url: str,
        *,
        environment: Mapping[str, str],
        secret_values: Mapping[str, Mapping[str, Any]],
        retry_interval_seconds: int | None,
    ) -> None:
        self.parts = Parts()
        self.given_secrets: set[str] = set()  # logical ids whose value this start gave
        self._client, self._secret_values = client, secret_values
        self._unused = set(secret_values)
        self._visibility_seconds: dict[str, int] = {}  # by queue ARN
        self._root, self._http_url, self._environment = root, http_url, environment
        self._retry_interval_seconds = retry_interval_seconds

    @property
    def unused_secrets(self) -> list[str]:
        """Names of given values that no secret of the template answers to."""
        return sorted(self._unused)

    def bucket(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        name = given.get("BucketName", f"commonplace-{stem(logical_id).lower()}")
        s3 = self._client("s3")
        s3.create_bucket(Bucket=name)
        if given.get("VersioningConfiguration"):
            s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=given["VersioningConfiguration"])
        if wanted := given.get("NotificationConfiguration"):
            refuse(logical_id, wanted, "LambdaConfigurations", "TopicConfigurations", "EventBridgeConfiguration")
            # From the shape of CloudFormation to that of `PutBucketNotificationConfiguration`.
            queues = [
                {
                    "Id": f"{stem(logical_id)}-{index}",
                    "QueueArn": entry["Queue"],
                    "Events": [entry["Event"]],
                    "Filter": {"Key": {"FilterRules": entry.get("Filter", {}).get("S3Key", {}).get("Rules", [])}},
                }
                for index, entry in enumerate(wanted.get("QueueConfigurations", []))
            ]
            self.parts.notifications[name] = {"QueueConfigurations": queues}
        self.parts.buckets[logical_id] = name
        return {"Ref": name, "Arn": f"arn:aws:s3:::{name}"}

    def queue(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "FifoQueue", "DelaySeconds")
        name = given.pop("QueueName", stem(logical_id))
        given.pop("Tags", None)
        url = self._client("sqs").create_queue(QueueName=name, Attributes={k: _text(v) for k, v in given.items()})
        arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
        self.parts.queues[logical_id] = url["QueueUrl"]
        self._visibility_seconds[arn] = int(given.get("VisibilityTimeout", 30))
        return {"Ref": url["QueueUrl"], "QueueUrl": url["QueueUrl"], "Arn": arn, "QueueName": name}

    def table(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "LocalSecondaryIndexes")
        name = given.get("TableName", stem(logical_id))
        indexes = [
            {part: index[part] for part in ("IndexName", "KeySchema", "Projection")}
            for index in given.get("GlobalSecondaryIndexes", [])
        ]
        dynamodb = self._client("dynamodb")
        stream = given.get("StreamSpecification")
        made = dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=given["KeySchema"],
            AttributeDefinitions=given["AttributeDefinitions"],
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
            **({"StreamSpecification": {"StreamEnabled": True, **stream}} if stream else {}),
        )["TableDescription"]
        if expiry := given.get("TimeToLiveSpecification"):
            dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
        self.parts.tables[logical_id] = name
        told = {"StreamArn": made["LatestStreamArn"]} if stream else {}
        return {"Ref": name, "Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}", **told}

    def secret(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        names = {logical_id, stem(logical_id), given.get("Description", "")}
        known = next((name for name in self._secret_values if name in names), None)
        if known is not None:
            self._unused.discard(known)
            self.given_secrets.add(logical_id)
        if known is not None:
            value = json.dumps(dict(self._secret_values[known]))
        elif (generate := given.get("GenerateSecretString")) is None:
            value = str(given.get("SecretString", "{}"))
        else:  # from letters and digits
            alphabet, length = string.ascii_letters + string.digits, int(generate.get("PasswordLength", 32))
            value = "".join(secrets.choice(alphabet) for _ in range(length))
            if field_name := generate.get("GenerateStringKey"):
                value = json.dumps({**json.loads(generate.get("SecretStringTemplate", "{}")), field_name: value})
        made = self._client("secretsmanager").create_secret(
            Name=given.get("Name", stem(logical_id)), SecretString=value
        )
        self.parts.secrets[logical_id] = made["ARN"]
        return {"Ref": made["ARN"], "Id": made["ARN"]}

    def table_of_types(self) -> dict[str, Builder]:
        made: dict[str, Builder] = {
            "AWS::ApiGateway::Method": self.method,
            "AWS::ApiGateway::Resource": self.rest_resource,
            "AWS::ApiGateway::RestApi": self.rest_api,
            "AWS::ApiGatewayV2::Api": self.api,
            "AWS::ApiGatewayV2::Integration": self.integration,
            "AWS::ApiGatewayV2::Route": self.route,
            "AWS::DynamoDB::GlobalTable": self.table,
            "AWS::Events::Rule": self.rule,
            "AWS::Lambda::Alias": self.alias,
            "AWS::Lambda::EventInvokeConfig": self.asynchronous,
            "AWS::Lambda::EventSourceMapping": self.mapping,
            "AWS::Lambda::Function": self.function,
            "AWS::Lambda::Version": self.version,
            "AWS::Pipes::Pipe": self.pipe,
            "AWS::S3::Bucket": self.bucket,
            "AWS::SecretsManager::RotationSchedule": self.rotation,
            "AWS::SQS::Queue": self.queue,
            "AWS::SecretsManager::Secret": self.secret,
            "AWS::StepFunctions::StateMachine": self.machine,
        }
        return made | dict.fromkeys(WITHOUT_EFFECT, self.without_effect)

    @staticmethod
    def without_effect(stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:  # noqa: ARG004
        return {"Ref": logical_id, "Arn": f"arn:aws:laptop:{REGION}:{ACCOUNT}:{logical_id}"}

    def function(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        source = stack.resources[logical_id].get("Metadata", {}).get(SOURCE)
        if source is None:
            raise TemplateError(f"{logical_id} does not say in its metadata ({SOURCE}) which folder it comes from.")
        folder = self._root / source
        if not folder.is_dir():
            raise TemplateError(f"{logical_id} comes from {source}, and there is no such folder.")
        given = stack.value({name: properties[name] for name in properties if name not in ("Code", "Role", "Layers")})
        logging = given.get("LoggingConfig", {})
        function = Function(
            name=given.get("FunctionName", stem(logical_id)),
            handler=given["Handler"],
            # An installed program has the library among its packages.
            path=tuple(path for path in (folder, self._root / "layers" / "core") if path.is_dir()),
            variables={**given.get("Environment", {}).get("Variables", {}), **self._environment},
            timeout_seconds=int(given.get("Timeout", 3)),
            memory_mb=int(given.get("MemorySize", 128)),
            concurrency=int(given.get("ReservedConcurrentExecutions", DEFAULT_CONCURRENCY)),
            log_format=logging.get("LogFormat", "Text"),
            log_level=logging.get("ApplicationLogLevel"),
        )
        self.parts.functions[logical_id] = function
        return {"Ref": function.name, "Arn": function.arn}

    @staticmethod
    def version(stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:  # noqa: ARG004
        return {"Ref": f"{FUNCTIONS}{stack.value(properties['FunctionName'])}:1", "Version": "1"}

    @staticmethod
    def alias(stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        refuse(logical_id, properties, "RoutingConfig")
        arn = f"{FUNCTIONS}{stack.value(properties['FunctionName'])}:{properties['Name']}"
        return {"Ref": arn, "AliasArn": arn}

    def asynchronous(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        destinations = given.get("DestinationConfig", {})
        refuse(logical_id, destinations, "OnSuccess")
        queue_arn = destinations.get("OnFailure", {}).get("Destination")
        if queue_arn is not None and queue_arn not in self._visibility_seconds:
            raise TemplateError(f"{logical_id} sets failures aside in {queue_arn}, no queue of this template.")
        interval = self._retry_interval_seconds
        function = self._called(logical_id, given["FunctionName"])
        self.parts.asynchronous[f"{function.arn}:{given['Qualifier']}"] = AsyncConfig(
            retries=int(given.get("MaximumRetryAttempts", 2)),
            max_age_seconds=float(given.get("MaximumEventAgeInSeconds", 21_600)),
            queue_url=self._url(queue_arn) if queue_arn else None,
            pauses_seconds=PAUSES_SECONDS if interval is None else (interval,) * len(PAUSES_SECONDS),
        )
        return {"Ref": logical_id}

    def mapping(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "FilterCriteria", "SourceAccessConfigurations")
        queue_arn = given["EventSourceArn"]
        if queue_arn not in self._visibility_seconds:
            raise TemplateError(f"{logical_id} reads from {queue_arn}, which is not a queue of this template.")
        function = self._called(logical_id, given["FunctionName"])
        if self._visibility_seconds[queue_arn] < function.timeout_seconds:
            raise TemplateError(
                f"{logical_id}: the queue shows its messages again after {self._visibility_seconds[queue_arn]} s, "
                f"before the function's timeout of {function.timeout_seconds:g} s. AWS refuses that."
            )
        limit = int(given.get("ScalingConfig", {}).get("MaximumConcurrency", function.concurrency))
        self.parts.mappings[logical_id] = QueueMapping(
            queue_url=self._url(queue_arn),
            queue_arn=queue_arn,
            function=given["FunctionName"],
            batch_size=int(given.get("BatchSize", 10)),
            window_seconds=float(given.get("MaximumBatchingWindowInSeconds", 0)),
            partial_failures="ReportBatchItemFailures" in given.get("FunctionResponseTypes", []),
            pollers=min(limit, function.concurrency) if given.get("Enabled", True) else 0,
        )
        return {"Ref": logical_id}

    def pipe(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "Enrichment", "EnrichmentParameters")
        source, target = given.get("SourceParameters", {}), given.get("TargetParameters", {})
        reading = source.get("DynamoDBStreamParameters", {})
        refuse(logical_id, reading, "MaximumRetryAttempts", "MaximumRecordAgeInSeconds")
        refuse(logical_id, target, "SqsQueueParameters")
        table, is_stream, _ = given["Source"].partition(":table/")[2].partition("/stream/")
        known = is_stream and table in self.parts.tables.values()
        taken = sum(one.table == table for one in self.parts.pipes.values()) >= READERS
        if not known or taken or given["Target"] not in self._visibility_seconds:
            raise TemplateError(
                f"{logical_id} does not lead from the stream of a table, as one of its {READERS} pipes at most, to a"
                " queue of this template."
            )
        filters = source.get("FilterCriteria", {}).get("Filters", [])
        template = target.get("InputTemplate")
        try:
            self.parts.pipes[logical_id] = Pipe(
                table=table,
                queue=given["Target"].rpartition(":")[2],
                filters=tuple(parse_filter(each["Pattern"]) for each in filters),
                message=parse_template(template) if template else None,
            )
        except ValueError as error:
            raise TemplateError(f"{logical_id}: {error}") from error
        return {"Ref": logical_id, "Arn": f"arn:aws:pipes:{REGION}:{ACCOUNT}:pipe/{given.get('Name', logical_id)}"}

    def machine(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        refuse(logical_id, properties, "DefinitionS3Location", "Definition")
        if properties.get("StateMachineType", "STANDARD") != "STANDARD":
            raise TemplateError(f"{logical_id} is an Express workflow, and those do not run on a laptop.")
        name = stack.value(properties.get("StateMachineName", stem(logical_id)))
        arn = f"arn:aws:states:{REGION}:{ACCOUNT}:stateMachine:{name}"
        self.parts.machines[logical_id] = arn

        def create() -> None:
            definition = str(stack.value(properties["DefinitionString"]))
            for placeholder, value in stack.value(properties.get("DefinitionSubstitutions", {})).items():
                definition = definition.replace("${" + placeholder + "}", str(value))
            if self._retry_interval_seconds is not None:
                definition = SECONDS_BETWEEN_RETRIES.sub(rf"\g<1>{self._retry_interval_seconds}", definition)
            if missing := PLACEHOLDER.search(definition):
                raise TemplateError(f"{logical_id} has no substitution for {missing[0]} in its definition.")
            try:
                self._client("stepfunctions").create_state_machine(name=name, definition=definition, roleArn=ROLE)
            except ClientError as error:
                reason = error.response["Error"].get("Message")
                raise TemplateError(f"Step Functions refuses the definition of {logical_id}: {reason}") from error

        self.parts.deferred.append(create)
        return {"Ref": arn, "Arn": arn, "Name": name}

    def rule(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "EventPattern", "EventBusName")
        name = given.get("Name", stem(logical_id))
        arn = f"arn:aws:events:{REGION}:{ACCOUNT}:rule/{name}"
        for target in given.get("Targets", []):
            refuse(logical_id, target, "InputTransformer", "InputPath")
            self._called(logical_id, target["Arn"])
        try:
            period = parse(given["ScheduleExpression"])
        except ValueError as error:
            raise TemplateError(f"{logical_id}: {error}") from error
        targets = tuple(Target(target["Arn"], target.get("Input")) for target in given.get("Targets", []))
        self.parts.rules[logical_id] = Rule(name, arn, period, targets, given.get("State", "ENABLED") == "ENABLED")
        return {"Ref": name, "Arn": arn}

    def rotation(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        """The first rotation, which comes with the schedule. Nobody waits a month for the second here."""
        given = stack.value(properties)
        refuse(logical_id, given, "HostedRotationLambda", "ExternalSecretRotationMetadata")
        function = self._called(logical_id, given["RotationLambdaARN"])
        if given.get("RotateImmediatelyOnUpdate", True):
            initial = self._client("secretsmanager").get_secret_value(SecretId=given["SecretId"])["SecretString"]
            self.parts.rotations.append(RotatedSecret(given["SecretId"], function.name, initial))
        return {"Ref": given["SecretId"]}

    def api(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        refuse(logical_id, properties, "CorsConfiguration", "Body", "BodyS3Location", "Target", "RouteKey")
        if stack.value(properties.get("ProtocolType")) != "HTTP":
            raise TemplateError(f"{logical_id} is not an HTTP API.")
        return {"Ref": logical_id, "ApiId": logical_id, "ApiEndpoint": self._http_url}

    @staticmethod
    def rest_api(stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:  # noqa: ARG004
        refuse(logical_id, properties, "Body", "BodyS3Location")
        return {"Ref": logical_id, "RootResourceId": "/"}

    @staticmethod
    def rest_resource(stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        """Its id is its path."""
        given = stack.value(properties)
        return {"Ref": f"{given['ParentId'].rstrip('/')}/{given['PathPart']}", "ResourceId": logical_id}

    def method(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        integration = given["Integration"]
        if given.get("AuthorizationType", "NONE") != "NONE" or integration.get("ResponseTransferMode") != "STREAM":
            raise TemplateError(
                f"{logical_id} is not an open method that streams, as the laptop's REST APIs have alone."
            )
        arn = integration["Uri"].partition("/functions/")[2].partition("/response-streaming-invocations")[0]
        function = self._called(logical_id, arn)
        self.parts.routes.append(Route(f"{given['HttpMethod']} {given['ResourceId']}", function.name, streams=True))
        return {"Ref": logical_id}

    def integration(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "RequestParameters", "ResponseParameters", "TimeoutInMillis")
        if (given.get("IntegrationType"), given.get("PayloadFormatVersion")) != ("AWS_PROXY", "2.0"):
            raise TemplateError(f"{logical_id} is not a Lambda proxy integration with payload format 2.0.")
        self._called(logical_id, given["IntegrationUri"])
        return {"Ref": logical_id, "Function": given["IntegrationUri"]}

    def route(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        if given.get("AuthorizationType", "NONE") != "NONE":
            raise TemplateError(f"{logical_id} has an authorizer, which the laptop's HTTP API does not know.")
        integration = stack.resource(given["Target"].removeprefix("integrations/"))
        self.parts.routes.append(Route(given["RouteKey"], integration["Function"]))
        return {"Ref": logical_id}

    def _url(self, queue_arn: str) -> str:
        return next(url for url in self.parts.queues.values() if url.endswith("/" + queue_arn.rpartition(":")[2]))

    def _called(self, logical_id: str, arn: str) -> Function:
        """The function that an ARN or name means; making it first is what resolving the ARN did."""
        name = arn.partition(":function:")[2].partition(":")[0] or arn
        for function in self.parts.functions.values():
            if function.name == name:
                return function
        raise TemplateError(f"{logical_id} calls {arn}, which is not a function of this template.")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, dict) else str(value)
