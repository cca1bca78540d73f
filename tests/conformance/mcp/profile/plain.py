"""Tools with an answer that the suite knows beforehand."""

import base64
import struct
import zlib
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import mcp.types as T
from mcp import MCPError
from pydantic import Field

from commonplace.web.mcp.declaration import Arguments, Call, NoArguments, Tool

STEP_SECONDS = 0.05
"""The suite asks for pauses between notifications, so that several arrive while a tool still works."""

Answering = Callable[[Call], Awaitable[Any]]


def png() -> str:
    """One red pixel, base64."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")), chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def wav() -> str:
    """Silence of no length, base64."""
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", 0)
    return base64.b64encode(b"RIFF" + struct.pack("<I", len(body)) + body).decode()


TEXT: dict[str, Any] = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE: dict[str, Any] = {"type": "image", "data": png(), "mimeType": "image/png"}
AUDIO: dict[str, Any] = {"type": "audio", "data": wav(), "mimeType": "audio/wav"}


def embedded(uri: str, text: str, mime_type: str = "text/plain") -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}


SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


class Region(Arguments):
    """An argument that clients repeat in a header (2026-07-28, `x-mcp-header`)."""

    region: str = Field(description="A region.", json_schema_extra={"x-mcp-header": "Region"})


def said(*content: dict[str, Any], error: bool = False) -> T.CallToolResult:
    return T.CallToolResult.model_validate({"content": list(content), "isError": error})


def text(words: str) -> T.CallToolResult:
    return said({"type": "text", "text": words})


def tool(name: str, answer: Answering, **differing: Any) -> Tool:
    async def run(call: Call, _: Any) -> Any:
        return await answer(call)

    told: dict[str, Any] = {
        "title": name,
        "description": f"Fixture of the conformance suite: {name}.",
        "arguments": NoArguments,
    }
    return Tool(name=name, run=run, output=None, **(told | differing))


def fixed(name: str, *content: dict[str, Any], **differing: Any) -> Tool:
    async def answer(_: Call) -> T.CallToolResult:
        return said(*content)

    return tool(name, answer, **differing)


async def _logging(call: Call) -> T.CallToolResult:
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await log(call, words)
        await anyio.sleep(STEP_SECONDS)
    return text("Three messages were logged.")


async def log(call: Call, words: str) -> None:
    """As the SDK does it: a modern client that named no level gets nothing."""
    message = T.LoggingMessageNotification(params=T.LoggingMessageNotificationParams(level="info", data=words))
    if call.context.protocol_version != "2026-07-28" or T.LOG_LEVEL_META_KEY in (call.context.meta or {}):
        await call.context.session.send_notification(message, related_request_id=call.context.request_id)


async def _progress(call: Call) -> T.CallToolResult:
    for done in (0, 50, 100):
        await call.context.session.report_progress(done, 100, f"{done} of 100")
        await anyio.sleep(STEP_SECONDS)
    return text("It is done.")


async def _failing(_: Call) -> T.CallToolResult:
    return said({"type": "text", "text": "This tool intentionally returns an error for testing"}, error=True)


async def _missing_capability(call: Call) -> T.CallToolResult:
    declared = call.context.session.client_capabilities
    if declared is None or declared.sampling is None:
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(T.MISSING_REQUIRED_CLIENT_CAPABILITY, "This tool needs sampling.", needed)
    return text("The client can sample.")


async def _mute(call: Call) -> T.CallToolResult:
    await log(call, "Only for those who asked for it")
    return text("Nothing was logged without being asked for.")


TOOLS: tuple[Tool, ...] = (
    fixed("test_simple_text", TEXT),
    fixed("test_image_content", IMAGE),
    fixed("test_audio_content", AUDIO),
    fixed("test_embedded_resource", embedded("test://embedded-resource", "This is an embedded resource content.")),
    fixed(
        "test_multiple_content_types",
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
    ),
    tool("test_tool_with_logging", _logging),
    tool("test_tool_with_progress", _progress),
    tool("test_error_handling", _failing),
    tool("test_missing_capability", _missing_capability),
    tool("test_logging_tool", _mute),
    fixed("json_schema_2020_12_tool", TEXT, input_schema=SCHEMA_2020_12),
    fixed("test_region_header", TEXT, arguments=Region),
)
