"""What is believed of an OIDC provider's documents and ID tokens."""

from typing import Any

import pytest
from joserfc import jws, jwt
from joserfc.jwk import ECKey, OctKey

from commonplace.identity.oidc import IdTokens, metadata_of, profile_of, tokens_of
from commonplace.kernel.errors import Forbidden, Unavailable
from tests.fakes.identity_stores import Clock
from tests.fakes.oidc_provider import CLIENT, ISSUER, FakeProvider

DOCUMENT = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize",
    "token_endpoint": f"{ISSUER}/token",
    "jwks_uri": f"{ISSUER}/jwks",
}
KEY = ECKey.generate_key("P-256", private=True)


class Provider(FakeProvider):
    def keys(self, *, again: bool = False) -> dict[str, Any]:
        return {"keys": [KEY.as_dict(private=False)]}


def claims(**changed: Any) -> dict[str, Any]:
    now = int(Clock().now)
    told = {"iss": ISSUER, "aud": CLIENT, "sub": "rosa", "iat": now, "exp": now + 60, "nonce": "n"} | changed
    return {name: value for name, value in told.items() if value is not None}


def judged(token: str) -> Any:
    clock = Clock()
    return IdTokens(Provider(clock), clock).verify(token, nonce={"essential": True, "value": "n"})


@pytest.mark.parametrize(
    "changed", [{}, {"aud": [CLIENT]}, {"aud": [CLIENT, "x"], "azp": CLIENT}, {"exp": 1_799_999_941}]
)
def test_an_id_token_for_us_of_this_time_and_this_sign_in_is_believed(changed: dict[str, Any]) -> None:
    assert judged(jwt.encode({"alg": "ES256"}, claims(**changed), KEY)) == claims(**changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"iss": "https://else.example"},
        {"iss": None},
        {"aud": "another"},
        {"aud": []},
        {"aud": None},
        {"aud": [CLIENT, "x"]},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": 1_799_999_940},
        {"exp": "later"},
        {"exp": float("nan")},
        {"exp": True},
        {"exp": None},
        {"iat": 1_800_000_061},
        {"iat": None},
        {"sub": None},
        {"sub": 7},
    ],
)
def test_an_id_token_for_others_or_of_another_time_or_sign_in_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(Forbidden):
        judged(jwt.encode({"alg": "ES256"}, claims(**changed), KEY))


def test_an_id_token_that_the_provider_did_not_sign_is_refused() -> None:
    other = ECKey.generate_key("P-256", private=True)
    by_secret = jws.serialize_compact({"alg": "HS256"}, b"{}", OctKey.import_key("s" * 32))
    for token in (jwt.encode({"alg": "ES256"}, claims(), other), by_secret, "eyJhbGciOiJub25lIn0.e30.", "", "a.b.c"):
        with pytest.raises(Forbidden):
            judged(token)


@pytest.mark.parametrize("subject", [None, "", 7, "s" * 256])
def test_an_account_without_a_usable_name_is_nobody(subject: Any) -> None:
    with pytest.raises(Forbidden):
        profile_of({"sub": subject}, ISSUER)


def test_metadata_tells_what_can_be_asked_for() -> None:
    bare = metadata_of(DOCUMENT, ISSUER)
    assert (bare.userinfo_endpoint, bare.offline, bare.names_itself) == (None, False, False)
    more = {"userinfo_endpoint": f"{ISSUER}/me", "scopes_supported": ["openid", "offline_access"]}
    rich = metadata_of(DOCUMENT | more | {"authorization_response_iss_parameter_supported": True}, ISSUER)
    assert (rich.userinfo_endpoint, rich.offline, rich.names_itself) == (f"{ISSUER}/me", True, True)
    odd = metadata_of(DOCUMENT | {"userinfo_endpoint": 7, "scopes_supported": "offline_access"}, ISSUER)
    assert (odd.userinfo_endpoint, odd.offline) == (None, False)
    wrongs: tuple[Any, ...] = (
        None,
        [],
        {},
        DOCUMENT | {"issuer": "https://else.example"},
        DOCUMENT | {"jwks_uri": None},
    )
    for wrong in wrongs:
        with pytest.raises(Unavailable):
            metadata_of(wrong, ISSUER)


@pytest.mark.parametrize(
    ("given", "seconds"), [(3_599, 3_599), ("3599", 3_599), (None, 0), (-1, 0), ("soon", 0), (True, 0)]
)
def test_an_access_token_lasts_as_long_as_is_said(given: Any, seconds: int) -> None:
    found = tokens_of({"access_token": "a", "refresh_token": "", "id_token": 7, "expires_in": given})
    assert (found.access_token, found.refresh_token, found.id_token, found.seconds) == ("a", None, None, seconds)


def test_what_is_no_token_response_is_no_answer() -> None:
    odds: tuple[Any, ...] = (None, [], "text")
    for odd in odds:
        with pytest.raises(Unavailable):
            tokens_of(odd)
