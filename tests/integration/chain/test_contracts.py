"""The compiled contracts are those of the source, and stand in faithfully for what they stand for."""

import pytest
from eth_abi.abi import encode

from tests.chain import compile
from tests.chain.node import HATS, Chain, Refused, contracts
from tests.chain.packages import NotInstalled, or_skipped

pytestmark = pytest.mark.node


def test_the_compiled_contracts_are_those_of_the_source() -> None:
    made = or_skipped(compile.compiled)
    assert compile.as_text(made) == compile.COMPILED.read_text(), "run `python -m tests.chain.compile`"


def test_a_hat_is_worn_only_while_it_is_active_and_its_wearer_eligible(chain: Chain) -> None:
    one, other = chain.accounts()[:2]

    def balances(hat: int = 7) -> tuple[int, ...]:
        word = chain.ask(HATS, "balanceOf(address,uint256)", one, hat)
        worn = chain.ask(HATS, "isWearerOfHat(address,uint256)", one, hat)
        both = chain.ask(HATS, "balanceOfBatch(address[],uint256[])", [one, other], [hat, hat])
        assert word == worn == both[64:96]
        return int.from_bytes(word), int.from_bytes(both[96:])

    assert balances() == (0, 0)
    chain.send(HATS, "give(uint256,address)", 7, one)
    assert balances() == (1, 0)
    for function, argument in (("setActive(uint256,bool)", ()), ("setEligible(uint256,address,bool)", (one,))):
        chain.send(HATS, function, 7, *argument, False)
        assert balances() == (0, 0)
        chain.send(HATS, function, 7, *argument, True)
        assert balances() == (1, 0)
    chain.send(HATS, "take(uint256,address)", 7, one)
    assert balances() == (0, 0)


def test_unequal_lengths_revert_as_in_hats(chain: Chain) -> None:
    with pytest.raises(Refused, match="revert"):
        chain.ask(HATS, "balanceOfBatch(address[],uint256[])", [HATS], [1, 2])


def test_a_test_leaves_nothing_behind_on_the_chain(running_chain: Chain) -> None:
    snapshot = running_chain.rpc("evm_snapshot")
    made = running_chain.deploy("Wallet", encode(["address"], [HATS]))
    assert running_chain.rpc("eth_getCode", made, "latest") != "0x"
    running_chain.rpc("evm_revert", snapshot)
    assert running_chain.rpc("eth_getCode", made, "latest") == "0x"
    assert running_chain.rpc("eth_getCode", HATS, "latest") == "0x" + contracts()["StandInHats"]["runtime"]


def _missing() -> None:
    raise NotInstalled("there is no Node.js")


def test_without_a_node_a_test_is_left_out_aloud_and_fails_where_nobody_reads_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"No local chain: there is no Node\.js"):
        or_skipped(_missing)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"No local chain: there is no Node\.js"):
        or_skipped(_missing)
