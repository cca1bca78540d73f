"""Lines of a function's log, under the logging that the real runtime client sets up."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from commonplace.kernel.telemetry import count
from tests.fakes.lambda_context import CONTEXT
from tests.fakes.metrics import Counted, Metrics

ROOT = Path(__file__).parents[3]


@pytest.fixture
def metrics(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Metrics:
    return Metrics(monkeypatch, capsys)


PROGRAM = """
import logging, os
from awslambdaric import bootstrap
from awslambdaric.lambda_runtime_log_utils import LogFormat

bootstrap._setup_logging(LogFormat.JSON, "INFO", bootstrap.StandardLogSink())
from commonplace.kernel.telemetry import instrument
from tests.fakes.lambda_context import CONTEXT

logger = logging.getLogger("commonplace.web.mcp.calls")

def answer(event, context):
    logger.info("mcp call", extra={{"method": "tools/call", "milliseconds": 1.5}})
    logger.debug("nobody reads this")
    logging.getLogger("mangum").info("a request")
    logging.getLogger("mcp.server.lowlevel").info("a request")
    logging.getLogger("botocore").warning("of another")
    try:
        try:
            raise OSError("https://node.example/key")
        except OSError as error:
            raise ValueError("ü") from error
    except ValueError:
        logger.exception("it failed")
    return event

handler = instrument(answer, {{"STAGE": "dev"}})
for event in {events!r}:
    assert handler(event, CONTEXT) == event
"""


def lines(*events: dict[str, Any]) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(events=events)],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'layers/core'}", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_line_is_one_object_with_the_fields_of_the_record_beside_those_of_the_call() -> None:
    call, foreign, failure = lines({"requestContext": {"requestId": "request-1"}})
    assert call.pop("timestamp").endswith("+00:00")
    assert call.pop("location").startswith("answer:")
    assert call == {
        "level": "INFO",
        "message": "mcp call",
        "name": "commonplace.web.mcp.calls",
        "service": "commonplace",
        "stage": "dev",
        "cold_start": True,
        "function_name": CONTEXT.function_name,
        "function_memory_size": CONTEXT.memory_limit_in_mb,
        "function_arn": CONTEXT.invoked_function_arn,
        "function_request_id": CONTEXT.aws_request_id,
        "correlation_id": "request-1",
        "method": "tools/call",
        "milliseconds": 1.5,
    }
    assert (foreign["level"], foreign["message"]) == ("WARNING", "of another")
    assert (failure["level"], failure["exception_name"]) == ("ERROR", "ValueError")
    assert failure["exception"].endswith("ValueError: ü")
    assert "node.example" not in str(failure)


@pytest.mark.parametrize(
    ("event", "belongs_to"),
    [
        ({"requestContext": {"requestId": "of API Gateway"}}, "of API Gateway"),
        ({"step": "plan", "run": "of Step Functions"}, "of Step Functions"),
        ({"Records": [{"messageId": "of SQS"}, {"messageId": "m2"}]}, "of SQS"),
        ({"Step": "createSecret", "ClientRequestToken": "of Secrets Manager"}, "of Secrets Manager"),
        ({"RequestType": "Create", "RequestId": "of CloudFormation"}, "of CloudFormation"),
        ({"source": "aws.events", "id": "of EventBridge"}, "of EventBridge"),
    ],
)
def test_what_an_event_belongs_to_is_in_its_lines_and_in_no_others(event: dict[str, Any], belongs_to: str) -> None:
    told = [line for line in lines(event, {"source": "commonplace.operator"}) if line["message"] == "mcp call"]
    assert [line.get("correlation_id") for line in told] == [belongs_to, None]
    assert [line["cold_start"] for line in told] == [True, False]


def test_a_metric_is_one_object_that_cloudwatch_reads(metrics: Metrics) -> None:
    count("Calls", Method="a", Outcome="ok")
    count("Milliseconds", 1.5, "Milliseconds")
    assert metrics.counted() == [
        Counted("Calls", 1, "Count", {"Method": "a", "Outcome": "ok"}),
        Counted("Milliseconds", 1.5, "Milliseconds"),
    ]


def test_nothing_is_counted_where_no_function_is(capsys: pytest.CaptureFixture[str]) -> None:
    count("Calls")
    assert capsys.readouterr().out == ""
