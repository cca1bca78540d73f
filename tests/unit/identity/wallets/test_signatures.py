"""What counts as a signature of a key, and what is refused before anybody is asked."""

from collections.abc import Callable

import pytest

from tests.fakes.ethereum import signed
from tests.unit.identity.wallets.world import COOKIE, ME, OTHER, Wallets

N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
"""The order of secp256k1."""

FORMS = {
    "None": None,
    "empty": "",
    "0x alone": "0x",
    "odd hex": "0x" + "1" * 131,
    "not hex": "0x" + "zz" * 65,
    "Unicode digits": "0x" + "\u0661\u0661" * 65,
    "full-width digits": "0x" + "\uff11\uff11" * 65,
    "without 0x": "11" * 65,
    "capital 0X": "0X" + "11" * 65,
    "trailing newline": "0x" + "11" * 65 + "\n",
    "leading space": " 0x" + "11" * 65,
    "64 bytes": "0x" + "11" * 64,
    "8,193 bytes": "0x" + "11" * 8_193,
    "1 MB": "0x" + "11" * 500_000,
    "a number": 7,
    "a list": ["0x" + "11" * 65],
    "an object": {"0x": "11"},
}


@pytest.mark.parametrize("form", FORMS)
def test_a_signature_of_another_form_is_refused_without_a_question_to_the_chain(form: str, world: Wallets) -> None:
    body = {"id": world.asked()["id"], "signature": FORMS[form]}
    if form == "1 MB":
        with pytest.raises(Exception, match="not accepted"):
            world.sign_in.verify(body, COOKIE, "192.0.2.1")
        assert world.verify(body).status == 413
    else:
        assert world.verify(body).status == 403
    assert world.refusals() == [("denied", "signature_form")]
    assert world.node.asked == []


def test_a_signature_may_be_as_long_as_contract_wallets_need(world: Wallets) -> None:
    world.node.results["eth_call"] = "0x01"
    assert world.verify({"id": world.asked()["id"], "signature": "0x" + "11" * 8_192}).status == 200


VALUES: dict[str, Callable[[str], str]] = {
    "66 bytes": lambda good: good + "00",
    "zeros": lambda good: "0x" + "00" * 65,
    "r beyond the curve": lambda good: "0x" + "ff" * 32 + good[66:],
    "s beyond the curve": lambda good: good[:66] + "ff" * 32 + good[130:],
    "v of nothing": lambda good: good[:130] + "05",
}


@pytest.mark.parametrize("value", VALUES)
def test_a_signature_of_another_value_is_refused(value: str, world: Wallets) -> None:
    asked = world.asked()
    assert world.verify({"id": asked["id"], "signature": VALUES[value](signed(asked["message"]))}).status == 403


def test_a_signature_by_another_key_is_refused(world: Wallets) -> None:
    asked = world.asked(ME)
    assert world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)}).status == 403


def test_a_signature_over_another_text_is_refused(world: Wallets) -> None:
    asked = world.asked()
    changed = asked["message"].replace("Chain ID: 10", "Chain ID: 1")
    assert world.verify({"id": asked["id"], "signature": signed(changed)}).status == 403


def _twins(signature: str) -> list[str]:
    """Other bytes that recover to the same key."""
    r, s, v = signature[2:66], int(signature[66:130], 16), int(signature[130:], 16)
    low = f"0x{r}{s:064x}"
    high = f"0x{r}{N - s:064x}{27 + 28 - v:02x}"
    return [f"{low}{v - 27:02x}", f"{low}{v + 8:02x}", high]


def test_a_twin_of_a_used_signature_does_not_sign_in_again(world: Wallets) -> None:
    asked = world.asked()
    signature = signed(asked["message"])
    assert world.verify({"id": asked["id"], "signature": signature}).status == 200
    for twin in _twins(signature):
        assert world.verify({"id": asked["id"], "signature": twin}).status == 403
    assert world.refusals()[1:] == [("denied", "challenge_unknown")] * 3


def test_only_the_byte_01_of_the_chain_means_yes(world: Wallets) -> None:
    for answer in ("0x", "0x00", "0x0001", "0x02", "0x" + "00" * 31 + "01", "0x1626ba7e" + "00" * 28):
        asked = world.asked()
        world.node.results["eth_call"] = answer
        assert world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)}).status == 403


def test_a_check_of_a_contract_names_a_bound_on_its_work(world: Wallets) -> None:
    asked = world.asked()
    world.verify({"id": asked["id"], "signature": signed(asked["message"], OTHER)})
    assert world.node.asked == ["eth_chainId", "eth_call"]
    (call, block) = world.node.params[-1]
    assert (set(call), call["gas"], block) == ({"data", "gas"}, hex(5_000_000), "latest")
