"""Who is behind the session of a browser, and what they may do: as much as a token of theirs, and nothing else."""

from commonplace.identity.access_tokens import member_id, subject_hash
from commonplace.identity.accounts import Profile
from commonplace.identity.bearer_auth import TokenJudge
from commonplace.identity.oidc_sessions import NO_PROVIDER, ReadsClaims, StoredClaims
from commonplace.identity.principals import CATALOGUE, IN_PERSON
from commonplace.identity.records import SESSION_SECONDS
from commonplace.identity.sessions import Sessions, Visitor, Visitors, csrf_token, open_session
from tests.fakes.authority import ALICE, BOB, KEY, Authority, profile, standing
from tests.fakes.oidc_provider import ISSUER
from tests.unit.identity.test_provider_sessions import DAY, Club

EVERYTHING = " ".join(CATALOGUE)


def visitors(authority: Authority, claims: ReadsClaims = NO_PROVIDER) -> Visitors:
    sessions = Sessions(authority.signins, claims, authority.clock)
    return Visitors(sessions, authority.accounts, lambda *of: member_id(KEY, *of))


def signed_in(authority: Authority, who: Profile) -> str:
    return open_session(authority.signins, who, subject_hash(KEY, who.subject), authority.clock())


def visitor_of(club: Club, cookie: str, issuer: str = ISSUER) -> Visitor | None:
    """As a function sees them that asks no provider."""
    claims = StoredClaims(lambda: issuer, club.signins, club.clock, claims_seconds=DAY)
    return visitors(club.authority, claims).find(cookie)


def test_a_person_may_in_a_browser_what_a_token_with_every_scope_may() -> None:
    authority = Authority()
    for subject, tier in ((ALICE, "member"), (BOB, "vibecoder")):
        visitor = visitors(authority).find(signed_in(authority, profile(subject)))
        claims = authority.claims(authority.tokens(subject, scope="knowledge:write"))
        judge = TokenJudge(authority.grants, authority.accounts)
        token = judge.principal(claims, judge.grant(claims, authority.clock()))
        assert visitor is not None
        person = visitor.principal
        assert (person.subject, person.tier, person.roles) == (token.subject, token.tier, token.roles)
        assert (person.organisation, person.member, person.account) == (token.organisation, token.member, token.account)
        assert person.scopes - IN_PERSON == token.attainable
        assert (person.tier, person.may("knowledge:write"), person.may("knowledge:admin")) == (tier, True, False)


def test_an_account_that_another_organisation_has_now_reaches_that_one() -> None:
    authority = Authority()
    cookie = signed_in(authority, profile(ALICE))
    authority.accounts.held[ALICE] = standing("member", organisation="elsewhere")
    visitor = visitors(authority).find(cookie)
    assert visitor is not None
    assert (visitor.principal.organisation, visitor.principal.member) == (
        "elsewhere",
        member_id(KEY, "elsewhere", ALICE),
    )


def test_roles_that_cannot_be_read_leave_a_person_who_is_nobody_in_particular() -> None:
    authority = Authority()
    cookie = signed_in(authority, profile(ALICE))
    authority.accounts.down = True
    visitor = visitors(authority).find(cookie)
    assert visitor is not None
    person = visitor.principal
    assert (person.uncertain, person.tier, person.scopes, person.organisation) == (True, "public", frozenset(), None)


def test_groups_are_those_that_the_provider_gave_last() -> None:
    club = Club()
    who = club.sign_in()
    cookie, token = signed_in(club.authority, who), club.grant(who)
    visitor = visitor_of(club, cookie)
    assert visitor is not None
    assert visitor.principal.tier == "vibecoder"
    club.provider.groups["rosa"] = []
    club.clock.forward(3_600)
    club.refresh(token)
    visitor = visitor_of(club, cookie)
    assert visitor is not None
    assert visitor.principal.tier == "public"
    assert "refresh" in club.provider.asked, "by the refresh of the app, never by the console"


def test_the_console_asks_no_provider() -> None:
    club = Club()
    cookie = signed_in(club.authority, club.sign_in())
    club.provider.down, asked = True, list(club.provider.asked)
    assert visitor_of(club, cookie) is not None
    assert club.provider.asked == asked


def test_whoever_the_provider_has_taken_back_is_nobody() -> None:
    club = Club()
    who = club.sign_in()
    cookie, token = signed_in(club.authority, who), club.grant(who)
    del club.provider.groups["rosa"]
    club.clock.forward(3_600)
    club.refused(token)
    assert visitor_of(club, cookie) is None


def test_a_sign_in_at_another_provider_than_is_configured_now_is_over() -> None:
    club = Club()
    cookie = signed_in(club.authority, club.sign_in())
    assert visitor_of(club, cookie, "https://other.example.org") is None
    assert visitors(club.authority).find(cookie) is None, "and where there is none any longer"


def test_a_session_is_over_after_its_time_even_if_the_table_still_has_it() -> None:
    authority = Authority()
    cookie = signed_in(authority, profile(ALICE))
    authority.clock.forward(SESSION_SECONDS)
    assert visitors(authority).find(cookie) is None


def test_the_token_of_a_form_tells_nothing_of_the_cookie_and_is_one_for_each_session() -> None:
    authority = Authority()
    one, other = signed_in(authority, profile(ALICE)), signed_in(authority, profile(ALICE))
    assert csrf_token(one) == csrf_token(one) != csrf_token(other)
    stored = repr(vars(authority.signins))
    assert one not in stored
    assert csrf_token(one) not in stored
