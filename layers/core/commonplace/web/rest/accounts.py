"""Who calls, for the few addresses that are not for everybody: the resource `{base}/api`, bearer tokens, challenges."""

from starlette.requests import Request

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import Forbidden
from commonplace.web.challenges import SignIn
from commonplace.web.rest.services import services


async def account(request: Request) -> Principal:
    """A dependency: somebody who has signed in, and does not ask too often with all tokens of the account together.

    Raises SignIn, NotValid, RateLimited, Unavailable, or Forbidden where nobody can sign in.
    """
    using = services(request)
    accounts = using.accounts
    if accounts is None:
        raise Forbidden("Nobody can sign in to this deployment.", hint="Everything else here is public.")
    principal = accounts.identify(request)
    if principal.anonymous:
        raise SignIn(accounts.challenges.sign_in(accounts.resource))
    using.limits.spend_account(request.scope, principal)
    return principal


PRIVATE = {"cache-control": "private, no-store", "vary": "Authorization"}
"""Of an answer that depends on who asks, refusals included."""
