"""The little of Solidity's ABI that the guard needs, so that it carries no library for it."""

from collections.abc import Sequence

WORD = 32


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
