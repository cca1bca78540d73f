"""ENS: `wallets.Names` by the wallet's primary name and two of its text records.

The owner of a name has written all of it, so each part must have its form, nothing of it is ever fetched, and it is for
display alone. Reads go to ENS's Universal Resolver on mainnet by plain calls; an answer that lies off-chain (EIP-3668)
counts as none.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from commonplace.identity.ethereum.rpc import Rpc, within
from commonplace.identity.wallets import NAMELESS, Named

logger = logging.getLogger(__name__)

UNIVERSAL_RESOLVER = "0xeEeEEEeE14D718C2B47D9923Deab1335E144EeEe"
RESOLVE = bytes.fromhex("9061b923")
"""Selector of `resolve(bytes,bytes)` (ENSIP-10)."""
NAME, ADDR, TEXT = (bytes.fromhex(one) for one in ("691f3431", "3b3b57de", "59d1d43c"))
"""Selectors of `name(bytes32)`, `addr(bytes32)` and `text(bytes32,string)`."""

SECONDS = 4.0
"""The bound of everything together: somebody waits to be signed in."""
MAX_NAME_CHARACTERS = 255
MAX_URL_CHARACTERS = 2_048

_HTTPS = re.compile(r"https://[^\s\"'<>\\]+")
_GITHUB = re.compile(r"(?:https://github\.com/|@)?([A-Za-z0-9](?:-?[A-Za-z0-9]){0,38})/?")


class EnsNames:
    """Asks mainnet each time. Raises nothing: without an answer a wallet is nameless."""

    def __init__(self, rpc: Rpc, *, seconds: float = SECONDS) -> None:
        self._rpc = rpc
        self._seconds = seconds

    def of(self, address: str) -> Named:
        return self.lookup(address) or NAMELESS

    def lookup(self, address: str) -> Named | None:
        """None when it could not be found out: another time it may."""
        try:
            _is_normal("eth")  # loads its tables outside the bound: the first sign-in of a process waits for them once
            return within(self._seconds, lambda: self._named(address))
        except Exception as error:  # noqa: BLE001 - a strange name must not stand between a person and the sign-in
            logger.info("a wallet's name could not be found", extra={"error": type(error).__name__})
            return None

    def _named(self, address: str) -> Named:
        name = self._text(f"{address[2:].lower()}.addr.reverse", NAME)
        if not name or not _is_normal(name) or self._address(name) != address.lower():
            return NAMELESS
        avatar, github = self._text(name, TEXT, "avatar"), self._text(name, TEXT, "com.github")
        return Named(name=name, avatar=https_url(avatar), github=github_handle(github))

    def _text(self, name: str, selector: bytes, *arguments: str) -> str:
        """Empty without a record."""
        from eth_abi.abi import decode

        answer = self._resolved(name, selector, *arguments)
        return str(decode(["string"], answer)[0]) if answer else ""

    def _address(self, name: str) -> str:
        """Lower case; empty without a record."""
        from eth_abi.abi import decode

        answer = self._resolved(name, ADDR)
        return str(decode(["address"], answer)[0]).lower() if answer else ""

    def _resolved(self, name: str, selector: bytes, *arguments: str) -> bytes:
        """Return what the name's resolver answers to the call; empty when there is none, or it lies elsewhere."""
        from ens.utils import dns_encode_name, raw_name_to_hash
        from eth_abi.abi import decode, encode

        types = ["bytes32", *("string" for _ in arguments)]
        call = selector + encode(types, [bytes(raw_name_to_hash(name)), *arguments])
        query = RESOLVE + encode(["bytes", "bytes"], [bytes(dns_encode_name(name)), call])
        answer = self._rpc.call(query, to=UNIVERSAL_RESOLVER)
        if answer is None:
            return b""
        told: tuple[Any, ...] = decode(["bytes", "address"], answer)
        return bytes(told[0])


def https_url(text: str) -> str | None:
    """A URL that a page may show as an image; anything else (`ipfs:`, `eip155:`, `data:`) is none."""
    return text if len(text) <= MAX_URL_CHARACTERS and _HTTPS.fullmatch(text) else None


def github_handle(text: str) -> str | None:
    """The handle, also of a profile's URL."""
    found = _GITHUB.fullmatch(text.strip()[:200])
    return found.group(1) if found else None


def _is_normal(name: str) -> bool:
    """Return whether it is written as ENS writes it (ENSIP-15): what only looks alike is not. Raises for nonsense."""
    from ens.utils import normalize_name

    return len(name) <= MAX_NAME_CHARACTERS and str(normalize_name(name)) == name
