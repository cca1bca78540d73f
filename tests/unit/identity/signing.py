"""Keys of clients, and the assertions they sign with them."""

from functools import cache
from typing import Any

from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey
from joserfc.jws import JWSRegistry

ISSUER = "https://kb.example"
TOKEN_ENDPOINT = f"{ISSUER}/token"
NOW = 1_800_000_000


@cache
def ec(kid: str, curve: str = "P-256") -> ECKey:
    return ECKey.generate_key(curve, {"kid": kid})


@cache
def rsa(kid: str) -> RSAKey:
    return RSAKey.generate_key(2_048, {"kid": kid})


def public(*keys: ECKey | RSAKey) -> dict[str, Any]:
    return {"keys": [dict(key.as_dict(private=False)) for key in keys]}


def claims(client_id: str, **changed: Any) -> dict[str, Any]:
    """Those of a good assertion; None leaves one out."""
    whole = {"iss": client_id, "sub": client_id, "aud": ISSUER, "exp": NOW + 300, "iat": NOW, "jti": "a"} | changed
    return {name: value for name, value in whole.items() if value is not None}


def signed(key: ECKey | RSAKey, told: dict[str, Any], *, alg: str | None = None, **header: Any) -> str:
    """`header` None leaves a member out."""
    alg = alg or ("ES256" if isinstance(key, ECKey) else "RS256")
    whole = {"alg": alg, "typ": "JWT", "kid": key.kid} | header
    told_header = {name: value for name, value in whole.items() if value is not None}
    registry = JWSRegistry(algorithms=[alg], strict_check_header=False)
    return jwt.encode(told_header, told, key, algorithms=[alg], registry=registry)
