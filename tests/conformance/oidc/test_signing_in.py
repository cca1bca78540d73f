"""Signing in with an OpenID provider that others wrote."""

import time
from collections.abc import Callable
from urllib.parse import parse_qsl, urlsplit

import pytest

from commonplace.identity.oidc import OidcSignIn
from commonplace.identity.oidc_provider import HttpProvider
from commonplace.identity.oidc_sessions import ProviderSessions
from commonplace.kernel.errors import Forbidden, Unavailable
from tests.fakes.identity_stores import Clock, MemorySignIns

BASE = "https://commonplace.example"
BROWSER = "a cookie of this browser"
NEXT = "/authorize?client_id=x&state=y"

Browse = Callable[[str, str], dict[str, str]]


@pytest.fixture
def oidc(provider: tuple[str, str]) -> OidcSignIn:
    issuer, secret = provider
    return sign_in_by(HttpProvider(issuer, "commonplace", lambda: secret or None))


def sign_in_by(http: HttpProvider) -> OidcSignIn:
    signins = MemorySignIns(Clock(time.time()))
    sessions = ProviderSessions(http, signins, time.time)
    return OidcSignIn(http, sessions, signins, time.time, issuer=BASE, name="Example")


def test_whoever_signs_in_is_known_by_the_providers_name_and_groups(
    oidc: OidcSignIn, provider: tuple[str, str], sign_in: Browse
) -> None:
    answer = sign_in(oidc.start(NEXT, BROWSER), "editor")

    profile, next_path = oidc.finish(answer, BROWSER)

    assert next_path == NEXT
    assert profile.subject == f"oidc:{provider[0]}#editor"
    assert profile.name == "The editor"
    assert set(profile.claims) == {"groups:editors", "email:editor@example.org", "sub:editor"}


def test_an_address_that_nobody_has_verified_is_no_claim(oidc: OidcSignIn, sign_in: Browse) -> None:
    profile, _ = oidc.finish(sign_in(oidc.start(NEXT, BROWSER), "stranger"), BROWSER)

    assert set(profile.claims) == {"groups:strangers", "sub:stranger"}


def test_an_answer_serves_once(oidc: OidcSignIn, sign_in: Browse) -> None:
    answer = sign_in(oidc.start(NEXT, BROWSER), "editor")
    oidc.finish(answer, BROWSER)

    with pytest.raises(Forbidden):
        oidc.finish(answer, BROWSER)


def test_an_answer_serves_no_other_browser(oidc: OidcSignIn, sign_in: Browse) -> None:
    answer = sign_in(oidc.start(NEXT, BROWSER), "editor")

    with pytest.raises(Forbidden):
        oidc.finish(answer, "another cookie")
    with pytest.raises(Forbidden):
        oidc.finish(answer, BROWSER)  # the attempt is over


def test_a_code_does_not_fit_another_sign_in(oidc: OidcSignIn, sign_in: Browse) -> None:
    answer = sign_in(oidc.start(NEXT, BROWSER), "editor")
    other = dict(parse_qsl(urlsplit(oidc.start(NEXT, BROWSER)).query))["state"]

    with pytest.raises(Forbidden):
        oidc.finish(answer | {"state": other}, BROWSER)


def test_who_turns_back_at_the_provider_is_nobody(oidc: OidcSignIn, sign_in: Browse) -> None:
    answer = sign_in(oidc.start(NEXT, BROWSER), "")
    assert answer["error"] == "access_denied"

    with pytest.raises(Forbidden):
        oidc.finish(answer, BROWSER)


def test_an_answer_that_names_another_provider_is_refused(oidc: OidcSignIn, sign_in: Browse) -> None:
    answer = sign_in(oidc.start(NEXT, BROWSER), "editor")

    with pytest.raises(Forbidden):
        oidc.finish(answer | {"iss": "https://elsewhere.example"}, BROWSER)


def test_a_code_that_the_provider_never_gave_is_refused(oidc: OidcSignIn) -> None:
    state = dict(parse_qsl(urlsplit(oidc.start(NEXT, BROWSER)).query))["state"]
    issuer = oidc.provider.metadata().issuer

    with pytest.raises(Forbidden):
        oidc.finish({"code": "invented", "state": state, "iss": issuer}, BROWSER)


def test_a_provider_that_is_gone_is_a_matter_of_time() -> None:
    http = HttpProvider("http://127.0.0.1:9", "commonplace", lambda: None)

    with pytest.raises(Unavailable):
        sign_in_by(http).start(NEXT, BROWSER)
