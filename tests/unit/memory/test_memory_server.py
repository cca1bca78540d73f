"""The memory's tools over HTTP: what is sent, and what each kind of answer means."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from commonplace.client import Server
from commonplace.kernel.errors import (
    BadRequest,
    CommonplaceError,
    Conflict,
    Forbidden,
    InvalidInput,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthorized,
    Unavailable,
)
from commonplace.web.mcp.rendering import refusal

NOW = datetime(2026, 3, 24, 10, 0, 0, tzinfo=UTC)
BASE = "https://knowledge.example.org"


def server(answer: Any, asked: list[httpx.Request] | None = None) -> Server:
    def handle(request: httpx.Request) -> httpx.Response:
        if asked is not None:
            asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        found: httpx.Response = answer
        return found

    return Server(
        BASE,
        "secret-token",
        "memory",
        hint="It takes a token.",
        transport=httpx.MockTransport(handle),
        clock=lambda: NOW,
    )


def rpc(**told: Any) -> httpx.Response:
    return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, **told})


def refused(code: str, text: str, **meta: Any) -> httpx.Response:
    told = {"isError": True, "content": [{"type": "text", "text": text}]}
    return rpc(result=told | {"_meta": {"commonplace/error": {"code": code, **meta}}})


def test_a_call_is_one_post_of_the_modern_era_with_the_token() -> None:
    asked: list[httpx.Request] = []
    answer = server(rpc(result={"structuredContent": {"total": 3}, "content": []}), asked).call("kb_list", {"limit": 1})
    assert answer == {"total": 3}
    (request,) = asked
    assert (request.method, str(request.url)) == ("POST", f"{BASE}/mcp/memory")
    assert request.headers["authorization"] == "Bearer secret-token"
    assert (request.headers["mcp-method"], request.headers["mcp-name"]) == ("tools/call", "kb_list")
    assert json.loads(request.content)["params"]["arguments"] == {"limit": 1}


def test_an_event_stream_is_read_as_well() -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": {"total": 4}}})
    headers = {"content-type": "text/event-stream"}
    stream = httpx.Response(200, headers=headers, text=f"event: message\ndata: {message}\n\n")
    assert server(stream).call("kb_list", {}) == {"total": 4}


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.ConnectError("x"), Unavailable),
        (httpx.ReadTimeout("x"), Unavailable),
        (httpx.Response(500), Unavailable),
        (httpx.Response(503, headers={"retry-after": "7"}), Unavailable),
        (httpx.Response(200, text="<html>"), Unavailable),
        (httpx.Response(200, json=[1]), Unavailable),
        (rpc(result=7), Unavailable),
        (rpc(error={"code": -32603, "message": "Internal error"}), Unavailable),
        (refused("", "INTERNAL_ERROR: The tool failed."), Unavailable),
        (httpx.Response(401), Unauthorized),
        (httpx.Response(403), Forbidden),
        (rpc(error={"code": 403, "message": "Access denied. This tool requires member access."}), Forbidden),
        (refused("", "Access denied. This tool requires member access."), Forbidden),
        (httpx.Response(404), NotFound),
        (httpx.Response(413), TooLarge),
        (httpx.Response(307, headers={"location": "https://elsewhere.example"}), BadRequest),
        (rpc(error={"code": -32602, "message": "Unknown tool"}), BadRequest),
        (refused("CONFLICT", "CONFLICT: Somebody was faster."), Conflict),
        (refused("NOT_FOUND", "NOT_FOUND: There is no such entry."), NotFound),
        (refused("INVALID_INPUT", "INVALID_INPUT: Wrong."), InvalidInput),
        (refused("A_NEW_CODE", "Something new."), BadRequest),
        (httpx.Response(429, headers={"retry-after": "9"}), RateLimited),
    ],
)
def test_each_kind_of_answer_is_an_error_of_its_kind(answer: Any, kind: type[CommonplaceError]) -> None:
    with pytest.raises(kind) as caught:
        server(answer).call("kb_list", {"query": "private words"})
    assert "secret-token" not in str(caught.value)
    assert "private words" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (httpx.Response(429, headers={"retry-after": "9"}), 9),
        (httpx.Response(429, headers={"retry-after": "Tue, 24 Mar 2026 10:00:30 GMT"}), 30),
        (httpx.Response(429, headers={"retry-after": "soon"}), 1),
        (httpx.Response(429), 1),
        (httpx.Response(503, headers={"retry-after": "20"}), 20),
        (refused("RATE_LIMITED", "RATE_LIMITED: Too many.", retryAfterSeconds=12), 12),
        (refused("UNAVAILABLE", "UNAVAILABLE: Away.", retryAfterSeconds=5), 5),
    ],
)
def test_when_to_come_back_is_as_the_server_says(answer: httpx.Response, seconds: int) -> None:
    with pytest.raises((RateLimited, Unavailable)) as caught:
        server(answer).call("kb_list", {})
    assert getattr(caught.value, "retry_after_seconds") == seconds  # noqa: B009 - of both


def test_a_refusal_keeps_its_sentence_and_its_hint() -> None:
    with pytest.raises(InvalidInput) as caught:
        server(refused("INVALID_INPUT", "INVALID_INPUT: `role` is wrong. Hint: Use one of: pm, dev.")).call(
            "kb_list", {}
        )
    assert (caught.value.message, caught.value.hint) == ("`role` is wrong.", "Use one of: pm, dev.")


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("More than 120 writes in 60 seconds.", retry_after_seconds=17, hint="Ask for more at once."),
        Unavailable("The store does not answer.", retry_after_seconds=5),
        NotFound("There is no such entry.", hint="kb_list names entries."),
        Conflict("Somebody was faster.", hint="Read it again."),
        InvalidInput("`limit` has to be a whole number from 1 to 50.", hint="Give `limit` from 1 to 50."),
        TooLarge("`content` is larger than 32,768 bytes."),
        Forbidden("This may not be done."),
    ],
    ids=lambda error: error.code,
)
def test_what_the_tools_refuse_arrives_as_what_it_was(error: CommonplaceError) -> None:
    with pytest.raises(type(error)) as caught:
        server(rpc(result=refusal(error))).call("kb_list", {})
    assert (caught.value.message.removesuffix(_again(error)), caught.value.hint) == (error.message, error.hint)
    assert caught.value.details == error.details


def _again(error: CommonplaceError) -> str:
    seconds = error.details.get("retryAfterSeconds")
    return f" Try again in {seconds} seconds." if seconds else ""


def test_an_answer_without_end_is_cut_off() -> None:
    with pytest.raises(TooLarge):
        server(httpx.Response(200, content=b"x" * (8 * 1024 * 1024 + 1))).call("kb_list", {})


def test_a_token_is_not_sent_where_others_could_read_it() -> None:
    with pytest.raises(InvalidInput):
        Server("http://knowledge.example.org", "secret-token")
    Server("http://127.0.0.1:8787", "secret-token").close()
