"""The index function with its queues, the only writer of the index, and the state machine that builds an index anew.

Events of the store and of the table of records go to the queues.
"""

from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform, PythonFunction, consume, dead_letters, state_machine, work_queue
from infra.models import allow_embedding
from infra.providers import memory_mb
from infra.requirements import ROOT
from infra.search_engine import SearchEngine
from infra.store import Records, State, Store

TIMEOUT_SECONDS = 120

MACHINE = ROOT / "functions/index/migration.asl.json"
BUILD_TIMEOUT_SECONDS = 900
"""As much as Lambda gives. The index function cannot have it: its queue would hide a message for six times as long."""


class Index(Construct):
    """Events say what to look at again: a document, an entry, all catalogues. Their order and number do not matter."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        platform: Platform,
        *,
        store: Store,
        state: State,
        engine: SearchEngine,
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead = dead_letters(self, "DeadLetters")
        self.queue = work_queue(self, "Queue", self.dead, visibility=Duration.seconds(6 * TIMEOUT_SECONDS))
        # Messages of this bucket alone: any other could have objects looked at, or the queue filled.
        conditions = {
            "StringEquals": {"aws:SourceAccount": Stack.of(self).account},
            "ArnEquals": {"aws:SourceArn": store.source_arn},
        }
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
        self.records = Records(
            self, "Records", platform.configuration, state=state, visibility=Duration.seconds(6 * TIMEOUT_SECONDS)
        )
        self.function = PythonFunction(
            self,
            "Index",
            platform,
            name="index",
            description="Reads changed documents and entries again and brings the index up to them",
            memory_mb=memory_mb(platform.configuration.providers, 1024),
            timeout_seconds=TIMEOUT_SECONDS,
        )
        let_write(self.function, platform.configuration, engine)
        consume(self, "Mapping", self.function, self.queue, batch=100, window=Duration.seconds(1))
        consume(self, "RecordsMapping", self.function, self.records.queue, batch=10)


def let_write(function: PythonFunction, configuration: Configuration, engine: SearchEngine) -> None:
    """The index, and the models."""
    engine.admit_writer(function)
    allow_embedding(function, configuration)


class Migration(Construct):
    """Only with OpenSearch: an embedded index is replaced as one file.

    The function is the index function's code under another name, so there is still one way into the index. It may do
    what that one may, except take from the queue.
    """

    def __init__(self, scope: Construct, construct_id: str, platform: Platform, *, engine: SearchEngine) -> None:
        super().__init__(scope, construct_id)
        configuration = platform.configuration
        self.function = PythonFunction(
            self,
            "Build",
            platform,
            name="index-build",
            description="Builds the index anew, checks it and swaps it in, one step a call",
            source="functions/index",
            memory_mb=memory_mb(configuration.providers, 1024),
            timeout_seconds=BUILD_TIMEOUT_SECONDS,
        )
        let_write(self.function, configuration, engine)
        name = f"commonplace-{configuration.stage}-index-build"
        self.machine = state_machine(self, name, MACHINE, configuration, IndexArn=self.function)
