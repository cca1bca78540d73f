"""OpenID Connect sign-in: authorization code with PKCE, and ID tokens (OIDC Core 1.0, sections 2 and 3.1.3.7).

See also RFC 7636 and RFC 9207. The pending sign-in is kept once, for ten minutes, for one browser, encrypted under the
`state`.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlencode

from commonplace.identity.accounts import OIDC, Profile
from commonplace.identity.ports import SignInStore
from commonplace.identity.principals import OFFLINE_ACCESS
from commonplace.identity.records import REQUEST_SECONDS, Challenge
from commonplace.identity.redirects import is_own_path
from commonplace.identity.secrets import SealBroken, digest, fresh, same, seal, unseal
from commonplace.kernel.errors import BadRequest, Forbidden, Unavailable

if TYPE_CHECKING:
    from joserfc.jwt import ClaimsOption

    from commonplace.identity.oidc_sessions import ProviderSessions


ALGORITHMS = ("RS256", "ES256", "PS256", "EdDSA")
LEEWAY_SECONDS = 60
MAX_CLAIMS = 100
MAX_CLAIM_CHARACTERS = 200
CLAIMS = ("groups", "roles", "hd", "email", "sub")
"""What role maps may name, as `groups:editors`. An address is believed only when the provider has verified it."""

_PURPOSE = "oidc"


@dataclass(eq=False, repr=False)
class IdTokens:
    """Verifies ID tokens of one provider for one client."""

    provider: Provider
    clock: Callable[[], float]

    def verify(self, token: str, **also: ClaimsOption) -> Mapping[str, Any]:
        """The claims; `also` says what others have to be. Raises Forbidden, Unavailable."""
        from joserfc.errors import JoseError
        from joserfc.jwt import JWTClaimsRegistry

        claims, client = self._signed(token), self.provider.client_id
        needed: dict[str, ClaimsOption] = {
            "iss": {"essential": True, "value": self.provider.issuer},
            "aud": {"essential": True, "value": client},
            "sub": {"essential": True},
            "exp": {"essential": True},
            "iat": {"essential": True},
        }
        try:
            JWTClaimsRegistry(int(self.clock()), LEEWAY_SECONDS, **needed | also).validate(claims)
        except JoseError:
            raise refused("The ID token is not valid: audience, time or nonce do not match.") from None
        several = isinstance(claims["aud"], list) and len(claims["aud"]) > 1
        if (several or "azp" in claims) and claims.get("azp") != client:
            raise refused("The ID token has another audience.")
        return claims

    def _signed(self, token: str) -> dict[str, Any]:
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        for again in (False, True):
            try:
                keys = KeySet.import_key_set(dict(self.provider.keys(again=again)))  # type: ignore[arg-type]
                return jwt.decode(token, keys, algorithms=list(ALGORITHMS)).claims
            except (JoseError, ValueError, KeyError, TypeError):
                continue
        raise refused("The answer is not signed by the provider.")


def profile_of(claims: Mapping[str, Any], issuer: str) -> Profile:
    """The account behind an ID token, or an answer about userinfo. Raises Forbidden without a usable `sub`."""
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject) <= 255:
        raise refused("The ID token has no subject.")
    names = (claims.get(key) for key in ("name", "preferred_username", "email"))
    name = next((one for one in names if isinstance(one, str) and one.strip()), None)
    told = sorted({one for key in CLAIMS for one in _claims_of(key, claims)})[:MAX_CLAIMS]
    return Profile(
        subject=f"{OIDC}{issuer}#{subject}", kind="oidc", name=name[:100] if name else None, claims=tuple(told)
    )


def _claims_of(key: str, claims: Mapping[str, Any]) -> Iterator[str]:
    if key == "email" and claims.get("email_verified") is not True:
        return
    value = claims.get(key)
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and 0 < len(one) <= MAX_CLAIM_CHARACTERS:
            yield f"{key}:{one}"


def refused(message: str) -> Forbidden:
    return Forbidden(message, hint="Start the sign-in again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """The metadata of a provider, as it publishes them (OIDC Discovery 1.0, section 3)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    names_itself: bool = False
    """True if its answers carry `iss` (RFC 9207)."""
    offline: bool = False
    """True if it knows the scope `offline_access`, which asks for a refresh token (OIDC Core, section 11)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderTokens:
    """An answer of the provider's token endpoint, as far as it is used here."""

    id_token: str | None = None
    access_token: str | None = None
    refresh_token: str | None = None
    seconds: int = 0
    """The seconds that the access token lasts; 0 where nothing is said."""


class Provider(Protocol):
    """Talks to the provider. Every method raises Unavailable when there is no answer, or none that can be read."""

    @property
    def issuer(self) -> str: ...

    @property
    def client_id(self) -> str: ...

    def keys(self, *, again: bool = False) -> Mapping[str, Any]:
        """The provider's JWK set; looked up again for a key that is not in it."""
        ...

    def metadata(self) -> Metadata: ...

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> ProviderTokens | None:
        """Return what the provider gives for the code; None when it refuses."""
        ...

    def refresh(self, token: str) -> ProviderTokens | None:
        """Return what the provider gives for a refresh token; None when that is not valid, or no longer."""
        ...

    def userinfo(self, access_token: str) -> Mapping[str, Any] | None:
        """Return what the provider says of the account; None when the token is not valid, or no longer."""
        ...


@dataclass(eq=False, repr=False)
class OidcSignIn:
    """Sends a browser to the provider, and learns from its answer who is there.

    `issuer` is this deployment; `name` what the button says; `parameters` go to the provider beside our own.
    """

    provider: Provider
    sessions: ProviderSessions
    store: SignInStore
    clock: Callable[[], float]
    _: KW_ONLY
    issuer: str
    name: str
    parameters: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        self._parameters = dict(self.parameters or {})
        self._redirect_uri = f"{self.issuer}/oidc/callback"
        self._id_tokens = IdTokens(self.provider, self.clock)

    def start(self, next_path: str, browser: str) -> str:
        """Return where the browser goes. `browser` is a secret that it keeps, in a cookie that survives the trip (Lax).

        Raises BadRequest for a `next_path` that is not ours, Unavailable.
        """
        if not is_own_path(next_path):
            raise BadRequest("This sign-in has no target.", hint="Start again from the page or app you came from.")
        metadata = self.provider.metadata()
        state, nonce, verifier = fresh(), fresh(), fresh()
        waiting = {"nonce": nonce, "verifier": verifier, "next": next_path}
        self.store.put_challenge(
            Challenge(
                id=digest(state),
                sealed=seal(state, _PURPOSE, waiting),
                browser_hash=digest(browser),
                handle_hash="",
                expires_at=int(self.clock()) + REQUEST_SECONDS,
            )
        )
        query = self._parameters | {
            "response_type": "code",
            "client_id": self.provider.client_id,
            "redirect_uri": self._redirect_uri,
            "scope": f"openid profile email {OFFLINE_ACCESS}" if metadata.offline else "openid profile email",
            "state": state,
            "nonce": nonce,
            "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{joint}{urlencode(query)}"

    def finish(self, query: Mapping[str, str], browser: str) -> tuple[Profile, str]:
        """Return who came back, and where they were going. Whatever went wrong, the attempt is over.

        Raises Forbidden, or Unavailable when the provider does not answer.
        """
        waiting = self._waiting(query.get("state", ""), browser)
        metadata = self.provider.metadata()
        named = query.get("iss")
        if (named is not None or metadata.names_itself) and named != metadata.issuer:
            raise refused("The answer came from another provider.")
        if "code" not in query:
            raise refused("The sign-in at the provider failed.")
        tokens = self.provider.exchange(query["code"], waiting["verifier"], self._redirect_uri)
        if tokens is None:
            raise refused("The provider did not confirm the sign-in.")
        if tokens.id_token is None:
            raise Unavailable("The identity provider's answer cannot be used.")
        claims = self._id_tokens.verify(tokens.id_token, nonce={"essential": True, "value": waiting["nonce"]})
        return self.sessions.open(profile_of(claims, metadata.issuer), tokens, claims), waiting["next"]

    def _waiting(self, state: str, browser: str) -> Mapping[str, str]:
        taken = self.store.take_challenge(digest(state)) if state else None
        if taken is None or taken.expires_at <= self.clock() or not same(taken.browser_hash, digest(browser)):
            raise refused("This sign-in is over, was used before, or began in another browser.")
        try:
            return unseal(state, _PURPOSE, taken.sealed)
        except SealBroken:
            raise refused("This sign-in cannot be read.") from None


def metadata_of(document: Any, issuer: str) -> Metadata:
    """Raises Unavailable for a document that is none, or of another issuer."""
    fields = ("issuer", "authorization_endpoint", "token_endpoint", "jwks_uri")
    values = document if isinstance(document, dict) else {}
    if not all(isinstance(values.get(name), str) for name in fields) or values["issuer"] != issuer:
        raise Unavailable("The identity provider's metadata cannot be used.")
    userinfo, scopes = values.get("userinfo_endpoint"), values.get("scopes_supported")
    return Metadata(
        **{name: values[name] for name in fields},
        userinfo_endpoint=userinfo if isinstance(userinfo, str) else None,
        names_itself=values.get("authorization_response_iss_parameter_supported") is True,
        offline=isinstance(scopes, list) and OFFLINE_ACCESS in scopes,
    )


def tokens_of(document: Any) -> ProviderTokens:
    """Return the tokens of a token response (RFC 6749, section 5.1). Raises Unavailable for a document that is none."""
    if not isinstance(document, dict):
        raise Unavailable("The identity provider's answer cannot be used.")
    told = {name: document.get(name) for name in ("id_token", "access_token", "refresh_token")}
    seconds = str(document.get("expires_in"))  # a text at some providers
    return ProviderTokens(
        **{name: value if isinstance(value, str) and value else None for name, value in told.items()},
        seconds=int(seconds) if re.fullmatch(r"[0-9]{1,9}", seconds) else 0,
    )


def parse_document(text: bytes) -> Any:
    """JSON, or None."""
    try:
        return json.loads(text)
    except ValueError:
        return None
