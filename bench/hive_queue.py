"""A queue of thousands of contributions: what a reviewer waits for, and what contributing takes meanwhile, by REST.

`python -m bench.hive_queue [--size 5000]`. What waits is written to the table as it is stored once it is stripped.
Every call goes over the laptop's gateway and functions, a contribution through the one that redacts.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench import table
from bench.pii.cases import cases
from bench.table import percentile
from commonplace.hive import minhash
from commonplace.hive.model import CATEGORIES, Contribution, ItemId, content_hash
from commonplace.hive.records import ContributionTable, places
from commonplace.kernel.items import key
from local.cli.dev import SAMPLE_NAME
from local.dev.laptop import Laptop
from local.dev.source import plain_folder
from local.identity import Identity
from local.knowledge_folder import SAMPLE

SIZE, ROUNDS, WARM_UP = 5_000, 30, 3
OWN = "default"
SINCE = "2026-01-01T00:00:00.000000Z"
ENVIRONMENT = {"HIVE_CONTRIBUTIONS_PER_HOUR": "0", "HIVE_MAX_PENDING": "100000"}


def fill(laptop: Laptop, size: int) -> None:
    """Writes so many pending contributions, with their hashes, bands and figures."""
    records = ContributionTable(laptop.cloud.client("dynamodb"), laptop.cloud.table("StateRecords"))
    texts, order = [case.text for case in cases()], random.Random(5)
    writes = [records.put(key("organisations", f"hive#{OWN}"), {})]
    for number in range(size):
        content = f"{order.choice(texts)[:600]} Case {number}."
        one = Contribution(
            organisation=OWN,
            id=ItemId(f"hv_{number:026}"),
            status="pending",
            content=content,
            content_hash=content_hash(content),
            category=order.choice(CATEGORIES),
            confidence=0.8,
            contributed_at=SINCE,
            valid_at=SINCE,
            account="0" * 32,
            agent="agent",
            signature=minhash.signature(content),
        )
        writes += [records.put(key(*where), item) for where, item in places(one).items()]
    if records.write_many(writes):
        raise RuntimeError("the table did not take every contribution")
    records.write(records.added(OWN, pending=size, contributed=size))


def main(given: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.hive_queue", description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help="how many wait")
    size = parser.parse_args(given).size
    with (
        tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name,
        Laptop(plain_folder(SAMPLE, SAMPLE_NAME), Path(name), environment=ENVIRONMENT) as laptop,
    ):
        laptop.wait()
        token = Identity(laptop.deployment).mint(
            organisation=OWN, agent="bench", scopes=("hive:admin",), tier="vibecoder", path="/api", days=1
        )
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{laptop.url}/api/v1/hive", headers=headers, timeout=60) as http:
            empty = measure(http, 0)
            fill(laptop, size)
            rows = [_row(name, seconds, empty.get(name)) for name, seconds in measure(http, size).items()]
    table.show("hive_queue", f"A queue of {size:,} contributions by REST on a laptop cloud, in ms", rows)
    return 0


def measure(http: httpx.Client, size: int) -> dict[str, list[float]]:
    """Seconds of each kind of call, by turns."""
    taken: dict[str, list[float]] = {}
    for number in range(WARM_UP + ROUNDS):
        for name, (method, path, body) in _calls(number, size).items():
            began = time.perf_counter()
            answer = http.request(method, path, json=body)
            seconds = time.perf_counter() - began
            answer.raise_for_status()
            if number >= WARM_UP:
                taken.setdefault(name, []).append(seconds)
    return taken


def _calls(number: int, size: int) -> dict[str, tuple[str, str, Any]]:
    text = f"In round {number} of {size} Maria Schneider ({number}@tallbridge.se) found that routes come in order."
    one, other = (f"/pending/hv_{place:026}" for place in (number, number + ROUNDS + WARM_UP))
    made: dict[str, tuple[str, str, Any]] = {
        "a bare answer: the rules": ("GET", "/rules", None),
        "contribute": ("POST", "/contributions", {"content": text, "category": "general"}),
        "a page of 50": ("GET", "/pending?limit=50", None),
    }
    if not size:
        return made
    return made | {
        "show": ("GET", one, None),
        "approve": ("POST", f"{one}/approve", {}),
        "reject": ("POST", f"{other}/reject", {"reason": "Known."}),
    }


def _row(name: str, seconds: Sequence[float], empty: Sequence[float] | None) -> table.Row:
    return {
        "call": name,
        "p50": 1000 * median(seconds),
        "p95": 1000 * percentile(seconds, 95),
        "p50 of an empty queue": 1000 * median(empty) if empty else None,
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
