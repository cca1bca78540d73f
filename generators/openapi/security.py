"""How an operation is authenticated: the kind of credential, where it goes, which scopes. Never a credential."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from generators.openapi.operation_reader import Reader, listed, mappings
from generators.openapi.texts import code, line

Place = Literal["header", "query", "cookie", "basic", "certificate"]

MAX_SCOPES = 10
MAX_ALTERNATIVES = 5


@dataclass(frozen=True, slots=True)
class Scheme:
    """One kind of credential. `value` is what stands in a request, with a placeholder."""

    said: str
    place: Place
    name: str = ""
    value: str = ""
    scoped: bool = False


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
        word = "scope" if len(self.scopes) == 1 else "scopes"
        return f"{self.scheme.said}, with {word} {shown}{more}"


def needs(given: Any, schemes: Mapping[str, Scheme], reader: Reader) -> list[list[Need]] | None:
    """Alternatives of what `security` says, of each all that it needs; None where nothing is said."""
    if given is None:
        return None
    if not isinstance(given, list):
        reader.tell("`security` is no list.")
        return None
    return [_alternative(one, schemes, reader) for one in given[:MAX_ALTERNATIVES] if isinstance(one, dict)]


def _alternative(given: Mapping[str, Any], schemes: Mapping[str, Scheme], reader: Reader) -> list[Need]:
    found = []
    for name, scopes in mappings(given):
        if name in schemes:
            found.append(Need(schemes[name], tuple(one for one in listed(scopes) if isinstance(one, str))))
        else:
            reader.tell(f"The security scheme “{name[:60]}” is not defined.")
    return found


def described(alternatives: list[list[Need]] | None) -> str:
    """One sentence; empty where nothing is said."""
    if alternatives is None:
        return ""
    if not any(alternatives):
        return "none needed"
    told = [" and ".join(one.said for one in needed) for needed in alternatives if needed]
    if any(not needed for needed in alternatives):
        told.append("none at all")
    return "; or ".join(told)


def known(root: Mapping[str, Any], reader: Reader) -> dict[str, Scheme]:
    """The schemes of a document, by name."""
    components = root.get("components")
    given = components.get("securitySchemes") if isinstance(components, dict) else None
    found: dict[str, Scheme] = {}
    for name, one in mappings(given):
        value = reader.follow(one).value
        if isinstance(value, dict):
            found[name] = _scheme(value)
    return found


def _scheme(given: Mapping[str, Any]) -> Scheme:
    kind, name = given.get("type"), line(given.get("name"), 80)
    if kind == "apiKey":
        return _key(name, given.get("in"))
    if kind == "http":
        return _http(str(given.get("scheme", "")).lower(), line(given.get("bearerFormat"), 40))
    if kind == "mutualTLS":
        return Scheme("a client certificate (mutual TLS)", "certificate")
    if kind in ("oauth2", "openIdConnect"):
        said = "an OAuth 2.0 access token" if kind == "oauth2" else "an OpenID Connect token"
        return _bearer(f"{said}{_flows(given.get('flows'))}")
    return _bearer("a credential of a kind that the document does not explain")


def _key(name: str, place: object) -> Scheme:
    value = "<api-key>"
    if place == "query":
        return Scheme(f"an API key in the query parameter {code(name)}", "query", name, value)
    if place == "cookie":
        return Scheme(f"a key in the cookie {code(name)}", "cookie", name, value)
    return Scheme(f"an API key in the header {code(name)}", "header", name, value)


def _http(scheme: str, form: str) -> Scheme:
    if scheme == "basic":
        return Scheme("user name and password (HTTP Basic) in the header `Authorization`", "basic")
    if scheme == "bearer":
        return _bearer(f"a bearer token{f' ({form})' if form else ''}")
    told = line(scheme, 30) or "HTTP"
    return Scheme(
        f"HTTP {told} authentication in the header `Authorization`", "header", "Authorization", f"{told} <credential>"
    )


def _bearer(said: str) -> Scheme:
    return Scheme(f"{said} in the header `Authorization`", "header", "Authorization", "Bearer <token>")


def _flows(given: object) -> str:
    names = {"authorizationCode": "authorization code", "clientCredentials": "client credentials"}
    told = [names.get(name, name) for name, _ in mappings(given) if not name.startswith("x-")]
    return f" ({', '.join(line(one, 40) for one in told[:4])})" if told else ""
