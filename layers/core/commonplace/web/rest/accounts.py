"""Who calls, for the few addresses that are not for everybody: the resource `{base}/api`, bearer tokens, challenges.

Who may have a search explained: an explanation names what is in the index, and costs several queries.
"""

from starlette.requests import Request

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import Forbidden, Unauthorized
from commonplace.kernel.operator_key import is_operators_key
from commonplace.web.challenges import SignIn
from commonplace.web.rest.services import Site, services


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


def check(request: Request, site: Site) -> None:
    """Raises Unauthorized or Forbidden unless this caller may. Where no key is configured, nobody has one."""
    if site.explain == "anyone":
        return
    if site.operator_key_hash is None:
        raise Forbidden(
            "Explanations are not open to anybody here.",
            hint="Operators make a key with `commonplace operators new-key` and deploy its hash as operatorKeyHash.",
        )
    key = _bearer(request)
    if key is None:
        hint = "Send the operators' key as `Authorization: Bearer KEY`."
        raise Unauthorized("Explanations are for operators.", hint=hint)
    if not is_operators_key(key, site.operator_key_hash):
        hint = "A key that was lost is replaced: `commonplace operators new-key`, then deploy its hash."
        raise Unauthorized("This is not the operators' key.", hint=hint)


def _bearer(request: Request) -> str | None:
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() or None if scheme.casefold() == "bearer" else None
