"""Signing in with an OpenID Connect provider: authorization code and PKCE (OIDC Core 1.0, RFC 7636, RFC 9207).

What waits for the provider's answer is kept once, for ten minutes, for one browser, encrypted under the `state`.
"""

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol
from urllib.parse import urlencode

from commonplace.errors import BadRequest, Forbidden, Unavailable
from commonplace.identity.accounts import Profile
from commonplace.identity.records import REQUEST_SECONDS, Challenge
from commonplace.identity.secrets import SealBroken, digest, fresh, same, seal, unseal
from commonplace.identity.stores import SignInStore

ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")
LEEWAY_SECONDS = 60
MAX_CLAIMS = 100
MAX_CLAIM_CHARACTERS = 200
CLAIMS = ("groups", "roles", "hd", "email", "sub")
"""What role maps may name, as `groups:editors`. An address is believed only when the provider has verified it."""

_NEXT = re.compile(r"/(?:authorize\?|account)[!-~]{0,4000}")
_PURPOSE = "oidc"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Of a provider, as it publishes it (OIDC Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    names_itself: bool = False
    """Whether its answers carry `iss` (RFC 9207)."""


class Provider(Protocol):
    """Talks to the provider. Every method raises Unavailable when there is no answer, or none that can be read."""

    @property
    def client_id(self) -> str: ...

    def metadata(self) -> Metadata: ...

    def id_token(self, code: str, verifier: str, redirect_uri: str) -> str | None:
        """What the provider gives for the code; None when it refuses."""
        ...

    def keys(self, *, again: bool = False) -> Mapping[str, Any]:
        """The provider's JWK set; looked up again for a key that is not in it."""
        ...


class OidcSignIn:
    """Sends a browser to the provider, and learns from its answer who is there."""

    def __init__(
        self, provider: Provider, store: SignInStore, clock: Callable[[], float], *, issuer: str, name: str
    ) -> None:
        """`issuer` is this deployment; `name` what the button says."""
        self.name = name
        self._provider = provider
        self._store = store
        self._clock = clock
        self._redirect_uri = f"{issuer}/oidc/callback"

    def start(self, next_path: str, browser: str) -> str:
        """Where the browser goes. `browser` is a secret that it keeps, in a cookie that survives the trip (Lax).

        Raises BadRequest for a `next_path` that is not ours, Unavailable.
        """
        if not _NEXT.fullmatch(next_path) or "\\" in next_path:
            raise BadRequest("This sign-in does not say what it is for.", hint="Begin where you came from.")
        metadata = self._provider.metadata()
        state, nonce, verifier = fresh(), fresh(), fresh()
        waiting = {"nonce": nonce, "verifier": verifier, "next": next_path}
        self._store.put_challenge(
            Challenge(
                id=digest(state),
                sealed=seal(state, _PURPOSE, waiting),
                browser_hash=digest(browser),
                handle_hash="",
                expires_at=int(self._clock()) + REQUEST_SECONDS,
            )
        )
        query = {
            "response_type": "code",
            "client_id": self._provider.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": "openid profile email",
            "state": state,
            "nonce": nonce,
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(query)}"

    def finish(self, query: Mapping[str, str], browser: str) -> tuple[Profile, str]:
        """Who came back, and where they were going. Whatever went wrong, the attempt is over.

        Raises Forbidden, or Unavailable when the provider does not answer.
        """
        waiting = self._waiting(query.get("state", ""), browser)
        metadata = self._provider.metadata()
        named = query.get("iss")
        if (named is not None or metadata.names_itself) and named != metadata.issuer:
            raise _refused("The answer came from another provider.")
        if "code" not in query:
            raise _refused("The provider did not sign anybody in.")
        token = self._provider.id_token(query["code"], waiting["verifier"], self._redirect_uri)
        if token is None:
            raise _refused("The provider did not confirm the sign-in.")
        claims = self._verified(token, metadata)
        if not same(str(claims.get("nonce", "")), waiting["nonce"]):
            raise _refused("The answer belongs to another sign-in.")
        return profile_of(claims, metadata.issuer), waiting["next"]

    def _waiting(self, state: str, browser: str) -> Mapping[str, str]:
        taken = self._store.take_challenge(digest(state)) if state else None
        if taken is None or taken.expires_at <= self._clock() or not same(taken.browser_hash, digest(browser)):
            raise _refused("This sign-in is over, was used before, or began in another browser.")
        try:
            return unseal(state, _PURPOSE, taken.sealed)
        except SealBroken:
            raise _refused("This sign-in cannot be read.") from None

    def _verified(self, token: str, metadata: Metadata) -> Mapping[str, Any]:
        """OIDC Core, section 3.1.3.7."""
        claims = self._signed(token)
        now, client = self._clock(), self._provider.client_id
        audience = claims.get("aud")
        audiences = [audience] if isinstance(audience, str) else audience if isinstance(audience, list) else []
        if claims.get("iss") != metadata.issuer or client not in audiences:
            raise _refused("The answer is for somebody else.")
        if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != client:
            raise _refused("The answer is for somebody else.")
        if not (_number(claims, "exp") > now - LEEWAY_SECONDS and _number(claims, "iat") <= now + LEEWAY_SECONDS):
            raise _refused("The answer is not of this time.")
        return claims

    def _signed(self, token: str) -> Mapping[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        for again in (False, True):
            try:
                keys = KeySet.import_key_set(dict(self._provider.keys(again=again)))  # type: ignore[arg-type]
                return jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
            except (JoseError, ValueError, KeyError, TypeError):
                continue
        raise _refused("The answer is not signed by the provider.")


def profile_of(claims: Mapping[str, Any], issuer: str) -> Profile:
    """The account behind an ID token. Raises Forbidden for one without a usable `sub`."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise _refused("The answer does not say who is there.")
    names = (claims.get(key) for key in ("name", "preferred_username", "email"))
    name = next((one for one in names if isinstance(one, str) and one.strip()), None)
    told = sorted({one for key in CLAIMS for one in _told(key, claims)})[:MAX_CLAIMS]
    return Profile(
        subject=f"oidc:{issuer}#{subject}", kind="oidc", name=name[:100] if name else None, claims=tuple(told)
    )


def _told(key: str, claims: Mapping[str, Any]) -> Iterator[str]:
    if key == "email" and claims.get("email_verified") is not True:
        return
    value = claims.get(key)
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and 0 < len(one) <= MAX_CLAIM_CHARACTERS:
            yield f"{key}:{one}"


def _number(claims: Mapping[str, Any], name: str) -> float:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _refused("The answer is not of this time.")
    return value


def _refused(message: str) -> Forbidden:
    return Forbidden(message, hint="Begin the sign-in anew.")


def metadata_of(document: Any, issuer: str) -> Metadata:
    """Raises Unavailable for a document that is none, or of another issuer."""
    fields = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
    values = document if isinstance(document, dict) else {}
    if not all(isinstance(values.get(name), str) for name in fields) or values["issuer"] != issuer:
        raise Unavailable("The identity provider's metadata cannot be used.")
    return Metadata(
        **{name: values[name] for name in fields},
        names_itself=values.get("authorization_response_iss_parameter_supported") is True,
    )


def parse_document(text: bytes) -> Any:
    """JSON, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None
