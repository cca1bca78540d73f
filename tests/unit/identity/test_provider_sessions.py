"""Groups of an OIDC provider are read again at every refresh, for all grants of one sign-in together."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from commonplace.identity.accounts import Profile
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_sessions import NO_PROVIDER, ProviderSessions, SignInOver
from commonplace.identity.records import SESSION_SECONDS
from commonplace.identity.roles import MappedStandings, RoleMap
from commonplace.identity.secrets import digest
from commonplace.kernel.errors import Unavailable
from tests.fakes.authority import BASE, Authority, stored, told
from tests.fakes.ethereum import FakeHats
from tests.fakes.identity_stores import Clock, MemorySignIns, Racing
from tests.fakes.oidc_provider import FakeProvider

BROWSER = "a cookie of this browser"
HOUR, DAY = 3_600, 86_400
GROUPS = {"groups:editors": {"role": "editor", "tier": "vibecoder"}, "groups:staff": {"tier": "member"}}


class Club:
    """A provider, the sign-in through it, and an authority whose roles are its groups."""

    def __init__(self, **provider: Any) -> None:
        self.clock = Clock()
        self.provider = FakeProvider(self.clock, {"rosa": ["editors"]}, **provider)
        self.signins = MemorySignIns(self.clock)
        self.pauses: list[float] = []
        self.sessions = self.sessions_over(self.signins)
        self.authority = Authority(clock=self.clock, signins=self.signins, claims=self.sessions)
        roles = RoleMap.from_json(json.dumps({"hats": {}, "groups": GROUPS}), organisation="default")
        self.standings = MappedStandings(roles, FakeHats(self.clock))
        self.authority.accounts.of = self.standings.of  # type: ignore[method-assign]

    def sessions_over(self, store: Any, **more: Any) -> ProviderSessions:
        return ProviderSessions(self.provider, store, self.clock, sleep=self.pauses.append, **more)

    def oidc(self, **more: Any) -> OidcSignIn:
        return OidcSignIn(self.provider, self.sessions, self.signins, self.clock, issuer=BASE, name="The club", **more)

    def sign_in(self, account: str = "rosa") -> Profile:
        oidc = self.oidc()
        return oidc.finish(self.provider.answer(oidc.start("/account", BROWSER), account), BROWSER)[0]

    def grant(self, profile: Profile) -> str:
        """The refresh token of a new grant."""
        standing = self.standings.of(profile.subject, claims=profile.claims)
        url = self.authority.decide(self.authority.begin(), profile=profile, standing=standing)
        return str(self.authority.exchange(told(url)["code"])["refresh_token"])

    def refresh(self, token: str) -> tuple[str, str]:
        """The next refresh token, and the tier of the access token that came with it."""
        answer = self.authority.refresh(token)
        return str(answer["refresh_token"]), self.authority.claims(answer).tier

    def refused(self, token: str) -> OAuthError:
        with pytest.raises(OAuthError) as caught:
            self.authority.refresh(token)
        return caught.value

    def ended(self) -> list[str]:
        return sorted(grant.revoked_because for grant in self.authority.memory.grants.values() if grant.revoked_at)


def test_a_tier_follows_the_groups_at_the_refresh() -> None:
    club = Club()
    token = club.grant(club.sign_in())
    club.clock.forward(HOUR)
    token, tier = club.refresh(token)
    assert tier == "vibecoder"

    club.provider.groups["rosa"] = ["staff"]
    club.clock.forward(HOUR)
    token, tier = club.refresh(token)
    assert tier == "member"

    club.provider.groups["rosa"] = []
    club.clock.forward(HOUR)
    assert club.refresh(token)[1] == "public"


def test_all_grants_of_a_sign_in_share_what_the_provider_gave() -> None:
    """It takes a second use of a refresh token for theft: a copy in each grant would end all of them."""
    club = Club()
    profile = club.sign_in()
    tokens = [club.grant(profile) for _ in range(3)]
    for _ in range(4):
        club.clock.forward(HOUR)
        tokens = [club.refresh(token)[0] for token in tokens]
    assert club.provider.asked.count("refresh") == 4, "once in five minutes, whoever asks"
    assert len(club.signins.provider_sessions) == 1
    assert club.ended() == []


def test_two_sign_ins_of_one_account_have_a_record_each() -> None:
    club = Club()
    tokens = [club.grant(club.sign_in()) for _ in range(2)]
    club.clock.forward(HOUR)
    assert [club.refresh(token)[1] for token in tokens] == ["vibecoder", "vibecoder"]
    assert len(club.signins.provider_sessions) == 2


def test_who_is_gone_at_the_provider_is_refused_and_the_grant_ends() -> None:
    club = Club()
    profile = club.sign_in()
    token, other = club.grant(profile), club.grant(profile)
    del club.provider.groups["rosa"]
    club.clock.forward(HOUR)

    refused = club.refused(token)
    assert (refused.code, refused.reason) == ("invalid_grant", "provider_refused")
    assert "sign-in again" in refused.description
    assert club.ended() == ["provider_refused"]
    assert ("revoke", "ok", "provider_refused") in club.authority.memory.audit.events()
    assert club.refused(other).reason == "provider_session_over"
    assert club.ended() == ["provider_refused", "provider_session_over"]
    with pytest.raises(SignInOver):
        club.sessions.claims(profile)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"sub": "mallory"}, "provider_other_account"),
        ({"sub": None}, "provider_answer_refused"),
        ({"iss": "https://else.example"}, "provider_answer_refused"),
        ({"aud": "another"}, "provider_answer_refused"),
        ({"azp": "another"}, "provider_answer_refused"),
        ({"nonce": "another"}, "provider_answer_refused"),
        ({"auth_time": 1}, "provider_answer_refused"),
        ({"iat": 2_000_000_000}, "provider_answer_refused"),
        ({"exp": 1}, "provider_answer_refused"),
    ],
)
def test_a_new_id_token_is_of_the_same_account_client_and_sign_in(changed: dict[str, Any], reason: str) -> None:
    """OIDC Core, section 12.2."""
    club = Club()
    token = club.grant(club.sign_in())
    club.clock.forward(HOUR)
    club.provider.changed = changed
    assert club.refused(token).reason == reason
    assert club.ended() == [reason]


def test_userinfo_about_somebody_else_is_refused() -> None:
    """OIDC Core, section 5.3.2."""
    club = Club(tells_again=False)
    token = club.grant(club.sign_in())
    club.clock.forward(HOUR)
    club.provider.changed = {"sub": "mallory"}
    assert club.refused(token).reason == "provider_other_account"


def test_a_provider_that_does_not_answer_is_503_and_nothing_is_rotated() -> None:
    club = Club()
    token = club.grant(club.sign_in())
    club.clock.forward(HOUR)
    before = [replace(one) for one in club.authority.memory.tokens.values()]
    club.provider.down = True
    refused = club.refused(token)
    assert (refused.status, refused.code, refused.headers["Retry-After"]) == (503, "temporarily_unavailable", "9")
    assert list(club.authority.memory.tokens.values()) == before
    assert club.ended() == []
    club.provider.down = False
    assert club.refresh(token)[1] == "vibecoder", "at once: nobody holds the record"


def test_a_new_refresh_token_is_kept_when_the_rest_of_the_answer_does_not_come() -> None:
    club = Club(tells_again=False)
    token = club.grant(club.sign_in())
    club.clock.forward(HOUR)
    club.provider.userinfo_down = True
    assert club.refused(token).status == 503
    club.provider.userinfo_down = False
    assert club.refresh(token)[1] == "vibecoder", "the provider would take the old one for stolen"


def test_without_an_id_token_the_groups_are_those_of_userinfo() -> None:
    club = Club(tells_again=False)
    token = club.grant(club.sign_in())
    club.provider.groups["rosa"] = ["staff"]
    club.clock.forward(HOUR)
    assert club.refresh(token)[1] == "member"
    assert club.provider.asked[-2:] == ["metadata", "userinfo"]


def test_without_a_refresh_token_userinfo_is_asked_while_the_access_token_lasts_and_then_claims_get_old() -> None:
    club = Club(refreshes=False)
    token = club.grant(club.sign_in())
    club.provider.groups["rosa"] = ["staff"]
    club.clock.forward(HOUR // 2)
    token, tier = club.refresh(token)
    assert tier == "member"

    club.provider.groups["rosa"] = []
    club.clock.forward(HOUR)
    token, tier = club.refresh(token)
    assert tier == "member", "nobody can ask any more"
    club.clock.forward(23 * HOUR - 1)
    token, tier = club.refresh(token)
    assert tier == "member"
    club.clock.forward(1)
    assert club.refused(token).reason == "claims_too_old"
    assert club.ended() == ["claims_too_old"]


def test_an_account_that_userinfo_does_not_know_any_more_is_refused() -> None:
    club = Club(refreshes=False)
    token = club.grant(club.sign_in())
    del club.provider.groups["rosa"]
    club.clock.forward(HOUR // 2)
    assert club.refused(token).reason == "provider_refused"


@pytest.mark.parametrize("refreshes", [True, False])
def test_claims_that_nobody_can_read_again_count_as_long_as_is_configured(refreshes: bool) -> None:
    club = Club(refreshes=refreshes, tells_again=False, has_userinfo=False)
    profile = club.sign_in()
    strict = club.sessions_over(club.signins, claims_seconds=2 * HOUR)
    club.clock.forward(2 * HOUR - 1)
    assert strict.claims(profile, fresh=True) == profile.claims
    club.clock.forward(1)
    for fresh in (True, False):
        with pytest.raises(SignInOver, match="claims_too_old"):
            strict.claims(profile, fresh=fresh)
    assert club.sessions.claims(profile) == profile.claims


def test_a_record_lasts_as_long_as_the_last_grant_may() -> None:
    club = Club()
    token = club.grant(club.sign_in())
    (record,) = club.signins.provider_sessions.values()
    assert record.expires_at - int(club.clock.now) == SESSION_SECONDS + 180 * DAY
    club.clock.forward(20 * DAY)
    token, _ = club.refresh(token)
    club.signins.provider_sessions.clear()
    assert club.refused(token).reason == "provider_session_over"


def test_whoever_comes_while_another_asks_waits_for_what_is_found() -> None:
    club = Club()
    profile = club.sign_in()
    club.clock.forward(HOUR)
    club.provider.groups["rosa"] = ["staff"]
    waited: list[str] = []

    def another() -> None:
        with pytest.raises(Unavailable) as caught:
            club.sessions.claims(profile, fresh=True)
        assert caught.value.details["retryAfterSeconds"] == 2
        waited.append("waited")

    club.provider.meanwhile = another
    assert "groups:staff" in club.sessions.claims(profile, fresh=True)
    assert waited == ["waited"] and len(club.pauses) == 10
    assert "groups:staff" in club.sessions.claims(profile, fresh=True)
    assert club.provider.asked.count("refresh") == 1


def test_whoever_took_the_record_and_died_holds_nobody_up_for_long() -> None:
    club = Club()
    profile = club.sign_in()
    club.clock.forward(HOUR)
    (record,) = club.signins.provider_sessions.values()
    club.signins.replace_provider_session(replace(record, busy_until=int(club.clock.now) + 30, version=1))
    with pytest.raises(Unavailable):
        club.sessions.claims(profile, fresh=True)
    club.clock.forward(30)
    assert club.sessions.claims(profile, fresh=True) == profile.claims


@pytest.mark.parametrize("nth", [1, 2])
def test_a_lost_race_reads_what_the_other_found(nth: int) -> None:
    """The other is faster before the provider is asked, or took over from one that was given up for dead."""
    club = Club(refreshes=nth == 1)
    profile = club.sign_in()
    club.clock.forward(HOUR // 2)
    club.provider.groups["rosa"] = ["staff"]

    def other() -> None:
        (record,) = club.signins.provider_sessions.values()
        club.signins.provider_sessions[record.id] = replace(record, busy_until=0)
        club.sessions.claims(profile, fresh=True)

    class Late:
        """Lets the other go before the nth write."""

        def __init__(self) -> None:
            self.writes = 0

        def __getattr__(self, name: str) -> Any:
            if name != "replace_provider_session":
                return getattr(club.signins, name)
            self.writes += 1
            found: Callable[..., Any] = getattr(
                Racing(club.signins, name, other) if self.writes == nth else club.signins, name
            )
            return found

    assert "groups:staff" in club.sessions_over(Late()).claims(profile, fresh=True)


def test_no_token_of_the_provider_goes_to_another_that_was_configured_since() -> None:
    club = Club()
    token = club.grant(club.sign_in())
    club.clock.forward(HOUR)
    club.provider.issuer = "https://elsewhere.example"
    assert club.refused(token).reason == "provider_other"
    assert "refresh" not in club.provider.asked


def test_without_a_provider_its_accounts_have_to_sign_in_again_and_wallets_do_not() -> None:
    club = Club()
    with pytest.raises(SignInOver):
        NO_PROVIDER.claims(club.sign_in())
    wallet = Profile(subject="0x" + "1" * 40, kind="wallet")
    assert NO_PROVIDER.claims(wallet) == club.sessions.claims(wallet, fresh=True) == ()


def test_a_record_that_its_secret_does_not_open_is_nobodys() -> None:
    club = Club()
    profile, other = club.sign_in(), club.sign_in()
    records = club.signins.provider_sessions
    records[digest(profile.provider)] = replace(records[digest(other.provider)], id=digest(profile.provider))
    with pytest.raises(SignInOver, match="provider_session_broken"):
        club.sessions.claims(profile)
    with pytest.raises(SignInOver, match="provider_session_over"):
        club.sessions.claims(replace(profile, provider=""))


def test_nothing_of_the_provider_stands_readable_in_the_store() -> None:
    club = Club()
    profile = club.sign_in()
    token = club.grant(profile)
    club.clock.forward(HOUR)
    club.refresh(token)
    kept = stored(club.authority)
    for secret in ("of-the-provider", "editors", "rosa", profile.provider):
        assert secret not in kept


def test_a_refresh_token_is_asked_for_where_the_provider_knows_how() -> None:
    for refreshes in (True, False):
        query = dict(parse_qsl(urlsplit(Club(refreshes=refreshes).oidc().start("/account", BROWSER)).query))
        assert ("offline_access" in query["scope"].split()) is refreshes


def test_parameters_of_the_operator_go_along_and_replace_none_of_ours() -> None:
    oidc = Club().oidc(parameters={"access_type": "offline", "prompt": "consent", "client_id": "another"})
    query = dict(parse_qsl(urlsplit(oidc.start("/account", BROWSER)).query))
    assert (query["access_type"], query["prompt"], query["client_id"]) == ("offline", "consent", "commonplace")
