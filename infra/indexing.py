"""The one way into the index: events of the store, queued, consumed by the one function that writes it."""

from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from commonplace.content.store import CONTENT_PREFIX, METADATA_PREFIX
from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction
from infra.queues import dead_letters, work_queue
from infra.store import Store

INDEX_PREFIX = "index/"
TIMEOUT_SECONDS = 120


class Indexing(Construct):
    """Events say which document to look at again; their order and number do not matter."""

    def __init__(self, scope: Construct, construct_id: str, platform: Platform, store: Store) -> None:
        super().__init__(scope, construct_id)
        self.dead = dead_letters(self, "DeadLetters")
        self.queue = work_queue(self, "Queue", self.dead, visibility=Duration.seconds(6 * TIMEOUT_SECONDS))
        self._receive_from(store)
        self.function = PythonFunction(
            self,
            "Index",
            platform,
            name="index",
            description="Reads changed documents again and brings the index up to them",
            source="functions/index",
            memory_mb=1024,
            timeout_seconds=TIMEOUT_SECONDS,
            environment={
                "CONTENT_BUCKET": store.bucket.bucket_name,
                **index_environment(platform.configuration, store.bucket),
            },
        )
        self.function.allow_objects(store.bucket, ["s3:GetObject"], [CONTENT_PREFIX, METADATA_PREFIX])
        self.function.allow_objects(store.bucket, ["s3:GetObject", "s3:PutObject"], [INDEX_PREFIX])
        self.function.allow_listing(store.bucket, [CONTENT_PREFIX, METADATA_PREFIX, INDEX_PREFIX])
        self._consume()

    def _receive_from(self, store: Store) -> None:
        """The condition names the account: with the bucket in it, bucket and policy would wait for each other."""
        conditions = {"StringEquals": {"aws:SourceAccount": Stack.of(self).account}}
        result = self.queue.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[cast(iam.IPrincipal, iam.ServicePrincipal("s3.amazonaws.com"))],
                actions=["sqs:SendMessage"],
                resources=[self.queue.queue_arn],
                conditions=conditions,
            )
        )
        assert result.policy_dependable is not None  # noqa: S101 - a queue of our own always has a policy
        store.notify(self.queue, after=result.policy_dependable)

    def _consume(self) -> None:
        actions = ["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:ChangeMessageVisibility", "sqs:GetQueueAttributes"]
        self.function.allow(actions, [self.queue.queue_arn])
        mapping = lambda_.EventSourceMapping(
            self,
            "Mapping",
            target=cast(lambda_.IFunction, self.function.live),
            event_source_arn=self.queue.queue_arn,
            batch_size=100,
            max_batching_window=Duration.seconds(1),
            max_concurrency=2,
            report_batch_item_failures=True,
        )
        mapping.node.add_dependency(self.function.role)
        # CDK takes the alias' ARN apart and joins a name from the pieces; the ARN will do.
        cast(lambda_.CfnEventSourceMapping, mapping.node.default_child).function_name = self.function.live.function_arn


def index_environment(configuration: Configuration, bucket: s3.Bucket) -> dict[str, str]:
    """Where the index is and how it is read: the same for its writer and for every reader."""
    return {
        "SEARCH_ENGINE": configuration.engine,
        "INDEX_LOCATION": f"s3://{bucket.bucket_name}/{INDEX_PREFIX}documents.sqlite",
        "EMBEDDING_PROVIDER": configuration.embedding_provider,
    }
