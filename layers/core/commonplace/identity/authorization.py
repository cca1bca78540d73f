"""Authorization: whether a principal may do something, and if not, what would help. One judgement for every interface.

What is public and only read is open to everybody. The rest takes a tier of the account, a scope of the token that the
account's roles still cover, and a kind of thing that the token reaches. Where another consent would help, the verdict
names the scope; where none would, a challenge would send the client round in a circle.
"""

from dataclasses import dataclass
from enum import StrEnum

from commonplace.identity.principals import Principal, Tier


@dataclass(frozen=True, slots=True)
class Need:
    """The requirements of an operation."""

    tier: Tier
    scope: str
    """One of `principals.CATALOGUE`: an operation belongs to one toolset, and its level includes those below."""
    kind: str | None = None
    """The kind of what it reads or changes, one of `principals.KINDS`; None is none in particular."""
    membership: bool = False
    """It is done on behalf of a member of an organisation, and open to nobody else, whatever tier and level say."""

    @property
    def open(self) -> bool:
        """Nobody has to sign in for it."""
        return self.tier == "public" and self.scope.endswith(":read") and not self.membership


MEMBERS_ONLY = "This is done on behalf of a member of an organisation, and you act for none."
HOW_TO_JOIN = "Whoever is invited by a member can accept in a browser, then connect again and choose the organisation."


class Verdict(StrEnum):
    ALLOWED = "allowed"
    SIGN_IN = "sign_in"
    """Nobody in particular asks."""
    MEMBERSHIP = "membership"
    """The principal acts for no member of an organisation."""
    UNCERTAIN = "uncertain"
    """The account's roles cannot be read now."""
    TIER = "tier"
    """The account's roles do not give the tier."""
    CONSENT = "consent"
    """The token lacks the scope, and another consent of the same account could grant it."""
    SCOPE = "scope"
    """The token lacks the scope, and no consent could grant it."""
    KIND = "kind"
    """The token does not reach things of this kind."""


def judge(principal: Principal, need: Need) -> Verdict:
    """The first thing that stands in the way."""
    if need.open:
        return Verdict.ALLOWED
    if principal.anonymous:
        return Verdict.SIGN_IN
    if need.membership and principal.membership is None:
        return Verdict.MEMBERSHIP
    if principal.uncertain:
        return Verdict.UNCERTAIN
    if not principal.reaches(need.tier):
        return Verdict.TIER
    if not principal.may(need.scope):
        return Verdict.CONSENT if principal.could(need.scope) else Verdict.SCOPE
    return Verdict.ALLOWED if _touches(principal, need) else Verdict.KIND


def worth_showing(principal: Principal, need: Need) -> bool:
    """Return whether the account may ever do it, whatever the scopes of its token; else clients request no more.

    Somebody unknown, and somebody whose roles cannot be read now, is shown everything: what exists is no secret.
    """
    if principal.anonymous or principal.uncertain:
        return True
    return judge(principal, need) in (Verdict.ALLOWED, Verdict.CONSENT) and (need.open or _touches(principal, need))


def _touches(principal: Principal, need: Need) -> bool:
    """A token for some kinds of things reaches nothing that is of no kind."""
    return principal.resource_scopes is None or (need.kind is not None and principal.touches(need.kind))
