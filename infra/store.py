"""The canonical store: one versioned bucket (layout: `commonplace.documents.content.keys`)."""

from typing import cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IDependable

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import ObjectKeys
from commonplace.repository.plan import RUNS_PREFIX
from infra.configuration import Configuration
from infra.nag import accept

EXPIRY_DAYS = {RUNS_PREFIX: 7}
"""What a run works with is of no use once the run is over."""

DAYS_TO_RESTORE = 30
"""How long an overwritten or deleted object can be brought back."""


class Store(Construct):
    """Readable and writable only over TLS and only by the roles of this stack.

    Encrypted with S3's own keys: no reader is outside this account, and a key of our own would cost a call to KMS for
    every object while protecting against nobody who could not use that key as well.
    """

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration) -> None:
        super().__init__(scope, construct_id)
        self.bucket = s3.Bucket(
            self,
            "Bucket",
            versioned=True,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=_lifecycle(),
            removal_policy=RemovalPolicy.RETAIN if configuration.retains else RemovalPolicy.DESTROY,
        )
        accept(
            self.bucket,
            "Only roles of this stack reach the bucket, each for a few prefixes, and their functions log what they "
            "do; who needs every request on record turns on CloudTrail data events for the bucket.",
            "S1",
        )

    def notify(self, queue: sqs.Queue, *, after: IDependable) -> None:
        """Tells the queue about every object that is written or deleted of those that capabilities have indexed.

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


def _lifecycle() -> list[s3.LifecycleRule]:
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
    return [*expiring, housekeeping]
