"""The loop over Lambda's Runtime API, against the one of the laptop cloud, and the front that passes its answers on."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route as Endpoint

from commonplace.web.gateway import StreamingGateway
from commonplace.web.stream_runtime import AGENT, Answer, Context, Runtime
from commonplace_local.cloud.http_api import HttpApi, Route, Streamed, streamed
from commonplace_local.cloud.runtime import Call, FunctionFailed, Outcome, runtime_api

KEY = "key-of-the-run"
REST = {"requestContext": {"stage": "live"}, "resource": "/x", "httpMethod": "GET", "path": "/x", "headers": {}}
HTTP = {"version": "2.0", "requestContext": {"http": {"method": "GET", "path": "/x"}}}


@dataclass
class Environment:
    """What the Runtime API asks of an environment."""

    waiting: list[Call] = field(default_factory=list)
    call: Call | None = None
    ended: list[tuple[bytes, bool]] = field(default_factory=list)
    broken: list[bytes] = field(default_factory=list)

    def take(self, _: Callable[[], bool]) -> Call | None:
        self.call = self.waiting.pop(0) if self.waiting else None
        if self.call is not None:
            self.call.deadline = time.time() + 320
        return self.call

    def finish(self, call_id: str, body: bytes, *, failed: bool) -> None:
        assert self.call is not None
        assert self.call.id == call_id
        self.ended.append((body, failed))
        self.call.finish(Outcome(body, failed))

    def init_failed(self, body: bytes) -> None:
        self.broken.append(body)


@pytest.fixture
def environment() -> Environment:
    return Environment()


@pytest.fixture
def runtime(environment: Environment) -> Iterator[Runtime]:
    api: Any = runtime_api(environment, KEY)  # type: ignore[arg-type]
    api.start()
    try:
        yield Runtime(f"127.0.0.1:{api.server_port}", f"{AGENT} {KEY}")
    finally:
        api.stop()


def called(environment: Environment, event: Any) -> Call:
    call = Call(json.dumps(event).encode(), "arn:aws:lambda:us-east-1:1:function:x:live", stream=SimpleQueue())
    environment.waiting.append(call)
    return call


def pieces(call: Call) -> list[bytes]:
    assert call.stream is not None
    return list(iter(call.stream.get, None))


def test_what_a_handler_writes_arrives_piece_by_piece(environment: Environment, runtime: Runtime) -> None:
    call, read = called(environment, REST), Event()
    seen: list[Context] = []

    def handler(event: Any, context: Context, answer: Answer | None) -> None:
        seen.append(context)
        assert answer is not None
        answer.start(201, {"content-type": "text/plain"}, ["a=1", "b=2"])
        answer.write(b"one")
        assert read.wait(10)
        answer.write(b"")
        answer.write(b"two" * 50_000)

    thread = Thread(target=runtime.serve, args=(handler,))
    thread.start()
    assert call.stream is not None
    found = streamed(iter(call.stream.get, None))
    assert isinstance(found, Streamed)
    assert (found.status, found.headers) == (
        201,
        [("content-type", "text/plain"), ("set-cookie", "a=1"), ("set-cookie", "b=2")],
    )
    assert next(found.pieces) == b"one"
    read.set()
    assert b"".join(found.pieces) == b"two" * 50_000
    thread.join(10)
    assert environment.ended == [(b"", False)]
    assert seen[0].aws_request_id == call.id
    assert 300_000 < seen[0].get_remaining_time_in_millis() <= 320_000


def test_an_event_of_the_http_api_is_answered_whole_and_in_its_time(environment: Environment, runtime: Runtime) -> None:
    called(environment, HTTP)
    called(environment, {"scheduled": True})
    seen: list[int] = []

    def handler(event: Any, context: Context, answer: Answer | None) -> Any:
        assert answer is None
        seen.append(context.get_remaining_time_in_millis())
        return {"statusCode": 200}

    runtime.serve(handler)
    runtime.serve(handler)
    assert environment.ended == [(b'{"statusCode": 200}', False)] * 2
    assert max(seen) <= 29_000


@pytest.mark.parametrize("event", [REST, HTTP])
def test_what_fails_before_it_answers_is_an_error_without_its_text(
    event: Any, environment: Environment, runtime: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    called(environment, event)

    def handler(*_: Any) -> None:
        raise RuntimeError("swordfish")

    runtime.serve(handler)
    ((body, failed),) = environment.ended
    assert failed
    assert "swordfish" not in body.decode() + caplog.text


def test_what_fails_in_the_midst_says_so_in_a_trailer(environment: Environment, runtime: Runtime) -> None:
    call = called(environment, REST)

    def handler(_: Any, __: Context, answer: Answer | None) -> None:
        assert answer is not None
        answer.start(200, {})
        answer.write(b"half")
        raise RuntimeError("swordfish")

    runtime.serve(handler)
    assert pieces(call)[-1] == b"half"
    assert environment.ended == [(b"{}", True)]


def test_a_handler_that_cannot_be_loaded_is_reported(environment: Environment, runtime: Runtime) -> None:
    with pytest.raises(ModuleNotFoundError):
        runtime.run("there_is_no.such_module")
    assert json.loads(environment.broken[0])["errorType"] == "Runtime.ModuleNotFoundError"


async def tell(request: Request) -> Response:
    body = (await request.body()).decode()

    async def parts() -> Any:
        yield f"{request.method} {request.url.path} {request.url.query} "
        yield body

    return StreamingResponse(parts(), headers={"x-client": request.client.host if request.client else ""})


APP = Starlette(
    routes=[Endpoint("/x/{rest:path}", tell, methods=["GET", "POST"]), Endpoint("/y", lambda _: PlainTextResponse("y"))]
)


@pytest.fixture
def front() -> Iterator[httpx.Client]:
    """The front of the laptop over a gateway: a path that streams, and the same path at the HTTP API."""
    gateway = StreamingGateway(APP)

    class Written(Answer):
        def __init__(self) -> None:
            super().__init__("", "")
            self.sent: SimpleQueue[bytes | None] = SimpleQueue()

        def start(self, status: int, headers: Any, cookies: Any = ()) -> None:
            prelude = {"statusCode": status, "headers": dict(headers), "cookies": list(cookies)}
            self.sent.put(json.dumps(prelude).encode() + b"\0" * 8)

        def write(self, data: bytes) -> None:
            self.sent.put(data)

    def invoke_streaming(name: str, payload: bytes) -> Iterator[bytes]:
        if name == "broken":
            yield b'{"statusCode": 200, "headers": {}, "cookies": []}' + b"\0" * 8 + b"half"
            raise FunctionFailed({"errorType": "Runtime.ExitError"})
        if name == "dead":
            raise FunctionFailed({"errorType": "Runtime.ExitError"})
        answer, event = Written(), json.loads(payload)

        def work() -> None:
            gateway(event, SimpleNamespace(), answer)
            answer.sent.put(None)

        Thread(target=work).start()
        yield from iter(answer.sent.get, None)

    def invoke(_: str, payload: bytes, __: float) -> Outcome:
        return Outcome(json.dumps(gateway(json.loads(payload), SimpleNamespace())).encode())

    api = HttpApi(invoke, invoke_streaming=invoke_streaming)
    api.routes += [Route("ANY /x/{proxy+}", "whole"), Route("$default", "whole")]
    api.routes += [Route("ANY /x/{proxy+}", "chat", streams=True), Route("GET /broken", "broken", streams=True)]
    api.routes += [Route("GET /dead", "dead", streams=True)]
    api.start()
    try:
        with httpx.Client(base_url=api.url, timeout=20, trust_env=False) as http:
            yield http
    finally:
        api.stop()


def test_a_route_that_streams_comes_before_the_same_of_the_http_api(front: httpx.Client) -> None:
    answer = front.post("/x/%C3%BC?a=1&a=2", json={"b": "ü"})
    assert (answer.status_code, answer.headers["transfer-encoding"]) == (200, "chunked")
    assert answer.text == 'POST /x/ü a=1&a=2 {"b":"ü"}'
    assert answer.headers["x-client"] == "127.0.0.1"
    assert front.get("/y").text == "y"
    assert front.get("/x/").status_code == 200
    assert front.head("/x/a").status_code in (200, 405)


def test_an_answer_that_breaks_off_is_no_whole_one(front: httpx.Client) -> None:
    with pytest.raises(httpx.RemoteProtocolError):
        front.get("/broken")
    assert front.get("/dead").status_code == 502
    assert front.get("/y").text == "y"
