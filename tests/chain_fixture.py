"""A local Ethereum node with the stand-in for Hats Protocol at its real address, for tests that need a chain.

`chain` starts one for the whole run; each test finds it as it was at first. `own_chain` is for tests that stop it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.chain.node import Chain


@pytest.fixture(scope="session")
def running_chain() -> "Iterator[Chain]":
    """The run's node, chain id 10: ask for `chain` instead, unless what a test changes is to last."""
    chain = _started()
    try:
        yield chain
    finally:
        chain.stop()


@pytest.fixture
def chain(running_chain: "Chain") -> "Iterator[Chain]":
    """What a test does to it is undone afterwards."""
    snapshot = running_chain.rpc("evm_snapshot")
    try:
        yield running_chain
    finally:
        running_chain.rpc("evm_revert", snapshot)


@pytest.fixture
def own_chain() -> "Iterator[Chain]":
    """A node of the test's own, which may `stop` it and `start` it again."""
    chain = _started()
    try:
        yield chain
    finally:
        chain.stop()


def _started() -> "Chain":
    from tests.chain.node import HATS, Chain
    from tests.chain.packages import or_skipped

    chain = or_skipped(Chain().start)
    chain.put("StandInHats", HATS)
    return chain
