"""The texts of the consent page. It shows what there is to decide and decides nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from commonplace.identity.accounts import Profile, Standing, short
from commonplace.identity.memberships import MemberOf
from commonplace.identity.oauth.lookalikes import imitated
from commonplace.identity.oauth.pages.html import Destination, destination, listed, plain
from commonplace.identity.principals import ALWAYS, TOOLSETS, WORDS, kinds_of, ordered
from commonplace.identity.records import AuthorizationRequest, Client, Grant

VOUCHED = {
    "document": "host verified: {host}",
    "registered": "registered itself, no host verified",
    "operator": "registered by the operator of this site",
    "person": "a token that you made",
}
"""A document proves that its host stands behind the redirect addresses. Nobody proves a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The application that asks, as far as anybody can say."""

    name: str
    vouched: str
    unsure: bool
    """Nobody vouches for anything of it."""
    imitates: str | None
    """The well-known client that it calls itself, and is not known to be."""
    place: Destination
    """What kind of place the browser is sent to afterwards."""
    goes_to: str

    @classmethod
    def of_grant(cls, grant: Grant) -> "Asker":
        """As it was when it was connected."""
        client = Client(id=grant.client_id, name=grant.client_name, source=grant.client_source)
        return cls.of(client, grant.redirect_uri)

    @classmethod
    def of(cls, client: Client, redirect_uri: str) -> "Asker":
        place, goes_to = destination(redirect_uri)
        return cls(
            name=plain(client.name, 60) or "An app without a name",
            vouched=VOUCHED[client.source].format(host=plain(client.host or "")),
            unsure=client.source == "registered",
            imitates=None
            if client.source in ("operator", "person")
            else imitated(client.name, client.host, redirect_uri),
            place=place,
            goes_to=plain(goes_to, 120),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One scope that may be ticked."""

    scope: str
    words: str
    acts: bool
    """More than reading."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The person who is signed in. The avatar is never loaded: its host would learn who signs in where, and when."""

    label: str
    subject: str
    initial: str
    tier: str
    roles: str
    organisation: str

    @classmethod
    def of(cls, profile: Profile, standing: Standing) -> "Account":
        label = plain(profile.label, 60)
        # All addresses begin alike: they differ after 0x.
        mark = label.removeprefix("0x")[:1] or "?"
        return cls(
            label=label,
            subject=plain(short(profile.subject), 100),
            initial=mark.upper(),
            tier=standing.tier,
            roles=listed([plain(role) for role in standing.roles]),
            organisation=plain(standing.organisation or ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentView:
    """Everything that a consent page shows of the request."""

    wishes: Sequence[Wish]
    beyond: Sequence[str]
    """In words: requested, and not available to this account."""
    kinds: Sequence[str]
    """Kinds of things that the wishes reach (seed 002, section 3), but those of `always`."""
    always: Sequence[str] = ()
    """Kinds that every consent includes."""
    members: Sequence[MemberOf] | None = None
    """Whom to choose from, where tokens act for a member."""

    @classmethod
    def of(
        cls, request: AuthorizationRequest, offered: Sequence[str], members: Sequence[MemberOf] | None = None
    ) -> "ConsentView":
        """`offered` are the scopes that the account may grant (`Consents.offered`), `members` as of `Consents`."""
        offered = () if members is not None and not members else offered
        missed = [one for one in ordered(request.scopes) if one not in offered]
        toolsets = [name for name in TOOLSETS if any(one.startswith(f"{name}:") for one in offered)]
        always = kinds_of(toolsets, ALWAYS)
        return cls(
            wishes=[Wish(scope=one, words=_words(one), acts=not one.endswith(":read")) for one in offered],
            beyond=[_words(one) for one in missed],
            kinds=[kind for kind in kinds_of(toolsets) if kind not in always],
            always=always,
            members=members,
        )


def _words(scope: str) -> str:
    return WORDS.get(scope, plain(scope))
