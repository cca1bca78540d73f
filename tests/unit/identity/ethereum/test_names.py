"""Names are for people to read: whatever is wrong with one, the wallet is nameless, and the sign-in goes on in time."""

import time

import pytest

from commonplace.identity.ethereum import names
from commonplace.identity.ethereum.names import EnsNames, github_handle, https_url
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.wallets import NAMELESS
from tests.fakes.ethereum import address_of
from tests.fakes.ethereum_node import StandInNode, silent, status


def _names(node: StandInNode, seconds: float = 30.0) -> EnsNames:
    return EnsNames(Rpc(lambda: [node.url], 10), seconds=seconds)


def test_the_addresses_and_selectors_are_those_of_ens() -> None:
    from ens.constants import UNIVERSAL_RESOLVER_ADDR
    from eth_utils.abi import function_signature_to_4byte_selector as selector

    assert names.UNIVERSAL_RESOLVER == UNIVERSAL_RESOLVER_ADDR
    assert selector("resolve(bytes,bytes)") == names.RESOLVE
    assert selector("name(bytes32)") == names.NAME
    assert selector("addr(bytes32)") == names.ADDR
    assert selector("text(bytes32,string)") == names.TEXT


def test_a_node_without_ens_leaves_a_wallet_nameless(node: StandInNode) -> None:
    assert _names(node).of(address_of()) == NAMELESS


@pytest.mark.parametrize("answer", ["0x01", "0x" + "ff" * 64, "0x" + "00" * 96, "0x" + "00" * 31 + "40" + "ff" * 64])
def test_an_answer_that_is_nonsense_leaves_a_wallet_nameless(answer: str, node: StandInNode) -> None:
    node.results["eth_call"] = answer
    assert _names(node).of(address_of()) == NAMELESS


def test_a_node_that_is_down_leaves_a_wallet_nameless(node: StandInNode) -> None:
    node.fault = status(500)
    assert _names(node).of(address_of()) == NAMELESS


def test_a_node_that_is_silent_leaves_a_wallet_nameless_in_time(node: StandInNode) -> None:
    node.fault = silent(node)
    started = time.monotonic()
    assert _names(node, seconds=0.2).of(address_of()) == NAMELESS
    assert time.monotonic() - started < 3


def test_what_could_not_be_found_out_is_told_apart_from_having_no_name(node: StandInNode) -> None:
    node.error = {"code": 3, "message": "execution reverted"}
    assert _names(node).lookup(address_of()) == NAMELESS
    node.error = {"code": -32_005, "message": "limit exceeded"}
    assert _names(node).lookup(address_of()) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("https://example.org/a.png", "https://example.org/a.png"),
        ("http://example.org/a.png", None),
        ("ipfs://bafy", None),
        ("eip155:1/erc721:0xb47e/1", None),
        ("data:image/svg+xml,<svg onload='x'/>", None),
        ("javascript:alert(1)", None),
        ('https://example.org/"onerror="x', None),
        ("https://example.org/a b", None),
        ("https://example.org/" + "a" * 2_048, None),
        ("", None),
    ],
)
def test_an_avatar_is_an_https_url_or_none(text: str, found: str | None) -> None:
    assert https_url(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("octocat", "octocat"),
        ("@octo-cat", "octo-cat"),
        ("https://github.com/octocat/", "octocat"),
        (" octocat ", "octocat"),
        ("octo--cat", None),
        ("-octocat", None),
        ("https://evil.example/octocat", None),
        ("<b>octocat</b>", None),
        ("a" * 40, None),
        ("", None),
    ],
)
def test_a_github_handle_has_the_form_of_one(text: str, found: str | None) -> None:
    assert github_handle(text) == found
