"""Access tokens: every way in which one can be no good, and what is remembered of those that are."""

import json
from base64 import urlsafe_b64encode
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey

from commonplace.identity.access_tokens import AccessTokens, RememberedKeys, keys_in
from commonplace.identity.keyring import new_key
from commonplace.identity.tokens import MAX_TOKEN_CHARACTERS, BadToken
from commonplace.kernel.errors import Unavailable
from tests.fakes.access_tokens import ISSUER, Keys, Realm, unsigned
from tests.fakes.identity_stores import Clock

MCP = f"{ISSUER}/mcp"


def reason(realm: Realm, token: str, resource: str | None = MCP) -> str:
    with pytest.raises(BadToken) as refused:
        realm.tokens.verify(token, resource, realm.clock.now)
    return refused.value.reason


def claims(realm: Realm, **changes: Any) -> dict[str, Any]:
    """Of a good token, but for these; a claim of `...` is left out."""
    told = realm.granted(MCP, "knowledge:read").as_claims() | changes
    return {name: value for name, value in told.items() if value is not ...}


def test_a_good_token_says_what_was_signed() -> None:
    realm = Realm()
    told = replace(realm.granted(MCP, "knowledge:read", "knowledge:write"), resource_scopes=("documents",))
    assert realm.tokens.verify(realm.sign(told.as_claims()), MCP, realm.clock.now) == told


def test_a_token_that_is_too_long_is_not_looked_at() -> None:
    realm = Realm()
    long = realm.sign(claims(realm, roles=["x" * MAX_TOKEN_CHARACTERS]))
    assert (reason(realm, long), realm.keys.asked) == ("too_long", 0)


@pytest.mark.parametrize(
    "token", ["", "garbage", "a.b", "a.b.c.d", "..", "a.b.", "ä.b.c", "a.b.c ", "a.b.c\n", "e30.e30.e30=", "AA.AA.AA"]
)
def test_what_is_no_token_is_refused_before_any_key_is_asked_for(token: str) -> None:
    realm = Realm()
    assert reason(realm, token) in ("malformed", "header")
    assert realm.keys.asked == 0


@pytest.mark.parametrize(
    "header",
    [
        {"typ": "JWT"},
        {"typ": None},
        {"typ": "AT+JWT"},
        {"kid": None},
        {"kid": 7},
        {"kid": ""},
        {"kid": "k" * 129},
        {"jwk": {"kty": "EC"}},
        {"jku": "https://evil.example/keys"},
        {"x5u": "https://evil.example/cert"},
        {"crit": ["exp"], "exp": 1},
        {"b64": False},
        {"zip": "DEF"},
    ],
    ids=str,
)
def test_a_header_that_asks_for_anything_else_is_refused(header: dict[str, Any]) -> None:
    realm = Realm()
    whole = {"alg": "ES256", "typ": "at+jwt", "kid": realm.key.kid} | header
    told = {name: value for name, value in whole.items() if value is not None}
    signed = realm.sign(claims(realm)).rpartition(".")[2]
    assert reason(realm, unsigned(told, claims(realm), signed)) == "header"


@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "RS256", "ES384", "es256", ["ES256"], None])
def test_the_algorithm_is_ours_to_choose(algorithm: Any) -> None:
    realm = Realm()
    header = {"alg": algorithm, "typ": "at+jwt", "kid": realm.key.kid}
    assert reason(realm, unsigned(header, claims(realm), "")) == "malformed"
    assert reason(realm, unsigned(header, claims(realm))) == "header"


def test_a_public_key_is_no_secret_to_sign_with() -> None:
    """The confusion of algorithms: HMAC under what everybody knows."""
    realm = Realm()
    public = json.dumps({name: realm.key.jwk[name] for name in ("kty", "crv", "x", "y")})
    header = {"alg": "HS256", "typ": "at+jwt", "kid": realm.key.kid}
    forged = jws.serialize_compact(header, json.dumps(claims(realm)), OctKey.import_key(public))
    assert reason(realm, forged) == "header"
    assert reason(
        realm, ".".join([unsigned({**header, "alg": "ES256"}, claims(realm), forged.rpartition(".")[2])])
    ) == ("signature")


def test_a_signature_of_another_key_is_refused_and_of_an_unknown_key_too() -> None:
    realm, stranger = Realm(), new_key(0)
    assert reason(realm, realm.sign(claims(realm), stranger)) == "unknown_key"
    assert reason(realm, realm.sign(claims(realm), replace(stranger, kid=realm.key.kid))) == "signature"


@settings(deadline=None)
@given(at=st.integers(0, 10_000), flipped=st.integers(1, 255))
def test_no_byte_of_a_token_can_be_changed(at: int, flipped: int) -> None:
    realm = Realm()
    good = realm.sign(claims(realm))
    place = at % len(good)
    changed = good[:place] + chr((ord(good[place]) ^ flipped) % 128) + good[place + 1 :]
    if changed == good or _same_bytes(good, changed):
        return
    with pytest.raises(BadToken):
        realm.tokens.verify(changed, MCP, realm.clock.now)


def _same_bytes(one: str, other: str) -> bool:
    """The last letter of a part may carry bits that mean nothing."""
    from base64 import urlsafe_b64decode

    try:
        decoded = [[urlsafe_b64decode(part + "==") for part in text.split(".")] for text in (one, other)]
    except ValueError:
        return False
    return decoded[0] == decoded[1]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("iss", [..., None, 7, "", ["x"]]),
        ("sub", [..., None, 7, ""]),
        ("aud", [..., None, 7, "", [MCP], [MCP, "https://other.example"], []]),
        ("exp", [..., None, "1", 1.5, True, -1]),
        ("iat", [..., None, "1", 1.5, True, -1]),
        ("jti", [..., None, 7, ""]),
        ("client_id", [..., None, 7, ""]),
        ("scope", [..., None, 7, ["knowledge:read"], 'knowledge:read "', "é"]),
        ("org", [..., 7, "", "Default", "a b", ["default"]]),
        ("member", [..., 7, "", []]),
        ("tier", [..., None, "admin", "", 2, ["member"]]),
        ("roles", [..., None, "member", [7], {"member": 1}]),
        ("grant", [..., None, 7, ""]),
        ("permission", [..., None, "all", "", 1]),
        ("resource_scopes", [..., "documents", [7], {}]),
    ],
)
def test_every_claim_has_its_shape(name: str, values: list[Any]) -> None:
    realm = Realm()
    for value in values:
        assert reason(realm, realm.sign(claims(realm, **{name: value}))) == "claims", (name, value)


@pytest.mark.parametrize("payload", ["[]", '"x"', "7", "null", "nonsense", "[" * 2_000])
def test_what_is_signed_has_to_be_claims(payload: str) -> None:
    realm = Realm()
    header = {"alg": "ES256", "typ": "at+jwt", "kid": realm.key.kid}
    assert reason(realm, jws.serialize_compact(header, payload, ECKey.import_key(dict(realm.key.jwk)))) == "malformed"


@pytest.mark.parametrize(
    "resource",
    [
        f"{ISSUER}/mcp/",
        f"{ISSUER}/mcp-other",
        f"{ISSUER}/mcp/knowledge",
        f"{ISSUER}/MCP",
        f"{ISSUER}/m",
        ISSUER,
        "http://kb.example.org/mcp",
        "https://kb.example.org:8443/mcp",
        "https://kb.example.org.evil.example/mcp",
        "https://evil.example/mcp",
        "",
    ],
)
def test_a_token_is_for_its_audience_alone(resource: str) -> None:
    realm = Realm()
    token = realm.sign(claims(realm, aud=resource or "x"))
    assert reason(realm, token) == "audience"
    assert realm.tokens.verify(token, None, realm.clock.now).audience == resource or resource == ""


def test_a_token_of_another_issuer_is_refused() -> None:
    realm = Realm()
    for issuer in (ISSUER + "/", "http://kb.example.org", "https://evil.example"):
        assert reason(realm, realm.sign(claims(realm, iss=issuer))) == "issuer"


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, None), (3_600, None), (3_659, None), (3_660, "expired"), (90_000, "expired")]
)
def test_a_token_ends_a_minute_after_it_says(seconds: int, told: str | None) -> None:
    realm = Realm()
    token = realm.token(MCP, "knowledge:read")
    realm.tokens.verify(token, MCP, realm.clock.now)
    realm.clock.forward(seconds)
    if told is None:
        realm.tokens.verify(token, MCP, realm.clock.now)
    else:
        assert reason(realm, token) == told


@pytest.mark.parametrize(("ahead", "good"), [(0, True), (60, True), (61, False)])
def test_clocks_may_differ_by_a_minute(ahead: int, good: bool) -> None:
    realm = Realm()
    token = realm.sign(claims(realm, iat=int(realm.clock.now) + ahead, exp=int(realm.clock.now) + 3_600))
    if good:
        realm.tokens.verify(token, MCP, realm.clock.now)
    else:
        assert reason(realm, token) == "issued_later"
    assert reason(realm, realm.sign(claims(realm, exp=int(realm.clock.now) - 10))) == "issued_later"


def test_a_key_that_is_withdrawn_verifies_nothing_from_then_on() -> None:
    """Within five minutes, tokens that were verified before included."""
    realm = Realm()
    token = realm.token(MCP, "knowledge:read")
    realm.tokens.verify(token, MCP, realm.clock.now)
    realm.keys.keys = [new_key(0)]
    realm.clock.forward(299)
    realm.tokens.verify(token, MCP, realm.clock.now)
    realm.clock.forward(1)
    assert reason(realm, token) == "unknown_key"


def test_a_new_key_is_found_at_once_and_invented_ones_are_not_asked_for_each_time() -> None:
    realm = Realm()
    realm.tokens.verify(realm.token(MCP), MCP, realm.clock.now)
    strangers = [realm.sign(claims(realm), new_key(0)) for _ in range(5)]
    assert [reason(realm, token) for token in strangers] == ["unknown_key"] * 5
    assert realm.keys.asked == 1
    new = new_key(0)
    realm.keys.keys.append(new)
    realm.clock.forward(30)
    realm.tokens.verify(realm.sign(claims(realm), new), MCP, realm.clock.now)
    assert realm.keys.asked == 2


def test_keys_that_cannot_be_read_are_no_verdict() -> None:
    realm = Realm()
    realm.keys.down = True
    with pytest.raises(Unavailable):
        realm.tokens.verify(realm.token(MCP), MCP, realm.clock.now)


def test_a_signature_is_checked_once_and_the_memory_of_it_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.identity.access_tokens.REMEMBERED_TOKENS", 2)
    realm = Realm()
    checked = []
    real = jws.deserialize_compact

    def counting(*given: Any, **more: Any) -> Any:
        checked.append(given)
        return real(*given, **more)

    monkeypatch.setattr(jws, "deserialize_compact", counting)
    tokens = [realm.token(MCP) for _ in range(3)]
    for token in (tokens[0], tokens[0], tokens[1], tokens[2], tokens[2], tokens[0]):
        realm.tokens.verify(token, MCP, realm.clock.now)
    assert len(checked) == 4


def test_a_token_that_was_verified_for_one_audience_is_refused_by_another() -> None:
    realm = Realm()
    token = realm.token(MCP)
    realm.tokens.verify(token, MCP, realm.clock.now)
    assert reason(realm, token, f"{ISSUER}/api") == "audience"


def test_keys_of_other_kinds_are_left_out() -> None:
    good = json.loads(Keys(new_key(0)).jwks() or "")["keys"][0]
    others = [
        {"kty": "oct", "k": "c2VjcmV0", "kid": "hmac"},
        RSAKey.generate_key(2048).as_dict(private=False, kid="rsa"),
        ECKey.generate_key("P-384").as_dict(private=False, kid="p384"),
    ]
    assert list(keys_in(json.dumps({"keys": [good, *others]}))) == [good["kid"]]


@pytest.mark.parametrize(
    "text", [None, "", "{}", "nonsense", "[]", '{"keys": 7}', '{"keys": [{"kty": "EC", "crv": "P-256"}]}']
)
def test_a_set_of_keys_that_cannot_be_read_holds_none(text: str | None) -> None:
    assert keys_in(text) == {}


def test_a_point_that_is_not_on_the_curve_verifies_nothing() -> None:
    realm = Realm()
    zeros = urlsafe_b64encode(bytes(31) + b"\1").decode().rstrip("=")

    class Broken:
        def jwks(self) -> str:
            key = {"kty": "EC", "crv": "P-256", "x": zeros, "y": zeros, "kid": realm.key.kid}
            return json.dumps({"keys": [key]})

    tokens = AccessTokens(ISSUER, RememberedKeys(Broken(), Clock()))
    with pytest.raises(BadToken, match="signature"):
        tokens.verify(realm.token(MCP), MCP, realm.clock.now)
