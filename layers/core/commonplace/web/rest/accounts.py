"""Who calls, for the few addresses that are not for everybody: the resource `{base}/api`, bearer tokens, challenges."""

from dataclasses import dataclass

from starlette.requests import Request

from commonplace.identity.principals import Principal, Principals
from commonplace.kernel.errors import Forbidden, Unauthorized
from commonplace.web.challenges import Challenges, NotValid, SignIn
from commonplace.web.rest.services import services


@dataclass(frozen=True, slots=True)
class Accounts:
    """How this deployment knows people."""

    principals: Principals
    challenges: Challenges
    resource: str
    """The canonical URL that tokens for this API name as their audience."""

    def identify(self, request: Request) -> Principal:
        """Raises NotValid, and Unavailable when that cannot be judged now."""
        # Headers by lower-case name; several of one name are joined, which makes two tokens none.
        headers: dict[str, str] = {}
        for name, value in request.headers.items():
            headers[name] = f"{headers[name]},{value}" if name in headers else value
        try:
            principal = self.principals.identify(headers, self.resource)
        except Unauthorized as bad:
            raise NotValid(bad, self.challenges.invalid_token(self.resource)) from None
        # The gateway's source address; headers such as X-Forwarded-For are the caller's own words.
        self.principals.used(principal, request.client.host if request.client else "unknown")
        return principal


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
