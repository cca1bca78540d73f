"""The deployment under check, and the runner of the checks: each is one promise and one hint.

Nothing is written, nobody signs in, and every wait has an end, so that it may run after each deployment.
"""

import json
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx

from commonplace.kernel.environment import is_loopback

Outcome = Literal["ok", "failed", "skipped"]

MAX_BODY_BYTES = 2 * 1024 * 1024
MODERN, LEGACY = "2026-07-28", "2025-06-18"
"""One version of either era of MCP."""

REACH = "Is the address right, and does its name resolve? Look at the certificate and at the distribution or the API."


class Failed(Exception):
    """A check that failed, and what to do about it."""

    def __init__(self, detail: str, hint: str) -> None:
        super().__init__(detail)
        self.detail, self.hint = detail, hint


class Skipped(Exception):
    """There is nothing to check, or an earlier check has said why it cannot be."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    name: str
    outcome: Outcome
    detail: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer, read whole within its bounds."""

    status: int
    headers: httpx.Headers
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """The object in the body, or in the first message of an event stream; empty for anything else."""
        text = self.body.decode("utf-8", "replace")
        if self.headers.get("content-type", "").startswith("text/event-stream"):
            text = next((line[5:] for line in text.splitlines() if line.startswith("data:")), "")
        try:
            read = json.loads(text)
        except ValueError:
            return {}
        return read if isinstance(read, dict) else {}


@dataclass(slots=True)
class Site:
    """The deployment under test. `tools`, `challenge` and `private` are what earlier checks leave to later ones."""

    base: str
    origin: str | None = None
    seconds: float = 15
    tls: ssl.SSLContext = field(default_factory=cache(ssl.create_default_context))
    tools: list[dict[str, Any]] = field(default_factory=list)
    challenge: Mapping[str, str] = field(default_factory=dict)
    private: bool = False
    """True where strangers must sign in before they see anything (siteTier)."""

    @property
    def secure(self) -> bool:
        return self.base.startswith("https://")

    @property
    def resource(self) -> str:
        """Whom a token for `/mcp` is for."""
        return f"{self.base}/mcp"

    def get(self, path: str, **options: Any) -> Answer:
        return self.ask("GET", path, **options)

    def ask(self, method: str, path: str, **options: Any) -> Answer:
        """A request to a path of the deployment, or to a whole URL. Redirects are answers. Raises Failed."""
        url = path if path.startswith("http") else f"{self.base}{path}"
        deadline = time.monotonic() + self.seconds
        try:
            with (
                httpx.Client(
                    timeout=self.seconds, verify=self.tls, trust_env=not is_loopback(urlsplit(url).hostname)
                ) as client,
                client.stream(method, url, **options) as response,
            ):
                body = bytearray()
                for part in response.iter_bytes():
                    body += part
                    if len(body) > MAX_BODY_BYTES or time.monotonic() > deadline:
                        raise Failed(f"{method} {path} does not end", "Another server is at this address.")
                return Answer(response.status_code, response.headers, bytes(body))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Failed(f"{method} {path}: {type(error).__name__}", REACH) from error

    def rpc(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> Answer:
        """One request to the MCP server, of the modern era unless it is a handshake."""
        modern = method != "initialize"
        version = MODERN if modern else LEGACY
        meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        told = dict(params or {}) | ({"_meta": meta} if modern else {})
        sent = {"accept": "application/json, text/event-stream", "mcp-protocol-version": version}
        sent |= {"mcp-method": method} if modern else {}
        sent |= {"mcp-name": str(told["name"])} if modern and "name" in told else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": told}
        return self.ask("POST", "/mcp", json=message, headers=sent | headers)


Check = Callable[[Site], str]
"""Says what it has seen. Raises Failed or Skipped."""


def run(site: Site, checks: Sequence[tuple[str, Check]]) -> list[Finding]:
    """Every check once, in order; one that fails does not keep the others from being made."""
    findings = []
    for name, check in checks:
        try:
            found = Finding(name, "ok", check(site))
        except Failed as failure:
            found = Finding(name, "failed", failure.detail, failure.hint)
        except Skipped as reason:
            found = Finding(name, "skipped", str(reason))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            found = Finding(name, "failed", f"malformed answer: {type(error).__name__}", REACH)
        findings.append(found)
    return findings


def table(findings: Sequence[Finding]) -> str:
    """One line a check, a second one with the hint under what failed, and the sum."""
    width = max(len(each.name) for each in findings)
    marks = {"ok": "ok", "failed": "FAIL", "skipped": "skip"}
    lines = []
    for each in findings:
        lines.append(f"{marks[each.outcome]:4}  {each.name:{width}}  {each.detail}")
        if each.hint:
            lines.append(f"      {'':{width}}  -> {each.hint}")
    counted = {mark: sum(each.outcome == mark for each in findings) for mark in marks}
    lines.append(f"{counted['ok']} ok, {counted['failed']} failed, {counted['skipped']} skipped")
    return "\n".join(lines)
