"""`wallets.SignatureCheck`: signatures of EIP-4361 texts by keys, contracts and counterfactual contracts.

A key's signature is verified without the network. Contracts (EIP-1271, EIP-6492) are called by one `eth_call` that
deploys nothing; only the single byte 01 means yes. They count on the chain of the RPC alone: the same address may be
somebody else's on another. `siwe` is imported with the first signature: it costs a second of CPU.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.identity.ethereum.rpc import Rpc
from commonplace.identity.wallets import NO_CHAIN, BadSignature, BadText, Terms, check_times, checksummed

if TYPE_CHECKING:
    from siwe import SiweMessage

MAGIC = bytes.fromhex("6492" * 16)
"""The end of a signature that says how to deploy its wallet (EIP-6492)."""
MAX_GAS = 5_000_000
"""The bound of one check. A wallet decides itself how much work it is."""

_REASONS = {
    "SchemeMismatch": "other_scheme",
    "DomainMismatch": "other_domain",
    "UriMismatch": "other_uri",
    "NonceMismatch": "other_nonce",
    "ChainIdMismatch": "other_chain",
    "ExpiredMessage": "text_expired",
    "NotYetValidMessage": "text_not_yet_valid",
}


class SiweSignatures:
    """Judges with the `siwe` library, which is never let near the network, and with the chain of `rpc`."""

    def __init__(self, rpc: Rpc) -> None:
        self._rpc = rpc

    def check(self, text: str, signature: str, terms: Terms) -> str:
        """As the port says. Raises ValueError for a text of ours that cannot be read: that would be a fault of ours."""
        from siwe import InvalidSignature, VerificationError

        message = _foreign(text, terms) if terms.foreign else _parsed(text)
        try:
            message.verify(
                signature,
                scheme=terms.scheme if message.scheme else None,
                domain=terms.domain,
                uri=terms.uri,
                nonce=terms.nonce,
                chain_id=terms.chain_id,
                strict=True,
                timestamp=terms.now,
            )
        except InvalidSignature:
            # Raised last: whatever the text says has been found right, and no key of the address has signed it.
            self._ask_contract(text, message.address, bytes.fromhex(signature[2:]), terms.chain_id)
        except VerificationError as error:
            raise BadSignature(_REASONS.get(type(error).__name__, "binding")) from None
        return checksummed(message.address)

    def _ask_contract(self, text: str, address: str, signature: bytes, chain_id: int) -> None:
        """Raises BadSignature, Unavailable."""
        from eth_abi.abi import encode
        from eth_hash.auto import keccak
        from siwe.siwe import EIP6492_VALIDATOR_BYTECODE

        if chain_id != self._rpc.chain_id:
            raise BadSignature("other_key")
        if not self._rpc.has_endpoints():
            raise BadSignature(NO_CHAIN)
        if signature.endswith(MAGIC) and self._rpc.has_code(address):
            # The validator would run the wrapper's call first, and a wallet may answer differently after it.
            from eth_abi.abi import decode
            from eth_abi.exceptions import DecodingError

            try:
                signature = bytes(decode(["address", "bytes", "bytes"], signature[: -len(MAGIC)])[2])
            except (DecodingError, ValueError, OverflowError):
                raise BadSignature("signature_form") from None
            if signature.endswith(MAGIC):
                raise BadSignature("signature_form")
        said = text.encode()
        digest = keccak(b"\x19Ethereum Signed Message:\n" + str(len(said)).encode() + said)  # EIP-191
        asked = encode(["address", "bytes32", "bytes"], [address, digest, signature])
        if self._rpc.call(bytes.fromhex(EIP6492_VALIDATOR_BYTECODE[2:]) + asked, gas=MAX_GAS) != b"\x01":
            raise BadSignature("not_signed")


def _parsed(text: str) -> SiweMessage:
    from siwe import SiweMessage

    return SiweMessage.from_message(text)


def _foreign(text: str, terms: Terms) -> SiweMessage:
    """A text that a client wrote: only what says exactly what it seems to say. Raises BadText."""
    try:
        message = _parsed(text)
        same = message.prepare_message() == text
    except ValueError:
        raise BadText("text_form") from None
    if not same:
        raise BadText("text_form")
    # The library lets one letter case through as well; the standard does not (EIP-4361's grammar, EIP-55).
    if message.address != checksummed(message.address):
        raise BadText("text_address")
    expires = message.expiration_time
    check_times(message.issued_at._datetime, expires._datetime if expires else None, terms.now)
    return message
