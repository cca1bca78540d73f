"""Storage: the bucket of content, the tables, and the pipe from the table of records into the index's queue."""

import json
from collections.abc import Sequence
from typing import cast

from aws_cdk import Aws, Duration, Fn, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_pipes as pipes
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IDependable

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import ObjectKeys
from commonplace.repository.plan import RUNS_PREFIX
from infra.configuration import Configuration
from infra.functions import accept, dead_letters, removal, work_queue

EXPIRY_DAYS = {RUNS_PREFIX: 7}
"""What a run works with is of no use once the run is over."""

DAYS_TO_RESTORE = 30
"""How long an overwritten or deleted object can be brought back."""

PER_SEND = 10
"""SQS takes so many messages at once, and a pipe may not gather more than its target takes."""

INDEXED = tuple(ending for capability in CAPABILITIES for ending in capability.indexed_records)
MESSAGE = {"table": "records", "pk": "<$.dynamodb.Keys.pk.S>", "sk": "<$.dynamodb.Keys.sk.S>"}
"""Neither key can hold what JSON would have to escape: names of organisations, ids, numbers."""


class Store(Construct):
    """Readable and writable only over TLS and only by the roles of this stack.

    Encrypted with S3's own keys: no reader is outside this account, and a key of our own would cost a call to KMS for
    every object while protecting against nobody who could not use that key as well.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        # No two stacks share it, and the queue's policy can say it without waiting for the bucket.
        name = f"content-{configuration.stage}-{Fn.select(2, Fn.split('/', Aws.STACK_ID))}"
        self.source_arn = f"arn:{Aws.PARTITION}:s3:::{name}"
        """The bucket's, for what the bucket waits for."""
        declared = {prefix: days for capability in CAPABILITIES for prefix, days in capability.expiry_days.items()}
        expiring = [
            s3.LifecycleRule(
                id=f"expire-{prefix.strip('/').replace('/', '-')}", prefix=prefix, expiration=Duration.days(days)
            )
            for prefix, days in {**EXPIRY_DAYS, **declared}.items()
        ]
        housekeeping = s3.LifecycleRule(
            id="housekeeping",
            noncurrent_version_expiration=Duration.days(DAYS_TO_RESTORE),
            expired_object_delete_marker=True,
            abort_incomplete_multipart_upload_after=Duration.days(7),
        )
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=name,
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[*expiring, housekeeping],
            removal_policy=removal(configuration),
        )
        accept(
            self.bucket,
            "Only roles of this stack reach the bucket, each for a few prefixes, and their functions log what they "
            "do; who needs every request on record turns on CloudTrail data events for the bucket.",
            "S1",
        )

    def notify(self, queue: sqs.Queue, *, after: IDependable) -> None:
        """Notifies the queue of every object written or deleted among those that capabilities have indexed.

        Set on the resource itself: CDK's own way adds a Lambda function with a role over every bucket. `after` is the
        queue's policy, which S3 tests at once.
        """
        cast(
            s3.CfnBucket, self.bucket.node.default_child
        ).notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            queue_configurations=[
                s3.CfnBucket.QueueConfigurationProperty(event=event, queue=queue.queue_arn, filter=_filter(keys))
                for capability in CAPABILITIES
                for keys in capability.indexed_objects
                for event in ("s3:ObjectCreated:*", "s3:ObjectRemoved:*")
            ]
        )
        self.bucket.node.add_dependency(after)


def _filter(keys: ObjectKeys) -> s3.CfnBucket.NotificationFilterProperty:
    rules = {"prefix": keys.prefix, "suffix": keys.suffix}
    listed = [s3.CfnBucket.FilterRuleProperty(name=name, value=value) for name, value in rules.items() if value]
    return s3.CfnBucket.NotificationFilterProperty(s3_key=s3.CfnBucket.S3KeyFilterProperty(rules=listed))


class State(Construct):
    """One table per consistency domain, all of one key shape: `pk`, `sk`, and `expiresAt` in epoch seconds."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.activity = table(self, "Activity", configuration)
        self.cache = table(self, "Cache", configuration)
        self.records = table(self, "Records", configuration, tells=True)
        self.tables = {"activity": self.activity, "cache": self.cache, "records": self.records}


def table(
    scope: Construct, name: str, configuration: Configuration, *, key: kms.Key | None = None, tells: bool = False
) -> dynamodb.TableV2:
    """Encrypted under the key, or without one under DynamoDB's own. One that `tells` has a stream of changed keys."""
    encryption = dynamodb.TableEncryptionV2
    made = dynamodb.TableV2(
        scope,
        name,
        partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
        sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
        time_to_live_attribute="expiresAt",
        billing=dynamodb.Billing.on_demand(),
        dynamo_stream=dynamodb.StreamViewType.KEYS_ONLY if tells else None,
        encryption=encryption.aws_managed_key() if key else encryption.dynamo_owned_key(),
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=True
        ),
        deletion_protection=configuration.retains,
        removal_policy=removal(configuration),
    )
    if key:
        # CDK names a key of one's own only in stacks that know their region.
        resource = cast(dynamodb.CfnGlobalTable, made.node.default_child)
        resource.add_property_override("Replicas.0.SSESpecification", {"KMSMasterKeyId": key.key_arn})
    return made


class Records(Construct):
    """Table -> stream -> pipe -> queue -> a function, which reads the item again.

    Events say which item to look at again; their order and number do not matter. The stream holds keys alone, and the
    pipe passes on those of the partitions that end like this; what else is written with them concerns nobody else.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        configuration: Configuration,
        *,
        state: State,
        visibility: Duration,
        endings: Sequence[str] = INDEXED,
        reader: str = "",
        receives: int = 5,
    ) -> None:
        """`reader` is the function that is not the index's: a stream has room for two pipes."""
        super().__init__(scope, construct_id)
        self.dead = dead_letters(self, "DeadLetters")
        self.queue = work_queue(self, "Queue", self.dead, visibility=visibility, receives=receives)
        name, what = pipe_name(configuration, reader), reader or "index"
        stream = state.records.table_stream_arn
        assert stream is not None  # noqa: S101 - the table is made with one
        # For this pipe alone: the conditions keep the service from using the role on behalf of anybody else's.
        stack = Stack.of(self)
        arn = stack.format_arn(service="pipes", resource="pipe", resource_name=name)
        own = {"StringEquals": {"aws:SourceAccount": stack.account, "aws:SourceArn": arn}}
        service = iam.ServicePrincipal("pipes.amazonaws.com", conditions=own)
        role = iam.Role(
            self,
            "Role",
            assumed_by=cast(iam.IPrincipal, service),
            description=f"Commonplace {configuration.stage}: the pipe from the records to the {what}",
        )
        reading = [f"dynamodb:{each}" for each in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")]
        queues = [self.queue.queue_arn, self.dead.queue_arn]
        role.add_to_policy(iam.PolicyStatement(actions=reading, resources=[stream]))
        role.add_to_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=queues))
        self.pipe_name = name
        pattern = {"dynamodb": {"Keys": {"pk": {"S": [{"suffix": ending} for ending in endings]}}}}
        # From the table's first write on. What cannot be queued is tried for as long as the stream keeps it.
        pipe = pipes.CfnPipe(
            self,
            "Pipe",
            name=self.pipe_name,
            description=f"Queues what changed in the table of records and concerns the {what}",
            role_arn=role.role_arn,
            source=stream,
            source_parameters=pipes.CfnPipe.PipeSourceParametersProperty(
                filter_criteria=pipes.CfnPipe.FilterCriteriaProperty(
                    filters=[pipes.CfnPipe.FilterProperty(pattern=json.dumps(pattern))]
                ),
                dynamo_db_stream_parameters=pipes.CfnPipe.PipeSourceDynamoDBStreamParametersProperty(
                    starting_position="TRIM_HORIZON",
                    batch_size=PER_SEND,
                    on_partial_batch_item_failure="AUTOMATIC_BISECT",
                    dead_letter_config=pipes.CfnPipe.DeadLetterConfigProperty(arn=self.dead.queue_arn),
                ),
            ),
            target=self.queue.queue_arn,
            target_parameters=pipes.CfnPipe.PipeTargetParametersProperty(input_template=json.dumps(MESSAGE)),
        )
        pipe.node.add_dependency(role)  # with its policy: a pipe is refused whose role cannot read the stream yet


def pipe_name(configuration: Configuration, reader: str) -> str:
    """Fixed, so that the role can name the pipe before it exists."""
    return f"commonplace-{configuration.stage}-{reader or 'records'}"
