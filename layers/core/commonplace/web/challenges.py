"""`WWW-Authenticate` challenges: which scopes to request, and where the metadata is (RFC 6750, section 3; RFC 9728).

Every value comes from the deployment's configuration and the code's declarations, none from a request: such a text is
quoted, logged and followed by clients.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from starlette.requests import Request

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import Principal, Principals, ordered, without_offline_access
from commonplace.identity.resources import Resources
from commonplace.kernel.errors import Forbidden, Unauthorized, Unavailable
from commonplace.web.middleware import client_address, header_map


class SignIn(Unauthorized):
    """Somebody unknown calls for what is not open to everybody; `page` is where a person reads it all the same."""

    def __init__(self, challenge: str, page: str | None = None) -> None:
        elsewhere = f" Anybody can read it at {page} in a browser." if page else ""
        super().__init__("Sign-in is required.", hint=f"Sign in, and try again.{elsewhere}")
        self.challenge = challenge


class Consent(Forbidden):
    """Another consent of the same account would do."""

    def __init__(self, need: Need, challenge: str) -> None:
        super().__init__(f"This requires the scope {need.scope}.", hint="Ask for it, and come again.")
        self.challenge = challenge


class NotValid(Unauthorized):
    """A token came that is not good here."""

    def __init__(self, error: Unauthorized, challenge: str) -> None:
        super().__init__(error.message, hint=error.hint)
        self.challenge = challenge


class Challenges:
    """The challenges of one deployment."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def admit(self, verdict: Verdict, need: Need, resource: str) -> None:
        """Raises what the client itself can mend, SignIn or Consent; whatever else stands in the way is not raised.

        A challenge for a token that lacks scopes names every one that the operation takes, so one consent is enough.
        """
        if verdict is Verdict.SIGN_IN:
            raise SignIn(self.sign_in(resource, [need.scope]))
        if verdict is Verdict.CONSENT:
            raise Consent(need, self._challenge(resource, "insufficient_scope", [need.scope]))

    def sign_in(self, resource: str, scopes: Iterable[str] = ()) -> str:
        """Return a challenge that names no error, for no token came (RFC 6750, section 3.1)."""
        return self._challenge(resource, None, [*self._resources.baseline(resource), *scopes])

    def invalid_token(self, resource: str) -> str:
        """Return the challenge for a token that is not good here, for whichever reason."""
        return self._challenge(resource, "invalid_token", self._resources.baseline(resource))

    def _challenge(self, resource: str, error: str | None, scopes: Iterable[str]) -> str:
        wanted = " ".join(without_offline_access(ordered(scopes)))
        parts = {"error": error, "scope": wanted, "resource_metadata": self._resources.metadata_url(resource)}
        return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


@dataclass(frozen=True, slots=True)
class Accounts:
    """Authentication of people at this deployment."""

    principals: Principals
    challenges: Challenges
    resource: str
    """The canonical URL that tokens for this API name as their audience."""

    def identify(self, request: Request) -> Principal:
        """Raises NotValid, and Unavailable when that cannot be judged now."""
        try:
            principal = self.principals.identify(header_map(request.scope), self.resource)
        except Unauthorized as bad:
            raise NotValid(bad, self.challenges.invalid_token(self.resource)) from None
        self.principals.used(principal, client_address(request.scope))
        return principal

    def permit(self, principal: Principal, need: Need) -> None:
        """Raises SignIn, Consent, Forbidden or Unavailable unless the account may do what takes this."""
        verdict = judge(principal, need)
        self.challenges.admit(verdict, need, self.resource)
        match verdict:
            case Verdict.ALLOWED:
                return
            case Verdict.UNCERTAIN:
                raise Unavailable("The roles of your account cannot be read just now.", retry_after_seconds=30)
            case Verdict.KIND:
                raise Forbidden("This is beyond the kinds of things that your token reaches.")
            case Verdict.TIER:
                raise Forbidden(f"This is for accounts of the tier {need.tier}.", hint="Ask for a role that gives it.")
        raise Forbidden(f"This requires the scope {need.scope}.", hint="Ask for a token that has it.")
