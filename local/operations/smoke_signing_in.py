"""Checks of what signing in rests on: challenges, metadata, keys, refusals, and the way round the front door."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from commonplace.web.origin import ORIGIN_HEADER, VIEWER_HEADER
from local.operations.smoke import Answer, Failed, Site, Skipped

RENAMED = "x-amzn-remapped-www-authenticate"
WELL_KNOWN = "/.well-known"

_CHALLENGE = re.compile(r'Bearer (?:[a-z_]+="[^"\\]*")(?:, [a-z_]+="[^"\\]*")*')
_PART = re.compile(r'([a-z_]+)="([^"\\]*)"')
_SCOPES = re.compile(r"[!#-\[\]-~]+(?: [!#-\[\]-~]+)*")
_ADDRESS = "Set domain or publicUrl to the address that clients use, and deploy: the issuer is made of it."
_AUTH = "Look at the log of the auth function."
_GUARD = "The guard of the mcp function has no identity: look at its environment and its log."


def challenge(site: Site) -> str:
    """A tool for members answers who has not signed in with 401 and the very header that tells clients where to go."""
    if not site.tools:
        raise Skipped("needs the list of tools")
    written = [tool for tool in site.tools if (tool.get("annotations") or {}).get("readOnlyHint") is False]
    if not written:
        raise Skipped("this deployment has no tool that writes (mcpReadOnly)")
    name = str(written[0]["name"])
    answer = site.rpc("tools/call", {"name": name, "arguments": {}})
    if answer.status != 401:
        raise Failed(f"{name} answers {answer.status} to who has not signed in, not 401", _GUARD)
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
        raise Failed(f"a token that is none answers {answer.status}, not 401", _GUARD)
    if _parts(answer, "a token that is none").get("error") != "invalid_token":
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
        raise Failed("the document at the root is not that of /mcp, told of the origin", _AUTH)
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
        raise Failed("a client that nobody knows is sent elsewhere", "Do not go on with this deployment.")
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
        raise Failed(f"/token answers a code that is none with {answer.status}", _AUTH)
    if "no-store" not in answer.headers.get("cache-control", ""):
        raise Failed("/token may be kept by whoever is in between", _AUTH)
    return f"{answer.status}, {answer.json['error']}"


def headers(site: Site) -> str:
    """Pages that people sign in on let nothing in and cannot be framed; everything is taken for what it says it is."""
    page = site.get("/authorize").headers
    policy = page.get("content-security-policy", "")
    lacking = [name for name in ("default-src 'none'", "frame-ancestors 'none'") if name not in policy]
    if lacking:
        raise Failed(f"the policy of /authorize lacks {', '.join(lacking)}", _AUTH)
    if page.get("referrer-policy") != "no-referrer":
        raise Failed("/authorize would tell other sites its address", "A policy at the edge must not override ours.")
    plain = site.get("/health").headers
    if "nosniff" not in plain.get("x-content-type-options", ""):
        raise Failed("/health lacks x-content-type-options", "Look at the security headers of the distribution.")
    if site.secure and "x-amz-cf-id" in plain and "strict-transport-security" not in plain:
        raise Failed("browsers are not told to come by https alone", "Set hstsDays, and deploy the edge stack.")
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
            hint = "Set edge and originLock, and domain or publicUrl; deploy both stacks. See docs/deploy.md."
            raise Failed(f"{path} of the API answers {answer.status} past the front door", hint)
    return "refused"


def _parts(answer: Answer, asked: str) -> Mapping[str, str]:
    """What a challenge says. Raises Failed when it is missing, renamed, or not one challenge."""
    text = answer.headers.get("www-authenticate")
    if text is None and RENAMED in answer.headers:
        hint = "API Gateway has renamed it. Set edge and restoreChallenge to true: clients cannot sign in without it."
        raise Failed(f"{asked}: the challenge came as {RENAMED}", hint)
    if text is None:
        raise Failed(f"{asked}: 401 without WWW-Authenticate", "Something between the function and here removes it.")
    if not _CHALLENGE.fullmatch(text):
        raise Failed(f"{asked}: the challenge is malformed", _GUARD)
    return dict(_PART.findall(text))


def _document(site: Site, url: str) -> dict[str, Any]:
    answer = site.get(url)
    if answer.status != 200 or not answer.json:
        raise Failed(f"{url.removeprefix(site.base)} answers {answer.status}", _AUTH)
    if answer.headers.get("access-control-allow-origin") != "*":
        raise Failed(f"{url.removeprefix(site.base)} is closed to clients in browsers", _AUTH)
    return answer.json
