"""Dynamic client registration (RFC 7591)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from commonplace.identity.records import Client
from commonplace.identity.resources import Resources
from commonplace.identity.stores import ClientStore
from commonplace.limits.quota import Limiter

MAX_BODY_BYTES = 16 * 1024

Policy = Callable[[Client], None]
"""Refuses a registration by raising OAuthError; whatever else it raises is `server_error`. Nothing is stored then."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A client, and its secret if it has one: told once, stored hashed."""

    client: Client
    secret: str | None
    answer: dict[str, Any]
    """The body of the 201 answer: every value that was actually registered."""


class Registering:
    """Registers clients that introduce themselves."""

    def __init__(
        self,
        store: ClientStore,
        limiter: Limiter,
        resources: Resources,
        clock: Callable[[], float],
        *,
        per_day: int = 20,
        policy: Policy | None = None,
    ) -> None:
        """`clock` gives epoch seconds; `per_day` is how many registrations one network may make, 0 any number."""

    def register(self, body: bytes, network: str = "") -> Registered:
        """Raises OAuthError (400, 413, 500), RateLimited, Unavailable. `network` as in `limits.quota.network`."""
        raise NotImplementedError
