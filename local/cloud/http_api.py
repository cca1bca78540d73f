"""The HTTP API's front: a server of its own whose every request becomes an invocation."""

import json
import uuid
from collections.abc import Callable
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

from local.cloud import http_event
from local.cloud.calls import MAX_PAYLOAD_BYTES, Outcome
from local.cloud.http_event import Request, Response, Route
from local.cloud.servers import Loopback, LoopbackHandler

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_HEADER_BYTES = 10_240
INTEGRATION_SECONDS = 30.0

Invoke = Callable[[str, bytes, float], Outcome | None]


class HttpApi:
    """Answers on one port. Routes may be added until `start`."""

    def __init__(self, invoke: Invoke, port: int = 0, *, api_id: str = "laptop") -> None:
        self._invoke, self._api_id = invoke, api_id
        self.routes: list[Route] = []
        self._server = Loopback(_handler(self), port)

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> None:
        self._server.start()

    def stop(self) -> None:
        self._server.stop()

    def answer(self, request: Request) -> Response:
        """Route, invoke within 30 seconds, and turn what comes back into HTTP."""
        found = http_event.find(self.routes, request.method, request.path)
        if found is None:
            return http_event.NOT_FOUND
        route, parameters = found
        payload = json.dumps(http_event.event(request, route, parameters, self._api_id)).encode()
        if len(payload) > MAX_PAYLOAD_BYTES:
            return http_event.TOO_LARGE
        outcome = self._invoke(route.function, payload, INTEGRATION_SECONDS)
        if outcome is None:
            return http_event.TIMED_OUT
        return http_event.FAILED if outcome.failed else http_event.response(outcome.payload)


class Unreadable(Exception):
    """The request is refused before its body is read; the connection ends with the answer."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.status)
        self.response = response


def _handler(api: HttpApi) -> type[LoopbackHandler]:
    class Front(LoopbackHandler):
        pages = True  # which of them may do what is for the functions to say, as it is where they are deployed
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16
        timeout = 75  # an idle connection, as long as the service keeps one

        def log_message(self, format: str, *args: Any) -> None: ...

        def __getattr__(self, name: str) -> Any:
            if name.startswith("do_"):  # every method there is, and those to come, are the function's to judge
                return self.serve
            raise AttributeError(name)

        def handle_expect_100(self) -> bool:
            return True  # `body` says it, once the announced length is acceptable

        def serve(self) -> None:
            try:
                request = self.request_read()
                response = api.answer(request)
            except Unreadable as refusal:
                self.close_connection = True
                self.send(refusal.response)
                self.linger()
                return
            self.send(response)

        def request_read(self) -> Request:
            if sum(len(name) + len(value) for name, value in self.headers.items()) > MAX_HEADER_BYTES:
                raise Unreadable(http_event.HEADERS_TOO_LARGE)
            target = self.path if self.path.startswith("/") else "/" + self.path.partition("://")[2].partition("/")[2]
            return Request(
                method=self.command,
                target=target,
                headers=self.headers.items(),
                body=self.body(),
                source_ip=str(self.client_address[0]),
                protocol=self.request_version,
                port=api.port,
            )

        def body(self) -> bytes:
            chunked = "chunked" in self.headers.get("Transfer-Encoding", "").lower()
            announced = self.headers.get("Content-Length", "0")
            if not announced.isdecimal():
                raise Unreadable(http_event.BAD_REQUEST)
            if int(announced) > MAX_BODY_BYTES:
                raise Unreadable(http_event.TOO_LARGE)
            if self.headers.get("Expect", "").lower() == "100-continue":
                self.send_response_only(HTTPStatus.CONTINUE)
                self.end_headers()
                self.wfile.flush()
            return self.chunks() if chunked else self.rfile.read(int(announced))

        def chunks(self) -> bytes:
            body = bytearray()
            while size := self.chunk_size():
                if len(body) + size > MAX_BODY_BYTES:
                    raise Unreadable(http_event.TOO_LARGE)
                body += self.rfile.read(size)
                self.rfile.readline()
            while self.rfile.readline(MAX_HEADER_BYTES).strip():
                pass  # trailers
            return bytes(body)

        def chunk_size(self) -> int:
            try:
                return int(self.rfile.readline(64).partition(b";")[0], 16)
            except ValueError as error:
                raise Unreadable(http_event.BAD_REQUEST) from error

        def send(self, response: Response) -> None:
            self.send_response_only(response.status)
            head = self.command == "HEAD"  # its length is that of the body a GET would get, which the function knows
            for name, value in response.headers:
                if name.lower() == "content-length" and not (head and value.isdecimal()):
                    continue
                self.send_header(name, value.encode().decode("latin-1"))  # UTF-8, as it came
            self.send_header("date", formatdate(usegmt=True))
            self.send_header("apigw-requestid", uuid.uuid4().hex[:16])
            known = head and any(name.lower() == "content-length" for name, _ in response.headers)
            if not known and response.status >= 200 and response.status != HTTPStatus.NO_CONTENT:
                self.send_header("content-length", str(len(response.body)))
            if self.close_connection:
                self.send_header("connection", "close")
            self.end_headers()
            if not head and response.status not in (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED):
                self.wfile.write(response.body)

    return Front
