"""Constructs that every function, log group and queue uses, and accepted findings of cdk-nag, each with its reason.

A function has one platform, an alias, a role of its own, logs as JSON, and traces.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
from aws_cdk import Annotations, Duration, RemovalPolicy, Size, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct, IConstruct

from commonplace_local.wheel_models import MINILM as MINILM_MODEL
from commonplace_local.wheel_models import ONNX, WheelModel
from infra import bundling
from infra.configuration import Configuration
from infra.declarations import variables
from infra.providers import MINILM, located
from infra.requirements import CORE, GROUPS

PACK = "AwsSolutions"

RETENTION = Duration.days(14)
"""SQS keeps nothing for longer."""

PLATFORM = lambda_.Architecture.ARM_64
RUNTIME = lambda_.Runtime.PYTHON_3_13
ALIAS = "live"
RETRIES, MAX_EVENT_AGE = 2, Duration.hours(1)
"""Of asynchronous calls, and of the schedules that make them: their next call makes up for what is older."""

SNAP_START_WARNING = "@aws-cdk/aws-lambda:snapStartRequirePublish"
SOURCES_WITH_MODELS = (
    "functions/index",
    "functions/rest",
    "functions/mcp",
    "functions/site",
    "functions/console",
    "functions/chat",
)
SOURCE = "commonplace:source"
"""Metadata of a function's resource: the folder it comes from, which the hash of its zip does not show."""


def removal(configuration: Configuration) -> RemovalPolicy:
    """Return what becomes of data when its resource leaves the stack.

    What is retained goes all the same when the creation that made it is rolled back: nothing is in it yet, and what has
    a fixed name would be in the way of the next attempt (CloudFormation, `RetainExceptOnCreate`).
    """
    return RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if configuration.retains else RemovalPolicy.DESTROY


def accept(construct: IConstruct, reason: str, *rules: str) -> None:
    """Accepts findings of these rules (`S1`, `IAM5[Resource::*]`) on the construct and everything below it."""
    acknowledgments = (cdk.Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason) for rule in rules)
    cdk.Validations.of(construct).acknowledge(*acknowledgments)


def accept_warning(construct: IConstruct, reason: str, warning: str) -> None:
    """Accepts a warning of CDK's own."""
    cdk.Validations.of(construct).acknowledge(cdk.Acknowledgment(id=f"Annotation::{warning}", reason=reason))


def accept_wildcards(construct: IConstruct, reason: str, *resources: str) -> None:
    """Accepts resources that end in a star, each by the very text cdk-nag reports it under."""
    stack = cdk.Stack.of(construct)
    accept(construct, reason, *(f"IAM5[Resource::{_as_reported(stack.resolve(resource))}]" for resource in resources))


def _as_reported(resource: Any) -> str:
    """cdk-nag writes references as `<LogicalId.Attribute>` and keeps the text between them."""
    match resource:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(_as_reported(part) for part in parts)
    return str(resource)


def log_group(
    scope: Construct, name: str, configuration: Configuration, *, construct_id: str = "Logs"
) -> logs.LogGroup:
    """A group that goes with the stack: logs are for operating it, the record of what was done is in the store."""
    group = logs.LogGroup(scope, construct_id, log_group_name=name, removal_policy=RemovalPolicy.DESTROY)
    cast(logs.CfnLogGroup, group.node.default_child).retention_in_days = configuration.log_retention_days
    return group


def dead_letters(scope: Construct, construct_id: str) -> sqs.Queue:
    """Return where messages end that could not be processed, with an alarm (`observability.py`)."""
    queue = sqs.Queue(
        scope,
        construct_id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=RETENTION,
    )
    accept(queue, "This is a dead-letter queue; its own would be one without end.", "SQS3")
    return queue


def work_queue(
    scope: Construct, construct_id: str, dead: sqs.Queue, *, visibility: Duration, receives: int = 5
) -> sqs.Queue:
    """`visibility` is at least six times the consumer's timeout, so that nobody is handed a message still in work."""
    return sqs.Queue(
        scope,
        construct_id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        visibility_timeout=visibility,
        retention_period=RETENTION,
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=receives),
    )


def consume(
    scope: Construct,
    name: str,
    function: "PythonFunction",
    queue: sqs.Queue,
    *,
    batch: int,
    concurrency: int = 2,
    window: Duration | None = None,
) -> None:
    """Deliver messages in batches; without a window at once, and SQS gives ten of them at most."""
    actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"]
    function.allow(actions, [queue.queue_arn])
    mapping = lambda_.EventSourceMapping(
        scope,
        name,
        target=cast(lambda_.IFunction, function.live),
        event_source_arn=queue.queue_arn,
        batch_size=batch,
        max_batching_window=window,
        max_concurrency=concurrency,
        report_batch_item_failures=True,
    )
    mapping.node.add_dependency(function.role)
    # CDK takes the alias' ARN apart and joins a name from the pieces; the ARN will do.
    cast(lambda_.CfnEventSourceMapping, mapping.node.default_child).function_name = function.live.function_arn


class Platform(Construct):
    """The parts that functions share: the layer with the library, and one layer of packages per source folder."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.configuration = configuration
        self._core = self._layer("Core", bundling.library_code(self), "The commonplace library")
        self._packages: dict[str, lambda_.LayerVersion] = {}
        self._models: list[lambda_.LayerVersion] = []
        self._wired: dict[str, str] = {}
        if Stack.of(self).bundling_required and not bundling.deployed_python():
            Annotations.of(self).add_info(
                f"No Python {bundling.PYTHON} on this machine: the functions go without bytecode and start more slowly."
            )

    def wire(self, **variables: str | None) -> None:
        """Set variables of what is made: functions of a later construct that read them get them."""
        self._wired |= {name: value for name, value in variables.items() if value}

    def told(self, name: str) -> dict[str, str]:
        """Return what the function of this name reads from its environment, as far as it is known."""
        found = {each: self._wired.get(each) or self.configuration.told(said) for each, said in variables(name).items()}
        return {name: value for name, value in found.items() if value is not None}

    def layers(
        self, source: str, carries: Sequence[WheelModel] = (), packages: Sequence[str] = ()
    ) -> list[lambda_.ILayerVersion]:
        """The library, its packages, those of the folder if it has any, models that are used or that it `carries`."""
        models = self._model_layers() if source in SOURCES_WITH_MODELS else []
        if carries:
            code = bundling.models_code(self, [], carries)
            models = [self._package_layer(ONNX), self._layer(f"{GROUPS[source].capitalize()}Models", code, "A model")]
        sources = (CORE, *((source,) if source in GROUPS else ()), *packages)
        return [self._core, *map(self._package_layer, sources), *models]

    def _package_layer(self, source: str) -> lambda_.LayerVersion:
        if source not in self._packages:
            name = f"{GROUPS[source].capitalize()}Packages"
            code = bundling.dependencies_code(self, source)
            self._packages[source] = self._layer(name, code, f"Third-party packages of {source}")
        return self._packages[source]

    def _model_layers(self) -> list[lambda_.LayerVersion]:
        """`onnxruntime` is larger than most else together, so it is there only for a model that needs it."""
        folders = [located(folder) for folder in self.configuration.model_folders]
        fetched = [MINILM_MODEL] if MINILM in self.configuration.providers else []
        if (folders or fetched) and not self._models:
            code = bundling.models_code(self, folders, fetched)
            self._models = [self._package_layer(ONNX), self._layer("Models", code, "ONNX models")]
        return self._models

    def _layer(self, name: str, code: lambda_.Code, description: str) -> lambda_.LayerVersion:
        return lambda_.LayerVersion(
            self,
            name,
            code=code,
            description=description,
            compatible_architectures=[PLATFORM],
            compatible_runtimes=[RUNTIME],
            removal_policy=RemovalPolicy.DESTROY,
        )


class PythonFunction(Construct):
    """A function behind the alias `live`. It may do nothing but log and trace until `allow` says more."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        name: str,
        description: str,
        memory_mb: int,
        timeout_seconds: int,
        source: str = "",
        handler: str = "handler.handler",
        storage_mb: int = 512,
        error_threshold: int = 5,
        snap_start: bool = False,
        carries: Sequence[WheelModel] = (),
        packages: Sequence[str] = (),
        reserved: int | None = None,
        withheld: str = "",
        reads: str = "",
    ) -> None:
        """`source` is the folder of the code, and `reads` the variables in `declarations.READS`, where these are not
        named like the function; `packages` are further folders with packages, `reserved` the environments that are
        its own."""
        super().__init__(scope, construct_id)
        configuration, source = platform.configuration, source or f"functions/{name}"
        self.name = name
        self.error_threshold = error_threshold
        """Errors within 15 minutes that an operator wants to hear of."""
        self.asynchronous = False
        """Whether it is called without anybody waiting for the answer."""
        self.timeout = Duration.seconds(timeout_seconds)
        told = platform.told(reads or name)
        group = self.logs = log_group(self, f"/commonplace/{configuration.stage}/{name}", configuration)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=cast(iam.IPrincipal, iam.ServicePrincipal("lambda.amazonaws.com")),
            description=f"Commonplace {configuration.stage}: the {name} function",
        )
        self.allow(["logs:CreateLogStream", "logs:PutLogEvents"], [group.log_group_arn])
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=f"commonplace-{configuration.stage}-{name}",
            description=description,
            runtime=RUNTIME,
            architecture=PLATFORM,
            code=bundling.handler_code(self, source),
            layers=platform.layers(source, carries, packages),
            reserved_concurrent_executions=reserved,
            handler=handler,
            memory_size=memory_mb,
            timeout=self.timeout,
            ephemeral_storage_size=Size.mebibytes(storage_mb),
            environment={"STAGE": configuration.stage} | {each: told[each] for each in told if each != withheld},
            role=cast(iam.IRole, self.role),
            log_group=cast(logs.ILogGroup, group),
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.INFO,
            tracing=lambda_.Tracing.ACTIVE,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if snap_start else None,
        )
        cast(lambda_.CfnFunction, self.function.node.default_child).add_metadata(SOURCE, source)
        self.live = self.function.add_alias(ALIAS, description="What everything calls")
        if snap_start:
            accept_warning(self.function, "The alias that everything calls publishes each version.", SNAP_START_WARNING)
        accept(self.role, "X-Ray takes traces for no particular resource.", "IAM5[Resource::*]")
        accept(self.function, "3.13 starts faster than 3.14 and every pinned wheel exists for it.", "L1")

    def set_failures_aside(self, dead: sqs.Queue) -> None:
        """Set aside the failed calls of a function that is called asynchronously, where nobody waits for an answer.

        What fails three times, or waits for an hour, ends in the queue, with the payload and the error.
        """
        self.asynchronous = True
        self.allow(["sqs:SendMessage"], [dead.queue_arn])
        config = lambda_.CfnEventInvokeConfig(
            self,
            "Asynchronous",
            function_name=self.function.function_name,
            qualifier=ALIAS,
            maximum_retry_attempts=RETRIES,
            maximum_event_age_in_seconds=MAX_EVENT_AGE.to_seconds(),
            destination_config=lambda_.CfnEventInvokeConfig.DestinationConfigProperty(
                on_failure=lambda_.CfnEventInvokeConfig.OnFailureProperty(destination=dead.queue_arn)
            ),
        )
        # Lambda refuses an alias that is not there yet, and a destination to which the role may not send yet.
        config.node.add_dependency(self.live, self.role)

    def allow(
        self,
        actions: Sequence[str],
        resources: Sequence[str],
        *,
        conditions: Mapping[str, Any] | None = None,
        because: str = "",
    ) -> None:
        """Lets the function do exactly this. Resources that end in a star need a reason."""
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(actions), resources=list(resources), conditions=conditions)
        )
        if because:
            accept_wildcards(self.role, because, *resources)

    def allow_objects(self, bucket: s3.Bucket, actions: Sequence[str], prefixes: Sequence[str]) -> None:
        """Objects under these prefixes, nothing beside them."""
        resources = [bucket.arn_for_objects(f"{prefix}*") for prefix in prefixes]
        self.allow(actions, resources, because="Documents come and go; the prefix is the boundary (docs of the store).")

    def allow_listing(self, bucket: s3.Bucket, prefixes: Sequence[str]) -> None:
        """Lists keys under these prefixes. S3 answers 404 rather than 403 for an absent key only to who may list it."""
        allowed = {"StringLike": {"s3:prefix": [f"{prefix}*" for prefix in prefixes]}}
        self.allow(["s3:ListBucket"], [bucket.bucket_arn], conditions=allowed)

    def allow_items(
        self, table: dynamodb.TableV2, actions: Sequence[str], *partitions: str, attributes: Sequence[str] = ()
    ) -> None:
        """Items whose partition key matches one of these, in which `*` stands for any text.

        With `attributes` only requests that name no other, and that do not ask for the whole item in return.
        """
        conditions: dict[str, Any] = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(partitions)}}
        if attributes:
            conditions["ForAllValues:StringEquals"] = {"dynamodb:Attributes": list(attributes)}
            conditions["StringEqualsIfExists"] = {"dynamodb:ReturnValues": ["NONE", "UPDATED_OLD", "UPDATED_NEW"]}
        self.allow([f"dynamodb:{action}" for action in actions], [table.table_arn], conditions=conditions)


def state_machine(
    scope: Construct, name: str, definition: Path, configuration: Configuration, **called: PythonFunction
) -> sfn.StateMachine:
    """The machine of a file that AWS and the laptop both run. It is read as text, so that both see the same words.

    A definition given as text grants nothing by itself: the machine may call the functions that fill its placeholders,
    and its caller adds what else it does.
    """
    arns = {placeholder: function.live.function_arn for placeholder, function in called.items()}
    group = log_group(scope, f"/aws/vendedlogs/states/{name}", configuration)
    machine = sfn.StateMachine(
        scope,
        "Machine",
        state_machine_name=name,
        definition_body=sfn.DefinitionBody.from_string(definition.read_text()),
        definition_substitutions=arns,
        tracing_enabled=True,
        logs=sfn.LogOptions(
            destination=cast(logs.ILogGroup, group), level=sfn.LogLevel.ALL, include_execution_data=False
        ),
    )
    accept(machine.role, "Log delivery and X-Ray are granted for no particular resource.", "IAM5[Resource::*]")
    machine.add_to_role_policy(iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=list(arns.values())))
    return machine
