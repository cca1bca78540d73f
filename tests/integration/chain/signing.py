"""A text of ours, signed by keys of the local chain in the ways that wallets sign."""

from collections.abc import Sequence
from typing import Any

from eth_abi.abi import encode

from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.ethereum.signatures import MAGIC, SiweSignatures
from commonplace.identity.wallets import Terms, checksummed, message_text
from tests.chain.node import Chain, called

BASE = "https://kb.example.org"
NONCE = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
NOW = 1_800_000_000.0


def text_for(address: str, chain_id: int = 10) -> str:
    return message_text(
        base_url=BASE, site_name="Garden", address=address, chain_id=chain_id, nonce=NONCE, now=NOW, life=300
    )


def terms(chain_id: int = 10) -> Terms:
    return Terms.of(BASE, chain_id, NONCE, NOW)


def rpc_of(chain: Chain, chain_id: int = 10) -> Rpc:
    return Rpc(lambda: [chain.url], chain_id)


def check(chain: Chain, address: str, signature: str, *, text: str | None = None) -> str:
    return SiweSignatures(rpc_of(chain)).check(text or text_for(address), signature, terms())


def wallet_of(chain: Chain, owner: str) -> str:
    """A deployed wallet (EIP-1271)."""
    return chain.deploy("Wallet", encode(["address"], [owner]))


def wallet_to_be(chain: Chain, owner: str, salt: int = 1) -> tuple[str, str, bytes]:
    """A wallet that is not deployed: its address, its factory, and the call that would deploy it (EIP-6492)."""
    factory = chain.deploy("WalletFactory")
    arguments: Sequence[Any] = (owner, salt.to_bytes(32, "big"))
    address = chain.ask(factory, "predict(address,bytes32)", *arguments)[12:]
    return _spelt(address), factory, called("deploy(address,bytes32)", *arguments)


def wrapped(factory: str, call: bytes, inner: str | bytes) -> str:
    """A signature that says how to deploy its wallet (EIP-6492)."""
    signature = bytes.fromhex(inner[2:]) if isinstance(inner, str) else inner
    return "0x" + (encode(["address", "bytes", "bytes"], [factory, call, signature]) + MAGIC).hex()


def _spelt(address: bytes) -> str:
    return checksummed("0x" + address.hex())
