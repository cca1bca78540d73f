"""What a client asks for at /authorize, in the order of checks that decides who may be told of an error.

Until client and redirect URI are known to belong together, an error is a page of ours; afterwards it goes to the
client, with `iss` and `state` (RFC 6749, section 4.1.2.1; RFC 9207; RFC 9700, section 4.11).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from commonplace.identity.records import AuthorizationRequest, Client


class LocalRefusal(Exception):
    """Shown to the person as a page of ours with status 400; never a redirect."""

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason


class Redirected(Exception):
    """An error that the client hears of: the browser goes to `url`."""

    def __init__(self, url: str, *, code: str) -> None:
        super().__init__(code)
        self.url = url
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that was understood."""

    client: Client
    request: AuthorizationRequest
    prompts: frozenset[str] = frozenset()
    """Words of `prompt`: `consent` asks again although an answer is remembered, `login` wants a new sign-in."""


class FindsClients(Protocol):
    """`identity.clients.Clients`."""

    def find(self, client_id: str) -> Client:
        """Raises `identity.clients.UnknownClient`, Unavailable."""
        ...


class KnowsResources(Protocol):
    """`identity.resources.Resources`."""

    def canonical(self, text: str) -> str | None: ...

    def baseline(self, resource: str) -> tuple[str, ...]: ...

    def catalogue(self, resource: str) -> tuple[str, ...]: ...


def read_query(query: bytes) -> list[tuple[str, str]]:
    """Names and values of a query string, bytes that are no UTF-8 kept (surrogateescape), for `understand`.

    Raises LocalRefusal when there are too many.
    """
    raise NotImplementedError


def understand(
    params: Sequence[tuple[str, str]], clients: FindsClients, resources: KnowsResources, *, issuer: str
) -> Asked:
    """Raises LocalRefusal, Redirected, Unavailable."""
    raise NotImplementedError


def answer_url(redirect_uri: str, *, issuer: str, state: str | None, **values: str) -> str:
    """The redirect URI with its own query kept, and `values`, `state` (if there is one) and `iss` added."""
    raise NotImplementedError
