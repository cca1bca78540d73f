"""Queues that lose nothing: every one redrives to a dead-letter queue, and every dead-letter queue has an alarm."""

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.nag import accept

RETENTION = Duration.days(14)
"""SQS keeps nothing for longer."""


def dead_letters(scope: Construct, construct_id: str) -> sqs.Queue:
    """Where messages end that could not be dealt with. Somebody is told (`observability.py`)."""
    queue = sqs.Queue(
        scope,
        construct_id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=RETENTION,
    )
    accept(queue, "This is a dead-letter queue; its own would be one without end.", "SQS3")
    return queue


def work_queue(scope: Construct, construct_id: str, dead: sqs.Queue, *, visibility: Duration) -> sqs.Queue:
    """`visibility` is at least six times the consumer's timeout, so that nobody is handed a message still in work."""
    return sqs.Queue(
        scope,
        construct_id,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        visibility_timeout=visibility,
        retention_period=RETENTION,
        dead_letter_queue=sqs.DeadLetterQueue(queue=dead, max_receive_count=5),
    )
