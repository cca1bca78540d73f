"""A person's answer to a client's request: once, in the browser that was asked, for no more than was asked."""

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from commonplace.audit.records import NOWHERE
from commonplace.errors import Forbidden
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.authorizing import Asked, FindsClients
from commonplace.identity.records import ABSOLUTE_SECONDS, AuthorizationRequest, Pending
from commonplace.identity.stores import GrantStore, SignInStore
from commonplace.limits.quota import Allowance, Quota


class Limits(Protocol):
    """`limits.quota.Limiter`."""

    def take(self, quota: Quota, client: str) -> Allowance | None: ...


class RequestGone(Forbidden):
    """The handle is wrong, used or over, or it belongs to another browser, page or account."""


class Begun(NamedTuple):
    """What the page gets. `handle` and `csrf` go into the form, `cookie` into the browser's cookie of this request."""

    handle: str
    cookie: str
    csrf: str


class Consents:
    """Requests that wait for a person, and what follows from the answer."""

    def __init__(
        self,
        *,
        store: SignInStore,
        grants: GrantStore,
        clients: FindsClients,
        key: Callable[[], bytes],
        issuer: str,
        clock: Callable[[], float],
        limits: Limits | None = None,
        sessions_per_hour: int = 5,
        absolute_seconds: int = ABSOLUTE_SECONDS,
        organisation: str = NOWHERE,
    ) -> None:
        """`key` is that of pseudonyms; `organisation` is where records go of accounts that have none."""

    def begin(self, request: AuthorizationRequest) -> Begun:
        """Keeps the request for ten minutes. Raises Unavailable."""
        raise NotImplementedError

    def look(self, handle: str, cookie: str) -> Pending | None:
        """The request as it was checked; None for a wrong or used handle, another browser, or after ten minutes."""
        raise NotImplementedError

    @staticmethod
    def offered(request: AuthorizationRequest, standing: Standing) -> tuple[str, ...]:
        """The scopes to ask the person for: those requested, no higher than the account's roles give."""
        raise NotImplementedError

    def decide(
        self,
        handle: str,
        cookie: str,
        csrf: str,
        *,
        profile: Profile | None,
        standing: Standing | None,
        allowed: Iterable[str] | None,
        resource_scopes: Iterable[str] | None = None,
        network: str = "",
        account: str | None = None,
        remember: bool = True,
    ) -> str:
        """Where the browser goes: back to the client with a code, or with `access_denied` when `allowed` is None.

        `allowed` are the scopes that the person left ticked, `resource_scopes` the kinds of things (None is all);
        `account` is the subject that the page showed. Who declines need not have signed in. Raises RequestGone for a
        handle, cookie, csrf or account that does not fit, RateLimited for too many new grants, Unavailable.
        """
        raise NotImplementedError

    def recalled(self, asked: Asked, profile: Profile, standing: Standing, network: str = "") -> str | None:
        """As `decide` for a consent that is remembered and covers all of this request; None: ask the person.

        Raises RateLimited, Unavailable.
        """
        raise NotImplementedError
