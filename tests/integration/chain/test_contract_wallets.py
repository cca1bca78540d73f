"""Contract wallets sign in on the chain they are on, and no trick of theirs counts as a signature."""

import pytest
from eth_abi.abi import encode

from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.ethereum.signatures import MAGIC, SiweSignatures
from commonplace.identity.wallets import BadSignature
from commonplace.kernel.errors import Unavailable
from tests.chain.node import Chain, called
from tests.fakes.ethereum_node import standing_in
from tests.integration.chain.signing import (
    check,
    rpc_of,
    terms,
    text_for,
    wallet_of,
    wallet_to_be,
    wrapped,
)

pytestmark = pytest.mark.node


def test_a_contract_wallet_signs_in_by_its_owner(chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet = wallet_of(chain, owner)
    assert check(chain, wallet, chain.sign(text_for(wallet), owner)) == wallet


def test_a_contract_wallet_refuses_another_owner(chain: Chain) -> None:
    owner, stranger = chain.accounts()[:2]
    wallet = wallet_of(chain, owner)
    with pytest.raises(BadSignature):
        check(chain, wallet, chain.sign(text_for(wallet), stranger))


def test_an_address_without_code_is_no_wallet(chain: Chain) -> None:
    nobody = "0x00000000000000000000000000000000000000AA"
    with pytest.raises(BadSignature):
        check(chain, nobody, chain.sign(text_for(nobody), chain.accounts()[0]))


@pytest.mark.parametrize(
    "wallet", ["WalletReverts", "WalletBurnsGas", "WalletDirtyReturn", "WalletUnlocked", "Answers"]
)
def test_a_wallet_that_reverts_burns_all_gas_or_answers_unclearly_has_not_signed(wallet: str, chain: Chain) -> None:
    address = chain.deploy(wallet)
    with pytest.raises(BadSignature):
        check(chain, address, chain.sign(text_for(address), chain.accounts()[0]))


@pytest.mark.parametrize("wallet", ["WalletHugeReturn", "WalletHugeRevert"])
def test_a_wallet_that_answers_with_megabytes_has_not_signed(wallet: str, chain: Chain) -> None:
    address = chain.deploy(wallet)
    with pytest.raises(BadSignature):
        check(chain, address, chain.sign(text_for(address), chain.accounts()[0]))


def test_nothing_follows_the_url_that_a_wallet_names(chain: Chain) -> None:
    with standing_in() as elsewhere:
        address = chain.deploy("WalletOffchainLookup", encode(["string"], [f"{elsewhere.url}/{{sender}}/{{data}}"]))
        with pytest.raises(BadSignature):
            check(chain, address, chain.sign(text_for(address), chain.accounts()[0]))
        assert elsewhere.asked == []


def test_a_signature_of_a_wallet_over_a_text_for_chain_1_does_not_count(chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet = wallet_of(chain, owner)
    text = text_for(wallet, chain_id=1)
    with pytest.raises(BadSignature, match="other_chain"):
        check(chain, wallet, chain.sign(text, owner), text=text)


def test_where_texts_are_for_another_chain_than_the_rpc_contracts_do_not_count(chain: Chain) -> None:
    owner = chain.accounts()[0]
    text = text_for(wallet_of(chain, owner), chain_id=1)
    with pytest.raises(BadSignature):
        SiweSignatures(rpc_of(chain)).check(text, chain.sign(text, owner), terms(chain_id=1))


def test_an_rpc_that_serves_another_chain_is_unavailable_and_never_a_bad_signature(chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet = wallet_of(chain, owner)
    text = text_for(wallet, chain_id=1)
    with pytest.raises(Unavailable):
        SiweSignatures(rpc_of(chain, chain_id=1)).check(text, chain.sign(text, owner), terms(chain_id=1))


def test_a_wallet_that_is_not_deployed_signs_in_and_stays_undeployed(chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet, factory, call = wallet_to_be(chain, owner)
    signature = wrapped(factory, call, chain.sign(text_for(wallet), owner))
    assert check(chain, wallet, signature) == wallet
    assert chain.rpc("eth_getCode", wallet, "latest") == "0x"
    chain.send(factory, "deploy(address,bytes32)", owner, (1).to_bytes(32, "big"))
    assert chain.rpc("eth_getCode", wallet, "latest") != "0x"
    assert check(chain, wallet, signature) == wallet


def test_a_wallet_to_be_refuses_another_owner(chain: Chain) -> None:
    owner, stranger = chain.accounts()[:2]
    wallet, factory, call = wallet_to_be(chain, owner)
    with pytest.raises(BadSignature):
        check(chain, wallet, wrapped(factory, call, chain.sign(text_for(wallet), stranger)))


def test_a_wrapper_without_a_call_deploys_nothing(chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet, factory, _ = wallet_to_be(chain, owner)
    with pytest.raises(BadSignature):
        check(chain, wallet, wrapped(factory, b"", chain.sign(text_for(wallet), owner)))


def test_a_wrapper_round_a_signature_of_a_key_is_refused(chain: Chain) -> None:
    owner = chain.accounts()[0]
    _, factory, call = wallet_to_be(chain, owner)
    with pytest.raises(BadSignature):
        check(chain, owner, wrapped(factory, call, chain.sign(text_for(owner), owner)))


@pytest.mark.parametrize("deployed", [False, True])
@pytest.mark.parametrize(
    "before", [b"", b"\0" * 33, b"\xff" * 96], ids=["magic alone", "magic after zeros", "magic after noise"]
)
def test_what_only_ends_like_a_wrapper_is_refused(before: bytes, deployed: bool, chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet = wallet_of(chain, owner) if deployed else wallet_to_be(chain, owner)[0]
    signature = "0x" + (before.ljust(33, b"\0") + MAGIC).hex()
    with pytest.raises(BadSignature):
        check(chain, wallet, signature)


def test_a_call_that_would_change_a_deployed_wallets_answer_is_not_run(chain: Chain) -> None:
    wallet = chain.deploy("WalletUnlocked")
    inner = chain.sign(text_for(wallet), chain.accounts()[0])
    with pytest.raises(BadSignature):
        check(chain, wallet, wrapped(wallet, called("unlock()"), inner))
    chain.send(wallet, "unlock()")
    assert check(chain, wallet, wrapped(wallet, called("unlock()"), inner)) == wallet


def test_a_wrapper_in_a_wrapper_is_refused(chain: Chain) -> None:
    wallet = chain.deploy("WalletUnlocked")
    inner = wrapped(wallet, called("unlock()"), chain.sign(text_for(wallet), chain.accounts()[0]))
    with pytest.raises(BadSignature, match="signature_form"):
        check(chain, wallet, wrapped(wallet, called("unlock()"), inner))


def test_a_deployed_wallet_may_send_a_wrapper_whose_inner_signature_is_right(chain: Chain) -> None:
    owner = chain.accounts()[0]
    wallet = wallet_of(chain, owner)
    assert check(chain, wallet, wrapped(wallet, b"", chain.sign(text_for(wallet), owner))) == wallet


def test_a_key_signs_in_without_a_question_to_the_chain(chain: Chain) -> None:
    account = chain.accounts()[0]
    with standing_in() as node:
        checked = SiweSignatures(Rpc(lambda: [node.url], 10)).check(
            text_for(account), chain.sign(text_for(account), account), terms()
        )
        assert (checked, node.asked) == (account, [])
