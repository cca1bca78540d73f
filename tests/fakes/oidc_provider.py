"""An OIDC provider in memory: real ID tokens, groups that change, refresh tokens of which none serves twice."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey

from commonplace.identity.oidc import Metadata, ProviderTokens
from commonplace.kernel.errors import Unavailable
from tests.fakes.identity_stores import Clock

ISSUER = "https://id.example.org"
CLIENT = "commonplace"


@dataclass
class FakeProvider:
    """`commonplace.identity.oidc.Provider`. `down` is one that does not answer."""

    clock: Clock
    groups: dict[str, list[str]] = field(default_factory=dict)
    """By account; who is not in it is gone."""
    refreshes: bool = True
    """Whether it gives refresh tokens."""
    tells_again: bool = True
    """Whether an ID token comes with a refresh."""
    has_userinfo: bool = True
    down: bool = False
    userinfo_down: bool = False
    changed: dict[str, Any] = field(default_factory=dict)
    """Claims of ID tokens and of userinfo that differ; None leaves one out."""
    asked: list[str] = field(default_factory=list)
    meanwhile: Callable[[], object] | None = None
    """Called once, while a refresh is under way."""
    issuer: str = ISSUER
    client_id: str = CLIENT

    def __post_init__(self) -> None:
        self._codes: dict[str, tuple[str, str]] = {}
        self._refresh: dict[str, str] = {}
        self._spent: dict[str, str] = {}
        self._access: dict[str, tuple[str, float]] = {}
        self._count = 0

    def answer(self, url: str, account: str) -> dict[str, str]:
        """What the browser brings back from where it was sent."""
        asked = dict(parse_qsl(urlsplit(url).query))
        code = self._new("code")
        self._codes[code] = account, asked["nonce"]
        return {"code": code, "state": asked["state"]}

    def metadata(self) -> Metadata:
        self._must_answer("metadata")
        return Metadata(
            issuer=self.issuer,
            authorization_endpoint=f"{self.issuer}/authorize",
            token_endpoint=f"{self.issuer}/token",
            jwks_uri=f"{self.issuer}/jwks",
            userinfo_endpoint=f"{self.issuer}/userinfo" if self.has_userinfo else None,
            offline=self.refreshes,
        )

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> ProviderTokens | None:
        self._must_answer("exchange")
        account, nonce = self._codes.pop(code)
        return self._tokens(account, {"nonce": nonce, "auth_time": int(self.clock.now)}, id_token=True)

    def refresh(self, token: str) -> ProviderTokens | None:
        self._must_answer("refresh")
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        if account := self._spent.get(token):
            self._refresh = {known: whose for known, whose in self._refresh.items() if whose != account}
        account = self._refresh.pop(token, None)
        if account is None or account not in self.groups:
            return None
        self._spent[token] = account
        return self._tokens(account, {}, id_token=self.tells_again)

    def userinfo(self, access_token: str) -> Mapping[str, Any] | None:
        self._must_answer("userinfo")
        if self.userinfo_down:
            raise Unavailable("The provider does not answer.", retry_after_seconds=9)
        account, until = self._access[access_token]
        if account not in self.groups or until <= self.clock.now:
            return None
        return self._claims(account, {})

    def keys(self, *, again: bool = False) -> Mapping[str, Any]:
        return {"keys": [_key().as_dict(private=False)]}

    def _tokens(self, account: str, more: Mapping[str, Any], *, id_token: bool) -> ProviderTokens:
        refresh, access = self._new("refresh") if self.refreshes else None, self._new("access")
        if refresh:
            self._refresh[refresh] = account
        self._access[access] = account, self.clock.now + 3_600
        now = int(self.clock.now)
        told = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300} | self._claims(account, more)
        signed = jwt.encode({"alg": "ES256"}, told, _key()) if id_token else None
        return ProviderTokens(id_token=signed, access_token=access, refresh_token=refresh, seconds=3_600)

    def _claims(self, account: str, more: Mapping[str, Any]) -> dict[str, Any]:
        told = {"sub": account, "name": account.title(), "groups": self.groups.get(account, [])}
        return {name: value for name, value in (told | dict(more) | self.changed).items() if value is not None}

    def _new(self, kind: str) -> str:
        self._count += 1
        return f"{kind}-of-the-provider-{self._count}"

    def _must_answer(self, what: str) -> None:
        self.asked.append(what)
        if self.down:
            raise Unavailable("The provider does not answer.", retry_after_seconds=9)


@cache
def _key() -> ECKey:
    return ECKey.generate_key("P-256", private=True)
