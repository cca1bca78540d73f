"""ENS names, read from a stand-in at the address of the Universal Resolver: one is found, and every bad one is none."""

from typing import Any

import pytest
from ens.utils import dns_encode_name, raw_name_to_hash
from eth_abi.abi import encode

from commonplace.identity.ethereum.names import ADDR, NAME, TEXT, EnsNames
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.wallets import NAMELESS, Named
from tests.chain.node import RESOLVER, Chain
from tests.fakes.ethereum_node import standing_in
from tests.integration.chain.signing import rpc_of

pytestmark = pytest.mark.node


class Counting(Rpc):
    """Counts its calls."""

    calls = 0

    def call(self, data: bytes, *, to: str | None = None, gas: int | None = None) -> bytes | None:
        self.calls += 1
        return super().call(data, to=to, gas=gas)


@pytest.fixture
def ens(chain: Chain) -> Chain:
    chain.put("StandInResolver", RESOLVER)
    return chain


def _tell(chain: Chain, name: str, selector: bytes, answer: bytes, *arguments: str, dns: bytes | None = None) -> None:
    types = ["bytes32", *("string" for _ in arguments)]
    call = selector + encode(types, [bytes(raw_name_to_hash(name)), *arguments])
    chain.send(RESOLVER, "tell(bytes,bytes,bytes)", dns or bytes(dns_encode_name(name)), call, answer)


def _name(chain: Chain, account: str, name: str, *, leads_to: str | None = None, **records: str) -> None:
    """A wallet's own word for itself, and, for a name that can be looked up, where it leads."""
    _tell(chain, f"{account[2:].lower()}.addr.reverse", NAME, encode(["string"], [name]))
    if leads_to:
        _tell(chain, name, ADDR, encode(["address"], [leads_to]))
    for key, value in records.items():
        _tell(chain, name, TEXT, encode(["string"], [value]), key.replace("_", "."))


def _of(chain: Chain, account: str) -> Named:
    return EnsNames(rpc_of(chain)).of(account)


def test_a_wallet_is_called_by_a_name_that_leads_back_to_it(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "alice.eth", leads_to=me)
    assert _of(ens, me) == Named(name="alice.eth")


def test_avatar_and_github_handle_are_those_of_the_name(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "alice.eth", leads_to=me, avatar="https://example.org/a.png", com_github="alice")
    assert _of(ens, me) == Named(name="alice.eth", avatar="https://example.org/a.png", github="alice")


def test_an_avatar_that_is_no_https_url_and_a_handle_that_is_none_are_left_out(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "alice.eth", leads_to=me, avatar="ipfs://bafy", com_github="<script>")
    assert _of(ens, me) == Named(name="alice.eth")


def test_a_name_in_another_script_is_shown_as_it_is(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "花子.eth", leads_to=me)
    assert _of(ens, me) == Named(name="花子.eth")


def test_a_wallet_without_a_record_is_nameless(ens: Chain) -> None:
    assert _of(ens, ens.accounts()[0]) == NAMELESS


def test_a_name_that_leads_nowhere_is_none(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "alice.eth")
    assert _of(ens, me) == NAMELESS


def test_a_name_that_leads_to_nobody_is_none(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "alice.eth", leads_to="0x" + "00" * 20)
    assert _of(ens, me) == NAMELESS


def test_somebody_elses_name_is_none(ens: Chain) -> None:
    me, other = ens.accounts()[:2]
    _name(ens, me, "alice.eth", leads_to=other)
    assert _of(ens, me) == NAMELESS


@pytest.mark.parametrize(
    "name",
    ["BOB.eth", "bob .eth", "b\u200dob.eth", "bоb.eth", "bob..eth", ".eth", "x" * 300 + ".eth", "bob\n.eth", "<b>.eth"],
    ids=[
        "upper case",
        "space",
        "zero-width joiner",
        "mixed script",
        "empty label",
        "no label",
        "300",
        "newline",
        "markup",
    ],
)
def test_a_name_that_is_not_as_ens_would_write_it_is_none(name: str, ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, name)
    rpc = Counting(lambda: [ens.url], 10)
    assert EnsNames(rpc).of(me) == NAMELESS
    assert rpc.calls == 1, "nobody asks where such a name leads"


def test_upper_case_is_none_even_where_it_leads_back(ens: Chain) -> None:
    me = ens.accounts()[0]
    _name(ens, me, "BOB.eth")
    _tell(ens, "bob.eth", ADDR, encode(["address"], [me]))
    assert _of(ens, me) == NAMELESS


@pytest.mark.parametrize("which", ["reverse", "forward"])
def test_a_name_that_is_kept_elsewhere_is_none_and_nobody_goes_there(which: str, ens: Chain) -> None:
    me = ens.accounts()[0]
    reverse = f"{me[2:].lower()}.addr.reverse"
    name, selector = (reverse, NAME) if which == "reverse" else ("alice.eth", ADDR)
    _name(ens, me, "alice.eth", leads_to=me)
    with standing_in() as elsewhere:
        arguments: list[Any] = [bytes(dns_encode_name(name)), selector + bytes(raw_name_to_hash(name))]
        ens.send(RESOLVER, "tellOffchain(bytes,bytes,string)", *arguments, f"{elsewhere.url}/{{sender}}")
        assert _of(ens, me) == NAMELESS
        assert elsewhere.asked == []


def test_a_chain_without_ens_leaves_everybody_nameless(chain: Chain) -> None:
    assert _of(chain, chain.accounts()[0]) == NAMELESS


def test_our_reading_agrees_with_the_library(ens: Chain) -> None:
    from ens import ENS
    from web3 import HTTPProvider

    provider = HTTPProvider(ens.url, exception_retry_configuration=None)
    provider.global_ccip_read_enabled = False
    me, other = ens.accounts()[:2]
    _name(ens, me, "alice.eth", leads_to=me, avatar="https://example.org/a.png")
    _name(ens, other, "carol.eth", leads_to=me)
    library = ENS(provider)
    assert [library.name(me), library.name(other)] == [_of(ens, me).name, _of(ens, other).name] == ["alice.eth", None]
    assert library.get_text("alice.eth", "avatar") == _of(ens, me).avatar
