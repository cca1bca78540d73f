"""Consent: a person's decision on an authorization request, once, in the browser that started it."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from commonplace.identity import secrets
from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.accounts import Profile, Standing
from commonplace.identity.audit import about
from commonplace.identity.memberships import GRANT_SECONDS, ChosenMembership, MemberOf, Memberships, takes_membership
from commonplace.identity.oauth.agent_names import is_agent_like
from commonplace.identity.oauth.authorization_request import ValidRequest, answer_url
from commonplace.identity.oauth.clients import Clients, UnknownClient
from commonplace.identity.oauth.grants import Terms, new_code, new_grant
from commonplace.identity.ports import GrantStore, SignInStore
from commonplace.identity.principals import ALWAYS, GRANTABLE, covers, kinds_of, permission_of, reach, within
from commonplace.identity.records import (
    ABSOLUTE_SECONDS,
    REMEMBERED_SECONDS,
    REQUEST_SECONDS,
    AuthorizationRequest,
    Client,
    Grant,
    PendingRequest,
    Remembered,
)
from commonplace.identity.redirects import is_loopback_redirect, redirect_matches
from commonplace.kernel.audit import NOWHERE, AuditLog, AuditRecord
from commonplace.kernel.errors import Forbidden
from commonplace.kernel.limits import Limiter, Quota

HOUR_SECONDS = 3_600

ASK_AGAIN = frozenset({"consent", "login", "select_account"})
"""Words of `prompt` for which no remembered answer will do (OpenID Connect Core 1.0, section 3.1.2.1)."""


class RequestGone(Forbidden):
    """The handle is wrong, used or over, or it belongs to another browser, page or account."""

    def __init__(self, reason: str) -> None:
        """`reason` is for the log: the page shows nothing that helps an attacker."""
        super().__init__(
            "This page is not valid any more, or not for this browser.", hint="Start again from the application."
        )
        self.reason = reason


class Begun(NamedTuple):
    """The secrets of a page. `handle` and `csrf` go into the form, `cookie` into a cookie of this request alone."""

    handle: str
    cookie: str
    csrf: str


@dataclass(eq=False, repr=False, kw_only=True)
class Consents:
    """Requests that wait for a person, and what follows from the answer.

    `key` is that of pseudonyms; `organisation` is where records go of accounts that have none.
    """

    store: SignInStore
    grants: GrantStore
    audit: AuditLog
    clients: Clients
    key: Callable[[], bytes]
    issuer: str
    clock: Callable[[], float]
    memberships: Memberships | None = None
    limits: Limiter | None = None
    sessions_per_hour: int = 5
    absolute_seconds: int = ABSOLUTE_SECONDS
    organisation: str = NOWHERE

    def __post_init__(self) -> None:
        self._quota = Quota("agent-sessions", self.sessions_per_hour, HOUR_SECONDS)

    def begin(self, request: AuthorizationRequest) -> Begun:
        """Keeps the request for ten minutes. Raises Unavailable."""
        begun = Begun(secrets.fresh(secrets.HANDLE), secrets.fresh(), secrets.fresh())
        pending = PendingRequest(
            request=request,
            browser_hash=secrets.digest(begun.cookie),
            csrf_hash=secrets.digest(begun.csrf),
            expires_at=int(self.clock()) + REQUEST_SECONDS,
        )
        self.store.put_pending(secrets.digest(begun.handle), pending)
        return begun

    def look(self, handle: str, cookie: str) -> PendingRequest | None:
        """The request as it was checked; None for a wrong or used handle, another browser, or after ten minutes."""
        pending = self.store.pending(secrets.digest(handle))
        if pending is None or pending.expires_at <= self.clock():
            return None
        return pending if secrets.same(pending.browser_hash, secrets.digest(cookie)) else None

    @staticmethod
    def offered(request: AuthorizationRequest, standing: Standing) -> tuple[str, ...]:
        """Return the scopes to ask the person for: those requested, no higher than the account's roles give.

        On behalf of a member a client reads, or acts with every level that there is (seed 002, section 5): who asks for
        more than reading asks for all of them.
        """
        scopes = reach(request.scopes, standing.scopes)
        if takes_membership(request.resource) and permission_of(scopes) == "action":
            toolsets = {one.partition(":")[0] for one in scopes}
            scopes = within((one for one in GRANTABLE if one.partition(":")[0] in toolsets), standing.scopes)
        return scopes

    @staticmethod
    def kinds(scopes: tuple[str, ...], named: Iterable[str] | None) -> tuple[str, ...] | None:
        """Return those of the kinds wanted that the scopes have; None is all, () is nothing."""
        if named is None:
            return None
        wanted, toolsets = frozenset(named), [scope.partition(":")[0] for scope in scopes]
        kinds = tuple(kind for kind in kinds_of(toolsets) if kind in wanted)
        # What every consent includes is no choice: alone it is nothing.
        return kinds and tuple(dict.fromkeys((*kinds_of(toolsets, ALWAYS), *kinds)))

    def chosen(
        self, resource: str, subject: str, organisation: str, roles: Iterable[str], expiry: str
    ) -> tuple[ChosenMembership | None, int]:
        """Return the membership that a person chose, where the resource takes one, and how long the grant lasts.

        What the page showed may be over, and a form may say anything: raises RequestGone for that, and Unavailable.
        """
        if (members := self.members(resource, subject)) is None:
            return None, self.absolute_seconds
        known = {one.organisation: one for one in members}.get(organisation)
        chosen = tuple(sorted(set(roles)))
        if known is None or not {*chosen} <= {role.id for role in known.roles}:
            raise RequestGone("member_other" if known is None else "role_not_held")
        if expiry not in map(str, GRANT_SECONDS):
            raise RequestGone("expiry_unknown")
        membership = ChosenMembership(organisation=organisation, member=known.member, roles=chosen)
        return membership, min(self.absolute_seconds, int(expiry))

    def grants_of(self, subject: str) -> Sequence[Grant]:
        """Return the grants of a person that live. Raises Unavailable."""
        return self.grants.of_subject(subject_hash(self.key(), subject))

    def members(self, resource: str, subject: str) -> Sequence[MemberOf] | None:
        """Return as which members an account may let a client act; None where none does. Raises Unavailable."""
        if not takes_membership(resource):
            return None
        return self.memberships.of_account(subject_hash(self.key(), subject)) if self.memberships else ()

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
        organisation: str = "",
        roles: Iterable[str] = (),
        expiry: str = "",
    ) -> str:
        """Return where the browser goes: back to the client with a code, or with `access_denied` when `allowed` is
        None.

        `allowed` are the scopes that the person left ticked, `resource_scopes` the kinds of things (None is all);
        `account` is the subject that the page showed. For a resource that takes a membership, `organisation` and
        `roles` say which, and `expiry` is one of `GRANT_SECONDS`. Who declines need not have signed in. Raises
        RequestGone for anything of these that does not fit, RateLimited for too many new grants, Unavailable.
        """
        pending = self.look(handle, cookie)
        if pending is None or not secrets.same(pending.csrf_hash, secrets.digest(csrf)):
            raise RequestGone("request_unknown")
        # As it is now: since its request it may have gone, or changed its redirect URIs.
        try:
            client = self.clients.find(pending.request.client_id, network)
        except UnknownClient as error:
            raise RequestGone("client_gone") from error
        if not redirect_matches(client.redirect_uris, pending.request.redirect_uri):
            raise RequestGone("redirect_unregistered")
        if takes_membership(pending.request.resource) and is_agent_like(client.name):
            raise RequestGone("client_name")
        if allowed is None:
            return self._decline(handle, "declined", profile, standing, network)
        if profile is None or standing is None or account not in (None, profile.subject):
            raise RequestGone("other_account")
        scopes = within(allowed, self.offered(pending.request, standing))
        kinds = self.kinds(scopes, resource_scopes)
        if not scopes or kinds == ():
            return self._decline(handle, "nothing_granted", profile, standing, network)
        membership, seconds = self.chosen(pending.request.resource, profile.subject, organisation, roles, expiry)
        self.count(profile, client, scopes, membership)
        answer = _Answer(self._take(handle), profile, standing, scopes, kinds, network, seconds, membership)
        if remember and membership is None and _memorable(answer.request.redirect_uri):
            request = answer.request
            consent = Remembered(
                subject_hash=subject_hash(self.key(), answer.profile.subject),
                client_id=request.client_id,
                redirect_uri=request.redirect_uri,
                resource=request.resource,
                scopes=answer.scopes,
                resource_scopes=answer.kinds,
                expires_at=int(self.clock()) + REMEMBERED_SECONDS,
            )
            self.store.remember(consent)
        return self._open(client, answer)

    def recalled(self, asked: ValidRequest, profile: Profile, standing: Standing, network: str = "") -> str | None:
        """Return what `decide` does for a consent that is remembered and covers all of this request; None: ask the
        person.

        Raises RateLimited, Unavailable.
        """
        request, offered = asked.request, self.offered(asked.request, standing)
        if asked.prompts & ASK_AGAIN or takes_membership(request.resource) or not _memorable(request.redirect_uri):
            return None
        subject = subject_hash(self.key(), profile.subject)
        known = self.store.remembered(subject, request.client_id, request.redirect_uri, request.resource)
        if known is None or known.expires_at <= self.clock():
            return None
        if not offered or within(offered, known.scopes) != offered:
            return None
        self.count(profile, asked.client, offered, None)
        answer = _Answer(request, profile, standing, offered, known.resource_scopes, network, self.absolute_seconds)
        return self._open(asked.client, answer, recalled=True)

    def may_hear(self, client: Client, redirect_uri: str, profile: Profile | None) -> bool:
        """Return whether a browser may be sent there with an error although nobody has decided anything: for an
        operator's client, and one that this person has connected at this address. Anybody can register a client, and
        would otherwise lead people from here to anywhere (RFC 9700, section 4.11.2). Raises Unavailable."""
        if client.source == "operator" or profile is None:
            return client.source == "operator"
        held = self.grants_of(profile.subject)
        return any(one.client_id == client.id and redirect_matches([one.redirect_uri], redirect_uri) for one in held)

    def _take(self, handle: str) -> AuthorizationRequest:
        pending = self.store.take_pending(secrets.digest(handle))
        if pending is None:
            raise RequestGone("request_used")
        return pending.request

    def count(self, profile: Profile, client: Client, scopes: tuple[str, ...], acts: ChosenMembership | None) -> None:
        """Limits the new grants of a member (seed 002, section 6: session initialization).

        A client that comes back for more, because a tool took more than it had, begins no session.
        """
        name = subject_hash(self.key(), profile.subject)
        if self.limits is None:
            return
        member = acts and acts.member
        grants = [one for one in self.grants.of_subject(name) if one.client_id == client.id]
        if _widened(scopes, [one for one in grants if (one.membership and one.membership.member) == member]):
            return
        self.limits.spend(
            self._quota,
            json.dumps(("member", acts.organisation, member)) if acts else name,
            "This account has connected too many applications within the hour.",
            hint="Wait a little, or go on with an application that is connected.",
        )

    def _decline(
        self, handle: str, reason: str, profile: Profile | None, standing: Standing | None, network: str
    ) -> str:
        request = self._take(handle)
        record = AuditRecord(
            event="consent",
            outcome="denied",
            at=self.clock(),
            organisation=(standing.organisation if standing else None) or self.organisation,
            subject=subject_hash(self.key(), profile.subject) if profile else "",
            client=request.client_id,
            reason=reason,
            network=network,
        )
        self.audit.write(record)
        told = "Access was not granted."
        return answer_url(
            request.redirect_uri,
            issuer=self.issuer,
            state=request.state,
            error="access_denied",
            error_description=told,
        )

    def _open(self, client: Client, answer: "_Answer", *, recalled: bool = False) -> str:
        request, now = answer.request, int(self.clock())
        terms = Terms(
            client_id=client.id,
            client_name=client.name,
            resource=request.resource,
            scopes=answer.scopes,
            seconds=answer.seconds,
            client_source=client.source,
            redirect_uri=request.redirect_uri,
            resource_scopes=answer.kinds,
            membership=answer.membership,
        )
        grant, secret = new_grant("person", answer.profile, terms, key=self.key(), now=now, network=answer.network)
        code, kept = new_code(grant, secret, request)
        standing = answer.standing
        details = {
            "scopes": " ".join(grant.scopes),
            "resource": grant.resource,
            "tier": standing.tier,
            "roles": " ".join(standing.roles),
            "kinds": "all" if grant.resource_scopes is None else " ".join(grant.resource_scopes),
        }
        reason = "remembered" if recalled else ""
        record = about(grant, "consent", standing.organisation, now, answer.network, reason=reason, details=details)
        self.grants.open(grant, kept, audit=[record])
        return answer_url(request.redirect_uri, issuer=self.issuer, state=request.state, code=code)


@dataclass(frozen=True, slots=True)
class _Answer:
    """The consent of a person."""

    request: AuthorizationRequest
    profile: Profile
    standing: Standing
    scopes: tuple[str, ...]
    kinds: tuple[str, ...] | None
    network: str
    seconds: int
    membership: ChosenMembership | None = None


def _widened(scopes: tuple[str, ...], grants: Sequence[Grant]) -> bool:
    """Return whether these scopes are what one of the client's grants has, and more than all of them have together."""
    held = frozenset(one for grant in grants for one in grant.scopes)
    kept = any(all(covers(scopes, one) for one in grant.scopes) for grant in grants)
    return kept and not all(covers(held, one) for one in scopes)


def _memorable(redirect_uri: str) -> bool:
    """Only where an https host receives the code: on a person's computer any program may pretend to be the client."""
    return redirect_uri.lower().startswith("https://") and not is_loopback_redirect(redirect_uri)
