"""A signed text counts here, now, for this nonce and this chain; what the library cannot read of ours is our fault."""

from dataclasses import replace
from datetime import timedelta

import pytest

from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.ethereum.signatures import SiweSignatures
from commonplace.identity.wallets import BadSignature, Terms, message_text
from tests.fakes.ethereum import address_of, signed
from tests.fakes.ethereum_node import StandInNode

BASE, NONCE, NOW = "https://kb.example.org", "0f1e2d3c4b5a6978", 1_800_000_000.0
TERMS = Terms.of(BASE, 10, NONCE, NOW)


def _text(chain_id: int = 10) -> str:
    return message_text(
        base_url=BASE, site_name="Garden", address=address_of(), chain_id=chain_id, nonce=NONCE, now=NOW, life=300
    )


@pytest.mark.parametrize(
    ("terms", "reason"),
    [
        (replace(TERMS, domain="evil.example"), "other_domain"),
        (replace(TERMS, uri=f"{BASE}/account"), "other_uri"),
        (replace(TERMS, nonce="1" * 16), "other_nonce"),
        (replace(TERMS, chain_id=1), "other_chain"),
        (replace(TERMS, now=TERMS.now + timedelta(seconds=300)), "text_expired"),
    ],
)
def test_a_text_for_anything_else_is_refused_before_the_chain_is_asked(
    terms: Terms, reason: str, node: StandInNode
) -> None:
    with pytest.raises(BadSignature, match=reason):
        SiweSignatures(Rpc(lambda: [node.url], 10)).check(_text(), signed(_text()), terms)
    assert node.asked == []


def test_a_text_of_ours_that_cannot_be_read_is_no_fault_of_the_caller(node: StandInNode) -> None:
    with pytest.raises(ValueError):
        SiweSignatures(Rpc(lambda: [node.url], 10)).check(_text() + "\n", signed(_text()), TERMS)


def test_a_key_signs_for_any_chain_that_the_deployment_names(node: StandInNode) -> None:
    check = SiweSignatures(Rpc(lambda: [node.url], 10))
    assert check.check(_text(1), signed(_text(1)), replace(TERMS, chain_id=1)) == address_of()


def test_a_contract_does_not_sign_for_another_chain_than_the_rpcs(node: StandInNode) -> None:
    node.results["eth_call"] = "0x01"
    with pytest.raises(BadSignature, match="other_key"):
        SiweSignatures(Rpc(lambda: [node.url], 10)).check(_text(1), signed(_text(1), 2), replace(TERMS, chain_id=1))
    assert node.asked == []


def test_the_validator_that_the_library_brings_is_the_one_that_was_tried() -> None:
    """It is no part of the library's public face: another one must be looked at before it is trusted."""
    from eth_hash.auto import keccak
    from siwe.siwe import EIP6492_VALIDATOR_BYTECODE

    code = bytes.fromhex(EIP6492_VALIDATOR_BYTECODE[2:])
    assert len(code) == 1_684
    assert keccak(code).hex() == "00f03afb646c45f698b5a1f540c482aebc9f5215003e4707d362a02526753936"
