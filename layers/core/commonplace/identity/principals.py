"""Principals and OAuth scopes: who calls, what that account may ever do, and the scopes `{toolset}:{level}`.

Sources: seed 000, sections 2.1 and 7.3; seed 002, section 3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.audit import Author
from commonplace.kernel.capability import LEVELS as USUAL_LEVELS
from commonplace.kernel.capability import Level, Tier
from commonplace.kernel.errors import Forbidden, Unauthorized
from commonplace.kernel.limits import network

if TYPE_CHECKING:
    from commonplace.identity.memberships import Membership

DECLARED = tuple(one.scopes for one in CAPABILITIES if one.scopes)
TOOLSETS = tuple(one.toolset for one in DECLARED)
"""Those that a deployment may have: each has a path, and a resource of its own (`capabilities.served_toolsets`)."""
APART = frozenset(one.toolset for one in DECLARED if one.apart)
"""Those that are served at their own path alone."""
MEMBERSHIP: dict[str, bool] = {one.toolset: one.membership for one in DECLARED}
"""Whether what a toolset has takes a membership of an organisation."""
TOGETHER = tuple(name for name in TOOLSETS if name not in APART)

LEVELS: dict[str, tuple[Level, ...]] = {one.toolset: one.levels for one in DECLARED}
"""The levels of each toolset, lowest first; each includes those before it."""
CALLS_A_MINUTE = {one.toolset: one.calls_a_minute for one in DECLARED if one.calls_a_minute}
"""Limits of toolsets that have some of their own, by class of calls."""
ALIASES: dict[str, str] = {alias: scope for one in DECLARED for alias, scope in one.aliases.items()}
"""Other names of scopes, which clients may request."""

OFFLINE_ACCESS = "offline_access"
"""Some clients ask for it before they expect a refresh token. It is never granted, never required, and no error."""

Permission = Literal["readonly", "action"]
"""The bound of what a token may do at all (seed 002, section 3)."""

KINDS = {one.toolset: one.kinds for one in DECLARED}
"""Kinds of things that a token's resource scopes may name (seed 002, section 3), by toolset."""
ALWAYS = {one.toolset: one.always for one in DECLARED}
"""Those of them that every consent includes."""

_TOKEN = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]{1,64}")  # RFC 6749, section 3.3

__all__ = ["ANONYMOUS", "TIERS", "Everybody", "Level", "Principal", "Principals", "Tier", "covers", "scope"]

TIERS: tuple[Tier, ...] = get_args(Tier)
"""Lowest first; each includes those before it."""


def scope(toolset: str, level: Level) -> str:
    """The OAuth scope `{toolset}:{level}`."""
    return f"{toolset}:{level}"


def levels(toolset: str) -> tuple[Level, ...]:
    """Return the levels of a toolset, lowest first; those of all that declare none for one that is unknown."""
    return LEVELS.get(toolset, USUAL_LEVELS)


def included(wanted: str) -> tuple[str, ...]:
    """Return the scopes of a toolset up to this one, lowest first; none for a level that it does not have."""
    toolset, _, level = wanted.partition(":")
    known = levels(toolset)
    return tuple(scope(toolset, one) for one in known[: known.index(level) + 1]) if level in known else ()


CATALOGUE = tuple(scope(toolset, level) for toolset in TOOLSETS for level in levels(toolset))
"""Every scope there is, in the order of every list."""
IN_PERSON = frozenset(scope(one.toolset, level) for one in DECLARED for level in one.in_person)
"""Those that no token has."""
GRANTABLE = tuple(one for one in CATALOGUE if one not in IN_PERSON)


def parse_scopes(text: str) -> tuple[str, ...]:
    """Return the scopes of a parameter, each once, in order and by its own name, not an alias.

    Raises ValueError for characters that no scope has.
    """
    found = tuple(dict.fromkeys(text.split(" "))) if text else ()
    if not all(_TOKEN.fullmatch(one) for one in found if one):
        raise ValueError("a scope has characters that RFC 6749 (section 3.3) does not allow")
    return tuple(dict.fromkeys(ALIASES.get(one, one) for one in found if one))


def without_offline_access(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return the scopes without what clients send along and no token has."""
    return tuple(one for one in scopes if one != OFFLINE_ACCESS)


def ordered(scopes: Iterable[str]) -> tuple[str, ...]:
    """Each once, in the order of the catalogue; what is not in it comes last, by name."""
    return tuple(sorted(set(scopes), key=lambda one: (CATALOGUE.index(one) if one in CATALOGUE else 99, one)))


def covers(granted: Iterable[str], wanted: str) -> bool:
    """Return whether the wanted scope, or a higher level of the same toolset, is granted."""
    toolset, _, level = wanted.partition(":")
    held, known = frozenset(granted), levels(toolset)
    return level in known and any(scope(toolset, one) in held for one in known[known.index(level) :])


def within(wanted: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """Those of the wanted scopes that the allowed ones cover."""
    held = frozenset(allowed)
    return ordered(one for one in wanted if covers(held, one))


def reach(scopes: Iterable[str], allowed: Iterable[str]) -> tuple[str, ...]:
    """As `within`, but a scope that is too high becomes the highest level of its toolset that is allowed."""
    held = frozenset(allowed)
    best = (next((below for below in reversed(included(one)) if covers(held, below)), None) for one in scopes)
    return ordered(one for one in best if one)


def permission_of(scopes: Iterable[str]) -> Permission:
    """`action` as soon as one scope is more than reading."""
    return "action" if any(not one.endswith(":read") for one in scopes) else "readonly"


def baseline(toolsets: Iterable[str]) -> tuple[str, ...]:
    """Return what a path asks for to begin with: reading, of each of its toolsets."""
    return ordered(scope(toolset, "read") for toolset in toolsets)


def kinds_of(toolsets: Iterable[str], kinds: Mapping[str, tuple[str, ...]] = KINDS) -> tuple[str, ...]:
    """The kinds of things that these toolsets hold, or those of `ALWAYS`."""
    return tuple(dict.fromkeys(kind for toolset in toolsets for kind in kinds.get(toolset, ())))


WORDS = {scope(one.toolset, level): words for one in DECLARED for level, words in one.words.items()}
"""The words of what a person consents to, by scope."""


def highest(tiers: Iterable[Tier]) -> Tier:
    """The highest of these, `public` if there is none."""
    return max(tiers, key=TIERS.index, default="public")


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The account behind a request. `subject` None is somebody we know nothing of.

    Comes from a verified token alone: no argument, header or body can widen it.
    """

    subject: str | None = None
    """Wallet address (EIP-55), `oidc:{issuer}#{sub}` or `agent:{name}`."""
    organisation: str | None = None
    """The organisation whose data the account may reach; None is none."""
    member: str | None = None
    """The account as a member of the organisation, an opaque id; None without an organisation."""
    tier: Tier = "public"
    """The highest that the account's roles give, now."""
    roles: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
    """Granted to the client with this token, and still covered by the account's roles: what may be done now."""
    attainable: frozenset[str] = frozenset()
    """The scopes that another consent of this account could grant. Empty for agents, for which nobody can consent."""
    permission: Permission = "action"
    resource_scopes: frozenset[str] | None = None
    """Kinds of things that the token reaches; None is all."""
    membership: Membership | None = None
    """On whose behalf the token acts, beside the account: it raises no tier, and opens no other toolset."""
    client: str | None = None
    """The OAuth client that acts for the account."""
    grant: str | None = None
    """The public name of the grant behind the token."""
    account: str | None = None
    """The account's pseudonym in records."""
    token: str | None = None
    """A pseudonym of the credential, by which calls are counted."""
    display_name: str | None = None
    """The name for people to read; never for a decision."""
    uncertain: bool = False
    """The roles could not be read just now, so `tier` and `scopes` are those of the public for the time being."""

    @property
    def anonymous(self) -> bool:
        return self.subject is None

    def reaches(self, tier: Tier) -> bool:
        """Return whether the account has this tier, or a higher one."""
        return TIERS.index(self.tier) >= TIERS.index(tier)

    def may(self, wanted: str) -> bool:
        """Return whether the token's scopes cover this one."""
        return covers(self.scopes, wanted) and (self.permission == "action" or wanted.endswith(":read"))

    def could(self, wanted: str) -> bool:
        """Return whether another consent could make the token cover it."""
        return covers(self.attainable, wanted)

    def touches(self, kind: str) -> bool:
        """Return whether the token reaches things of this kind."""
        return self.resource_scopes is None or kind in self.resource_scopes


ANONYMOUS = Principal()


def author(principal: Principal, address: str) -> Author:
    """On whose behalf somebody reads and writes what an organisation has for itself. Raises Forbidden."""
    if principal.organisation is None:
        raise Forbidden(
            "This account belongs to no organisation, so there is nothing here that it could reach.",
            hint="Ask an operator of this deployment for a role of your organisation.",
        )
    subject = principal.subject or ""
    nobody = principal.display_name if principal.account is None else None
    return Author(
        organisation=principal.organisation,
        account=principal.account or "",
        client=principal.client or "",
        grant=principal.grant or "",
        network=network(address),
        name=subject if subject.startswith("agent:") else principal.member or nobody or "",
    )


def counted_as(principal: Principal) -> tuple[str | None, str | None]:
    """Return by whom a call is counted: names for the credential, and for whoever all the credentials are.

    Each is None where there is none. No other parts give the same name, so no two tenants share a counter. Who acts for
    a member is counted by the grant, so that a refresh gives no new quota, and by the member.
    """
    if (acts := principal.membership) is not None:
        return _named("grant", principal.grant), _named("member", acts.organisation, acts.member)
    token = _named("token", principal.organisation, principal.token) if principal.token is not None else None
    if principal.account is not None:
        return token, _named("account", principal.account)
    return token, _named(
        "subject", principal.organisation, principal.subject
    ) if principal.subject is not None else None


def _named(*parts: str | None) -> str:
    return json.dumps(parts)


class Principals(Protocol):
    """Finds out who calls."""

    def identify(self, headers: Mapping[str, str], resource: str) -> Principal:
        """The principal of a request to `resource`, the canonical URL that tokens for it name as their audience.

        Header names are lower-case. No credential, or one of another scheme, is ANONYMOUS. Raises Unauthorized for a
        bearer token that is bad, Unavailable when that cannot be judged now.
        """
        ...

    def used(self, principal: Principal, address: str) -> None:
        """Notes that this principal, just identified, has made a call from this address. Never raises."""
        ...

    def denied(self, principal: Principal, reason: str, wanted: str, address: str) -> None:
        """Notes that this principal was refused something that takes the scope `wanted`. Never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Everybody:
    """The same principal for every request: nobody in particular, or whom a laptop takes everybody for."""

    principal: Principal = ANONYMOUS

    def identify(self, headers: Mapping[str, str], resource: str) -> Principal:  # noqa: ARG002 - the port's shape
        """Raises Unauthorized for a credential where callers are taken for somebody: it is not ignored."""
        if "authorization" in headers and not self.principal.anonymous:
            raise Unauthorized("No token can be judged here.", hint="Call without one.")
        return self.principal

    def used(self, principal: Principal, address: str) -> None:
        """Nobody keeps count."""

    def denied(self, principal: Principal, reason: str, wanted: str, address: str) -> None:
        """Nobody is anybody."""
