"""The line that a call leaves in the log: what metric filters read, and nothing that anybody said."""

import json
import logging
import re
from pathlib import Path

import pytest
from awslambdaric.lambda_runtime_log_utils import JsonFormatter

from commonplace.web.mcp.surface import MESSAGE, CallRecord, record

CALL = CallRecord(
    method="tools/call",
    name="search_knowledge",
    outcome="ok",
    milliseconds=12.3456,
    answer_tokens=321,
    era="modern",
    tier="member",
    client="claude-ai",
)
FIELDS = {
    "method": "tools/call",
    "target": "search_knowledge",
    "outcome": "ok",
    "milliseconds": 12.3,
    "answerTokens": 321,
    "era": "modern",
    "tier": "member",
    "client": "claude-ai",
}
TEMPLATE = Path(__file__).parents[3] / "infra" / "template.json"


@pytest.fixture
def line(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    caplog.set_level(logging.INFO, "commonplace")
    record(CALL)
    (line,) = caplog.records
    return line


def test_a_call_is_one_line_with_fields(line: logging.LogRecord) -> None:
    assert line.getMessage() == MESSAGE == "mcp call"
    assert FIELDS.items() <= line.__dict__.items()


def test_the_runtime_writes_every_field(line: logging.LogRecord) -> None:
    """As Lambda's own formatter does, which keeps some names for itself."""
    written = json.loads(JsonFormatter().format(line))
    assert FIELDS.items() <= written.items()
    assert set(written) - set(FIELDS) <= {"timestamp", "level", "message", "logger", "requestId", "taskName"}


def test_metric_filters_ask_for_fields_that_are_written() -> None:
    filters = [
        one["Properties"]
        for one in json.loads(TEMPLATE.read_text())["Resources"].values()
        if one["Type"] == "AWS::Logs::MetricFilter" and f'"{MESSAGE}"' in one["Properties"]["FilterPattern"]
    ]
    assert filters
    asked = set(re.findall(r"\$\.(\w+)", json.dumps(filters)))
    assert asked - {"message"} <= set(FIELDS)
