"""Checks of what everybody may do: reach it, read, search, ask what agents find."""

import socket
import ssl
import time
from typing import Any
from urllib.parse import urlsplit

from local.operations.smoke import LEGACY, REACH, Answer, Failed, Site, Skipped

ENOUGH_DAYS = 14
"""A certificate that ends sooner was not renewed."""

_SYNC = "Start a run: commonplace sync run, and look at: commonplace sync status"
_INDEX = "Look at the dead-letter queue of the index, docs/runbooks/dlq-not-empty.md"
_MCP = "Look at the log of the mcp function, docs/runbooks/mcp-failures.md"


def tls(site: Site) -> str:
    """The certificate is trusted, is for this name, and lasts; old versions of TLS are not spoken by us."""
    if not site.secure:
        raise Skipped("plain http, on this machine")
    parts = urlsplit(site.base)
    host = parts.hostname or ""
    try:
        with (
            socket.create_connection((host, parts.port or 443), timeout=site.seconds) as raw,
            site.tls.wrap_socket(raw, server_hostname=host) as channel,
        ):
            version, certificate = channel.version(), channel.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        hint = "The certificate has to be for this name, issued, and in us-east-1 where CloudFront shows it."
        raise Failed(f"the certificate is not accepted: {error.verify_message}", hint) from error
    except OSError as error:
        raise Failed(f"no TLS connection: {type(error).__name__}", REACH) from error
    days = int((ssl.cert_time_to_seconds(str(certificate["notAfter"])) - time.time()) // 86_400)
    if days < ENOUGH_DAYS:
        hint = "ACM renews by itself while its DNS record stands: look at the certificate's domain validation."
        raise Failed(f"the certificate ends in {days} days", hint)
    return f"{version}, the certificate lasts {days} days"


def health(site: Site) -> str:
    answer = site.get("/health")
    told = answer.json
    if answer.status != 200 or told.get("status") != "ok":
        said = told.get("status") or _error(answer)
        raise Failed(f"/health answers {answer.status}: {said}", "See docs/runbooks/api-5xx.md.")
    return f"{told.get('documents')} documents, version {told.get('version')}"


def llms(site: Site) -> str:
    answer = site.get("/llms.txt")
    text = answer.body.decode("utf-8", "replace")
    if answer.status != 200 or not text.startswith("# "):
        raise Failed(f"/llms.txt answers {answer.status}", _SYNC)
    return text.splitlines()[0]


def search(site: Site) -> str:
    """The title of a document that is there finds something."""
    entries = site.get("/api/v1/entries", params={"limit": 1}).json.get("entries") or []
    if not entries:
        raise Failed("there are no documents yet", _SYNC)
    title = str(entries[0]["title"])
    answer = site.get("/api/v1/search", params={"q": title, "limit": 3})
    found = answer.json.get("results") or []
    if answer.status != 200 or not found:
        raise Failed(f"a search for a title that is there answers {answer.status} with {len(found)} results", _INDEX)
    return f"{len(found)} results for {title!r}"


def discover(site: Site) -> str:
    """Both eras of the protocol: one request that says what the server is, and the handshake of older clients."""
    modern = _result(site.rpc("server/discover"), "server/discover")
    client = {"name": "commonplace-smoke", "version": "1"}
    offer = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client}
    older = _result(site.rpc("initialize", offer), "initialize")
    if older.get("protocolVersion") != LEGACY:
        raise Failed(f"the handshake ends with version {older.get('protocolVersion')}", _MCP)
    versions = modern.get("supportedVersions") or []
    return f"{older['serverInfo']['name']}, also {', '.join(map(str, versions))}"


def listing(site: Site) -> str:
    """Tools are shown to who has not signed in, or no client would ever ask somebody to."""
    tools = _result(site.rpc("tools/list"), "tools/list").get("tools") or []
    if not tools:
        raise Failed("there are no tools", _MCP)
    site.tools = list(tools)
    return f"{len(tools)} tools"


def _result(answer: Answer, asked: str) -> dict[str, Any]:
    result = answer.json.get("result")
    if answer.status != 200 or not isinstance(result, dict):
        hint = _MCP
        if answer.status == 421:
            hint = "The function knows another public address: set domain or publicUrl to this one, and deploy."
        raise Failed(f"{asked} answers {answer.status}: {_error(answer)}", hint)
    return result


def _error(answer: Answer) -> str:
    error = answer.json.get("error")
    said = error.get("code") or error.get("message") if isinstance(error, dict) else error
    return str(said or answer.json.get("message") or "no reason is given")[:200]
