"""What reads signatures is heavy, and is loaded by the first sign-in alone: no guard and no token carries it."""

import json
import subprocess
import sys

import pytest

HEAVY = ("web3", "siwe", "ens", "eth_abi", "eth_account", "eth_hash", "eth_utils", "eth_keys", "Crypto", "coincurve")

LIGHT = {
    "the guard's reading of roles": ["commonplace.identity.ethereum.hats", "commonplace.identity.role_cache"],
    "sign-in before anybody signs": ["commonplace.identity.wallets", "commonplace.identity.oauth.server.app"],
    "the adapters before their first question": [
        "commonplace.identity.ethereum.signatures",
        "commonplace.identity.ethereum.names",
        "commonplace.identity.role_cache",
    ],
}


@pytest.mark.parametrize("part", LIGHT)
def test_importing_loads_nothing_that_reads_signatures(part: str) -> None:
    program = f"import sys, json, {', '.join(LIGHT[part])}; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "commonplace" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_reading_roles_from_the_chain_loads_no_library_of_ethereum() -> None:
    program = """
import json, sys
from commonplace.identity.ethereum.hats import ChainHats
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.kernel.errors import Unavailable
from tests.fakes.ethereum_node import standing_in
with standing_in() as node:
    node.results["eth_call"] = "0x" + (32).to_bytes(32, "big").hex() + (1).to_bytes(32, "big").hex() * 2
    worn = ChainHats(Rpc(lambda: [node.url], 10), "0x" + "11" * 20, ["30.3.1"]).worn("0x" + "22" * 20)
    assert worn.hats == {"30.3.1"}
print(json.dumps(sorted(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert {name.partition(".")[0] for name in json.loads(done.stdout)}.isdisjoint(HEAVY)
