"""The benchmark of MCP compares servers that do the same work."""

import json
from typing import Any

import pytest

from bench.mcp_servers import CONTEXT, TOOLS, bare, event, logging_as_on_lambda, modern, ours, result
from bench.speed import mcp

pytestmark = pytest.mark.usefixtures("loop")


def test_every_message_is_answered_alike_by_both_servers() -> None:
    with logging_as_on_lambda():
        rows = mcp.beside(1)
    assert [row["message"] for row in rows] == list(mcp.MESSAGES)
    assert all(float(row["cpu ms"] or 0) > 0 for row in rows)


def test_both_list_the_same_tools_with_the_same_arguments() -> None:
    lists = [result(handler(modern("tools/list"), CONTEXT))["tools"] for handler in (ours(), bare(json_response=True))]
    mine, other = ({tool["name"]: tool["inputSchema"]["properties"].keys() for tool in tools} for tools in lists)
    assert mine == other
    assert len(mine) == TOOLS


def test_a_failure_is_not_measured() -> None:
    failed: dict[str, Any] = ours()(modern("tools/call", {"name": "no-such-tool"}), CONTEXT)
    with pytest.raises(ValueError, match="Unknown tool"):
        result(failed)


def test_the_result_of_a_stream_is_its_last_message() -> None:
    messages = [{"method": "notifications/progress"}, {"id": 1, "result": {"ok": True}}]
    body = "".join(f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n" for message in messages)
    answer = {"statusCode": 200, "headers": {"content-type": "text/event-stream"}, "body": body}
    assert result(answer) == {"ok": True}


def test_an_event_carries_its_message_as_http_does() -> None:
    made = event("ping", {}, {})
    assert made["headers"]["content-length"] == str(len(made["body"]))
    assert json.loads(made["body"])["method"] == "ping"
