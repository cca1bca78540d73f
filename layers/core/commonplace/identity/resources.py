"""Protected resources, the audiences of access tokens: the MCP paths and the API (RFC 8707, RFC 9728).

Each has a canonical URL. A token names exactly one of them as its audience, and none of the others accepts it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from commonplace.identity.principals import APART, IN_PERSON, baseline, levels, ordered, scope

METADATA_PATH = "/.well-known/oauth-protected-resource"

MAX_CHARACTERS = 2_048


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one deployment."""

    base_url: str
    """The issuer: scheme and host, no path, no slash at the end."""
    default: tuple[str, ...]
    """Toolsets at `/mcp`."""
    served: tuple[str, ...]
    """Every toolset there is; each has a path, and `/mcp/all` and `/api` have all but those that stand apart."""
    apart: frozenset[str] = APART

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("https", "http") or not parts.netloc or parts.path or parts.query or parts.fragment:
            raise ValueError("The base URL must be a scheme and a host, without a path and a slash at the end.")
        if not self.default or not set(self.default) <= set(self.served):
            raise ValueError("The toolsets of /mcp must be among those that are served.")
        if alone := set(self.default) & self.apart:
            raise ValueError(f"{', '.join(sorted(alone))} is served at its own path alone, and not at /mcp.")

    @property
    def mcp(self) -> str:
        """Return what a request that names no resource is taken to mean."""
        return f"{self.base_url}/mcp"

    @property
    def api(self) -> str:
        """REST writes and the console."""
        return f"{self.base_url}/api"

    def all(self) -> tuple[str, ...]:
        """Canonical, `/mcp` first."""
        return tuple(self.base_url + path for path in self._paths())

    def toolsets(self, resource: str) -> tuple[str, ...]:
        """Return the toolsets of a canonical resource, or of the origin. Raises KeyError for anything else."""
        if not resource.startswith(self.base_url):
            raise KeyError(resource)
        return self._paths()[resource.removeprefix(self.base_url) or "/mcp"]

    def canonical(self, text: str) -> str | None:
        """The resource that a parameter names, in the one spelling that tokens carry; None if it is not ours.

        Scheme and host are compared without regard to case, one slash at the end is tolerated, and the origin alone
        is another name of `/mcp`.
        """
        if len(text) > MAX_CHARACTERS or not text.isascii():
            return None
        length = len(self.base_url)
        origin, path = text[:length], text[length:]
        known = path.removesuffix("/") or "/mcp"
        return self.base_url + known if origin.lower() == self.base_url.lower() and known in self._paths() else None

    def baseline(self, resource: str) -> tuple[str, ...]:
        """The scopes to begin with: reading, of each toolset of the resource."""
        return baseline(self.toolsets(resource))

    def catalogue(self, resource: str) -> tuple[str, ...]:
        """Every scope that a token for the resource may carry."""
        return _scopes(self.toolsets(resource))

    def every_scope(self) -> tuple[str, ...]:
        """Return what the authorization server knows, whichever resource it is for."""
        return _scopes(self.served)

    def metadata_url(self, resource: str) -> str:
        """Where the resource says which authorization server it trusts: its path, inserted (RFC 9728, section 3.1)."""
        return self.base_url + METADATA_PATH + resource.removeprefix(self.base_url)

    def document(self, resource: str, *, name: str, documentation: str | None = None) -> dict[str, Any]:
        """The metadata of a resource (RFC 9728, section 2). Its scopes are the baseline: a copy of the whole
        catalogue would make every client ask for everything at its first sign-in."""
        found = {
            "resource": resource,
            "authorization_servers": [self.base_url],
            "scopes_supported": list(self.baseline(resource)),
            "bearer_methods_supported": ["header"],
            "resource_name": name,
        }
        return found | ({"resource_documentation": documentation} if documentation else {})

    def _paths(self) -> dict[str, tuple[str, ...]]:
        single: Sequence[tuple[str, tuple[str, ...]]] = [(f"/mcp/{name}", (name,)) for name in self.served]
        together = tuple(name for name in self.served if name not in self.apart)
        return {"/mcp": self.default, **dict(single), "/mcp/all": together, "/api": together}


def _scopes(toolsets: Sequence[str]) -> tuple[str, ...]:
    return ordered({scope(toolset, level) for toolset in toolsets for level in levels(toolset)} - IN_PERSON)
