"""Validation of client metadata (RFC 7591, section 2), the same for registrations, documents and operators."""

import re
import unicodedata
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from commonplace.identity.redirects import ANSWER_PARAMETERS, answers_itself, judge
from commonplace.kernel.fetch import fetchable

Metadata = Mapping[str, Any]

MAX_NAME_CHARACTERS = 100
MAX_URI_CHARACTERS = 2_000
MAX_KEYS = 10
RSA_BITS = range(2_048, 8_193)

ALGORITHMS = ("RS256", "ES256")
"""The algorithms that a client may sign its assertions with."""

_URI_FIELDS = ("client_uri", "logo_uri", "tos_uri", "policy_uri", "jwks_uri")
_TEXT_FIELDS = ("client_name", *_URI_FIELDS)
_PRIVATE_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_KEPT_MEMBERS = ("kty", "kid", "use", "alg", "key_ops", "crv", "x", "y", "n", "e")
_WEB = re.compile(r"https?://[!-~]+", re.IGNORECASE)


class BadMetadata(Exception):
    """The client cannot be taken as it describes itself. Both texts are ours: nothing of the metadata is in them."""

    def __init__(self, description: str, *, error: str = "invalid_client_metadata") -> None:
        super().__init__(description)
        self.description = description
        self.error = error


def redirect_uris_of(metadata: Metadata, *, most: int | None = None) -> tuple[str, ...]:
    """The URIs to register, each once. One of a scheme that we never send anybody to is left out; one that is
    dangerous, or none at all that is left, refuses the client."""
    given = metadata.get("redirect_uris")
    if not isinstance(given, list) or not given or not all(isinstance(uri, str) for uri in given):
        raise _bad_redirect("redirect_uris must be a list with at least one URI.")
    if most is not None and len(given) > most:
        raise _bad_redirect(f"redirect_uris may have at most {most} URIs.")
    if any(answers_itself(uri) for uri in given):
        raise _bad_redirect(
            f"A redirect URI may have a query, but none with {', '.join(sorted(ANSWER_PARAMETERS))}: "
            "these are added by the answer, and one that is there before could be taken for it."
        )
    judged = {uri: judge(uri) for uri in given}
    if "refused" in judged.values():
        raise _bad_redirect(
            "Every redirect URI must be an https URI, an http URI of this computer's loopback, or of an application's "
            "own scheme; without a fragment, a user or characters that do not belong into a URI."
        )
    allowed = tuple(uri for uri, judgement in judged.items() if judgement == "allowed")
    if not allowed:
        raise _bad_redirect("The scheme of an application must be a reversed domain name, such as com.example.app.")
    return allowed


def check_texts(metadata: Metadata) -> None:
    """The names and addresses, the localized ones (`client_uri#ja`) as well: texts all, and of the Web."""
    for field, value in metadata.items():
        name = field.partition("#")[0]
        if name not in _TEXT_FIELDS or value is None:
            continue
        if not isinstance(value, str):
            raise BadMetadata("Names and addresses of a client must be text.")
        if name in _URI_FIELDS and value and not _is_web(value):
            raise BadMetadata("Addresses of a client must be http or https URLs of at most 2,000 characters.")


def name_of(metadata: Metadata) -> str:
    """The client's name without what could deceive a reader (control, direction and invisible characters), cut."""
    given = metadata.get("client_name")
    text = unicodedata.normalize("NFC", given[: 20 * MAX_NAME_CHARACTERS]) if isinstance(given, str) else ""
    spaced = "".join(" " if unicodedata.category(letter) in ("Cc", "Zl", "Zp") else letter for letter in text)
    seen = "".join(letter for letter in spaced if unicodedata.category(letter) not in ("Cf", "Cs", "Co", "Cn"))
    return " ".join(seen.split())[:MAX_NAME_CHARACTERS].rstrip()


def uri_of(metadata: Metadata) -> str | None:
    """The client's own page."""
    return metadata.get("client_uri") or None


def application_type_of(metadata: Metadata) -> str | None:
    """`web` or `native`, as the client says: kept, and returned."""
    given = metadata.get("application_type")
    if given is not None and given not in ("web", "native"):
        raise BadMetadata("application_type must be web or native.")
    return given


def texts_of(metadata: Metadata, field: str) -> tuple[str, ...] | None:
    """A list of texts; None where the client says nothing."""
    given = metadata.get(field)
    if given is None:
        return None
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise BadMetadata(f"{field} must be a list of texts.")
    return tuple(dict.fromkeys(given))


def keys_of(metadata: Metadata, *, needed: bool, loopback: bool = False) -> tuple[dict[str, Any] | None, str | None]:
    """The public keys of a client that signs assertions: here, or at an address, exactly one of both. Of another
    client (`needed` is False) they are judged as well, but of no use."""
    jwks, uri = metadata.get("jwks"), metadata.get("jwks_uri") or None
    if jwks is not None and uri is not None:
        raise BadMetadata("A client gives jwks or jwks_uri, not both.")
    if needed and jwks is None and uri is None:
        raise BadMetadata("A client that authenticates with private_key_jwt needs jwks or jwks_uri.")
    if needed and uri is not None and not fetchable(uri, loopback=loopback):
        raise BadMetadata("jwks_uri must be a public https URL of a host name, on the usual port.")
    keys = None if jwks is None else {"keys": public_keys(jwks, most=MAX_KEYS)}
    return (keys, uri) if needed else (None, None)


def public_keys(jwks: Any, *, most: int) -> list[dict[str, Any]]:
    """The public keys of a JWK set, without members that we do not use. Raises BadMetadata for what is no set, and
    for a set with a private or symmetric key: what everybody may read proves nothing."""
    keys = jwks.get("keys") if isinstance(jwks, Mapping) else None
    if not isinstance(keys, Sequence) or isinstance(keys, str) or len(keys) > most:
        raise BadMetadata(f"jwks must be a JWK set of at most {most} keys.")
    return [_public(key) for key in keys]


def usable(key: Metadata, algorithm: str) -> bool:
    """Return whether a public key is there to verify signatures of this algorithm."""
    if key.get("use", "sig") != "sig" or key.get("alg", algorithm) != algorithm:
        return False
    if "verify" not in (key.get("key_ops") or ["verify"]):
        return False
    if algorithm == "ES256":
        return key.get("kty") == "EC" and key.get("crv") == "P-256"
    return key.get("kty") == "RSA" and _bits(key.get("n")) in RSA_BITS


def _public(key: Any) -> dict[str, Any]:
    if not isinstance(key, Mapping) or not isinstance(key.get("kty"), str):
        raise BadMetadata("jwks has something in it that is not a key.")
    if key["kty"] == "oct" or _PRIVATE_MEMBERS & key.keys():
        raise BadMetadata("jwks must have public keys only.")
    kept = {name: key[name] for name in _KEPT_MEMBERS if name in key}
    uses = kept.get("key_ops", [])
    if not all(isinstance(value, str) for name, value in kept.items() if name != "key_ops") or not isinstance(
        uses, list
    ):
        raise BadMetadata("jwks has a key with a member that is not text.")
    return kept


def _bits(number: Any) -> int:
    """The length of a number in base64url (RFC 7518, section 6.3.1.1); 0 if it is none."""
    try:
        return int.from_bytes(urlsafe_b64decode(number + "=" * (-len(number) % 4))).bit_length()
    except (TypeError, ValueError):
        return 0


def _is_web(uri: str) -> bool:
    if len(uri) > MAX_URI_CHARACTERS or not _WEB.fullmatch(uri):
        return False
    try:
        return bool(urlsplit(uri).hostname)
    except ValueError:
        return False


def _bad_redirect(description: str) -> BadMetadata:
    return BadMetadata(description, error="invalid_redirect_uri")
