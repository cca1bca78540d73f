"""The checks of `commonplace smoke`, in the order in which a client needs what they check.

First what everybody may do (reach it, read, search, list tools), then what sign-in rests on: challenges, metadata,
keys, refusals, and that nothing bypasses the front door.
"""

import re
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from commonplace.web.origin import ORIGIN_HEADER, VIEWER_HEADER
from commonplace_local.cli.smoke.site import LEGACY, REACH, Answer, Check, Failed, Site, Skipped

ENOUGH_DAYS = 14
"""A certificate that ends sooner was not renewed."""

_SYNC = "Start a run: commonplace sync run, and look at: commonplace sync status"
_INDEX = "Look at the dead-letter queue of the index, docs/operate/runbooks/dlq-not-empty.md"
_MCP = "Look at the log of the mcp function, docs/operate/runbooks/mcp-failures.md"

RENAMED = "x-amzn-remapped-www-authenticate"
WELL_KNOWN = "/.well-known"

_CHALLENGE = re.compile(r'Bearer (?:[a-z_]+="[^"\\]*")(?:, [a-z_]+="[^"\\]*")*')
_PART = re.compile(r'([a-z_]+)="([^"\\]*)"')
_SCOPES = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")
_ADDRESS = "Set domain or publicUrl to the address that clients use, and deploy: the issuer is made of it."
_AUTH = "Look at the log of the auth function."
_GUARD = "The guard of the mcp function has no identity: look at its environment and its log."


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
        hint = "ACM renews it while its DNS record exists: check the certificate's domain validation."
        raise Failed(f"the certificate ends in {days} days", hint)
    return f"{version}, the certificate lasts {days} days"


def health(site: Site) -> str:
    answer = site.get("/health")
    told = answer.json
    if answer.status != 200 or told.get("status") != "ok":
        said = told.get("status") or _error(answer)
        raise Failed(f"/health answers {answer.status}: {said}", "See docs/operate/runbooks/api-5xx.md.")
    if "documents" not in told:
        return "ok; details are for members"
    return f"{told['documents']} documents, version {told.get('version')}"


def llms(site: Site) -> str:
    answer = site.get("/llms.txt")
    if site.private:
        return _closed(answer, "/llms.txt")
    text = answer.body.decode("utf-8", "replace")
    if answer.status != 200 or not text.startswith("# "):
        raise Failed(f"/llms.txt answers {answer.status}", _SYNC)
    return text.splitlines()[0]


def home(site: Site) -> str:
    """People find a page at the root, and no script from elsewhere could run there."""
    answer = site.get("/", headers={"accept": "text/html"})
    if answer.status == 303 and urlsplit(answer.headers.get("location", "")).path == "/account":
        site.private = True
        return "for members: leads to the sign-in"
    title = re.search(r"<title>([^<]+)</title>", answer.body.decode("utf-8", "replace"))
    if answer.status != 200 or not title:
        raise Failed(f"/ answers {answer.status}", "Look at the log of the site function.")
    if "default-src 'none'" not in answer.headers.get("content-security-policy", ""):
        hint = "A proxy removes headers."
        raise Failed("/ lacks its Content-Security-Policy", hint)
    return title[1].strip()


def search(site: Site) -> str:
    """The title of a document that is there finds something."""
    if site.private:
        return _closed(site.get("/api/v1/search", params={"q": "a"}), "a search")
    entries = site.get("/api/v1/entries", params={"limit": 1}).json.get("entries") or []
    if not entries:
        raise Failed("there are no documents yet", _SYNC)
    title = str(entries[0]["title"])
    answer = site.get("/api/v1/search", params={"q": title, "limit": 3})
    found = answer.json.get("results") or []
    if answer.status != 200 or not found:
        raise Failed(f"a search for a title that is there answers {answer.status} with {len(found)} results", _INDEX)
    return f"{len(found)} results for {title!r}"


def citation(site: Site) -> str:
    """What answers give as the page of a document is a page, where it is on this site."""
    if site.private:
        raise Skipped("for members")
    entries = site.get("/api/v1/entries", params={"limit": 1}).json.get("entries") or []
    if not entries:
        raise Skipped("there are no documents yet")
    address = str(entries[0]["documentUrl"])
    if not address.startswith((f"{site.base}/", "/")):
        raise Skipped(f"people read documents elsewhere: {address}")
    answer = site.get(address)
    if answer.status != 200 or "text/html" not in answer.headers.get("content-type", ""):
        raise Failed(
            f"{address.removeprefix(site.base)} answers {answer.status}", "Look at the log of the site function."
        )
    return address.removeprefix(site.base)


def discover(site: Site) -> str:
    """Both eras of the protocol: one request that says what the server is, and the handshake of older clients."""
    if site.private:
        return _closed(site.rpc("server/discover"), "server/discover")
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
    if site.private:
        return _closed(site.rpc("tools/list"), "tools/list")
    tools = _result(site.rpc("tools/list"), "tools/list").get("tools") or []
    if not tools:
        raise Failed("there are no tools", _MCP)
    site.tools = list(tools)
    return f"{len(tools)} tools"


def _closed(answer: Answer, asked: str) -> str:
    """Of a deployment for members: strangers are refused."""
    if answer.status != 401:
        hint = (
            "siteTier has to reach every function: deploy again, and look at SITE_TIER of the rest and mcp functions."
        )
        raise Failed(f"{asked} answers {answer.status} without a token, and the site is for members", hint)
    return "for members: 401"


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


def challenge(site: Site) -> str:
    """A tool for members answers who has not signed in with 401 and the very header that directs clients."""
    if site.private:
        return _challenged(site, site.rpc("tools/list"), "tools/list")
    if not site.tools:
        raise Skipped("needs the list of tools")
    written = [tool for tool in site.tools if (tool.get("annotations") or {}).get("readOnlyHint") is False]
    if not written:
        raise Skipped("this deployment has no tool that writes (mcpReadOnly)")
    name = str(written[0]["name"])
    return _challenged(site, site.rpc("tools/call", {"name": name, "arguments": {}}), name)


def _challenged(site: Site, answer: Answer, name: str) -> str:
    if answer.status != 401:
        raise Failed(f"{name} answers {answer.status} without a token, not 401", _GUARD)
    found = _parts(answer, name)
    if "error" in found:
        raise Failed("the challenge names an error, though no token came", _GUARD)
    expected = f"{site.base}{WELL_KNOWN}/oauth-protected-resource/mcp"
    if found.get("resource_metadata") != expected:
        raise Failed(f"the challenge leads to {found.get('resource_metadata')}, not to {expected}", _ADDRESS)
    if not _SCOPES.fullmatch(found.get("scope", "")):
        raise Failed("the challenge names no scope", _GUARD)
    site.challenge = found
    return f"{name}: 401, scope {found['scope']!r}"


def bad_token(site: Site) -> str:
    answer = site.rpc("tools/list", authorization="Bearer smoke.smoke.smoke")
    if answer.status != 401:
        raise Failed(f"an invalid token answers {answer.status}, not 401", _GUARD)
    if _parts(answer, "an invalid token").get("error") != "invalid_token":
        raise Failed("the challenge does not say invalid_token", _GUARD)
    return "401, invalid_token"


def resource(site: Site) -> str:
    """What the challenge leads to is about this very resource, and names this very server."""
    url = site.challenge.get("resource_metadata") or f"{site.base}{WELL_KNOWN}/oauth-protected-resource/mcp"
    document = _document(site, url)
    if document.get("resource") != site.resource:
        raise Failed(f"it is about {document.get('resource')}, not {site.resource}", _ADDRESS)
    if document.get("authorization_servers") != [site.base]:
        raise Failed(f"it names {document.get('authorization_servers')}, not {site.base}", _ADDRESS)
    root = _document(site, f"{site.base}{WELL_KNOWN}/oauth-protected-resource")
    if root != document | {"resource": site.base}:
        raise Failed("the document at the root is not that of /mcp", _AUTH)
    return str(document["resource"])


def server(site: Site) -> str:
    """About this very issuer, with every address in it under that."""
    document = _document(site, f"{site.base}{WELL_KNOWN}/oauth-authorization-server")
    if document.get("issuer") != site.base:
        raise Failed(f"the issuer is {document.get('issuer')}, not {site.base}", _ADDRESS)
    endpoints = {name: str(document.get(f"{name}_endpoint", "")) for name in ("authorization", "token", "registration")}
    for name, url in {**endpoints, "jwks": str(document.get("jwks_uri", ""))}.items():
        if not url.startswith(f"{site.base}/"):
            raise Failed(f"the {name} address is {url or 'missing'}", _ADDRESS)
    if document.get("code_challenge_methods_supported") != ["S256"]:
        raise Failed("it does not offer PKCE with S256 alone: clients refuse to go on", _AUTH)
    return f"issuer {document['issuer']}"


def keys(site: Site) -> str:
    """There is a public key, and nothing private beside it."""
    document = _document(site, f"{site.base}{WELL_KNOWN}/jwks.json")
    found = [key for key in document.get("keys") or [] if key.get("kty") and key.get("kid")]
    if not found:
        hint = "The first rotation makes one: start it with aws secretsmanager rotate-secret (output SigningSecretArn)."
        raise Failed("there is no key to check tokens with", hint)
    if any(private in key for key in found for private in ("d", "p", "q", "k")):
        raise Failed("a private key is published", "Take the deployment down, and rotate the signing keys.")
    return f"{len(found)} keys"


def authorize(site: Site) -> str:
    """A request of nobody known ends on a page of ours; sent back it would make us an open redirector."""
    sent_to = "https://attacker.example/callback"
    asked = {"response_type": "code", "client_id": "nobody", "redirect_uri": sent_to, "state": "smoke"}
    answer = site.get("/authorize", params=asked)
    if "location" in answer.headers or answer.status // 100 == 3:
        raise Failed("an unknown client is redirected", "Take this deployment down.")
    if answer.status != 400 or not answer.headers.get("content-type", "").startswith("text/html"):
        raise Failed(f"/authorize answers garbage with {answer.status}, not with a page and 400", _AUTH)
    if "attacker.example" in answer.body.decode("utf-8", "replace").lower():
        raise Failed("the page repeats the address that it was given", _AUTH)
    return "400, a page"


def token(site: Site) -> str:
    answer = site.ask(
        "POST", "/token", data={"grant_type": "authorization_code", "code": "smoke", "client_id": "nobody"}
    )
    if answer.status not in (400, 401) or not isinstance(answer.json.get("error"), str):
        raise Failed(f"/token answers an invalid code with {answer.status}", _AUTH)
    if "no-store" not in answer.headers.get("cache-control", ""):
        raise Failed("answers of /token may be cached", _AUTH)
    return f"{answer.status}, {answer.json['error']}"


def headers(site: Site) -> str:
    """Pages that people sign in on let nothing in and cannot be framed; everything is taken for what it says it is."""
    page = site.get("/authorize").headers
    policy = page.get("content-security-policy", "")
    lacking = [name for name in ("default-src 'none'", "frame-ancestors 'none'") if name not in policy]
    if lacking:
        raise Failed(f"the policy of /authorize lacks {', '.join(lacking)}", _AUTH)
    if page.get("referrer-policy") != "no-referrer":
        raise Failed("/authorize lacks Referrer-Policy: no-referrer", "A policy at the edge must not override ours.")
    plain = site.get("/health").headers
    if "nosniff" not in plain.get("x-content-type-options", ""):
        raise Failed("/health lacks x-content-type-options", "Look at the security headers of the distribution.")
    if site.secure and "x-amz-cf-id" in plain and "strict-transport-security" not in plain:
        raise Failed("Strict-Transport-Security is missing", "Set hstsDays, and deploy the edge stack.")
    return "policy, referrer, types" + (", hsts" if "strict-transport-security" in plain else "")


def origin(site: Site) -> str:
    """The API itself refuses everybody, also who says to be the front door."""
    if not site.origin:
        raise Skipped("no --origin was given")
    if urlsplit(site.origin).netloc == urlsplit(site.base).netloc:
        raise Skipped("--origin is the public address itself")
    forged = {ORIGIN_HEADER: "smoke", VIEWER_HEADER: "192.0.2.1"}
    for path, sent in (("/health", {}), ("/llms.txt", forged), ("/mcp", forged)):
        answer = site.get(f"{site.origin}{path}", headers=sent)
        if answer.status not in (403, 404):
            hint = "Set edge and originLock, and domain or publicUrl; deploy both stacks. See docs/operate/deploy.md."
            raise Failed(f"{path} of the API answers {answer.status} without the distribution", hint)
    return "refused"


def _parts(answer: Answer, asked: str) -> Mapping[str, str]:
    """What a challenge says. Raises Failed when it is missing, renamed, or not one challenge."""
    text = answer.headers.get("www-authenticate")
    if text is None and RENAMED in answer.headers:
        hint = "API Gateway has renamed it. Set edge and restoreChallenge to true: clients cannot sign in without it."
        raise Failed(f"{asked}: the challenge came as {RENAMED}", hint)
    if text is None:
        raise Failed(f"{asked}: 401 without WWW-Authenticate", "A proxy removes it.")
    if not _CHALLENGE.fullmatch(text):
        raise Failed(f"{asked}: the challenge is malformed", _GUARD)
    return dict(_PART.findall(text))


def _document(site: Site, url: str) -> dict[str, Any]:
    answer = site.get(url)
    if answer.status != 200 or not answer.json:
        raise Failed(f"{url.removeprefix(site.base)} answers {answer.status}", _AUTH)
    if answer.headers.get("access-control-allow-origin") != "*":
        raise Failed(f"{url.removeprefix(site.base)} does not allow clients in browsers (CORS)", _AUTH)
    return answer.json


CHECKS: Sequence[tuple[str, Check]] = (
    ("tls", tls),
    ("health", health),
    ("site", home),
    ("llms.txt", llms),
    ("search", search),
    ("citation", citation),
    ("mcp", discover),
    ("tools", listing),
    ("challenge", challenge),
    ("bad token", bad_token),
    ("resource", resource),
    ("server", server),
    ("keys", keys),
    ("authorize", authorize),
    ("token", token),
    ("headers", headers),
    ("origin", origin),
)
