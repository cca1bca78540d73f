"""Texts that clients write themselves (the seed's `{message, signature, stateId}`): held to every line of them."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.identity import secrets
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.ethereum.signatures import SiweSignatures
from commonplace.identity.records import Challenge
from commonplace.identity.wallets import MAX_TEXT_CHARACTERS, BadSignature, BadText, SignInUnreadable, Terms, nonce_in
from tests.examples import examples
from tests.fakes.ethereum import address_of, signed
from tests.unit.identity.oauth.world import BASE
from tests.unit.identity.wallets.world import COOKIE, OTHER, Wallets, moment

Change = Callable[[str], str]


def _nonce(world: Wallets) -> str:
    return str(world.nonce().json()["nonce"])


@pytest.mark.parametrize(
    ("line", "value", "reason"),
    [
        ("URI", f"{BASE}/authorize/", "other_uri"),
        ("URI", "https://evil.example/authorize", "other_uri"),
        ("URI", BASE, "other_uri"),
        ("Chain_ID", "1", "other_chain"),
        ("Chain_ID", "8453", "other_chain"),
        ("Not_Before", "2099-01-01T00:00:00.000Z", "text_not_yet_valid"),
    ],
)
def test_a_text_that_says_something_else_is_refused(line: str, value: str, reason: str, world: Wallets) -> None:
    text = world.own_text(_nonce(world), **{line: value})
    assert world.sends_own(text).status == 403
    assert world.refusals() == [("denied", reason)]


@pytest.mark.parametrize(
    "domain",
    ["evil.example", "kb.example.org:8443", "user@kb.example.org", "kb.example.org.evil.example", "KB.example.org"],
)
def test_a_text_for_another_domain_is_refused(domain: str, world: Wallets) -> None:
    text = world.own_text(_nonce(world)).replace("kb.example.org wants", f"{domain} wants")
    assert world.sends_own(text).status == 403
    assert world.refusals() == [("denied", "other_domain")]


@pytest.mark.parametrize("scheme", ["http", "ftp", "HTTPS", "evil", "https+x"])
def test_a_text_for_another_scheme_is_refused(scheme: str, world: Wallets) -> None:
    assert world.sends_own(f"{scheme}://{world.own_text(_nonce(world))}").status == 403
    assert world.refusals() == [("denied", "other_scheme")]


def test_a_text_may_name_the_scheme_of_this_site(world: Wallets) -> None:
    assert world.sends_own(f"https://{world.own_text(_nonce(world))}").json()["address"] == address_of()


def test_a_text_with_a_nonce_that_was_never_given_out_is_refused(world: Wallets) -> None:
    _nonce(world)
    assert world.sends_own(world.own_text("0" * 32)).status == 403
    assert world.refusals() == [("denied", "challenge_unknown")]


def test_a_text_with_the_nonce_of_a_text_of_ours_is_refused(world: Wallets) -> None:
    assert world.sends_own(world.own_text(world.asked()["nonce"])).status == 403


def test_a_bare_nonce_is_no_id_of_a_text(world: Wallets) -> None:
    assert world.verify({"id": _nonce(world), "signature": signed("")}).status == 403
    assert world.refusals() == [("denied", "challenge_unknown")]


def test_an_expired_text_is_refused(world: Wallets) -> None:
    text = world.own_text(_nonce(world), Expiration_Time=moment(world.clock() - 1))
    assert world.sends_own(text).status == 403
    assert world.refusals() == [("denied", "text_expired")]


def test_a_text_is_expired_at_the_very_moment_that_it_names(world: Wallets) -> None:
    text = world.own_text(_nonce(world), Expiration_Time=moment(world.clock()))
    assert world.sends_own(text).status == 403


@pytest.mark.parametrize("age", [601, 900 * 86_400, -61])
def test_a_text_that_is_old_or_of_the_future_is_refused(age: int, world: Wallets) -> None:
    text = world.own_text(_nonce(world), Issued_At=moment(world.clock() - age))
    assert world.sends_own(text).status == 400
    assert world.refusals() == [("denied", "text_age")]


@pytest.mark.parametrize("age", [0, 600, -60])
def test_a_text_within_ten_minutes_is_taken(age: int, world: Wallets) -> None:
    assert world.sends_own(world.own_text(_nonce(world), Issued_At=moment(world.clock() - age))).status == 200


def test_a_text_that_never_ends_is_refused_however_old(world: Wallets) -> None:
    for age in (0, 900 * 86_400):
        text = world.own_text(_nonce(world), Issued_At=moment(world.clock() - age), Expiration_Time=None)
        assert world.sends_own(text).status == 400
    assert world.refusals() == [("denied", "text_without_expiry")] * 2


FORMS: dict[str, Change] = {
    "Chain ID: 010": lambda text: text.replace("Chain ID: 10", "Chain ID: 010"),
    "trailing newline": lambda text: text + "\n",
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "newline in the statement": lambda text: text.replace("Sign in.", "Sign\nin."),
    "non-ASCII in the statement": lambda text: text.replace("Sign in.", "Sign ín."),
    "two Nonce lines": lambda text: text.replace("\nIssued", "\nNonce: " + "1" * 32 + "\nIssued"),
    "month 13": lambda text: text.replace("Issued At: 2027-01", "Issued At: 2027-13"),
    "a line that nobody knows": lambda text: text + "\nGreeting: hello",
    "version 2": lambda text: text.replace("Version: 1", "Version: 2"),
    "an address that is none": lambda text: text.replace(address_of(), address_of()[:-1]),
    "an address without a checksum": lambda text: text.replace(address_of(), address_of().lower()),
    "an address in capitals": lambda text: text.replace(address_of(), "0x" + address_of()[2:].upper()),
    "an address whose checksum is wrong": lambda text: text.replace(address_of(), _swapped(address_of())),
    "lines in another order": lambda text: text.replace("\nVersion: 1\nChain ID: 10", "\nChain ID: 10\nVersion: 1"),
    "a space behind": lambda text: text + " ",
    "a lone surrogate": lambda text: text.replace("Sign in.", "Sign \ud800."),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_text_of_another_form_is_refused(form: str, world: Wallets) -> None:
    text = FORMS[form](world.own_text(_nonce(world)))
    signature = signed(text) if form != "a lone surrogate" else "0x" + "11" * 65
    answer = world.verify({"message": text, "signature": signature})
    assert answer.status == 400
    assert answer.json()["error"]["code"] == "BAD_REQUEST"


def test_a_nonce_of_three_characters_is_refused(world: Wallets) -> None:
    assert world.sends_own(world.own_text("abc")).status == 400


def test_another_key_than_the_texts_address_is_refused(world: Wallets) -> None:
    assert world.sends_own(world.own_text(_nonce(world)), OTHER).status == 403


@pytest.mark.parametrize("length", [1_001, 1_000_000])
def test_a_long_text_is_refused_before_anything_parses_it(length: int, world: Wallets) -> None:
    text = world.own_text(_nonce(world)).ljust(length, "a")
    signature = signed("")
    started = time.thread_time()
    with pytest.raises(SignInUnreadable, match="is malformed") as raised:
        world.sign_in.verify({"message": text, "signature": signature}, COOKIE, "192.0.2.1")
    # Parsing 1,001 characters would take twenty times as long.
    assert time.thread_time() - started < 0.005
    assert raised.value.reason == "text_too_long"
    assert len(world.sign_ins.challenges) == 1


def test_a_long_text_is_400_or_413_over_http(world: Wallets) -> None:
    for length, status in ((1_001, 400), (1_000_000, 413)):
        assert world.verify({"message": "a" * length, "signature": "0x"}).status == status


def test_a_text_of_just_the_length_is_parsed(world: Wallets) -> None:
    nonce = _nonce(world)
    text = world.own_text(nonce)
    text = text.replace("Sign in.", "Sign in." + "a" * (MAX_TEXT_CHARACTERS - len(text)))
    assert len(text) == MAX_TEXT_CHARACTERS
    assert world.sends_own(text).status == 200


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"signature": "0x"},
        {"id": "0" * 32, "message": "x", "signature": "0x"},
        {"message": 7, "signature": "0x"},
        {"message": ["x"], "signature": "0x"},
        {"message": "x", "signature": "0x"},
    ],
)
def test_a_body_that_is_neither_form_is_400(body: dict[str, object], world: Wallets) -> None:
    assert world.verify(body).status == 400
    assert world.refusals() == []


def _swapped(address: str) -> str:
    """One letter in the other case, the rest as it is."""
    at = next(at for at, one in enumerate(address) if one.isalpha() and at > 1)
    return address[:at] + address[at].swapcase() + address[at + 1 :]


@settings(max_examples=examples(30, soak=600), deadline=None)
@given(st.data())
def test_whatever_a_client_writes_is_read_or_refused(data: st.DataObject) -> None:
    """Nothing else leaves the check: no error of a library, no answer to a text that says anything else."""
    now = 1_800_000_000.0
    good = "\n".join(
        [
            "kb.example.org wants you to sign in with your Ethereum account:",
            address_of(),
            "",
            "URI: https://kb.example.org/authorize",
            "Version: 1",
            "Chain ID: 10",
            "Nonce: abcdefgh12",
            f"Issued At: {moment(now)}",
            f"Expiration Time: {moment(now + 60)}",
        ]
    )
    at = data.draw(st.integers(0, len(good)))
    text = good[:at] + data.draw(st.text(max_size=8)) + good[at + data.draw(st.integers(0, 8)) :]
    terms = Terms.of(BASE, 10, "abcdefgh12", now, foreign=True)
    check = SiweSignatures(Rpc(list, 1))  # of another chain: contracts do not count
    try:
        nonce_in(text)
        assert check.check(text, signed(text) if text.isascii() else "0x" + "11" * 65, terms) == address_of()
    except (BadText, BadSignature):
        return
    assert "kb.example.org wants" in text
    assert f"\n{address_of()}\n" in text
    assert text.startswith(("kb.example.org wants", "https://kb.example.org wants"))


def test_the_cookie_of_the_seeds_form_is_judged_too(world: Wallets) -> None:
    text = world.own_text(_nonce(world))
    assert world.verify({"message": text, "signature": signed(text)}, cookie="c" * 43).status == 403
    assert world.refusals() == [("denied", "other_browser")]


def test_what_waits_for_a_provider_is_no_challenge_of_a_wallet(world: Wallets) -> None:
    state = "a" * 43
    world.sign_ins.put_challenge(
        Challenge(
            id=secrets.digest(state),
            sealed=secrets.seal(state, "oidc", {"nonce": state, "verifier": "v", "next": "/account"}),
            browser_hash=secrets.digest(COOKIE),
            handle_hash="",
            expires_at=int(world.clock()) + 300,
        )
    )
    text = world.own_text(state)
    assert world.verify({"message": text, "signature": signed(text)}).status == 403
    assert world.refusals() == [("denied", "challenge_unknown")]


def test_a_state_of_another_request_is_refused(world: Wallets) -> None:
    nonce = "a" * 32
    world.sign_ins.put_challenge(
        Challenge(
            id=secrets.digest(nonce),
            sealed=secrets.seal(nonce, "wallet", {"nonce": nonce}),
            browser_hash=secrets.digest(COOKIE),
            handle_hash=secrets.digest("cph_mine"),
            expires_at=int(world.clock()) + 300,
        )
    )
    text = world.own_text(nonce)
    body = {"message": text, "signature": signed(text), "stateId": "cph_other"}
    with pytest.raises(Exception, match="not accepted"):
        world.sign_in.verify(body, COOKIE, "192.0.2.1")
    assert world.refusals() == [("denied", "other_request")]
