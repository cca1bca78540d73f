"""The key ring through its rotations."""

import json
from dataclasses import replace

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from commonplace.identity import keyring
from commonplace.identity.keyring import BadKeyRing, as_json, from_json, next_ring, public_jwks, published, signer
from commonplace.identity.tokens import SigningKey

NOW = 1_800_000_000
DAY = 86_400


def test_first_key_signs_at_once() -> None:
    ring = next_ring((), NOW)
    assert [key.signs_from for key in ring] == [NOW]
    assert signer(ring, NOW) == ring[0]


def test_new_key_is_published_before_it_signs() -> None:
    first = next_ring((), NOW - 90 * DAY)
    ring = next_ring(first, NOW)
    assert {key["kid"] for key in published(ring, NOW)} == {ring[0].kid, first[0].kid}
    before, after = signer(ring, NOW + keyring.LEAD_SECONDS - 1), signer(ring, NOW + keyring.LEAD_SECONDS)
    assert before is not None and before.kid == first[0].kid
    assert after is not None and after.kid == ring[0].kid


def test_replaced_key_verifies_as_long_as_a_token_of_it_can_live() -> None:
    first = next_ring((), NOW - 90 * DAY)
    ring = next_ring(first, NOW)
    ends = NOW + keyring.LEAD_SECONDS + keyring.KEEP_SECONDS
    assert first[0].kid in {key["kid"] for key in published(ring, ends - 1)}
    assert first[0].kid not in {key["kid"] for key in published(ring, ends)}


def test_key_that_signs_no_more_loses_its_private_half_and_keeps_its_end() -> None:
    ring: tuple[SigningKey, ...] = ()
    for rotation in range(4):
        ring = next_ring(ring, NOW + rotation * 90 * DAY)
    assert ["d" in key.jwk for key in ring] == [True, True, False, False]
    replaced_at = NOW + 90 * DAY + keyring.LEAD_SECONDS
    assert ring[3].retires_at == replaced_at + keyring.KEEP_SECONDS


def test_keys_that_have_retired_leave_the_ring() -> None:
    ring = next_ring((), NOW)
    for rotation in range(1, 12):
        ring = next_ring(ring, NOW + rotation * 90 * DAY)
    assert len(ring) == 6


def test_leaked_key_verifies_nothing_from_now_on() -> None:
    ring = next_ring(next_ring((), NOW - DAY), NOW, at_once=True)
    assert len(ring) == 1
    assert signer(ring, NOW) == ring[0]


def test_ring_survives_its_secret() -> None:
    ring = next_ring(next_ring((), NOW - DAY), NOW)
    assert from_json(as_json(ring)) == ring


@pytest.mark.parametrize("text", ["{}", '{"keys": []}'])
def test_secret_without_keys_is_an_empty_ring(text: str) -> None:
    assert from_json(text) == ()


def secret(kty: str = "EC", signs_from: object = 1) -> str:
    jwk = {"kty": kty, "crv": "P-256", "x": "a", "y": "b"}
    return json.dumps({"keys": [{"kid": "a", "jwk": jwk, "signsFrom": signs_from, "retiresAt": 2}]})


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "nonsense", '{"keys": 1}', '{"keys": [1]}', '{"keys": [{"kid": "a"}]}'),
        *(secret(kty="oct"), secret(signs_from="s3cret"), secret(signs_from=None)),
    ],
)
def test_what_is_no_ring_is_refused_and_not_quoted(text: str) -> None:
    with pytest.raises(BadKeyRing) as caught:
        from_json(text)
    assert "s3cret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_is_published_has_nothing_private() -> None:
    ring = next_ring(next_ring((), NOW - DAY), NOW)
    for key in json.loads(public_jwks(ring, NOW))["keys"]:
        assert set(key) == {"kty", "crv", "x", "y", "kid", "use", "alg"}


def test_published_key_verifies_what_its_private_half_signed() -> None:
    [key] = next_ring((), NOW)
    token = jwt.encode({"alg": "ES256", "kid": key.kid}, {"sub": "a"}, ECKey.import_key(dict(key.jwk)))
    [public] = published([key], NOW)
    assert jwt.decode(token, ECKey.import_key(public), algorithms=["ES256"]).claims == {"sub": "a"}
    assert ECKey.import_key(public).thumbprint() == key.kid


def test_key_without_its_private_half_never_signs() -> None:
    [key] = next_ring((), NOW)
    assert signer([keyring.without_private_half(key)], NOW) is None
    assert signer([replace(key, retires_at=NOW)], NOW) is None
