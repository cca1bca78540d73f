"""The line that a call leaves in the log, and nothing that anybody said."""

import json
import logging

import pytest
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

from commonplace.web.mcp.calls import CallRecord, record

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


@pytest.fixture
def line(caplog: pytest.LogCaptureFixture) -> logging.LogRecord:
    caplog.set_level(logging.INFO, "commonplace")
    record(CALL)
    (line,) = caplog.records
    return line


def test_a_call_is_one_line_with_fields(line: logging.LogRecord) -> None:
    assert line.getMessage() == "mcp call"
    assert FIELDS.items() <= line.__dict__.items()


def test_the_runtime_writes_every_field(line: logging.LogRecord) -> None:
    """As the formatter of functions does, which keeps some names for itself."""
    written = json.loads(LambdaPowertoolsFormatter().format(line))
    assert FIELDS.items() <= written.items()
    assert set(written) - set(FIELDS) <= {"timestamp", "level", "message", "location"}
