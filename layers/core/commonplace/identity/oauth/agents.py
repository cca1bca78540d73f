"""Access tokens of agents without a person's consent: by client credentials, or minted by an operator."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.audit import issued
from commonplace.identity.memberships import takes_membership
from commonplace.identity.oauth.consent import HOUR_SECONDS
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oauth.grants import Answers, Form, Holder, Json, Terms, new_grant, wanted_scopes
from commonplace.identity.ports import GrantStore
from commonplace.identity.principals import TIERS, Tier, ordered, within
from commonplace.identity.records import Client
from commonplace.identity.resources import Resources
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import InvalidInput
from commonplace.kernel.limits import Limiter, Quota

AGENT_TOKENS = Quota("agent-tokens", 60, HOUR_SECONDS)
"""The bound of one `client_credentials` client: each token is a grant of its own, and lasts an hour."""

MAX_DAYS = 365
"""The bound of a service token."""

_AGENT = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Agents:
    """Grants without a person, each with one access token and no refresh token (RFC 6749, section 4.4)."""

    store: GrantStore
    answers: Answers
    resources: Resources
    key: Callable[[], bytes]
    clock: Callable[[], float]
    limits: Limiter | None
    access_seconds: int

    def grant(self, form: Form, client: Client, default: str, network: str) -> Json:
        """Return a token for a client that an operator registered. `default` is the resource that is meant where none
        is named.

        Raises OAuthError, RateLimited, Unavailable.
        """
        if client.source != "operator" or not client.confidential or not client.organisation or not client.agent:
            raise OAuthError("unauthorized_client", "Only agents that an operator registered get tokens this way.")
        resource = self.resources.canonical(form.get("resource") or default)
        if resource is None or takes_membership(resource):
            raise OAuthError("invalid_target", "There is no such resource here for an agent of an operator.")
        scopes = wanted_scopes(form, within(client.scopes, self.resources.catalogue(resource)))
        if not scopes:
            raise OAuthError("invalid_scope", "This agent has no scope for this resource.")
        if self.limits:
            message = "This agent asks for too many tokens. Each lasts an hour."
            self.limits.spend(AGENT_TOKENS, client.id, message)
        terms = Terms(
            client_id=client.id,
            client_name=client.name,
            resource=resource,
            scopes=scopes,
            seconds=self.access_seconds,
            organisation=client.organisation,
        )
        return self._open(client.agent, terms, client.tier, "grant", network=network)

    def mint(
        self, *, organisation: str, agent: str, scopes: tuple[str, ...], tier: Tier, resource: str, days: int
    ) -> str:
        """A service token. Raises InvalidInput, Unavailable."""
        canonical = self.resources.canonical(resource)
        if canonical is None:
            raise InvalidInput("There is no such resource. The metadata of the server lists all.")
        if takes_membership(canonical):
            raise InvalidInput("Tokens for this resource act for a member of an organisation, who consents to each.")
        if not is_organisation(organisation):
            raise InvalidInput("An organisation is up to 64 lower-case letters, digits and hyphens.")
        if not _AGENT.fullmatch(agent):
            raise InvalidInput("An agent's name is up to 64 lower-case letters, digits, dots, hyphens and underscores.")
        if tier not in TIERS:
            raise InvalidInput(f"A tier is one of {', '.join(TIERS)}.")
        if not 1 <= days <= MAX_DAYS:
            raise InvalidInput(f"A token lasts from 1 to {MAX_DAYS} days.")
        catalogue = self.resources.catalogue(canonical)
        if not scopes or not set(scopes) <= set(catalogue):
            raise InvalidInput(f"Scopes must be among {', '.join(catalogue)}.")
        terms = Terms(
            client_id=f"operator:{agent}",
            client_name=agent,
            resource=canonical,
            scopes=ordered(scopes),
            seconds=days * 86_400,
            organisation=organisation,
        )
        return str(self._open(agent, terms, tier, "mint")["access_token"])

    def _open(self, agent: str, terms: Terms, tier: Tier, event: str, *, network: str = "") -> Json:
        now = int(self.clock())
        profile = Profile(subject=f"agent:{agent}", kind="agent", name=terms.client_name)
        grant, secret = new_grant("agent", profile, terms, key=self.key(), now=now, network=network)
        standing = Standing(tier=tier, scopes=frozenset(terms.scopes), organisation=terms.organisation)
        answer = self.answers.answer(Holder(grant, secret, profile), standing, terms.scopes, now, seconds=terms.seconds)
        self.store.open(grant, audit=[issued(event, grant, terms.scopes, standing, now=now, network=network)])
        return answer
