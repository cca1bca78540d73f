"""Logs and metrics of a function, as Powertools writes them: one JSON object a line.

Modules log with `logging.getLogger(__name__)` and `extra=`. Outside functions, as on a command line, logs go where that
process sends them, and nothing is counted.
"""

from __future__ import annotations

import gc
import logging
import os
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

Event = TypeVar("Event", bound=Mapping[str, Any])
Answer = TypeVar("Answer")

CORRELATION = "requestContext.requestId || run || Records[0].messageId || ClientRequestToken || RequestId || id"
"""What an event belongs to: a request of API Gateway, a run of a state machine, a message of SQS (the first of its
batch), a rotation of Secrets Manager, a request of CloudFormation, an event of EventBridge."""

_namespaces: list[str] = []
"""The namespace of the metrics of this process, if it is a function's."""


def namespace(stage: str) -> str:
    """Of the metrics of a deployment."""
    return f"Commonplace/{stage}"


def instrument(handler: Callable[[Event, Any], Answer], environ: Mapping[str, str]) -> Callable[[Event, Any], Answer]:
    """A function's handler, whose log lines say by which function of which stage, in which call, and for what.

    The last step of a composition: the garbage collector, which handlers disable while they import, runs again. Raises
    SettingsError for a deployed function that shall show what nobody has published.
    """
    if environ.get("SHOW_EVERYTHING", "").strip():
        from commonplace.kernel.settings import Everything

        Everything.from_environ(environ)
    from aws_lambda_powertools import Logger
    from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

    class Formatter(LambdaPowertoolsFormatter):
        def formatException(self, ei: Any) -> str:
            """Without causes: they are others' errors, whose words may hold what no log may."""
            return "".join(traceback.format_exception(*ei, chain=False)).rstrip()

    # The gateway writes the access log; the others write a few lines for each request, or for each client.
    for talkative in ("mangum", "mcp", "botocore"):
        logging.getLogger(talkative).setLevel(logging.WARNING)
    stage = environ.get("STAGE", "")
    _namespaces[:] = [namespace(stage)]
    logger = Logger(
        service="commonplace",
        logger_formatter=Formatter(
            utc=True,
            use_rfc3339=True,  # Lambda takes a line with a time in another format for one of level INFO
            serialize_stacktrace=False,  # `exception` has it as text
        ),
        stage=stage,
        name="%(name)s",
    )
    instrumented: Callable[[Event, Any], Answer] = logger.inject_lambda_context(
        handler,
        correlation_id_path=CORRELATION,
        log_event=False,  # whatever the environment says: events hold texts and tokens
    )
    # A function answers one call at a time: threads of numpy, which is loaded later, would wait for each other's core.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What was imported and composed stays: to look through it for garbage is a tenth to a fifth of a cold start.
    gc.freeze()
    gc.enable()
    return instrumented


def count(metric: str, value: float = 1, unit: Literal["Count", "Milliseconds"] = "Count", **dimensions: str) -> None:
    """Adds to a metric of this deployment. Each combination of dimensions is a metric of its own, which is paid for."""
    for own in _namespaces:
        from aws_lambda_powertools import single_metric
        from aws_lambda_powertools.metrics import MetricUnit

        with single_metric(name=metric, unit=MetricUnit(unit), value=value, namespace=own) as written:
            for name, said in dimensions.items():
                written.add_dimension(name, said)
