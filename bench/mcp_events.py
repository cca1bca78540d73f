"""Events of an HTTP API that carry one MCP message each, in either era of the protocol, and what came back."""

import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

MODERN, LEGACY = "2026-07-28", "2025-11-25"
HOST = "mcp.example.org"
BASE_URL = f"https://{HOST}"
PATH = "/mcp"
CLIENT = {"name": "bench", "version": "1.0.0"}
CONTEXT = SimpleNamespace(aws_request_id="bench", get_remaining_time_in_millis=lambda: 29_000)


def modern(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One POST without a handshake: metadata with every request, method and name in headers as well."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    given = dict(params or {})
    headers = {"mcp-protocol-version": MODERN, "mcp-method": method}
    if name := given.get("name") or given.get("uri"):
        headers["mcp-name"] = name
    return event(method, given | {"_meta": meta}, headers)


def legacy(method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    headers = {} if method == "initialize" else {"mcp-protocol-version": LEGACY}
    return event(method, dict(params or {}), headers)


def initialize() -> dict[str, Any]:
    return legacy("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": CLIENT})


def event(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> dict[str, Any]:
    """Payload format 2.0."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    told = {
        "host": HOST,
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "content-length": str(len(body)),
        "x-forwarded-proto": "https",
        "x-forwarded-port": "443",
        "x-forwarded-for": "192.0.2.1",
        "user-agent": "bench",
        **headers,
    }
    http = {"method": "POST", "path": PATH, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "bench"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": PATH,
        "rawQueryString": "",
        "headers": told,
        "requestContext": {"domainName": HOST, "stage": "$default", "requestId": "bench", "http": http},
        "body": body,
        "isBase64Encoded": False,
    }


def result(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON-RPC result. Raises ValueError when there is none: a benchmark of failures would mean nothing."""
    body = answer["body"]
    if "text/event-stream" in answer["headers"].get("content-type", ""):
        body = next(line[6:] for line in reversed(body.splitlines()) if line.startswith("data: "))
    message: dict[str, Any] = json.loads(body)
    if "result" not in message:
        raise ValueError(f"{answer['statusCode']}: {body[:400]}")
    found: dict[str, Any] = message["result"]
    return found
