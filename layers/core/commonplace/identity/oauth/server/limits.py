"""How often the endpoints may be asked: by one network, and by one client."""

import json

from starlette.requests import Request

from commonplace.identity.oauth.server.services import OAuthServices
from commonplace.identity.records import Client
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.limits import Quota, network

SHARED_FACTOR = 5
"""So many clients' worth of requests may come from one network: a household, an office, a hosted client."""


def network_of(request: Request) -> str:
    """Who asks, as far as can be told without a credential: the gateway's word, never a header of the caller's."""
    return network((request.client.host if request.client else "") or "unknown")


def spend_network(services: OAuthServices, request: Request, endpoint: str) -> None:
    """Counts a request before anything of it is read. Raises RateLimited."""
    calls = services.settings.requests_per_minute * SHARED_FACTOR
    _spend(services, Quota(f"auth-{endpoint}-network", calls), network_of(request))


def spend_client(services: OAuthServices, request: Request, endpoint: str, client: Client) -> None:
    """Counts a request of a client that is known now. Raises RateLimited.

    A public client is what many people have installed: those of one network are counted together, no others.
    """
    who = [client.id] if client.confidential else [client.id, network_of(request)]
    _spend(services, Quota(f"auth-{endpoint}", services.settings.requests_per_minute), json.dumps(who))


def _spend(services: OAuthServices, quota: Quota, client: str) -> None:
    allowance = services.limiter.take(quota, client)
    if allowance is not None and not allowance.allowed:
        raise RateLimited(
            f"More than {quota.calls} requests in {quota.window_seconds} seconds.",
            retry_after_seconds=allowance.reset_seconds,
            hint="Wait as long as Retry-After says.",
        )
