"""What the guard costs: CPU of a call with a token beside the same call without, its parts, and the token endpoint.

The calls take turns in one process. What a request to the table costs is in it, and shown apart: the table is a process
beside this one that answers at once.
"""

import argparse
import json
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import Any

import boto3

from bench.mcp_servers import BASE_URL, CONTEXT, Handler, legacy, logging_as_on_lambda, modern, ours, result, toolset
from bench.measure import Table, cpu_by_turns
from bench.speed.imports import BARE, imported
from bench.speed.mcp import CALL
from bench.table import Row
from commonplace.identity.access_tokens import AccessTokens, Issuer, RememberedKeys, claims_for
from commonplace.identity.accounts import Profile, Standing, Worn
from commonplace.identity.authorization import Need, judge
from commonplace.identity.bearer_auth import GrantReader, TokenPrincipals
from commonplace.identity.keyring import new_key, public_jwks, published
from commonplace.identity.records import Grant
from commonplace.identity.resources import Resources
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.roles import MappedStandings, RoleMap
from commonplace.identity.secrets import digest, fresh, seal
from commonplace.identity.store.guard import DynamoGuard
from commonplace.kernel.items import encode
from commonplace.kernel.table import serialize
from commonplace.web.challenges import Challenges

TOOLSET = "knowledge"
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
RESOURCES = Resources(BASE_URL, (TOOLSET,), (TOOLSET,))
SECONDS = 3_600
BLOCKS, CALLS = 25, 20
TARGET_MS = 2.5
HEAVY = ("web3", "siwe", "eth_account", "eth_keys", "jinja2", "joserfc", "cryptography", "httpx", "boto3")

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
"""A table of one item: what is measured is the client."""


class Account:
    """A member with one grant, and its tokens."""

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
        ring: Any = SimpleNamespace(signing=lambda _: self.key, published=lambda now: published([self.key], now))
        self._issuer = Issuer(BASE_URL, ring, time.time)

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
            held=frozenset(acts.roles if (acts := self.grant.membership) else ()),
        )
        return self._issuer.sign(claims)

    def tokens(self) -> AccessTokens:
        """Return a verifier that remembers nothing."""
        return AccessTokens(BASE_URL, RememberedKeys(self, time.time))

    def jwks(self) -> str:
        return public_jwks([self.key], self.now)

    def standings(self) -> MappedStandings:
        """Return the standings of an account whose record is in the table's answer, by the default map."""
        roles = RoleMap(organisation="default")
        worn = Worn(hats=frozenset({"30.3.5"}), read_at=self.now)
        chain: Any = SimpleNamespace(worn=lambda address, *, fresh=False: worn)  # noqa: ARG005 - the port's shape
        hats = RememberedHats(
            chain,
            _answering(serialize({"hats": "30.3.5", "readAt": self.now, "expiresAt": self.now + 300})),
            "bench",
            key=lambda: b"bench",
            chain_id=10,
            contract="0x",
            paths=roles.hats,
        )
        return MappedStandings(roles, hats)

    def at_hand(self) -> DynamoGuard:
        """Return a reader of the grant as the table's answer holds it, without a request."""
        return DynamoGuard(_answering(serialize(encode(self.grant))), "bench")

    def principals(self, grants: GrantReader) -> TokenPrincipals:
        return TokenPrincipals(self.tokens(), grants, self.standings(), time.time)

    @contextmanager
    def behind_a_table(self) -> Iterator[DynamoGuard]:
        """Yield a reader of the grant in a table, over a connection that stays open."""
        answer = json.dumps({"Item": serialize(encode(self.grant))}, default=lambda raw: b64encode(raw).decode())
        command = [sys.executable, "-c", SERVER, answer.encode().hex()]
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


def _answering(item: dict[str, Any]) -> Any:
    """Return a client of DynamoDB that answers every read at once with this item."""
    return SimpleNamespace(get_item=lambda **_: {"Item": item})


def guard(options: argparse.Namespace, folder: Path) -> Iterator[Table]:  # noqa: ARG001 - a benchmark's arguments
    account = Account()
    title = f"CPU of a call without and with a token, median of {BLOCKS} blocks of {CALLS}"
    with logging_as_on_lambda():
        rows = beside(account)
        parts = pieces(account)
    yield Table("guard", title, rows, f"Target: less than {TARGET_MS} ms more.")
    yield Table("guard-parts", "Where it goes, CPU of each", parts)
    # The import of functions/auth fails where it loads a heavy package.
    light = f"import handler, sys; loaded = sorted({set(HEAVY)!r} & set(sys.modules)); assert not loaded, loaded"
    bare = {"auth": {"starlette, mangum": BARE["auth"]["starlette, mangum"]}}
    yield Table("guard-import", "Import of the authorization server", imported(bare, light))


def beside(account: Account) -> list[Row]:
    """Measure the same call: of a tool for everybody, of one for members with the grant at hand, and with a table.

    Raises ValueError for a call that was refused.
    """
    challenges, rows = Challenges(RESOURCES), list[Row]()
    with account.behind_a_table() as stored:
        handlers: dict[str, Handler] = {"open": ours(toolset(TOOLSET))}
        for name, grants in (("guarded", account.at_hand()), ("stored", stored)):
            handlers[name] = ours(toolset(TOOLSET, "member"), account.principals(grants), challenges)
        for name, event in (("modern", modern("tools/call", CALL)), ("legacy", legacy("tools/call", CALL))):
            headers = event["headers"] | {"authorization": f"Bearer {account.token()}"}
            events = {each: event if each == "open" else event | {"headers": headers} for each in handlers}
            for each, handler in handlers.items():
                if result(handler(events[each], CONTEXT)).get("isError"):
                    raise ValueError("The call was refused.")
            ways = {each: partial(handler, events[each], CONTEXT) for each, handler in handlers.items()}
            cpu = cpu_by_turns(ways, blocks=BLOCKS, calls=CALLS)
            medians = {each: 1000 * median(taken) for each, taken in cpu.items()}
            rows.append(
                {
                    "message": f"tools/call, {name}",
                    "without ms": medians["open"],
                    "with ms": medians["stored"],
                    "more ms": medians["stored"] - medians["open"],
                    "more, without the table ms": medians["guarded"] - medians["open"],
                }
            )
    return rows


def pieces(account: Account) -> list[Row]:
    """Measure each part by itself, in microseconds."""
    known, token, now = account.tokens(), account.token(), time.time()
    known.verify(token, RESOURCES.mcp, now)
    standings, at_hand = account.standings(), account.at_hand()
    need, principals = Need("member", "knowledge:read", "documents"), account.principals(at_hand)
    headers = {"authorization": f"Bearer {token}"}
    principal = principals.identify(headers, RESOURCES.mcp)
    with account.behind_a_table() as stored:
        parts: dict[str, Callable[[], object]] = {
            "token, seen for the first time": lambda: account.tokens().verify(token, RESOURCES.mcp, now),
            "token, seen before": lambda: known.verify(token, RESOURCES.mcp, now),
            "grant, from the table's answer": lambda: at_hand.grant(account.grant.id),
            "roles, read within five minutes": lambda: standings.of(principal.subject or ""),
            "verdict": lambda: judge(principal, need),
            "all of it, token seen before": lambda: principals.identify(headers, RESOURCES.mcp),
            "the grant, by one request to the table": lambda: stored.grant(account.grant.id),
        }
        cpu = cpu_by_turns(parts, blocks=BLOCKS, calls=CALLS)
    return [{"part": name, "cpu µs": 1e6 * median(cpu[name])} for name in parts]
