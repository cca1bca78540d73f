"""ID tokens of an OIDC provider: judged, and what they say of an account (OIDC Core 1.0, sections 2 and 3.1.3.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from commonplace.identity.accounts import OIDC, Profile
from commonplace.kernel.errors import Forbidden

if TYPE_CHECKING:
    from joserfc.jwt import ClaimsOption

ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")
LEEWAY_SECONDS = 60
MAX_CLAIMS = 100
MAX_CLAIM_CHARACTERS = 200
CLAIMS = ("groups", "roles", "hd", "email", "sub")
"""What role maps may name, as `groups:editors`. An address is believed only when the provider has verified it."""


class ProviderKeys(Protocol):
    """Whose tokens they are, and for whom."""

    @property
    def issuer(self) -> str: ...

    @property
    def client_id(self) -> str: ...

    def keys(self, *, again: bool = False) -> Mapping[str, Any]:
        """The provider's JWK set; looked up again for a key that is not in it. Raises Unavailable."""
        ...


class IdTokens:
    """Verifies ID tokens of one provider for one client."""

    def __init__(self, provider: ProviderKeys, clock: Callable[[], float]) -> None:
        self._provider = provider
        self._clock = clock

    def verify(self, token: str, **also: ClaimsOption) -> Mapping[str, Any]:
        """The claims; `also` says what others have to be. Raises Forbidden, Unavailable."""
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        claims, client = self._signed(token), self._provider.client_id
        needed: dict[str, ClaimsOption] = {
            "iss": {"essential": True, "value": self._provider.issuer},
            "aud": {"essential": True, "value": client},
            "sub": {"essential": True},
            "exp": {"essential": True},
            "iat": {"essential": True},
        }
        try:
            JWTClaimsRegistry(int(self._clock()), LEEWAY_SECONDS, **needed | also).validate(claims)
        except JoseError:
            raise refused("The answer is for somebody else, or not of this time or this sign-in.") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (several or "azp" in claims) and claims.get("azp") != client:
            raise refused("The answer is for somebody else.")
        return claims

    def _signed(self, token: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        for again in (False, True):
            try:
                keys = KeySet.import_key_set(dict(self._provider.keys(again=again)))  # type: ignore[arg-type]
                return jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
            except (JoseError, ValueError, KeyError, TypeError):
                continue
        raise refused("The answer is not signed by the provider.")


def profile_of(claims: Mapping[str, Any], issuer: str) -> Profile:
    """The account behind an ID token, or an answer about userinfo. Raises Forbidden without a usable `sub`."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise refused("The answer does not say who is there.")
    names = (claims.get(key) for key in ("name", "preferred_username", "email"))
    name = next((one for one in names if isinstance(one, str) and one.strip()), None)
    told = sorted({one for key in CLAIMS for one in _told(key, claims)})[:MAX_CLAIMS]
    return Profile(
        subject=f"{OIDC}{issuer}#{subject}", kind="oidc", name=name[:100] if name else None, claims=tuple(told)
    )


def _told(key: str, claims: Mapping[str, Any]) -> Iterator[str]:
    if key == "email" and claims.get("email_verified") is not True:
        return
    value = claims.get(key)
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and 0 < len(one) <= MAX_CLAIM_CHARACTERS:
            yield f"{key}:{one}"


def refused(message: str) -> Forbidden:
    return Forbidden(message, hint="Begin the sign-in anew.")
