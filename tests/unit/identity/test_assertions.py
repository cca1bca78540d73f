"""Assertions of clients that sign (id C13 of the negative tests)."""

import base64
import hmac
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity.oauth.client_auth import Assertions, BadAssertion
from commonplace.identity.oauth.client_documents import MAX_ADDRESSES, ClientKeys
from commonplace.identity.oauth.client_metadata import usable
from commonplace.identity.records import Client
from commonplace.kernel.errors import RateLimited
from commonplace.kernel.fetch import PER_HOST
from commonplace.kernel.limits import Limiter
from tests.fakes.authority import Counters
from tests.fakes.identity_clients import FakeClients, FakeWeb
from tests.unit.identity.documented import Clock, text
from tests.unit.identity.signing import ISSUER, NOW, TOKEN_ENDPOINT, claims, ec, public, rsa, signed

ID = "https://app.example/client.json"
KEYS_URL = "https://app.example/keys.json"
STRICT = "client-authentication+jwt"


class World:
    """One client, with its keys in its registration or at an address."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.store = FakeClients(self.clock)
        self.web = FakeWeb()
        self.assertions = Assertions(
            self.store,
            self.web,
            Limiter(Counters(), self.clock),
            self.clock,
            issuer=ISSUER,
            token_endpoint=TOKEN_ENDPOINT,
        )
        self.client = client(jwks=public(ec("e"), rsa("r")))

    def check(self, assertion: str) -> None:
        self.assertions.check(self.client, assertion)

    def refusal(self, assertion: str) -> str:
        with pytest.raises(BadAssertion) as bad:
            self.check(assertion)
        return bad.value.reason

    def at_an_address(self, *keys: Any) -> None:
        self.client = client(jwks_uri=KEYS_URL)
        self.web.pages[KEYS_URL] = text(public(*keys))


def client(**keys: Any) -> Client:
    return Client(id=ID, name="An app", source="document", auth_method="private_key_jwt", **keys)


def encoded(values: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.parametrize("key", [ec("e"), rsa("r")], ids=["ES256", "RS256"])
def test_client_proves_itself_with_its_key(world: World, key: Any) -> None:
    world.check(signed(key, claims(ID)))


@pytest.mark.parametrize(
    ("audience", "typ"),
    [
        (ISSUER, "JWT"),
        (TOKEN_ENDPOINT, "JWT"),
        ([ISSUER], "jwt"),
        ([ISSUER, TOKEN_ENDPOINT], None),
        (ISSUER, STRICT),
        ([ISSUER], STRICT.upper()),
    ],
)
def test_audience_is_the_issuer_or_the_token_endpoint(world: World, audience: Any, typ: str | None) -> None:
    world.check(signed(ec("e"), claims(ID, aud=audience), typ=typ))


@pytest.mark.parametrize(
    ("audience", "typ"),
    [
        (None, "JWT"),
        ("", "JWT"),
        ([], "JWT"),
        (5, "JWT"),
        ({"x": 1}, "JWT"),
        ([[ISSUER]], "JWT"),
        (ISSUER + "/", "JWT"),
        ("https://other.example", "JWT"),
        ([ISSUER, "https://other.example"], "JWT"),
        (f"{ISSUER}/mcp", "JWT"),
        (TOKEN_ENDPOINT, STRICT),
        ([ISSUER, TOKEN_ENDPOINT], STRICT),
    ],
)
def test_c13_other_audience_is_refused(world: World, audience: Any, typ: str) -> None:
    assert world.refusal(signed(ec("e"), claims(ID, aud=audience), typ=typ)) == "other_audience"


@pytest.mark.parametrize("changed", [{"iss": "x"}, {"sub": "x"}, {"iss": None}, {"sub": None}, {"iss": [ID]}])
def test_c13_assertion_of_another_client_is_refused(world: World, changed: dict[str, Any]) -> None:
    assert world.refusal(signed(ec("e"), claims(ID, **changed))) == "not_of_this_client"


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"exp": None}, "exp_missing"),
        ({"exp": "soon"}, "exp_malformed"),
        ({"exp": True}, "exp_malformed"),
        ({"exp": float("nan")}, "exp_malformed"),
        ({"exp": float("inf")}, "exp_malformed"),
        ({"exp": -5}, "exp_malformed"),
        ({"exp": NOW - 60}, "expired"),
        ({"exp": NOW - 5_000}, "expired"),
        ({"exp": NOW + 3_661}, "lasts_too_long"),
        ({"exp": NOW + 86_400}, "lasts_too_long"),
        ({"nbf": NOW + 61}, "not_yet_valid"),
        ({"iat": NOW + 61}, "not_yet_valid"),
        ({"iat": "now"}, "iat_malformed"),
        ({"nbf": [NOW]}, "nbf_malformed"),
        ({"iat": NOW, "nbf": NOW + 61}, "not_yet_valid"),
        ({"jti": None}, "jti_missing"),
        ({"jti": ""}, "jti_missing"),
        ({"jti": 5}, "jti_missing"),
        ({"jti": "x" * 257}, "jti_missing"),
    ],
)
def test_c13_assertion_outside_its_time_or_without_a_name_is_refused(
    world: World, changed: dict[str, Any], reason: str
) -> None:
    assert world.refusal(signed(ec("e"), claims(ID, **changed))) == reason


@pytest.mark.parametrize(
    "changed", [{"exp": NOW - 59}, {"exp": NOW + 3_660}, {"nbf": NOW + 60}, {"iat": NOW + 60}, {"exp": NOW + 0.5}]
)
def test_clocks_may_differ_by_a_minute(world: World, changed: dict[str, Any]) -> None:
    world.check(signed(ec("e"), claims(ID, **changed)))


def test_c13_assertion_is_good_for_one_use(world: World) -> None:
    assertion = signed(ec("e"), claims(ID))
    world.check(assertion)

    assert world.refusal(assertion) == "used_before"
    assert world.refusal(signed(ec("e"), claims(ID, iat=NOW - 1))) == "used_before"
    world.check(signed(ec("e"), claims(ID, jti="b")))


@pytest.mark.parametrize("lifetime", [1, 300, 3_660])
def test_c13_use_is_remembered_for_as_long_as_any_clock_would_take_the_assertion(world: World, lifetime: int) -> None:
    assertion = signed(ec("e"), claims(ID, exp=NOW + lifetime, iat=None))
    world.check(assertion)
    world.clock.now = NOW + lifetime + 59

    assert world.refusal(assertion) == "used_before"
    world.clock.now = NOW + lifetime + 60
    assert world.refusal(assertion) == "expired"


def test_l2_of_many_uses_at_once_one_counts(world: World) -> None:
    assertion = signed(ec("e"), claims(ID))

    def use(_: int) -> bool:
        try:
            world.check(assertion)
        except BadAssertion:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(use, range(8))).count(True) == 1


def test_a_bad_assertion_does_not_use_up_the_name(world: World) -> None:
    world.refusal(signed(ec("e"), claims(ID, aud="https://other.example")))
    world.refusal(signed(ec("e"), claims(ID))[:-4] + "AAAA")

    world.check(signed(ec("e"), claims(ID)))


def test_l4_the_same_name_of_another_client_is_another_name(world: World) -> None:
    world.check(signed(ec("e"), claims(ID)))
    world.client = Client(
        id="cpi_1", name="x", source="registered", auth_method="private_key_jwt", jwks=public(ec("e"))
    )

    world.check(signed(ec("e"), claims("cpi_1")))


def test_c13_key_of_somebody_else_is_refused(world: World) -> None:
    stranger = ec("stranger")

    assert world.refusal(signed(stranger, claims(ID), kid="e")) == "signature_wrong"
    assert world.refusal(signed(stranger, claims(ID))) == "key_unknown"


@pytest.mark.parametrize("kid", ["nobody", "E", "e "])
def test_c13_unknown_kid_is_refused(world: World, kid: str) -> None:
    assert world.refusal(signed(ec("e"), claims(ID), kid=kid)) == "key_unknown"


@pytest.mark.parametrize("kid", [None, "", "x" * 257])
def test_c13_kid_is_needed(world: World, kid: str | None) -> None:
    assert world.refusal(signed(ec("e"), claims(ID), kid=kid)) == "kid_missing"


def test_c13_symmetric_signature_with_the_public_key_is_refused(world: World) -> None:
    told = f"{encoded({'alg': 'HS256', 'kid': 'r'})}.{encoded(claims(ID))}"
    signature = hmac.digest(rsa("r").as_pem(private=False), told.encode(), "sha256")

    assert world.refusal(f"{told}.{base64.urlsafe_b64encode(signature).decode()}") == "algorithm_not_allowed"


def test_c13_unsigned_assertion_is_refused(world: World) -> None:
    for alg in ("none", "None", "", None, 5, ["ES256"]):
        token = f"{encoded({'alg': alg, 'kid': 'e'})}.{encoded(claims(ID))}."
        assert world.refusal(token) == "algorithm_not_allowed"
    assert world.refusal(f"{encoded({'alg': 'ES256', 'kid': 'e'})}.{encoded(claims(ID))}.") == "signature_wrong"


@pytest.mark.parametrize("alg", ["RS384", "RS512", "PS256"])
def test_c13_other_algorithms_are_refused(world: World, alg: str) -> None:
    assert world.refusal(signed(rsa("r"), claims(ID), alg=alg)) == "algorithm_not_allowed"


def test_c13_key_of_the_other_kind_is_refused(world: World) -> None:
    assert world.refusal(signed(ec("e"), claims(ID), kid="r")) == "key_unknown"


@pytest.mark.parametrize(
    "header", [{"crit": ["exp"], "exp": 1}, {"b64": False}, {"typ": "at+jwt"}, {"typ": 5}, {"typ": ""}]
)
def test_c13_header_that_means_something_else_is_refused(world: World, header: dict[str, Any]) -> None:
    parts = signed(ec("e"), claims(ID)).split(".")
    told = encoded({"alg": "ES256", "kid": "e"} | header)

    assert world.refusal(".".join([told, *parts[1:]])) in ("malformed", "other_type")


@pytest.mark.parametrize("key", [{"use": "enc"}, {"alg": "RS256"}, {"key_ops": ["sign"]}, {"crv": "P-384"}])
def test_key_for_another_purpose_is_not_used(world: World, key: dict[str, Any]) -> None:
    (good,) = public(ec("e"))["keys"]
    world.client = client(jwks={"keys": [good | key]})

    assert world.refusal(signed(ec("e"), claims(ID))) == "key_unknown"


def test_assertion_over_its_bound_is_refused_unread(world: World) -> None:
    short, long = (signed(ec("e"), claims(ID, pad="x" * pad)) for pad in (5_800, 5_900))
    assert len(short) < 8_192 < len(long)

    assert world.refusal(long) == "malformed"
    world.check(short)


def test_names_of_256_characters_are_taken(world: World) -> None:
    long = "k" * 256
    world.client = client(jwks=public(ec(long)))

    world.check(signed(ec(long), claims(ID, jti="j" * 256)))


def test_two_keys_of_one_name_are_none(world: World) -> None:
    world.client = client(jwks=public(ec("e"), ec("e")))

    assert world.refusal(signed(ec("e"), claims(ID))) == "key_unknown"


@pytest.mark.parametrize(
    ("bits", "fits"), [(1_024, False), (2_047, False), (2_048, True), (8_192, True), (9_000, False)]
)
def test_rsa_keys_that_are_too_short_or_too_long_are_not_used(bits: int, fits: bool) -> None:
    modulus = (1 << (bits - 1)).to_bytes((bits + 7) // 8)
    key = {"kty": "RSA", "n": base64.urlsafe_b64encode(modulus).decode().rstrip("="), "e": "AQAB"}

    assert usable(key, "RS256") == fits


@pytest.mark.parametrize("member", ["n", "e", "x", "y", "crv"])
@pytest.mark.parametrize("value", ["", "!", "AA", "A" * 500])
def test_key_that_is_no_key_is_refused(world: World, member: str, value: str) -> None:
    keys = [key | ({member: value} if member in key else {}) for key in public(ec("e"), rsa("r"))["keys"]]
    world.client = client(jwks={"keys": keys})
    used = rsa("r") if member in ("n", "e") else ec("e")

    assert world.refusal(signed(used, claims(ID))) in ("key_unknown", "signature_wrong")


@pytest.mark.parametrize("keys", [{}, {"jwks": public(ec("e")), "jwks_uri": KEYS_URL}])
def test_client_without_keys_in_exactly_one_place_proves_nothing(world: World, keys: dict[str, Any]) -> None:
    world.client = client(**keys)

    assert world.refusal(signed(ec("e"), claims(ID))) == "keys_missing"


@pytest.mark.parametrize(
    "assertion", ["", ".", "..", "a.b", "a.b.c.d", "\u00e9.b.c", "e30.e30.", "W10.e30.AA", "x" * 9_000]
)
def test_what_is_no_assertion_is_refused(world: World, assertion: str) -> None:
    assert world.refusal(assertion) in ("malformed", "algorithm_not_allowed")


@settings(deadline=None)
@given(st.text(max_size=60), st.integers(0, 250))
def test_any_change_of_an_assertion_is_refused(inserted: str, at: int) -> None:
    world, good = World(), signed(ec("e"), claims(ID))
    changed = good[:at] + inserted + good[at + 1 :]
    if changed.split(".")[:2] != good.split(".")[:2]:
        assert world.refusal(changed)


def test_published_keys_are_read_once_in_five_minutes(world: World) -> None:
    world.at_an_address(ec("e"))
    for number in range(3):
        world.check(signed(ec("e"), claims(ID, jti=str(number))))

    assert world.web.asked == [KEYS_URL]
    world.clock.now += 300
    world.check(signed(ec("e"), claims(ID, jti="later", exp=NOW + 500)))
    assert world.web.asked == [KEYS_URL, KEYS_URL]


def test_unknown_kid_reads_published_keys_again_but_not_more_than_twice_a_minute(world: World) -> None:
    world.at_an_address(ec("e"))
    world.check(signed(ec("e"), claims(ID)))
    world.at_an_address(ec("e"), ec("new"))
    fresh = signed(ec("new"), claims(ID, jti="b"))

    for _ in range(5):
        assert world.refusal(fresh) == "key_unknown"
    assert world.web.asked == [KEYS_URL]
    world.clock.now += 30
    world.check(fresh)
    for number in range(5):
        assert world.refusal(signed(ec("never"), claims(ID, jti=str(number)))) == "key_unknown"
    assert world.web.asked == [KEYS_URL, KEYS_URL]


def test_key_that_was_taken_back_is_refused_after_five_minutes(world: World) -> None:
    world.at_an_address(ec("e"))
    world.check(signed(ec("e"), claims(ID)))
    world.at_an_address(ec("new"))
    world.clock.now += 300

    assert world.refusal(signed(ec("e"), claims(ID, jti="b", exp=NOW + 500))) == "key_unknown"


@pytest.mark.parametrize("page", ["status_500", b"", b"[]", text({"keys": [{"kty": "oct", "k": "AA", "kid": "e"}]})])
def test_keys_that_cannot_be_read_are_no_proof_and_are_not_asked_for_again_at_once(
    world: World, page: str | bytes
) -> None:
    world.at_an_address()
    world.web.pages[KEYS_URL] = page

    for _ in range(3):
        assert world.refusal(signed(ec("e"), claims(ID))).startswith(("keys_", "status_"))
    assert world.web.asked == [KEYS_URL]


def test_keys_larger_than_64_kibibytes_are_not_read(world: World) -> None:
    world.at_an_address()
    world.web.pages[KEYS_URL] = text(public(ec("e")) | {"pad": "x" * 65_536})

    assert world.refusal(signed(ec("e"), claims(ID))) == "too_large"


def test_l6_one_host_is_not_asked_for_keys_without_end(world: World) -> None:
    for number in range(PER_HOST.calls):
        world.client = client(jwks_uri=f"{KEYS_URL}?{number}")
        assert world.refusal(signed(ec("e"), claims(ID))) == "status_404"
    world.client = client(jwks_uri=f"{KEYS_URL}?more")

    with pytest.raises(RateLimited):
        world.check(signed(ec("e"), claims(ID)))


def test_l5_keys_of_those_not_asked_for_longest_are_forgotten() -> None:
    web, clock = FakeWeb(), Clock()
    keys = ClientKeys(web, Limiter(Counters(), clock), clock)

    def ask(number: int) -> None:
        uri = f"https://a{number}.example/keys.json"
        web.pages[uri] = text(public(ec("e")))
        assert keys.named(client(jwks_uri=uri), "e")

    for number in range(MAX_ADDRESSES):
        ask(number)
    ask(0)
    assert len(web.asked) == MAX_ADDRESSES
    ask(MAX_ADDRESSES)
    ask(0)
    assert len(web.asked) == MAX_ADDRESSES + 1
    ask(1)
    assert len(web.asked) == MAX_ADDRESSES + 2
