"""What a function tells of itself, as Powertools writes it: one JSON object a line.

Modules log with `logging.getLogger(__name__)` and `extra=`; what they log is written so by functions alone.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from aws_lambda_powertools import Logger

Event = TypeVar("Event", bound=Mapping[str, Any])
Answer = TypeVar("Answer")

CORRELATION = "requestContext.requestId || run || Records[0].messageId || ClientRequestToken || RequestId || id"
"""What an event belongs to: a request of API Gateway, a run of a state machine, a message of SQS (the first of its
batch), a rotation of Secrets Manager, a request of CloudFormation, an event of EventBridge."""


def instrument(handler: Callable[[Event, Any], Answer], environ: Mapping[str, str]) -> Callable[[Event, Any], Answer]:
    """A function's handler, whose log lines say by which function of which stage, in which call, and for what."""
    # The gateway writes the access log; the others write a few lines for each request, or for each client.
    for talkative in ("mangum", "mcp", "botocore"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
    logger = Logger(
        service="commonplace",
        stage=environ.get("STAGE"),
        name="%(name)s",
        utc=True,
        use_rfc3339=True,  # Lambda takes a line with a time in another format for one of level INFO
        serialize_stacktrace=False,  # `exception` has it as text
    )
    instrumented: Callable[[Event, Any], Answer] = logger.inject_lambda_context(
        handler, correlation_id_path=CORRELATION
    )
    return instrumented
