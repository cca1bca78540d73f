"""A loopback server for the part of OpenSearch's security API that makes roles. It takes CloudFormation's answers."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

API = "/_plugins/_security/api/"

ROLE = {"cluster_permissions", "index_permissions"}
MAPPING = {"backend_roles", "hosts", "users"}


@dataclass
class SecurityApi:
    """Roles and their mappings, as the domain has them; `failures` are statuses that come before anything is done."""

    url: str = ""
    roles: dict[str, Any] = field(default_factory=dict)
    rolesmapping: dict[str, Any] = field(default_factory=dict)
    failures: list[int] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    answers: list[dict[str, Any]] = field(default_factory=list)
    answer_types: list[str | None] = field(default_factory=list)
    answer_failures: list[int] = field(default_factory=list)

    def ask(self, method: str, path: str, body: Any) -> int:
        """The status of a request to the API, and its effect."""
        self.asked.append((method, path))
        if self.failures:
            return self.failures.pop(0)
        kind, _, name = path.removeprefix(API).partition("/")
        kept: dict[str, Any] | None = {"roles": self.roles, "rolesmapping": self.rolesmapping}.get(kind)
        if not path.startswith(API) or kept is None or not name:
            return 404
        if method == "DELETE":
            return 200 if kept.pop(name, None) is not None else 404
        if method != "PUT" or not isinstance(body, dict) or not body.keys() <= (ROLE if kind == "roles" else MAPPING):
            return 400
        if kind == "rolesmapping" and name not in self.roles:
            return 404
        created = name not in kept
        kept[name] = body
        return 201 if created else 200

    def take_answer(self, body: Any, content_type: str | None) -> int:
        if self.answer_failures:
            return self.answer_failures.pop(0)
        self.answers.append(body)
        self.answer_types.append(content_type)
        return 200


@contextmanager
def security_api() -> Iterator[SecurityApi]:
    """A server of its own, gone at the end."""
    api = SecurityApi()

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self._answer()

        def do_DELETE(self) -> None:
            self._answer()

        def _answer(self) -> None:
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            body = json.loads(text) if text else None
            if self.path.startswith("/answer"):
                status = api.take_answer(body, self.headers.get("Content-Type"))
            else:
                api.authorizations.append(self.headers.get("Authorization", ""))
                status = api.ask(self.command, self.path, body)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            if status in (301, 302, 307):
                self.send_header("Location", f"{api.url}/answer")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
