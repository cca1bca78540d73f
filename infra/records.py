"""The way of records into the index: the table tells of its writes, a pipe queues those that concern it.

Table -> stream -> pipe -> queue -> the index function, which reads the item again. The stream tells keys alone, and the
pipe passes on those that a capability has indexed; what else is written with them concerns nobody else.
"""

import json
from typing import cast

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_pipes as pipes
from constructs import Construct

from commonplace.capabilities import CAPABILITIES
from infra.configuration import Configuration
from infra.queues import dead_letters, work_queue
from infra.state import State

PER_SEND = 10
"""SQS takes so many messages at once, and a pipe may not gather more than its target takes."""

INDEXED = [{"suffix": ending} for capability in CAPABILITIES for ending in capability.indexed_records]
FILTER = {"dynamodb": {"Keys": {"pk": {"S": INDEXED}}}}

MESSAGE = {"table": "records", "pk": "<$.dynamodb.Keys.pk.S>", "sk": "<$.dynamodb.Keys.sk.S>"}
"""Neither key can hold what JSON would have to escape: names of organisations, ids, numbers."""


class Records(Construct):
    """Events say which item to look at again; their order and number do not matter."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        configuration: Configuration,
        *,
        state: State,
        visibility: Duration,
    ) -> None:
        super().__init__(scope, construct_id)
        self.dead = dead_letters(self, "DeadLetters")
        self.queue = work_queue(self, "Queue", self.dead, visibility=visibility)
        stream = state.records.table_stream_arn
        assert stream is not None  # noqa: S101 - the table is made with one
        role = self._role(configuration, stream)
        self.pipe_name = pipe_name(configuration)
        pipe = pipes.CfnPipe(
            self,
            "Pipe",
            name=self.pipe_name,
            description="Queues what changed in the table of records and concerns the index",
            role_arn=role.role_arn,
            source=stream,
            source_parameters=self._source(),
            target=self.queue.queue_arn,
            target_parameters=pipes.CfnPipe.PipeTargetParametersProperty(input_template=json.dumps(MESSAGE)),
        )
        pipe.node.add_dependency(role)  # with its policy: a pipe is refused whose role cannot read the stream yet

    def _source(self) -> pipes.CfnPipe.PipeSourceParametersProperty:
        """From the table's first write on. What cannot be queued is tried for as long as the stream keeps it."""
        return pipes.CfnPipe.PipeSourceParametersProperty(
            filter_criteria=pipes.CfnPipe.FilterCriteriaProperty(
                filters=[pipes.CfnPipe.FilterProperty(pattern=json.dumps(FILTER))]
            ),
            dynamo_db_stream_parameters=pipes.CfnPipe.PipeSourceDynamoDBStreamParametersProperty(
                starting_position="TRIM_HORIZON",
                batch_size=PER_SEND,
                on_partial_batch_item_failure="AUTOMATIC_BISECT",
                dead_letter_config=pipes.CfnPipe.DeadLetterConfigProperty(arn=self.dead.queue_arn),
            ),
        )

    def _role(self, configuration: Configuration, stream: str) -> iam.Role:
        """For this pipe alone: the conditions keep the service from using the role on behalf of anybody else's."""
        stack = Stack.of(self)
        arn = stack.format_arn(service="pipes", resource="pipe", resource_name=pipe_name(configuration))
        own = {"StringEquals": {"aws:SourceAccount": stack.account, "aws:SourceArn": arn}}
        service = iam.ServicePrincipal("pipes.amazonaws.com", conditions=own)
        role = iam.Role(
            self,
            "Role",
            assumed_by=cast(iam.IPrincipal, service),
            description=f"Commonplace {configuration.stage}: the pipe from the records to the index",
        )
        reading = [f"dynamodb:{each}" for each in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")]
        queues = [self.queue.queue_arn, self.dead.queue_arn]
        role.add_to_policy(iam.PolicyStatement(actions=reading, resources=[stream]))
        role.add_to_policy(iam.PolicyStatement(actions=["sqs:SendMessage"], resources=queues))
        return role


def pipe_name(configuration: Configuration) -> str:
    """Fixed, so that the role can name the pipe before it exists."""
    return f"commonplace-{configuration.stage}-records"
