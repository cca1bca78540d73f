"""Groups are read again from an OpenID provider that others wrote, which takes no refresh token twice."""

import json
import time
from collections.abc import Callable, Iterator
from urllib.request import Request, urlopen

import pytest

from commonplace.identity.accounts import Profile
from commonplace.identity.oauth.errors import OAuthError
from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_provider import HttpProvider
from commonplace.identity.oidc_sessions import ProviderSessions, SignInOver
from commonplace.identity.roles import MappedStandings, RoleMap
from commonplace.kernel.errors import Unavailable
from tests.conformance.mcp import clients as node
from tests.conformance.oidc.conftest import CALLBACK, SECRET, running
from tests.fakes.authority import Authority, told
from tests.fakes.ethereum import FakeHats
from tests.fakes.identity_stores import Clock, MemorySignIns

BASE = CALLBACK.removesuffix("/oidc/callback")
BROWSER = "a cookie of this browser"
MINUTES = 301
"""Seconds after which claims are read again."""

Browse = Callable[[str, str], dict[str, str]]


class Here:
    """This side of the provider: its clock runs ahead, the provider's does not."""

    def __init__(self, issuer: str, sign_in: Browse, secret: str = SECRET) -> None:
        self.issuer = issuer
        self.clock = Clock(time.time())
        self.http = HttpProvider(issuer, "commonplace", lambda: secret or None)
        self.signins = MemorySignIns(self.clock)
        self.sessions = ProviderSessions(self.http, self.signins, self.clock)
        self._browse = sign_in

    def sign_in(self, name: str) -> Profile:
        """Consent is asked for, without which this provider gives no refresh token (OIDC Core, section 11)."""
        oidc = OidcSignIn(
            self.http, self.sessions, self.signins, self.clock, issuer=BASE, name="x", parameters={"prompt": "consent"}
        )
        return oidc.finish(self._browse(oidc.start("/account", BROWSER), name), BROWSER)[0]

    def groups(self, name: str, groups: list[str] | None) -> None:
        """Of this account from now on; None is no account."""
        with urlopen(Request(f"{self.issuer}/groups/{name}", json.dumps(groups).encode(), method="PUT")):
            pass

    def later(self, profile: Profile, seconds: float = MINUTES) -> set[str]:
        """Its groups at a refresh."""
        self.clock.forward(seconds)
        return {one for one in self.sessions.claims(profile, fresh=True) if one.startswith("groups:")}


@pytest.fixture
def here(provider: tuple[str, str], sign_in: Browse) -> Here:
    return Here(provider[0], sign_in, provider[1])


@pytest.fixture(scope="module")
def without_refresh(programs: node.Clients) -> Iterator[str]:
    with running(programs, SECRET, refresh=False) as issuer:
        yield issuer


@pytest.fixture(scope="module")
def without_either(programs: node.Clients) -> Iterator[str]:
    with running(programs, SECRET, refresh=False, userinfo=False) as issuer:
        yield issuer


def test_groups_that_change_are_found_at_each_refresh_with_a_new_token_each_time(here: Here) -> None:
    profile = here.sign_in("gardener")
    assert here.later(profile) == {"groups:gardeners"}
    here.groups("gardener", ["pickers", "cooks"])
    assert here.later(profile) == {"groups:pickers", "groups:cooks"}
    here.groups("gardener", [])
    assert here.later(profile) == set()
    assert here.later(profile, 1) == set()


def test_a_tier_follows_in_every_grant_of_the_sign_in(here: Here) -> None:
    authority = Authority(clock=here.clock, signins=here.signins, claims=here.sessions)
    roles = RoleMap.from_json('{"hats": {}, "groups": {"groups:farmers": {"tier": "member"}}}', organisation="default")
    standings = MappedStandings(roles, FakeHats(here.clock))
    authority.accounts.of = standings.of  # type: ignore[method-assign]
    profile = here.sign_in("farmer")
    standing = standings.of(profile.subject, claims=profile.claims)
    urls = [authority.decide(authority.begin(), profile=profile, standing=standing) for _ in range(2)]
    answers = [authority.exchange(told(url)["code"]) for url in urls]

    def tiers() -> list[str]:
        here.clock.forward(MINUTES)
        answers[:] = [authority.refresh(answer["refresh_token"]) for answer in answers]
        return [authority.claims(answer).tier for answer in answers]

    assert tiers() == ["member", "member"]
    here.groups("farmer", ["idlers"])
    assert tiers() == ["public", "public"]
    here.groups("farmer", None)
    here.clock.forward(MINUTES)
    for answer in answers:
        with pytest.raises(OAuthError, match="invalid_grant"):
            authority.refresh(answer["refresh_token"])
    assert {grant.revoked_because for grant in authority.memory.grants.values()} == {
        "provider_refused",
        "provider_session_over",
    }


def test_a_refresh_token_that_was_used_elsewhere_ends_the_sign_in(here: Here) -> None:
    """This provider takes the second use for theft."""
    profile = here.sign_in("miller")
    (before,) = here.signins.provider_sessions.values()
    here.later(profile)
    here.signins.provider_sessions[before.id] = before
    with pytest.raises(SignInOver, match="provider_refused"):
        here.later(profile)


def test_without_refresh_tokens_userinfo_is_asked_while_the_access_token_lasts(
    without_refresh: str, sign_in: Browse
) -> None:
    here = Here(without_refresh, sign_in)
    profile = here.sign_in("baker")
    here.groups("baker", ["pickers"])
    assert here.later(profile) == {"groups:pickers"}
    here.groups("baker", ["cooks"])
    assert here.later(profile, 3_600) == {"groups:pickers"}, "nobody can ask any more"
    with pytest.raises(SignInOver, match="claims_too_old"):
        here.later(profile, 24 * 3_600 - 3_600)


def test_who_is_gone_is_refused_by_userinfo(without_refresh: str, sign_in: Browse) -> None:
    here = Here(without_refresh, sign_in)
    profile = here.sign_in("smith")
    here.groups("smith", None)
    with pytest.raises(SignInOver, match="provider_refused"):
        here.later(profile)


def test_without_refresh_tokens_and_userinfo_claims_last_a_day(without_either: str, sign_in: Browse) -> None:
    here = Here(without_either, sign_in)
    profile = here.sign_in("cooper")
    assert here.http.metadata().userinfo_endpoint is None
    assert not here.http.metadata().offline
    here.groups("cooper", ["pickers"])
    assert here.later(profile, 24 * 3_600 - 1) == {"groups:coopers"}
    with pytest.raises(SignInOver, match="claims_too_old"):
        here.later(profile, 1)


def test_a_wrong_client_secret_is_no_word_about_the_account(provider: tuple[str, str], sign_in: Browse) -> None:
    issuer, secret = provider
    here = Here(issuer, sign_in, secret)
    profile = here.sign_in("weaver")
    wrong = HttpProvider(issuer, "commonplace", lambda: "another" if secret else None)
    sessions = ProviderSessions(wrong, here.signins, here.clock)
    here.clock.forward(MINUTES)
    if secret:
        with pytest.raises(Unavailable):
            sessions.claims(profile, fresh=True)
    assert here.later(profile, 0) == {"groups:weavers"}
