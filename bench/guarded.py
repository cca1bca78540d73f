"""A token, its grant and its account, and the guard over them: with the grant at hand, or in a table on loopback."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from bench.mcp_events import BASE_URL
from commonplace.identity.access_tokens import AccessTokens, Issuer, RememberedKeys, claims_for
from commonplace.identity.accounts import Profile, Standing, Worn
from commonplace.identity.bearer_auth import GrantReader, TokenPrincipals
from commonplace.identity.keyring import new_key, public_jwks, published
from commonplace.identity.records import Grant
from commonplace.identity.resources import Resources
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.roles import MappedStandings, RoleMap
from commonplace.identity.secrets import digest, fresh, seal
from commonplace.identity.store.guard import DynamoGuard
from commonplace.identity.tokens import SigningKey
from commonplace.kernel.items import encode
from commonplace.kernel.table import serialize

TOOLSET = "knowledge"
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
RESOURCES = Resources(BASE_URL, (TOOLSET,), (TOOLSET,))
SECONDS = 3_600

SERVER = """
import http.server, sys
body = bytes.fromhex(sys.argv[1])

class Table(http.server.BaseHTTPRequestHandler):
    protocol_version, wbufsize = "HTTP/1.1", -1

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/x-amz-json-1.0")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Table)
print(server.server_port, flush=True)
server.serve_forever()
"""
"""A table of one item: what is measured is the client that asks."""


class Account:
    """A member with one grant, and as many tokens of it as are wanted."""

    def __init__(self) -> None:
        self.now = int(time.time())
        self.key = new_key(self.now)
        self._secret = fresh()
        profile = Profile(subject=WALLET, kind="wallet", address=WALLET, name="rosa.eth")
        self.grant = Grant(
            id=digest(self._secret),
            kind="person",
            subject_hash="0" * 32,
            client_id="https://app.example.org/client.json",
            client_name="An app",
            resource=RESOURCES.mcp,
            scopes=("knowledge:read", "knowledge:write"),
            created_at=self.now,
            expires_at=self.now + 180 * 86_400,
            sealed_profile=seal(self._secret, "profile", profile.as_json()),
            last_used_at=self.now + SECONDS,
        )
        self._issuer = Issuer(BASE_URL, _Ring(self.key), time.time)

    def token(self) -> str:
        standing = Standing(tier="member", roles=("member",), organisation="default")
        claims = claims_for(
            self.grant,
            self._secret,
            WALLET,
            standing,
            scopes=self.grant.scopes,
            issuer=BASE_URL,
            key=b"bench",
            now=self.now,
            seconds=SECONDS,
        )
        return self._issuer.sign(claims)

    def tokens(self) -> AccessTokens:
        """With nothing remembered."""
        return AccessTokens(BASE_URL, RememberedKeys(self, time.time))

    def jwks(self) -> str:
        return public_jwks([self.key], self.now)

    def standings(self) -> MappedStandings:
        """As a process has them that has seen the account before: remembered, and judged by the default map."""
        roles = RoleMap(organisation="default")
        hats = RememberedHats(
            _Chain(self.now),
            cast(Any, _EmptyTable()),
            "bench",
            key=lambda: b"bench",
            chain_id=10,
            contract="0x",
            paths=roles.hats,
        )
        return MappedStandings(roles, hats)

    def at_hand(self) -> DynamoGuard:
        """The grant as the table's answer holds it, read and judged as such, without a request."""
        return DynamoGuard(cast(Any, _AnswersAtOnce(serialize(encode(self.grant)))), "bench")

    def principals(self, grants: GrantReader) -> TokenPrincipals:
        return TokenPrincipals(self.tokens(), grants, self.standings(), time.time)

    @contextmanager
    def behind_a_table(self) -> Iterator[DynamoGuard]:
        """The same over a connection that is kept."""
        import json
        from base64 import b64encode

        import boto3

        told = json.dumps({"Item": serialize(encode(self.grant))}, default=lambda raw: b64encode(raw).decode())
        command = [sys.executable, "-c", SERVER, told.encode().hex()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                port = server.stdout.readline().strip() if server.stdout else ""
                client = boto3.client(
                    "dynamodb",
                    endpoint_url=f"http://127.0.0.1:{port}",
                    region_name="eu-central-1",
                    aws_access_key_id="none",
                    aws_secret_access_key="none",
                )
                yield DynamoGuard(client, "bench")
            finally:
                server.terminate()


class _Ring:
    """`tokens.SigningKeys` of one key."""

    def __init__(self, key: SigningKey) -> None:
        self._key = key

    def signing(self, now: float) -> SigningKey:  # noqa: ARG002 - the port's shape
        return self._key

    def published(self, now: float) -> Any:
        return published([self._key], now)


class _Chain:
    def __init__(self, now: int) -> None:
        self._now = now

    def worn(self, address: str, *, fresh: bool = False) -> Worn:  # noqa: ARG002 - the port's shape
        return Worn(hats=frozenset({"30.3.5"}), read_at=self._now)


class _EmptyTable:
    def get_item(self, **_: Any) -> dict[str, Any]:
        return {}

    def put_item(self, **_: Any) -> dict[str, Any]:
        return {}


class _AnswersAtOnce:
    def __init__(self, item: dict[str, Any]) -> None:
        self._item = item

    def get_item(self, **_: Any) -> dict[str, Any]:
        return {"Item": self._item}
