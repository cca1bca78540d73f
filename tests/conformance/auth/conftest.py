"""A deployment that knows a member and a vibecoder, and the programs that ask them."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from commonplace_local.knowledge_folder import SAMPLE
from tests.conformance.mcp import clients as node
from tests.integration.repositories import Clone
from tests.integration.running_dev import Dev, started
from tests.person import Wallet, wallet

STRANGER, MEMBER, VIBECODER = wallet(11), wallet(12), wallet(13)


@dataclass(frozen=True)
class Place:
    """Where a client connects."""

    dev: Dev

    @property
    def base(self) -> str:
        return self.dev.url

    @property
    def mcp(self) -> str:
        return f"{self.dev.url}/mcp"


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> node.Clients:
    """Programs on Node.js; the tests that need them are skipped where they cannot be had, and fail in CI."""
    return node.or_skipped(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """`commonplace dev` over the sample, with two wallets on the operator's list."""
    folder = tmp_path_factory.mktemp("dev")
    user = Clone(folder / "knowledge-base")
    shutil.copytree(SAMPLE, user.folder, dirs_exist_ok=True)
    user.commit("The sample")
    allowed = [(MEMBER, "member"), (VIBECODER, "vibecoder")]
    options = [option for one, tier in allowed for option in ("--allow", f"{one.address}={tier}")]
    with ExitStack() as running:
        # Other tests of this worker start laptops too: the variable is for this one alone.
        with pytest.MonkeyPatch.context() as shell:
            shell.setenv("MCP_FULL_TEXT_TIER", "member")
            dev = running.enter_context(started(user, folder / "data", *options))
        yield Place(dev)


@pytest.fixture
def member() -> Wallet:
    return MEMBER
