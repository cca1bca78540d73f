"""`commonplace dev` over a local chain, and what a client and a wallet do there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from tests.browser.wallet import Wallet, fresh_key
from tests.chain.node import HATS, Chain
from tests.integration.running_dev import Dev, garden, started

MEMBER_HAT = "30.3.5"


def called(url: str, token: str, tool: str, /, **arguments: Any) -> httpx.Response:
    """A tool, over MCP."""
    return httpx.post(
        f"{url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}},
        headers={"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"},
        timeout=60,
    )


@dataclass(frozen=True)
class Deployment:
    """The real thing on this machine."""

    dev: Dev
    chain: Chain

    @property
    def url(self) -> str:
        return self.dev.url

    def member(self) -> Wallet:
        """Somebody new who wears the hat of members."""
        wallet = Wallet(fresh_key())
        self.chain.give_hat(MEMBER_HAT, wallet.account)
        return wallet

    def call(self, token: str, tool: str, **arguments: Any) -> httpx.Response:
        return called(self.url, token, tool, **arguments)

    def search(self, token: str) -> httpx.Response:
        return self.call(token, "search_knowledge", query="crabs")

    def save(self, token: str, title: str) -> httpx.Response:
        """What only members may do."""
        return self.call(token, "save_link", url="https://example.org/crabs", title=title, description="Of crabs.")


@contextmanager
def deployed(folder: Path, chain: Chain) -> Iterator[Deployment]:
    """Until the block ends."""
    with started(garden(folder / "garden"), folder / "data", "--rpc", chain.url) as dev:
        yield Deployment(dev, chain)


@contextmanager
def unreachable(chain: Chain) -> Iterator[None]:
    """The node is gone within the block, and comes back without what was given since it began."""
    chain.stop()
    try:
        yield
    finally:
        chain.start()
        chain.put("StandInHats", HATS)
