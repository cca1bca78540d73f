"""What the guard costs: CPU of a call with a token beside the same call without, its parts, and the token endpoint.

`python -m bench.guard`. The calls take turns in one process, so that noise hits all of them. What a request to the
table costs is in it, and told apart: the table is a process beside this one that answers at once.
"""

import gc
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from bench import imports, table
from bench.figures import median
from bench.guarded import RESOURCES, TOOLSET, Account
from bench.mcp import CALL
from bench.mcp_events import CONTEXT, legacy, modern, result
from bench.mcp_servers import Handler, logging_as_on_lambda, ours, toolset
from commonplace.identity.authorization import Need, judge
from commonplace.web.challenges import Challenges

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
