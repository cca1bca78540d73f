"""Tokens of members: grants that a person makes for an agent without a browser (seed 002, section 8, phase 3).

What is shown once is exchanged at `/token` for access tokens of an hour, or used as a bearer where tokens act for a
member. The grant's secret follows from it one way: an access token, which carries that secret, does not give it away.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from commonplace.identity import secrets
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.audit import about
from commonplace.identity.memberships import GRANT_SECONDS, takes_membership
from commonplace.identity.oauth.agent_names import is_agent_like
from commonplace.identity.oauth.client_metadata import name_of
from commonplace.identity.oauth.consent import Consents, RequestGone
from commonplace.identity.oauth.grants import Terms, new_grant
from commonplace.identity.principals import permission_of
from commonplace.identity.records import Client, Grant
from commonplace.identity.resources import Resources
from commonplace.kernel.errors import Conflict, InvalidInput, NotFound

EXPIRIES = tuple(seconds for seconds in GRANT_SECONDS if seconds <= 30 * 86_400)
MAX_TOKENS = 20
"""That live, of one account."""
CLIENT = "token:"
"""The ids of their clients begin so."""


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class MemberTokens:
    """Tokens that people make, and their rules."""

    consents: Consents
    resources: Resources
    key: Callable[[], bytes]
    clock: Callable[[], float]

    @property
    def resource(self) -> str:
        """The resource that they are for. Raises NotFound in a deployment without one."""
        if (found := next(filter(takes_membership, self.resources.all()), None)) is None:
            raise NotFound("This deployment has no resource for such tokens.")
        return found

    def create(
        self,
        profile: Profile,
        standing: Standing,
        *,
        name: str,
        organisation: str,
        roles: Iterable[str],
        kinds: Iterable[str] | None,
        acts: bool,
        expiry: str,
        network: str,
    ) -> tuple[str, Grant]:
        """Return a new token, which nobody can read again, and its grant.

        Raises InvalidInput, Conflict for too many, RateLimited and Unavailable.
        """
        named = name_of({"client_name": name})
        if not named or is_agent_like(named):
            hint = 'A name of your own, which does not begin with "AI Agent" and has no "(via".'
            raise InvalidInput("A token is named after the agent that uses it.", hint=hint, field="name")
        if expiry not in map(str, EXPIRIES):
            raise InvalidInput("A token lasts for 30 days at most.", hint="Choose one of the times.", field="expiry")
        catalogue = self.resources.catalogue(self.resource)
        scopes = tuple(one for one in catalogue if one in standing.scopes and (acts or one.endswith(":read")))
        try:
            membership, _ = self.consents.chosen(self.resource, profile.subject, organisation, roles, expiry)
            reached = self.consents.kinds(scopes, kinds)
        except RequestGone:
            hint = "Load the page again: it shows your organisations and roles as they are now."
            raise InvalidInput("This organisation or role is not yours.", hint=hint, field="organisation") from None
        if not scopes or reached == ():
            raise InvalidInput("A token reaches something.", hint="Leave a kind of things ticked.", field="kinds")
        held = [one for one in self.consents.grants_of(profile.subject) if one.client_id.startswith(CLIENT)]
        if len(held) >= MAX_TOKENS:
            raise Conflict(f"You have {MAX_TOKENS} tokens.", hint="Revoke one that is not used any more.")
        token = secrets.fresh(secrets.TOKEN)
        client = Client(id=f"{CLIENT}{secrets.digest(token)[:16]}", name=named, source="person")
        self.consents.count(profile, client, scopes, membership)
        terms = Terms(
            client_id=client.id,
            client_name=named,
            resource=self.resource,
            scopes=scopes,
            seconds=int(expiry),
            client_source=client.source,
            resource_scopes=reached,
            membership=membership,
        )
        now = int(self.clock())
        grant, _ = new_grant(
            "person", profile, terms, key=self.key(), now=now, network="", secret=secrets.grant_secret(token)
        )
        details = {"scopes": " ".join(scopes), "resource": grant.resource, "permission": permission_of(scopes)}
        record = about(grant, "consent", standing.organisation, now, network, reason="token", details=details)
        # To make a token is no use of it: its first use shows at once.
        grant = replace(grant, last_used_at=0)
        self.consents.grants.open(grant, audit=[record])
        return token, grant
