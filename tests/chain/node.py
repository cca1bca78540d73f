"""A local Ethereum node (anvil), its unlocked accounts, and the contracts that tests put there."""

import json
import socket
import subprocess
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from urllib3 import PoolManager

from commonplace.identity.roles import hat_id
from commonplace.identity.wallets import checksummed
from tests.chain.packages import anvil

HATS = "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
RESOLVER = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe"
START_SECONDS = 60.0
STARTS = 3


class Refused(Exception):
    """The node answered with an error."""


@cache
def contracts() -> dict[str, dict[str, str]]:
    """What contracts.sol compiles to, by name: `init` and `runtime`, hex without 0x."""
    return dict(json.loads((Path(__file__).parent / "contracts.json").read_text()))


@dataclass(slots=True)
class Chain:
    """A node on a free port of the loopback interface. Raises NotInstalled when it cannot be had."""

    chain_id: int = 10
    port: int = 0
    _process: "subprocess.Popen[bytes] | None" = None
    _http: PoolManager = field(default_factory=lambda: PoolManager(retries=False, timeout=30))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> "Chain":
        """Returns itself once the node answers. A port given before is taken again, so that it can come back."""
        program = anvil()
        for _ in range(STARTS):
            self.port = self.port or _free_port()
            words = [str(program), "--chain-id", str(self.chain_id), "--port", str(self.port), "--silent"]
            self._process = subprocess.Popen([*words, "--host", "127.0.0.1"], stdin=subprocess.DEVNULL)
            if self._answers():
                return self
            self.stop()
            self.port = 0
        raise RuntimeError("anvil does not answer")

    def stop(self) -> None:
        """Nothing is kept: a node that starts again knows no contract."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(10)
            self._process = None
        self._http.clear()

    def rpc(self, method: str, *params: Any) -> Any:
        """Raises Refused, and what urllib3 raises."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = self._http.request("POST", self.url, json=body).json()
        if "error" in answer:
            raise Refused(str(answer["error"]))
        return answer["result"]

    def accounts(self) -> list[str]:
        """Ten unlocked ones with money, EIP-55."""
        return [checksummed(one) for one in self.rpc("eth_accounts")]

    def sign(self, text: str, account: str) -> str:
        """As a wallet does (EIP-191)."""
        return str(self.rpc("personal_sign", "0x" + text.encode().hex(), account))

    def put(self, name: str, address: str) -> None:
        """The contract's code stands at this address from now on."""
        self.rpc("anvil_setCode", address, "0x" + contracts()[name]["runtime"])

    def remove(self, address: str) -> None:
        self.rpc("anvil_setCode", address, "0x")

    def deploy(self, name: str, arguments: bytes = b"") -> str:
        """Its address, EIP-55."""
        receipt = self._sent({"data": "0x" + contracts()[name]["init"] + arguments.hex()})
        return checksummed(receipt["contractAddress"])

    def send(self, address: str, function: str, *arguments: Any) -> None:
        """A transaction that calls `function`, a signature such as `give(uint256,address)`."""
        self._sent({"to": address, "data": "0x" + called(function, *arguments).hex()})

    def ask(self, address: str, function: str, *arguments: Any) -> bytes:
        tx = {"to": address, "data": "0x" + called(function, *arguments).hex()}
        return bytes.fromhex(self.rpc("eth_call", tx, "latest")[2:])

    def give_hat(self, path: str, account: str) -> None:
        self.send(HATS, "give(uint256,address)", hat_id(path), account)

    def take_hat(self, path: str, account: str) -> None:
        self.send(HATS, "take(uint256,address)", hat_id(path), account)

    def _sent(self, tx: dict[str, Any]) -> dict[str, Any]:
        """The receipt. The node mines at once, yet answers a moment before it has."""
        told = self.rpc("eth_sendTransaction", {"from": self.accounts()[9], **tx})
        end = time.monotonic() + START_SECONDS
        while (receipt := self.rpc("eth_getTransactionReceipt", told)) is None and time.monotonic() < end:
            time.sleep(0.002)
        if receipt is None or int(receipt["status"], 16) != 1:
            raise Refused(f"the transaction failed: {receipt}")
        return dict(receipt)

    def _answers(self) -> bool:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self._process is not None and self._process.poll() is None:
            try:
                return int(self.rpc("eth_chainId"), 16) == self.chain_id
            except Exception:
                time.sleep(0.02)  # it is starting: there is nothing else to wait for
        return False


def called(function: str, *arguments: Any) -> bytes:
    """The call of a function by its signature."""
    from eth_abi.abi import encode
    from eth_utils.abi import function_signature_to_4byte_selector

    types = function[function.index("(") + 1 : -1]
    return function_signature_to_4byte_selector(function) + encode(types.split(",") if types else [], arguments)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
