"""Rendering of a toolset's answers as the protocol's results: plain dicts in the wire's own shape."""

import json
from base64 import b64encode
from typing import Any

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.declaration import Answer, Link, Text

MAX_ERROR_BYTES = 2_048
"""Of the text of an error: it goes into the context of a model."""

ERROR_META = "commonplace/error"
"""Where programs find the code of an error. Not in `structuredContent`: a client of the TypeScript SDK checks that
against the tool's output schema even if the call failed, and raises when it does not conform."""

COMPLETE: dict[str, Any] = {"resultType": "complete"}
"""Of every result but a question to the client; the wire of older versions leaves it out."""
CACHED: dict[str, Any] = COMPLETE | {"ttlMs": 60_000, "cacheScope": "private"}
"""Of lists and reads. They differ by account, and a client that signs in must not see the old ones for long."""

GENERIC = "INTERNAL_ERROR: The tool failed for a reason that is not yours. Hint: Try again later."


def result(text: str, data: dict[str, Any] | None, links: tuple[Link, ...] = ()) -> dict[str, Any]:
    """A complete answer of a tool."""
    content = [{"type": "text", "text": whole(text)}, *(link_block(link) for link in links)]
    told = COMPLETE | {"content": content}
    return told if data is None else told | {"structuredContent": data}


def tokens_of(text: str, data: Any, links: tuple[Link, ...] = ()) -> int:
    """What an answer costs: the larger of its text, with the links, and its data. No client shows a model both."""
    blocks = compact([link_block(link) for link in links]) if links else ""
    told = compact(data) if data is not None else ""
    return max(estimate_tokens(text) + estimate_tokens(blocks), estimate_tokens(told))


def cost(answer: Answer) -> int:
    """Tokens of an answer as a whole."""
    return tokens_of(answer.text, data_of(answer), answer.links)


def data_of(answer: Answer) -> dict[str, Any]:
    """The structured half, as JSON values; absent values are left out."""
    return answer.data.model_dump(mode="json", by_alias=True, exclude_none=True)


def compact(data: Any) -> str:
    """JSON without spaces, in its own letters. Raises ValueError for what JSON cannot hold."""
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    told.encode()
    return told


def link_block(link: Link) -> dict[str, Any]:
    told = {"type": "resource_link", "uri": link.uri, "name": link.name}
    told |= {"title": link.title} if link.title else {}
    return told | ({"mimeType": link.mime_type} if link.mime_type else {})


def failure(text: str, meta: dict[str, Any] | None = None) -> dict[str, Any]:
    """A failed call, for a model to read."""
    content = [{"type": "text", "text": cut_bytes(text, MAX_ERROR_BYTES)}]
    told = COMPLETE | {"content": content, "isError": True}
    return told | ({"_meta": {ERROR_META: meta}} if meta else {})


def refusal(error: CommonplaceError) -> dict[str, Any]:
    """`CODE: sentence Hint: hint`, and the code for programs."""
    meta: dict[str, Any] = {"code": error.code}
    if (wait := error.details.get("retryAfterSeconds")) is not None:
        meta["retryAfterSeconds"] = wait
    return failure(sentence(error), meta)


def sentence(error: CommonplaceError) -> str:
    wait = error.details.get("retryAfterSeconds")
    told = f"{error.code}: {error.message}"
    told += f" Try again in {wait} seconds." if wait is not None else ""
    return f"{told} Hint: {error.hint}" if error.hint else told


def contents(uri: str, mime_type: str, body: Text) -> dict[str, Any]:
    """One entry of a `resources/read` result."""
    if isinstance(body, bytes):
        return {"uri": uri, "mimeType": mime_type, "blob": b64encode(body).decode()}
    return {"uri": uri, "mimeType": mime_type, "text": whole(body)}


def cut_bytes(text: str, limit: int) -> str:
    """At most so many bytes of UTF-8, with an ellipsis where something is gone."""
    raw = text.encode("utf-8", "replace")
    return raw.decode() if len(raw) <= limit else raw[: limit - 3].decode("utf-8", "ignore") + "…"


def whole(text: str) -> str:
    """The text without halves of characters, which cannot be sent."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
