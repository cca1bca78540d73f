"""Sign-in with Ethereum: the text that a wallet signs (EIP-4361), and the ports that judge it and name its signer."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

MAX_TEXT_CHARACTERS = 1_000
"""Of a text that a client wrote. The parser takes time that grows with the square of the length."""
MAX_AGE = timedelta(minutes=10)
MAX_AHEAD = timedelta(seconds=60)
"""How far a client's clock may differ from ours."""

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_SIGNATURE = re.compile(r"0x(?:[0-9a-fA-F]{2}){65,8192}")
_NONCE_LINE = re.compile(r"^Nonce: ([A-Za-z0-9]{8,64})$", re.MULTILINE)
_UNSPEAKABLE = re.compile(r"[^A-Za-z0-9 :/?#@!$&'()*+,;=._~\[\]-]")  # EIP-4361: reserved, unreserved and space


NO_CHAIN = "no_chain"
"""The reason of a BadSignature where contracts cannot be asked, because there is no chain to ask."""


class BadSignature(Exception):
    """The wallet did not sign this, or not for us. `reason` is for records: a stable code, nothing of the caller's."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BadText(Exception):
    """A text that a client wrote is none of EIP-4361, or not one that we take. `reason` as of BadSignature."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a text must say to count here and now."""

    scheme: str
    """A text need not name it, but may name no other."""
    domain: str
    uri: str
    chain_id: int
    nonce: str
    now: datetime
    """With a time zone."""
    foreign: bool = False
    """The client wrote the text: then its form and its times are judged as well (`check_times`)."""

    @classmethod
    def of(cls, base_url: str, chain_id: int, nonce: str, now: float, *, foreign: bool = False) -> Self:
        """For a deployment, by its own origin: never by the Host of a request. `now` is in epoch seconds."""
        return cls(
            scheme=urlsplit(base_url).scheme,
            domain=domain_of(base_url),
            uri=uri_of(base_url),
            chain_id=chain_id,
            nonce=nonce,
            now=datetime.fromtimestamp(now, UTC),
            foreign=foreign,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a wallet calls itself (ENS): written by whoever owns it, for people to read, never for a decision."""

    name: str | None = None
    avatar: str | None = None
    """An https URL, never fetched here."""
    github: str | None = None


NAMELESS = Named()


class SignatureCheck(Protocol):
    """Judges a signed text: a key's own signature, a contract's (EIP-1271), one of a contract to be (EIP-6492)."""

    def check(self, text: str, signature: str, terms: Terms) -> str:
        """The address that signed (EIP-55). The signature has the form that `is_signature` asks for.

        Raises BadSignature, BadText for a foreign text alone, and Unavailable when the chain must be asked and
        does not answer.
        """
        ...


class Names(Protocol):
    """Looks up what a wallet calls itself."""

    def of(self, address: str) -> Named:
        """NAMELESS for whoever has no name, or when it cannot be found out soon. Raises nothing."""
        ...


def message_text(
    *, base_url: str, site_name: str, address: str, chain_id: int, nonce: str, now: float, life: int
) -> str:
    """The text of EIP-4361 that a wallet is asked to sign. `now` in epoch seconds, `life` in seconds."""
    issued = datetime.fromtimestamp(now, UTC)
    return "\n".join(
        [
            f"{domain_of(base_url)} wants you to sign in with your Ethereum account:",
            address,
            "",
            f"Sign in to {_spoken(site_name)}.",
            "",
            f"URI: {uri_of(base_url)}",
            "Version: 1",
            f"Chain ID: {chain_id}",
            f"Nonce: {nonce}",
            f"Issued At: {_written(issued)}",
            f"Expiration Time: {_written(issued + timedelta(seconds=life))}",
        ]
    )


def domain_of(base_url: str) -> str:
    """The host, with its port where it is not the scheme's own: what wallets compare with the page's origin."""
    return urlsplit(base_url).netloc.lower()


def uri_of(base_url: str) -> str:
    """What every sign-in text names as its subject."""
    return f"{base_url}/authorize"


def is_address(value: Any) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def is_signature(value: Any) -> bool:
    """`0x` and 65 to 8,192 bytes of hex. That leaves out `0x` alone, by which Safe means "approved on chain"."""
    return isinstance(value, str) and len(value) <= 2 + 2 * 8_192 and _SIGNATURE.fullmatch(value) is not None


def nonce_in(text: Any) -> str:
    """The nonce of a text that a client wrote, found without parsing it. Raises BadText, at once for a long one."""
    if not isinstance(text, str):
        raise BadText("text_missing")
    if len(text) > MAX_TEXT_CHARACTERS:
        raise BadText("text_too_long")
    found = _NONCE_LINE.findall(text)
    if len(found) != 1:
        raise BadText("text_nonce")
    return str(found[0])


def check_times(issued: datetime, expires: datetime | None, now: datetime) -> None:
    """Of a text that a client wrote: it must end, and be new. Raises BadText."""
    if expires is None:
        raise BadText("text_without_expiry")
    if not now - MAX_AGE <= issued <= now + MAX_AHEAD:
        raise BadText("text_age")


def checksummed(address: str) -> str:
    """The one form in which an address names an account (EIP-55). `is_address` must hold."""
    from eth_hash.auto import keccak

    digits = address[2:].lower()
    told = keccak(digits.encode()).hex()
    return "0x" + "".join(one.upper() if int(by, 16) >= 8 else one for one, by in zip(digits, told, strict=False))


def _spoken(name: str) -> str:
    """A name in the characters that the text may have."""
    return " ".join(_UNSPEAKABLE.sub(" ", name).split())[:60] or "this site"


def _written(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
