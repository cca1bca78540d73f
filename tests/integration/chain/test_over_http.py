"""Contract wallets and names as browsers meet them: events of the gateway, a real chain behind the check."""

from collections.abc import Callable

import pytest
from eth_abi.abi import encode

from commonplace.identity.ethereum.names import EnsNames
from commonplace.identity.ethereum.rpc import Rpc
from tests.chain.node import Chain, called
from tests.fakes.ethereum_node import silent, standing_in, status
from tests.integration.chain.signing import wallet_of, wallet_to_be, wrapped
from tests.unit.identity.oauth.world import Answer
from tests.unit.identity.wallets.world import Wallets

pytestmark = pytest.mark.node

Wallet = Callable[[Chain, str], tuple[str, Callable[[str], str]]]
"""Of an owner: the wallet's address, and what it makes of the owner's signature."""


def _world(url: str) -> Wallets:
    with standing_in() as unused:
        world = Wallets(unused)
    world.sign_in.check = type(world.sign_in.check)(Rpc(lambda: [url], 10))  # type: ignore[call-arg]
    return world


def _answer(world: Wallets, chain: Chain, wallet: str, signer: str, wrap: Callable[[str], str]) -> Answer:
    asked = world.nonce(wallet).json()
    return world.verify({"id": asked["id"], "signature": wrap(chain.sign(asked["message"], signer))})


def _as_it_is(signature: str) -> str:
    return signature


def _deployed(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    return wallet_of(chain, owner), _as_it_is


def _to_be(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    wallet, factory, call = wallet_to_be(chain, owner)
    return wallet, lambda signature: wrapped(factory, call, signature)


def _without_call(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    wallet, factory, _ = wallet_to_be(chain, owner)
    return wallet, lambda signature: wrapped(factory, b"", signature)


def _round_a_key(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    _, factory, call = wallet_to_be(chain, owner)
    return owner, lambda signature: wrapped(factory, call, signature)


def _unlocked_by_its_call(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    wallet = chain.deploy("WalletUnlocked")
    return wallet, lambda signature: wrapped(wallet, called("unlock()"), signature)


def _nested(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    wallet, factory, call = wallet_to_be(chain, owner)
    return wallet, lambda signature: wrapped(factory, call, wrapped(factory, call, signature))


def _hostile(name: str) -> Wallet:
    return lambda chain, owner: (chain.deploy(name), _as_it_is)


def _nobody(chain: Chain, owner: str) -> tuple[str, Callable[[str], str]]:
    return "0x00000000000000000000000000000000000000AA", _as_it_is


@pytest.mark.parametrize("wallet", [_deployed, _to_be], ids=["EIP-1271", "EIP-6492"])
def test_a_contract_wallet_signs_in_by_its_owner_and_nobody_else(wallet: Wallet, chain: Chain) -> None:
    owner, stranger = chain.accounts()[:2]
    world = _world(chain.url)
    address, wrap = wallet(chain, owner)
    answer = _answer(world, chain, address, owner, wrap)
    assert (answer.status, answer.json()["address"]) == (200, address)
    assert _answer(world, chain, address, stranger, wrap).status == 403


REFUSED: dict[str, Wallet] = {
    "no code at the address": _nobody,
    "reverts": _hostile("WalletReverts"),
    "burns all gas": _hostile("WalletBurnsGas"),
    "dirty return": _hostile("WalletDirtyReturn"),
    "2 MB return": _hostile("WalletHugeReturn"),
    "1 MB revert": _hostile("WalletHugeRevert"),
    "says no": _hostile("WalletUnlocked"),
    "empty factory call": _without_call,
    "wrapper round a key's signature": _round_a_key,
    "wrapper that changes the wallet's answer": _unlocked_by_its_call,
    "wrapper in a wrapper": _nested,
}


@pytest.mark.parametrize("wallet", REFUSED)
def test_a_trick_is_403_whoever_signs(wallet: str, chain: Chain) -> None:
    owner = chain.accounts()[0]
    address, wrap = REFUSED[wallet](chain, owner)
    world = _world(chain.url)
    assert _answer(world, chain, address, owner, wrap).status == 403
    assert world.sign_ins.sessions == {}


def test_a_wallet_that_names_a_url_is_403_and_nobody_goes_there(chain: Chain) -> None:
    with standing_in() as elsewhere:
        wallet = chain.deploy("WalletOffchainLookup", encode(["string"], [f"{elsewhere.url}/{{data}}"]))
        assert _answer(_world(chain.url), chain, wallet, chain.accounts()[0], _as_it_is).status == 403
        assert elsewhere.asked == []


def test_a_contract_wallet_is_503_while_the_node_is_stopped_and_a_key_is_not(own_chain: Chain) -> None:
    owner = own_chain.accounts()[0]
    wallet = wallet_of(own_chain, owner)
    world = _world(own_chain.url)
    mine, its = world.nonce(owner).json(), world.nonce(wallet).json()
    signed = [(asked["id"], own_chain.sign(asked["message"], owner)) for asked in (mine, its)]
    own_chain.stop()
    answers = [world.verify({"id": known, "signature": signature}) for known, signature in signed]
    assert [answer.status for answer in answers] == [200, 503]
    assert int(answers[1].headers["retry-after"]) > 0


@pytest.mark.parametrize("fault", ["down", "silent"])
def test_a_key_signs_in_nameless_and_in_time_while_ens_is_away(fault: str, chain: Chain) -> None:
    owner = chain.accounts()[0]
    world = _world(chain.url)
    with standing_in(chain_id=1) as mainnet:
        mainnet.fault = status(500) if fault == "down" else silent(mainnet)
        world.sign_in.names = EnsNames(Rpc(lambda: [mainnet.url], 1, question_seconds=0.2))
        answer = _answer(world, chain, owner, owner, _as_it_is)
    assert (answer.status, answer.json()["name"]) == (200, None)
    assert mainnet.asked
