"""How an operation is authenticated: the kind of credential, where it goes, which scopes. Never a credential."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from commonplace_generators.openapi.documents import Document, Node
from commonplace_generators.openapi.texts import code, line

MAX_SCOPES = 10
MAX_ALTERNATIVES = 5
_KEY = "<api-key>"
_TOKENS = {"http": "a bearer token", "oauth2": "an OAuth 2.0 access token", "openIdConnect": "an OpenID Connect token"}


@dataclass(frozen=True, slots=True)
class Scheme:
    """One kind of credential. `value` is what stands in a request, with a placeholder."""

    said: str
    place: Literal["header", "query", "cookie", "basic", "certificate"]
    name: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class Need:
    """A scheme with the scopes that an operation asks for."""

    scheme: Scheme
    scopes: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        if not self.scopes:
            return self.scheme.said
        shown = ", ".join(code(one, 80) for one in self.scopes[:MAX_SCOPES])
        more = f" and {len(self.scopes) - MAX_SCOPES} more" if len(self.scopes) > MAX_SCOPES else ""
        return f"{self.scheme.said}, with {'scope' if len(self.scopes) == 1 else 'scopes'} {shown}{more}"


def needs(operation: Node, schemes: Mapping[str, Scheme]) -> list[list[Need]] | None:
    """Alternatives of what `security` says, of each all that it needs; None where nothing is said."""
    document = operation.document
    owner = operation if operation.has("security") else document.root
    if not owner.has("security"):
        return None
    if not isinstance(owner.get("security").value, list):
        document.tell("`security` is not a list.", severity="error")
        return None
    found = []
    for alternative in owner.elements("security")[:MAX_ALTERNATIVES]:
        given = alternative.value if isinstance(alternative.value, dict) else {}
        for name in sorted(given.keys() - schemes.keys()):
            document.tell(f"The security scheme “{line(name, 60)}” is not defined.")
        known = [name for name in sorted(given) if name in schemes]
        found.append([Need(schemes[name], tuple(alternative.texts(name))) for name in known])
    return found


def described(alternatives: list[list[Need]] | None) -> str | None:
    """One sentence; None where nothing is said."""
    if alternatives is None:
        return None
    if not any(alternatives):
        return "None needed."
    told = [" and ".join(one.said for one in needed) for needed in alternatives if needed]
    if any(not needed for needed in alternatives):
        told.append("none at all")
    said = "; or ".join(told)
    return line(f"{said[:1].upper()}{said[1:]}.", 1_000)


def known(document: Document) -> dict[str, Scheme]:
    """The schemes of a document, by name."""
    given = document.root.get("components").members("securitySchemes")
    return {name: _scheme(one) for name, one in given if isinstance(one.value, dict)}


def _scheme(node: Node) -> Scheme:
    kind, name, scheme = node.text("type"), line(node.text("name"), 80), line(node.text("scheme").lower(), 30)
    if kind == "apiKey" and node.text("in") in ("query", "cookie"):
        place: Literal["query", "cookie"] = "query" if node.text("in") == "query" else "cookie"
        return Scheme(f"an API key in the {place}{' parameter' * (place == 'query')} {code(name)}", place, name, _KEY)
    if kind == "apiKey":
        return Scheme(f"an API key in the header {code(name)}", "header", name, _KEY)
    if kind == "mutualTLS":
        return Scheme("a client certificate (mutual TLS)", "certificate")
    where = "in the header `Authorization`"
    if kind == "http" and scheme == "basic":
        return Scheme(f"user name and password (HTTP Basic) {where}", "basic")
    if kind == "http" and scheme != "bearer":
        said = f"HTTP {scheme} authentication {where}" if scheme else f"HTTP authentication {where}"
        return Scheme(said, "header", "Authorization", f"{scheme or 'HTTP'} <credential>")
    names = {"authorizationCode": "authorization code", "clientCredentials": "client credentials"}
    flows = [line(names.get(flow, flow), 40) for flow, _ in node.members("flows") if not flow.startswith("x-")]
    how = line(node.text("bearerFormat"), 40) or ", ".join(flows[:4])
    said = _TOKENS.get(kind, "a credential of a kind that the document does not explain")
    return Scheme(f"{said}{f' ({how})' if how else ''} {where}", "header", "Authorization", "Bearer <token>")
