"""What the guard costs: CPU of a call with a token beside the same call without, its parts, and the token endpoint.

`python -m bench.guard`. The calls take turns in one process, so that noise hits all of them. What a request to the
table costs is in it, and told apart: the table is a process beside this one that answers at once.
"""

import gc
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, cast

from bench import imports, table
from bench.mcp import CALL
from bench.mcp_servers import BASE_URL, CONTEXT, Handler, legacy, logging_as_on_lambda, modern, ours, result, toolset
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
from commonplace.identity.tokens import SigningKey
from commonplace.kernel.items import encode
from commonplace.kernel.table import serialize
from commonplace.web.challenges import Challenges

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
        """By the record of an account that was read before, as the table's answer holds it, and the default map."""
        roles = RoleMap(organisation="default")
        hats = RememberedHats(
            _Chain(self.now),
            cast(Any, _AnswersAtOnce(serialize({"hats": "30.3.5", "readAt": self.now, "expiresAt": self.now + 300}))),
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


class _AnswersAtOnce:
    def __init__(self, item: dict[str, Any]) -> None:
        self._item = item

    def get_item(self, **_: Any) -> dict[str, Any]:
        return {"Item": self._item}


BLOCKS, CALLS = 25, 20
TARGET_MS = 2.5
HEAVY = ("web3", "siwe", "eth_account", "eth_keys", "jinja2", "joserfc", "cryptography", "httpx", "boto3")

Event = dict[str, Any]


def main() -> int:
    account = Account()
    title = f"CPU of a call without and with a token, median of {BLOCKS} blocks of {CALLS}"
    with logging_as_on_lambda():
        rows = beside(account, BLOCKS)
        parts = pieces(account, BLOCKS)
    table.show("guard", title, rows, note=f"Target: less than {TARGET_MS} ms more.")
    table.show("guard-parts", "Where it goes, CPU of each", parts)
    table.show("guard-import", "Import of the authorization server", [imported()])
    return 0


def beside(account: Account, blocks: int) -> list[table.Row]:
    """The same call: of a tool for everybody, of one for members with the grant at hand, and with it in a table."""
    challenges = Challenges(RESOURCES)
    with account.behind_a_table() as stored:
        handlers: dict[str, Handler] = {"open": ours(toolset(TOOLSET))}
        for name, grants in (("guarded", account.at_hand()), ("stored", stored)):
            handlers[name] = ours(toolset(TOOLSET, "member"), account.principals(grants), challenges)
        token = account.token()
        return [
            _row(name, _sampled(handlers, event, _with(event, token), blocks))
            for name, event in (("modern", modern("tools/call", CALL)), ("legacy", legacy("tools/call", CALL)))
        ]


def pieces(account: Account, blocks: int) -> list[table.Row]:
    """Each part by itself, in microseconds."""
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
        return [{"part": name, "cpu µs": 1e6 * _cpu(part, blocks)} for name, part in parts.items()]


def imported() -> table.Row:
    """Of functions/auth in a fresh interpreter, and which heavy packages it loads."""
    told = f"import handler, sys; loaded = sorted({set(HEAVY)!r} & set(sys.modules)); assert not loaded, loaded"
    light, bare = imports.sampled([("auth", told), ("auth", "import starlette.applications, mangum")]).values()
    return imports.row("auth", "starlette, mangum", light, bare)


def _sampled(handlers: dict[str, Handler], event: Event, guarded: Event, blocks: int) -> dict[str, list[float]]:
    order, samples = random.Random(1), {name: list[float]() for name in handlers}
    for number in range(blocks + 1):
        for name in order.sample(list(handlers), len(handlers)):
            spent = _block(handlers[name], event if name == "open" else guarded)
            samples[name] += [spent] if number else []  # the first one warmed up
    return samples


def _block(handler: Handler, event: Event) -> float:
    """CPU seconds a call, of all threads. Raises ValueError for a call that was refused."""
    if result(handler(event, CONTEXT)).get("isError"):
        raise ValueError("The call was refused.")
    gc.collect()
    began = time.process_time()
    for _ in range(CALLS):
        handler(event, CONTEXT)
    return (time.process_time() - began) / CALLS


def _cpu(part: Callable[[], object], blocks: int) -> float:
    taken = []
    for number in range(blocks + 1):
        gc.collect()
        began = time.process_time()
        for _ in range(CALLS):
            part()
        taken += [(time.process_time() - began) / CALLS] if number else []
    return median(taken)


def _with(event: Event, token: str) -> Event:
    return event | {"headers": event["headers"] | {"authorization": f"Bearer {token}"}}


def _row(name: str, samples: dict[str, list[float]]) -> table.Row:
    medians = {each: 1000 * median(taken) for each, taken in samples.items()}
    return {
        "message": f"tools/call, {name}",
        "without ms": medians["open"],
        "with ms": medians["stored"],
        "more ms": medians["stored"] - medians["open"],
        "more, without the table ms": medians["guarded"] - medians["open"],
    }


if __name__ == "__main__":
    sys.exit(main())
