"""How clients authenticate, over HTTP (ids P4 to P9, C12 and C13 of the negative tests).

Revocation is what is asked for: it answers 200 to whoever is known, whatever there is to revoke.
"""

import base64
import logging
from typing import Any

import pytest

from commonplace.identity.oauth.client_auth import ASSERTION_TYPE
from commonplace.identity.records import Client
from commonplace.identity.secrets import digest
from tests.unit.identity.documented import text
from tests.unit.identity.oauth.world import BASE, REDIRECT, VERIFIER, Answer, World, basic
from tests.unit.identity.signing import claims, ec, public, signed

SECRET = "cps_of a client: with + and % and \u00e4"
ENCODED = "cps_of+a+client%3A+with+%2B+and+%25+and+%C3%A4"
NOW = 1_800_000_000


@pytest.fixture
def world() -> World:
    return World(AUTH_RATE_LIMIT="0")


def known(world: World, method: str = "client_secret_basic", client_id: str = "one", **values: Any) -> str:
    """The id of a client with SECRET."""
    secret = {"secret_hash": digest(SECRET)} if method.startswith("client_secret") else {}
    told: dict[str, Any] = {"name": "x", "source": "operator", "redirect_uris": (REDIRECT,), "auth_method": method}
    world.store.add_client(Client(id=client_id, **told | secret | values))
    return client_id


def asks(world: World, form: dict[str, str] | None = None, authorization: str = "") -> Answer:
    headers = {"authorization": authorization} if authorization else {}
    return world.post("/revoke", {"token": "t"} | (form or {}), **headers)


def is_unknown(answer: Answer, *, challenge: bool) -> None:
    """The one refusal of whoever has not proved who it is."""
    assert (answer.status, answer.json()["error"]) == (401, "invalid_client")
    assert answer.json()["error_description"] == (
        "The client is not known, or did not prove who it is in the way it registered for."
    )
    assert answer.headers.get("www-authenticate", "").startswith("Basic realm=") == challenge
    assert answer.headers["cache-control"] == "no-store"


def encoded(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("scheme", ["Basic", "basic", "BASIC", "bAsIc"])
def test_p5_secret_in_the_header_is_decoded_as_a_form_is(world: World, scheme: str) -> None:
    known(world, client_id="a-b.c")
    told = encoded(f"a%2Db.c:{ENCODED}").replace("Basic", scheme)

    assert asks(world, authorization=told).status == 200


def test_p5_plus_is_a_space_and_no_plus(world: World) -> None:
    world.store.add_client(
        Client(id="one", name="x", source="operator", auth_method="client_secret_basic", secret_hash=digest("a b"))
    )

    assert asks(world, authorization=basic("one", "a+b")).status == 200
    is_unknown(asks(world, authorization=basic("one", "a%2Bb")), challenge=True)


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic",
        "Basic ",
        "Basic !!!!",
        "Basic b25l",
        "Basic b25lOg",
        encoded("one"),
        encoded(":" + ENCODED),
        encoded("one:%ZZ"),
        encoded("%:x"),
        encoded("one%2"),
        "Basic " + base64.b64encode(b"one:\xff").decode(),
        encoded("one:%ff"),
        encoded("one:"),
        encoded(":"),
        "Bearer " + ENCODED,
        "Digest username=one",
        ENCODED,
        "Basic\t" + base64.b64encode(b"one:x").decode(),
    ],
)
def test_p5_malformed_header_is_refused_with_a_challenge(world: World, authorization: str) -> None:
    known(world)

    is_unknown(asks(world, authorization=authorization), challenge=True)


def test_p4_wrong_secret_in_the_header_is_refused_with_a_challenge_and_uses_up_no_code(world: World) -> None:
    told = world.register(token_endpoint_auth_method="client_secret_basic")
    client_id, secret = told["client_id"], told["client_secret"]
    code = world.code(client_id)

    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT, "code_verifier": VERIFIER}

    is_unknown(world.post("/token", form, authorization=basic(client_id, secret + "x")), challenge=True)
    assert world.post("/token", form, authorization=basic(client_id, secret)).status == 200


def test_p6_wrong_secret_in_the_form_is_refused_without_a_challenge_and_uses_up_no_code(world: World) -> None:
    told = world.register(token_endpoint_auth_method="client_secret_post")
    client_id, secret = told["client_id"], told["client_secret"]
    code = world.code(client_id)

    is_unknown(world.exchange(client_id, code, client_secret=secret + "x"), challenge=False)
    assert world.exchange(client_id, code, client_secret=secret).status == 200


@pytest.mark.parametrize(
    "form",
    [
        {"client_id": "one", "client_secret": SECRET},
        {"client_secret": SECRET},
        {"client_id": "two"},
        {"client_assertion": "x", "client_assertion_type": ASSERTION_TYPE},
        {"client_assertion_type": ASSERTION_TYPE},
    ],
)
def test_p7_two_ways_at_once_or_two_clients_are_refused(world: World, form: dict[str, str]) -> None:
    known(world, method_given=False)
    known(world, client_id="two")
    answer = asks(world, form, authorization=encoded(f"one:{ENCODED}"))

    assert (answer.status, answer.json()["error"]) == (400, "invalid_request")


def test_p7_secret_and_assertion_at_once_are_refused(world: World) -> None:
    known(world, "client_secret_post")
    assertion = {"client_assertion": "x", "client_assertion_type": ASSERTION_TYPE}
    answer = asks(world, {"client_id": "one", "client_secret": SECRET} | assertion)

    assert (answer.status, answer.json()["error"]) == (400, "invalid_request")


def test_p7_the_same_client_in_header_and_form_is_one_client(world: World) -> None:
    known(world)

    assert asks(world, {"client_id": "one"}, authorization=encoded(f"one:{ENCODED}")).status == 200


def test_p8_secret_is_taken_in_the_registered_way_alone(world: World) -> None:
    known(world, "client_secret_basic", "basic")
    known(world, "client_secret_post", "post")

    assert asks(world, authorization=encoded(f"basic:{ENCODED}")).status == 200
    assert asks(world, {"client_id": "post", "client_secret": SECRET}).status == 200
    is_unknown(asks(world, {"client_id": "basic", "client_secret": SECRET}), challenge=False)
    is_unknown(asks(world, authorization=encoded(f"post:{ENCODED}")), challenge=True)


def test_p8_client_without_a_secret_that_sends_one_is_refused(world: World) -> None:
    known(world, "none")

    assert asks(world, {"client_id": "one"}).status == 200
    assert asks(world, {"client_id": "one", "client_secret": ""}).status == 200  # empty counts as left out
    is_unknown(asks(world, {"client_id": "one", "client_secret": "x"}), challenge=False)
    is_unknown(asks(world, authorization=encoded("one:x")), challenge=True)
    is_unknown(asks(world, authorization=encoded("one:")), challenge=True)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_p8_method_that_was_left_out_at_registration_lets_both_ways_serve(world: World, method: str) -> None:
    known(world, method, method_given=False)

    assert asks(world, authorization=encoded(f"one:{ENCODED}")).status == 200
    assert asks(world, {"client_id": "one", "client_secret": SECRET}).status == 200
    is_unknown(asks(world, {"client_id": "one"}), challenge=False)


def test_p9_l10_missing_wrong_and_unknown_are_told_in_the_same_words(world: World) -> None:
    known(world, "client_secret_post")
    answers = [
        asks(world, {"client_id": "one"}),
        asks(world, {"client_id": "one", "client_secret": "wrong"}),
        asks(world, {"client_id": "nobody"}),
        asks(world, {"client_id": "nobody", "client_secret": SECRET}),
        asks(world, {"client_id": "https://nobody.example/c.json"}),
        asks(world, {"client_id": "https://127.0.0.1/c.json"}),
        asks(world, {"client_id": "x" * 3_000}),
        asks(world, {"client_id": "one\n"}),
        asks(world),
    ]

    assert len({answer.body for answer in answers}) == 1
    for answer in answers:
        is_unknown(answer, challenge=False)


def test_secret_whose_hash_was_lost_is_refused(world: World) -> None:
    known(world, "client_secret_post", secret_hash=None)

    is_unknown(asks(world, {"client_id": "one", "client_secret": SECRET}), challenge=False)


def signing(world: World, **values: Any) -> str:
    return known(world, "private_key_jwt", **{"jwks": public(ec("e"))} | values)


def asserted(assertion: str, **more: str) -> dict[str, str]:
    return {"client_assertion": assertion, "client_assertion_type": ASSERTION_TYPE} | more


def for_this_server(client_id: str, **changed: Any) -> dict[str, Any]:
    return claims(client_id, **{"aud": BASE} | changed)


def test_client_that_signs_need_not_be_named_beside_its_assertion(world: World) -> None:
    signing(world)

    assert asks(world, asserted(signed(ec("e"), for_this_server("one")), client_id="one")).status == 200
    assert asks(world, asserted(signed(ec("e"), for_this_server("one", jti="b")))).status == 200
    assert asks(world, asserted(signed(ec("e"), for_this_server("one", jti="c", aud=f"{BASE}/token")))).status == 200


def test_p7_assertion_of_one_client_beside_the_name_of_another_is_refused(world: World) -> None:
    signing(world)
    signing(world, client_id="two")
    known(world, "none", "three")
    assertion = signed(ec("e"), for_this_server("one"))

    for other in ("two", "three", "nobody"):
        is_unknown(asks(world, asserted(assertion, client_id=other)), challenge=False)
    assert asks(world, asserted(assertion, client_id="one")).status == 200


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"client_secret": SECRET},
        {"client_assertion": "x"},
        {"client_assertion_type": ASSERTION_TYPE},
        {"client_assertion": "a.b.c", "client_assertion_type": ASSERTION_TYPE},
        {"client_assertion": "x" * 9_000, "client_assertion_type": ASSERTION_TYPE},
        {"client_assertion": "a.W10.c", "client_assertion_type": ASSERTION_TYPE},
        {
            "client_assertion": "a.b.c",
            "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer",
        },
    ],
)
def test_c12_client_that_signs_is_never_taken_for_one_that_need_not(world: World, form: dict[str, str]) -> None:
    signing(world)

    is_unknown(asks(world, {"client_id": "one"} | form), challenge=False)
    is_unknown(asks(world, form), challenge=False)


def test_c12_client_that_need_not_sign_cannot_be_taken_by_an_assertion(world: World) -> None:
    known(world, "none", jwks=public(ec("e")))

    is_unknown(asks(world, asserted(signed(ec("e"), for_this_server("one")), client_id="one")), challenge=False)


def test_client_with_a_document_and_published_keys_gets_tokens(world: World) -> None:
    url = "https://app.example.net/client.json"
    keys = "https://app.example.net/keys.json"
    world.web.pages[keys] = text(public(ec("e")))
    world.web.pages[url] = text(
        {
            "client_id": url,
            "client_name": "App",
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks_uri": keys,
        }
    )
    code = world.code(url)

    is_unknown(world.exchange(url, code), challenge=False)
    assert world.exchange(url, code, **asserted(signed(ec("e"), for_this_server(url)))).status == 200
    assert world.web.asked.count(url) == world.web.asked.count(keys) == 1


def test_d10_use_renews_a_registration_once_half_of_it_is_over(world: World) -> None:
    client_id = world.register()["client_id"]
    first = world.store.client(client_id)
    assert first is not None and first.expires_at == NOW + 90 * 86_400

    world.clock.now = NOW + 45 * 86_400
    asks(world, {"client_id": client_id})
    assert world.store.client(client_id) == first
    world.clock.now += 1
    is_unknown(asks(world, {"client_id": client_id, "client_secret": "x"}), challenge=False)
    assert world.store.client(client_id) == first
    asks(world, {"client_id": client_id})
    renewed = world.store.client(client_id)
    assert renewed is not None and renewed.expires_at == NOW + 135 * 86_400 + 1


def test_d10_registration_that_nobody_used_is_unknown_after_ninety_days(world: World) -> None:
    client_id = world.register()["client_id"]
    world.clock.now = NOW + 90 * 86_400

    is_unknown(asks(world, {"client_id": client_id}), challenge=False)


def test_p5_credentials_under_another_scheme_count_for_nothing(world: World) -> None:
    known(world)
    told = encoded(f"one:{ENCODED}")

    for scheme in ("Bearer", "Digest", "Basics", ""):
        is_unknown(asks(world, authorization=told.replace("Basic", scheme)), challenge=True)


def test_p5_broken_escape_is_no_way_to_write_a_percent_sign(world: World) -> None:
    known(world, secret_hash=digest("%ZZ"))

    is_unknown(asks(world, authorization=encoded("one:%ZZ")), challenge=True)
    assert asks(world, authorization=encoded("one:%25ZZ")).status == 200


def test_p8_client_without_a_secret_is_held_to_that_even_if_it_never_said_so(world: World) -> None:
    known(world, "none", method_given=False)

    is_unknown(asks(world, {"client_id": "one", "client_secret": "x"}), challenge=False)
    is_unknown(asks(world, authorization=encoded("one:x")), challenge=True)


def test_c13_good_assertion_of_another_kind_is_refused(world: World) -> None:
    signing(world)
    form = asserted(signed(ec("e"), for_this_server("one"))) | {"client_id": "one"}

    for kind in ("", ASSERTION_TYPE.replace("jwt", "saml2"), ASSERTION_TYPE.upper()):
        is_unknown(asks(world, form | {"client_assertion_type": kind}), challenge=False)
    assert asks(world, form).status == 200


@pytest.mark.parametrize(
    ("form", "authorization", "reason"),
    [
        ({}, "", "no_credentials"),
        ({"client_id": "nobody"}, "", "id_unknown"),
        ({"client_id": "a b"}, "", "id_malformed"),
        ({"client_id": "one"}, "", "other_method_registered"),
        ({"client_id": "one", "client_secret": "x"}, "", "wrong_secret"),
        ({}, "Bearer x", "scheme_unknown"),
        ({}, encoded("one"), "basic_malformed"),
        ({}, encoded(":x"), "basic_malformed"),
        ({}, encoded("one:%Z"), "basic_malformed"),
        ({"client_assertion": "x"}, "", "assertion_malformed"),
        ({"client_assertion": "x", "client_assertion_type": ASSERTION_TYPE}, "", "assertion_malformed"),
        ({"client_assertion": "e30.e30.", "client_assertion_type": ASSERTION_TYPE}, "", "assertion_malformed"),
    ],
)
def test_l8_reason_is_in_the_log_and_nothing_of_what_was_sent(
    world: World, form: dict[str, str], authorization: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    known(world, "client_secret_post")
    with caplog.at_level(logging.INFO, "commonplace.identity"):
        asks(world, form, authorization)

    assert [record.__dict__["reason"] for record in caplog.records if record.name.endswith("client_auth")] == [reason]
