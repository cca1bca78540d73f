"""A wallet signs in: the text it is given, who it then is, what is recorded, and when the chain cannot be asked."""

import re

import pytest

from commonplace.identity.access_tokens import subject_hash
from commonplace.identity.wallets import Named
from tests.fakes.ethereum import address_of, signed
from tests.unit.identity.oauth.world import BASE, KEY
from tests.unit.identity.wallets.world import ME, OTHER, Wallets, wallets

EXPECTED = f"""kb.example.org wants you to sign in with your Ethereum account:
{address_of(ME)}

Sign in to Garden.

URI: https://kb.example.org/authorize
Version: 1
Chain ID: 10
Nonce: NONCE
Issued At: 2027-01-15T08:00:00.000Z
Expiration Time: 2027-01-15T08:05:00.000Z"""


def test_the_text_to_sign_is_made_here_and_ends_without_a_newline(world: Wallets) -> None:
    asked = world.asked()
    assert set(asked) == {"nonce", "id", "message"}
    assert asked["message"] == EXPECTED.replace("NONCE", asked["nonce"])
    assert re.fullmatch("[0-9a-f]{32}", asked["nonce"])


def test_the_text_says_what_its_configuration_says_in_characters_that_it_may_have() -> None:
    from commonplace.identity.wallets import message_text

    text = message_text(
        base_url="http://127.0.0.1:8787",
        site_name='Café\n"One" <Two>',
        address=address_of(),
        chain_id=7,
        nonce="n" * 8,
        now=0,
        life=60,
    )
    assert text.startswith("127.0.0.1:8787 wants you to sign in")
    assert "\nSign in to Caf One Two.\n" in text
    assert "\nURI: http://127.0.0.1:8787/authorize\nVersion: 1\nChain ID: 7\n" in text


def test_without_an_address_there_is_a_nonce_alone(world: Wallets) -> None:
    answer = world.nonce()
    assert answer.status == 200
    assert list(answer.json()) == ["nonce"]
    assert answer.headers["cache-control"] == "no-store"


def test_a_key_signs_in_and_the_chain_is_asked_nothing_for_it(world: Wallets) -> None:
    answer = world.signs_in()
    assert (answer.status, answer.json()["address"]) == (200, address_of(ME))
    assert world.node.asked == []


def test_either_spelling_of_an_address_is_the_same_account(world: Wallets) -> None:
    for spelling in (address_of(ME), address_of(ME).lower(), "0x" + address_of(ME)[2:].upper()):
        asked = world.nonce(spelling).json()
        answer = world.verify({"id": asked["id"], "signature": signed(asked["message"])})
        assert answer.json()["address"] == address_of(ME)
    assert len({record.subject for record in world.audit.records}) == 1


@pytest.mark.parametrize(
    "address", ["", "0x", "alice.eth", "0x" + "g" * 40, "0x" + "1" * 39, "0x" + "1" * 41, "1" * 40]
)
def test_a_malformed_address_gets_no_challenge(address: str, world: Wallets) -> None:
    assert world.nonce(address).status == 400
    assert world.sign_ins.challenges == {}


def test_the_person_is_shown_under_the_name_of_the_wallet(world: Wallets) -> None:
    world.names.named = Named(name="alice.eth", avatar="https://example.org/a.png", github="alice")
    asked = world.asked()
    profile = world.sign_in.verify({"id": asked["id"], "signature": signed(asked["message"])}, "b" * 43, "192.0.2.1")
    assert profile.as_json() == {
        "subject": address_of(ME),
        "kind": "wallet",
        "address": address_of(ME),
        "name": "alice.eth",
        "avatar": "https://example.org/a.png",
        "github": "alice",
    }


def test_a_client_may_write_the_text_itself(world: Wallets) -> None:
    answer = world.sends_own(world.own_text(world.nonce().json()["nonce"]))
    assert (answer.status, answer.json()["address"]) == (200, address_of(ME))


def test_a_sign_in_is_recorded_without_the_address_the_text_or_the_signature(world: Wallets) -> None:
    world.hats.held = {address_of(ME).lower(): {"30.3.1"}}
    asked = world.asked()
    signature = signed(asked["message"])
    world.verify({"id": asked["id"], "signature": signature})
    (record,) = world.audit.records
    assert (record.event, record.outcome, record.organisation, record.network) == (
        "signin",
        "ok",
        "default",
        "192.0.2.1",
    )
    assert record.subject == subject_hash(KEY, address_of(ME))
    assert record.details == {"kind": "wallet", "tier": "vibecoder", "roles": "contributor"}
    told = repr(record).lower()
    assert not [one for one in (address_of(ME)[2:].lower(), asked["nonce"], signature[2:40]) if one in told]


def test_a_refusal_is_recorded_with_its_reason_and_told_to_nobody(world: Wallets) -> None:
    asked = world.asked()
    answer = world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)})
    assert world.refusals() == [("denied", "not_signed")]
    (record,) = world.audit.read("default")
    assert (record.subject, record.network) == (subject_hash(KEY, address_of(ME)), "192.0.2.1")
    assert "not_signed" not in answer.body


def test_a_chain_that_cannot_be_read_is_503_and_never_no_roles(world: Wallets) -> None:
    world.hats.down = True
    answer = world.signs_in()
    assert (answer.status, answer.json()["error"]["code"]) == (503, "UNAVAILABLE")
    assert world.refusals() == [("failed", "unavailable")]
    assert world.sign_ins.sessions == {}


@pytest.mark.parametrize(
    "break_it",
    ["refuses", "limit exceeded", "header not found", "not JSON", "another chain"],
)
def test_a_contract_wallet_is_503_while_its_chain_cannot_be_asked(break_it: str, world: Wallets) -> None:
    errors = {"limit exceeded": -32_005, "header not found": -32_000}
    if break_it in errors:
        world.node.error = {"code": errors[break_it], "message": break_it}
    elif break_it == "another chain":
        world.node.results["eth_chainId"] = "0x1"
    elif break_it == "not JSON":
        world.node.raw = b"<html>"
    else:
        world.node.stop()
    asked = world.asked()
    answer = world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)})
    assert answer.status == 503
    assert world.refusals() == [("failed", "unavailable")]


def test_where_no_chain_is_asked_keys_sign_in_and_a_contract_wallet_is_told_why_it_cannot(world: Wallets) -> None:
    world.endpoints.clear()
    assert world.signs_in().status == 200
    asked = world.asked()
    answer = world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)})
    assert (answer.status, world.refusals()[-1]) == (403, ("denied", "no_chain"))
    told = answer.json()["error"]["message"]
    assert "No chain is asked here, so only a wallet that signs with the key of its own address can sign in." in told
    assert "the operator names" in told
    assert world.node.asked == []


def test_roles_are_read_anew_at_each_sign_in(world: Wallets) -> None:
    world.signs_in()
    world.signs_in()
    assert world.hats.asked == 2


def test_an_account_signs_in_so_often_an_hour_and_others_are_not_held_up() -> None:
    with wallets(AUTH_SIGN_INS_PER_HOUR="3") as world:
        assert [world.signs_in().status for _ in range(4)] == [200, 200, 200, 429]
        assert world.signs_in(OTHER).status == 200
        world.clock.forward(3_600)
        assert world.signs_in().status == 200


def test_nobody_but_the_account_itself_spends_its_sign_ins() -> None:
    with wallets(AUTH_SIGN_INS_PER_HOUR="1") as world:
        for _ in range(3):
            asked = world.asked()
            assert world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)}).status == 403
        assert world.signs_in().status == 200


def test_a_network_gets_so_many_challenges_and_answers_a_minute(world: Wallets) -> None:
    statuses = [world.nonce(address_of(ME)).status for _ in range(31)]
    assert statuses == [200] * 30 + [429]
    refused = [world.verify({"id": "0" * 32, "signature": "0x"}).status for _ in range(31)]
    assert refused == [403] * 30 + [429]
    assert len(world.refusals()) == 30
    world.clock.forward(60)
    assert world.signs_in().status == 200


def test_a_store_that_does_not_answer_is_503(world: Wallets) -> None:
    world.sign_ins.down = True
    assert world.nonce(address_of(ME)).status == 503
    assert world.verify({"id": "0" * 32, "signature": "0x"}).status == 503


def test_the_subject_of_the_text_is_this_deployment_whatever_host_was_asked_for(world: Wallets) -> None:
    query = f"address={address_of(ME)}"
    answer = world.send(
        "GET", "/siwe/nonce", query=query, cookie="__Host-cp_challenge=" + "b" * 43, host="evil.example"
    )
    assert answer.status != 200 or answer.json()["message"].startswith("kb.example.org wants")
    assert BASE in world.asked()["message"]
