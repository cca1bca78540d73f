"""Roles are read in one call, and nothing but a well-formed answer is an answer."""

import json

import pytest
from eth_abi.abi import encode
from eth_utils.abi import function_signature_to_4byte_selector

from commonplace.identity.accounts import Worn
from commonplace.identity.ethereum.hats import BALANCE_OF_BATCH, ChainHats
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.roles import hat_id
from commonplace.identity.settings import HATS_CONTRACT
from commonplace.kernel.errors import Unavailable
from tests.fakes.ethereum_node import StandInNode

ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
PATHS = ("30.3.1", "30.3.5")


def _answer(*balances: int) -> str:
    return "0x" + encode(["uint256[]"], [balances]).hex()


def _hats(node: StandInNode, *paths: str) -> ChainHats:
    return ChainHats(Rpc(lambda: [node.url], 10), HATS_CONTRACT, paths or PATHS, clock=lambda: 1_000.0)


@pytest.mark.parametrize(
    ("path", "digits", "decimal"),
    [
        ("30", "0000001e", 808798400014519193840010452610588920209114332676217174433108307476480),
        ("30.3", "0000001e0003", 808799634142937184744542068837475838221993069728116399618005818933248),
        ("30.3.1", "0000001e00030001", 808799634149214286479928749601311627645200736144218755062469853446144),
        ("30.3.5", "0000001e00030005", 808799634174322693421475472656654785338031401808628176840325991497728),
        ("31.1", "0000001f0001", 835758758057809163936188006439904190220377722782724155309177754877952),
    ],
)
def test_the_id_of_a_hat_is_its_path_in_the_tree(path: str, digits: str, decimal: int) -> None:
    assert hat_id(path) == int(digits.ljust(64, "0"), 16) == decimal


def test_a_hat_survives_json_though_its_id_has_69_digits() -> None:
    assert len(str(hat_id("30.3.1"))) == 69
    assert json.loads(json.dumps(str(hat_id("30.3.1")))) == str(hat_id("30.3.1"))


def test_the_selector_is_that_of_the_function() -> None:
    assert function_signature_to_4byte_selector("balanceOfBatch(address[],uint256[])") == BALANCE_OF_BATCH


def test_all_hats_are_asked_for_in_one_call_that_is_encoded_as_the_library_would(node: StandInNode) -> None:
    node.results["eth_call"] = _answer(1, 0)
    assert _hats(node).worn(ALICE) == Worn(hats=frozenset({"30.3.1"}), read_at=1_000)
    ids = [hat_id(path) for path in PATHS]
    data = BALANCE_OF_BATCH + encode(["address[]", "uint256[]"], [[ALICE, ALICE], ids])
    assert node.asked == ["eth_chainId", "eth_call"]
    assert node.params[-1] == [{"data": "0x" + data.hex(), "to": HATS_CONTRACT}, "latest"]


def test_a_balance_of_more_than_one_is_a_hat_too(node: StandInNode) -> None:
    node.results["eth_call"] = _answer(0, 2**255)
    assert _hats(node).worn(ALICE).hats == {"30.3.5"}


def test_an_empty_list_of_hats_makes_no_call(node: StandInNode) -> None:
    hats = ChainHats(Rpc(lambda: [node.url], 10), HATS_CONTRACT, ())
    assert hats.worn(ALICE).hats == frozenset()
    assert node.asked == []


@pytest.mark.parametrize(
    "answer",
    ["0x", "0x" + "00" * 32, _answer(1), _answer(1, 0, 0), _answer(1, 0)[:-64], _answer(1, 0) + "00" * 32, "0x01"],
    ids=["no code", "zeros", "one fewer", "one more", "cut", "longer", "a byte"],
)
def test_an_answer_of_another_shape_is_unavailable_and_never_no_roles(answer: str, node: StandInNode) -> None:
    node.results["eth_call"] = answer
    with pytest.raises(Unavailable):
        _hats(node).worn(ALICE)


def test_an_answer_whose_array_begins_elsewhere_is_unavailable(node: StandInNode) -> None:
    answer = bytes.fromhex(_answer(1, 1)[2:])
    node.results["eth_call"] = "0x" + ((64).to_bytes(32, "big") + answer[32:]).hex()
    with pytest.raises(Unavailable):
        _hats(node).worn(ALICE)


def test_a_revert_is_unavailable(node: StandInNode) -> None:
    node.error = {"code": 3, "message": "execution reverted: LENGTH_MISMATCH"}
    with pytest.raises(Unavailable):
        _hats(node).worn(ALICE)
