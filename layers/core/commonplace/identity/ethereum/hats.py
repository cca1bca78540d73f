"""Hats of Hats Protocol that a wallet wears: EIP-1155 balances in one call, with the ABI encoding that it needs.

A revert, an address without code, another contract, an answer of any other length: none of them means "no hats". The
encoding is written here so that the guard carries no library for it.
"""

import time
from collections.abc import Callable, Iterable, Sequence

from commonplace.identity.accounts import Worn
from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.roles import hat_id
from commonplace.kernel.errors import Unavailable

WORD = 32

BALANCE_OF_BATCH = bytes.fromhex("4e1273f4")
"""Selector of `balanceOfBatch(address[],uint256[])`."""


def word(number: int) -> bytes:
    """A uint256."""
    return number.to_bytes(WORD, "big")


def address_word(address: str) -> bytes:
    """An address: 20 bytes on the right of a word."""
    return bytes.fromhex(address[2:]).rjust(WORD, b"\0")


def arrays(*columns: Sequence[bytes]) -> bytes:
    """Arguments that are arrays of words: where each begins, then its length and its words."""
    heads, tail = b"", b""
    for column in columns:
        heads += word(len(columns) * WORD + len(tail))
        tail += word(len(column)) + b"".join(column)
    return heads + tail


def words(answer: bytes, count: int) -> list[bytes] | None:
    """The words of a single array of so many; None for any other answer, however little it differs."""
    if len(answer) != (2 + count) * WORD or answer[: 2 * WORD] != word(WORD) + word(count):
        return None
    return [answer[at : at + WORD] for at in range(2 * WORD, len(answer), WORD)]


class ChainHats:
    """`accounts.Hats`, read from the chain each time."""

    def __init__(
        self, rpc: Rpc, contract: str, paths: Iterable[str], *, clock: Callable[[], float] = time.time
    ) -> None:
        """`paths` such as `30.3.1`; `clock` gives epoch seconds."""
        self._rpc = rpc
        self._contract = contract
        self._ids = {path: hat_id(path) for path in paths}
        self._clock = clock

    def worn(self, address: str, *, fresh: bool = False) -> Worn:  # noqa: ARG002 - always is
        """As of the moment before the question. Raises Unavailable."""
        now = int(self._clock())
        if not self._ids:
            return Worn(read_at=now)
        wearers = [address_word(address)] * len(self._ids)
        asked = BALANCE_OF_BATCH + arrays(wearers, [word(one) for one in self._ids.values()])
        answer = self._rpc.call(asked, to=self._contract)
        balances = words(answer, len(self._ids)) if answer is not None else None
        if balances is None:
            raise Unavailable("The roles cannot be read just now.")
        return Worn(
            hats=frozenset(path for path, one in zip(self._ids, balances, strict=True) if any(one)), read_at=now
        )
