"""A person's wallet: injected into pages, signing with a real key, or as the test wants it to misbehave."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct
from playwright.sync_api import BrowserContext

SCRIPT = Path(__file__).with_name("wallet.js")
ICON = 'data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg"/>'
TEST_WALLET = {
    "uuid": "00000000-0000-4000-8000-000000000001",
    "name": "Test Wallet",
    "rdns": "test.wallet",
    "icon": ICON,
}
USER_REJECTED = 4001


@dataclass
class Wallet:
    """By default a wallet that announces itself (EIP-6963) and signs what it is asked to."""

    key: str
    address: str = ""
    """Of a contract wallet; empty is the key's own."""
    announced: list[dict[str, str]] = field(default_factory=lambda: [TEST_WALLET])
    legacy: bool = False
    """Whether it is at `window.ethereum` too."""
    declines: tuple[str, ...] = ()
    breaks: bool = False
    wrap: Callable[[str], str] = str
    """What the wallet makes of its key's signature."""
    asked: list[str] = field(default_factory=list)
    signed: list[str] = field(default_factory=list)
    """Every text that it was asked to sign."""

    @property
    def account(self) -> str:
        return self.address or str(Account.from_key(self.key).address)

    def install(self, context: BrowserContext) -> None:
        told = json.dumps({"announced": self.announced, "legacy": self.legacy})
        context.expose_function("__wallet", self._answer)
        context.add_init_script(SCRIPT.read_text().replace("__WALLET__", told))

    def _answer(self, question: str) -> str:
        asked = json.loads(question)
        method: str = asked["method"]
        self.asked.append(method)
        if self.breaks:
            return json.dumps({"error": {"code": -32603, "message": "<b>internal</b>"}})
        if method in self.declines:
            return json.dumps({"error": {"code": USER_REJECTED, "message": "User rejected the request."}})
        return json.dumps({"result": self._result(method, asked["params"])})

    def _result(self, method: str, params: list[Any]) -> Any:
        if method == "eth_requestAccounts":
            return [self.account.lower()]
        assert method == "personal_sign", method
        text = bytes.fromhex(params[0][2:]).decode()
        self.signed.append(text)
        signed = Account.sign_message(encode_defunct(text=text), self.key)
        return self.wrap(f"0x{bytes(signed.signature).hex()}")


def fresh_key() -> str:
    return str(Account.create().key.hex())
