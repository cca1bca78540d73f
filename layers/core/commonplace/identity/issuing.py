"""Access tokens: what goes into one, and the signature (RFC 9068, RFC 7515)."""

from collections.abc import Callable

from commonplace.identity.secrets import pseudonym
from commonplace.identity.tokens import AccessClaims, SigningKeys


def subject_hash(key: bytes, subject: str, organisation: str | None = None) -> str:
    """Under which a subject's grants are kept. An agent's name is its organisation's own: that goes in as well."""
    if subject.startswith("agent:"):
        return pseudonym(key, "subject", subject, organisation or "")
    return pseudonym(key, "subject", subject)


def member_id(key: bytes, organisation: str, subject: str) -> str:
    """The account as a member of the organisation."""
    return "mem_" + pseudonym(key, "member", organisation, subject)[:24]


class Issuer:
    """Signs access tokens, and reads its own again."""

    def __init__(self, issuer: str, keys: SigningKeys, clock: Callable[[], float]) -> None:
        self.issuer = issuer
        self._keys = keys
        self._clock = clock

    def sign(self, claims: AccessClaims) -> str:
        """The JWT. Raises Unavailable without a key."""
        raise NotImplementedError

    def read(self, token: str) -> AccessClaims:
        """The claims of a token of ours that has not expired, whatever its audience. Raises BadToken, Unavailable."""
        raise NotImplementedError
