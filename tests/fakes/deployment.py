"""A deployment as it looks from outside, on this machine: right by default, and wrong where a test says so."""

import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

JSON, HTML = "application/json", "text/html; charset=utf-8"
WELL_KNOWN = "/.well-known"
POLICY = "default-src 'none'; frame-ancestors 'none'"


@dataclass(slots=True)
class Reply:
    """An answer; tests take parts out of it or put others in."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: Any = None

    @property
    def content(self) -> bytes:
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


class StandIn:
    """Answers like a deployment at `url`. `replies` are by path, those of the MCP server by `/mcp METHOD`."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        if tls:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._server.server_port}"
        self.replies = right(self.url)
        self.asked: list[str] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def reply(self, path: str, method: str, headers: dict[str, str]) -> Reply:
        self.asked.append(path)
        if path == "/mcp" and headers.get("authorization"):
            return self.replies["/mcp bad token"]
        return self.replies.get(
            f"{path} {method}".strip(), Reply(404, {"content-type": JSON}, {"message": "Not Found"})
        )


def right(base: str) -> dict[str, Reply]:
    """What a deployment answers that keeps every promise."""
    metadata = f"{base}{WELL_KNOWN}/oauth-protected-resource/mcp"
    server = {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "registration_endpoint": f"{base}/register",
        "jwks_uri": f"{base}{WELL_KNOWN}/jwks.json",
        "code_challenge_methods_supported": ["S256"],
    }
    resource = {"resource": f"{base}/mcp", "authorization_servers": [base]}
    tools = [
        {"name": "search_knowledge", "annotations": {"readOnlyHint": True}},
        {"name": "save_link", "annotations": {"readOnlyHint": False}},
    ]
    sign_in = f'Bearer scope="knowledge:read knowledge:write", resource_metadata="{metadata}"'
    bad = f'Bearer error="invalid_token", scope="knowledge:read", resource_metadata="{metadata}"'
    page = {"content-security-policy": POLICY, "referrer-policy": "no-referrer", "x-content-type-options": "nosniff"}
    documents = {
        f"{WELL_KNOWN}/oauth-authorization-server": server,
        f"{WELL_KNOWN}/oauth-protected-resource": resource | {"resource": base},
        f"{WELL_KNOWN}/oauth-protected-resource/mcp": resource,
        f"{WELL_KNOWN}/jwks.json": {"keys": [{"kty": "EC", "kid": "one", "crv": "P-256", "x": "x", "y": "y"}]},
    }
    health = {"status": "ok", "documents": 2, "version": "1.0.0"}
    return {
        "/health": Reply(200, {"x-content-type-options": "nosniff"}, health),
        "/": Reply(200, {"content-type": HTML, **page}, "<title>Home · The garden</title>"),
        "/llms.txt": Reply(200, {"content-type": "text/plain"}, "# The garden\n"),
        "/api/v1/entries": Reply(200, {}, {"entries": [{"title": "Crabs", "documentUrl": f"{base}/d/file/crabs"}]}),
        "/d/file/crabs": Reply(200, {"content-type": HTML}, "<title>Crabs</title>"),
        "/api/v1/search": Reply(200, {}, {"results": [{"title": "Crabs"}]}),
        "/mcp server/discover": Reply(200, {}, {"result": {"supportedVersions": ["2026-07-28"]}}),
        "/mcp initialize": Reply(
            200,
            {"content-type": "text/event-stream"},
            'data: {"result": {"protocolVersion": "2025-06-18", "serverInfo": {"name": "commonplace"}}}\n\n',
        ),
        "/mcp tools/list": Reply(200, {}, {"result": {"tools": tools}}),
        "/mcp tools/call": Reply(401, {"www-authenticate": sign_in}, {"error": "unauthorized"}),
        "/mcp bad token": Reply(401, {"www-authenticate": bad}, {"error": "invalid_token"}),
        **{path: Reply(200, {"access-control-allow-origin": "*"}, body) for path, body in documents.items()},
        "/authorize": Reply(400, {"content-type": HTML, **page}, "<p>Nobody knows this client.</p>"),
        "/token": Reply(400, {"cache-control": "no-store"}, {"error": "invalid_grant"}),
    }


def _handler(stand_in: StandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 5

        def log_message(self, format: str, *args: Any) -> None: ...

        def do_GET(self) -> None:
            self._serve("")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            self._serve(json.loads(body)["method"] if self.path == "/mcp" else "")

        def _serve(self, method: str) -> None:
            path = self.path.partition("?")[0]
            reply = stand_in.reply(path, method, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(reply.status)
            for name, value in {"content-type": JSON, **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.content)))
            self.send_header("connection", "close")
            self.close_connection = True
            self.end_headers()
            self.wfile.write(reply.content)

    return Handler


Change = Callable[[dict[str, Reply]], None]
