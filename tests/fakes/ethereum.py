"""What stands for the chain where a test needs none: hats that come and go, and keys that sign."""

from collections.abc import Callable
from dataclasses import dataclass, field

from commonplace.identity.accounts import Worn
from commonplace.kernel.errors import Unavailable
from tests.fakes.identity_stores import Clock


@dataclass
class FakeHats:
    """`commonplace.identity.accounts.Hats`: `held` by address in lower case. `down` raises Unavailable."""

    clock: Clock
    held: dict[str, set[str]] = field(default_factory=dict)
    down: bool = False
    asked: int = 0
    old: Worn | None = None
    """In place of the next answer, once."""
    before_answer: Callable[[], object] | None = None
    """Runs while the next answer is on its way."""

    def worn(self, address: str, *, fresh: bool = False) -> Worn:
        self.asked += 1
        meanwhile, self.before_answer = self.before_answer, None
        old, self.old = (self.old, None) if meanwhile else (None, self.old)
        if meanwhile:
            meanwhile()
        if self.down:
            raise Unavailable("The chain cannot be read just now.")
        return old or Worn(hats=frozenset(self.held.get(address.lower(), ())), read_at=int(self.clock()))


def signed(text: str, key: int = 1) -> str:
    """As a wallet with this private key signs it (EIP-191)."""
    from eth_account import Account
    from eth_account.messages import encode_defunct

    told = Account.sign_message(encode_defunct(text=text), key.to_bytes(32, "big"))
    return "0x" + bytes(told.signature).hex()


def address_of(key: int = 1) -> str:
    """The account of this private key, EIP-55."""
    from eth_account import Account

    return str(Account.from_key(key.to_bytes(32, "big")).address)
