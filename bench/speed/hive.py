"""The hive: a search of what agents contributed beside one of the documents, and a queue of thousands to review.

`hive`: contributions are passages of the same base, a third of them one's own, half of the others' public. They are put
into the table of records and indexed by the index function, and both toolsets get every question by turns.

`hive_queue`: what a reviewer waits for, and what contributing takes meanwhile, by REST. What waits is written to the
table as it is stored once it is stripped. Every call goes over the laptop's gateway and functions, a contribution
through the one that redacts.
"""

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from bench import table
from bench.corpus import open_corpus
from bench.mcp_servers import Caller
from bench.measure import Seconds, Table, Ways, by_turns, spread, times
from bench.pii.cases import cases
from bench.serving import RUN_SECONDS
from bench.speed.search import Base
from commonplace.hive import minhash
from commonplace.hive.model import CATEGORIES, Contribution, Counts, ItemId, content_hash
from commonplace.hive.records import ContributionTable, places, room
from commonplace.kernel.items import encode, key
from commonplace.kernel.table import Table as Records
from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import INDEX_FUNCTION, Laptop
from commonplace_local.dev.source import plain_folder
from commonplace_local.identity import Identity
from commonplace_local.knowledge_folder import SAMPLE

SIZES, DOCUMENTS = (300, 3_000), 2_720
"""Contributions, and the documents beside the most of them, at last."""
ROUNDS, WARM_UP = 60, 10
OWN, OTHERS = "default", ("globex", "initech")
WORDS, LIMIT = 120, 10
EVERYTHING = {"source": "commonplace.operator", "collection": "contributions"}
INDEXED_SECONDS = 300.0
SINCE = "2026-01-01T00:00:00.000000Z"


def hive(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    rows: list[table.Row] = []
    corpus = open_corpus(options.repository, folder)
    with Laptop(corpus.source, folder / "data", environment={"MCP_ASSUMED_TIER": "member"}) as laptop:
        laptop.push()
        laptop.wait(RUN_SECONDS)
        base = Base(laptop)
        contributions = Contributions(laptop, base.paragraphs)
        sizes = [(size, base.size) for size in options.sizes or SIZES]
        for size, documents in [*sizes, (sizes[-1][0], DOCUMENTS)]:
            contributions.grow(size)
            base.grow(documents)
            with closing(Caller(laptop.url)) as call:
                rounds: list[Ways] = []
                for question in base.questions(WARM_UP + ROUNDS):
                    params = {"name": "search_knowledge", "arguments": {"query": question, "limit": LIMIT}}
                    paths = {"hive": "/mcp/hive", "knowledge": "/mcp/knowledge"}
                    rounds.append({name: partial(call, path, "tools/call", params) for name, path in paths.items()})
                taken = by_turns(rounds, warm_up=WARM_UP)
            rows.append(
                {
                    "contributions": size,
                    "documents": base.size,
                    **spread(taken["hive"], "hive "),
                    **spread(taken["knowledge"], "knowledge "),
                    "hive / knowledge": times(taken["hive"], taken["knowledge"]),
                }
            )
            print("\n".join(table.lines(rows[-1:])), flush=True)
    title = f"A search of contributions beside one of documents over {corpus.label}, by MCP, in ms"
    yield Table("hive", title, rows)


class Contributions:
    """The contributions of a laptop, which become more."""

    def __init__(self, laptop: Laptop, paragraphs: Sequence[str]) -> None:
        self._laptop, self._paragraphs = laptop, paragraphs
        self._random = random.Random(3)
        self._size = 0

    def grow(self, size: int) -> None:
        """Write what is missing as it is stored once it is approved, and wait until all of it is found."""
        records = Records(self._laptop.cloud.client("dynamodb"), self._laptop.cloud.table("StateRecords"))
        made = [self._contribution(number) for number in range(self._size, size)]
        for owner in (OWN, *OTHERS):
            records.write(records.put(key("organisations", f"hive#{owner}"), {}))
        writes = [
            records.put(key(room(one.organisation, name), one.id), encode(stored))
            for one in made
            for name, stored in (
                ("items", one),
                ("counts", Counts(self._random.randrange(6), self._random.randrange(3))),
            )
        ]
        if records.write_many(writes):
            raise RuntimeError("the table did not take every contribution")
        self._size = size
        end = time.monotonic() + INDEXED_SECONDS
        while len(self._laptop.indexed("contributions")) < size:
            if time.monotonic() > end:
                raise RuntimeError(f"not all of {size} contributions are indexed")
            self._laptop.cloud.invoke(INDEX_FUNCTION, EVERYTHING)
        self._laptop.wait(INDEXED_SECONDS)  # messages of each of them are still under way

    def _contribution(self, number: int) -> Contribution:
        parts = " ".join(self._random.choices(self._paragraphs, k=3)).split()
        start = self._random.randrange(max(1, len(parts) - WORDS))
        content = " ".join(parts[start : start + self._random.randint(20, WORDS)]) + f" Case {number}."
        return _contribution(
            number,
            content,
            status="approved",
            organisation=self._random.choice((OWN, *OTHERS)),
            category=self._random.choice(CATEGORIES),
            confidence=self._random.choice((0.5, 0.8, 0.9)),
            is_public=self._random.random() < 0.5,
        )


def _contribution(number: int, content: str, **given: Any) -> Contribution:
    return Contribution(
        id=ItemId(f"hv_{number:026}"),
        content=content,
        content_hash=content_hash(content),
        contributed_at=SINCE,
        valid_at=SINCE,
        account="0" * 32,
        agent="agent",
        **given,
    )


QUEUE, QUEUE_ROUNDS, QUEUE_WARM_UP = 5_000, 30, 3
ENVIRONMENT = {"HIVE_CONTRIBUTIONS_PER_HOUR": "0", "HIVE_MAX_PENDING": "100000"}


def hive_queue(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    (size,) = options.sizes or (QUEUE,)
    with Laptop(plain_folder(SAMPLE, SAMPLE_NAME), folder, environment=ENVIRONMENT) as laptop:
        laptop.wait()
        token = Identity(laptop.deployment).mint(
            organisation=OWN, agent="bench", scopes=("hive:admin",), tier="vibecoder", path="/api", days=1
        )
        headers = {"authorization": f"Bearer {token}"}
        with httpx.Client(base_url=f"{laptop.url}/api/v1/hive", headers=headers, timeout=60) as http:
            empty = reviewed(http, 0)
            fill(laptop, size)
            rows = [
                {
                    "call": name,
                    **spread(seconds),
                    "p50 of an empty queue": 1000 * median(empty[name]) if name in empty else None,
                }
                for name, seconds in reviewed(http, size).items()
            ]
    yield Table("hive_queue", f"A queue of {size:,} contributions by REST on a laptop cloud, in ms", rows)


def fill(laptop: Laptop, size: int) -> None:
    """Write so many pending contributions, with their hashes, bands and figures."""
    records = ContributionTable(laptop.cloud.client("dynamodb"), laptop.cloud.table("StateRecords"))
    texts, order = [case.text for case in cases()], random.Random(5)
    writes = [records.put(key("organisations", f"hive#{OWN}"), {})]
    for number in range(size):
        content = f"{order.choice(texts)[:600]} Case {number}."
        category, signature = order.choice(CATEGORIES), minhash.signature(content)
        one = _contribution(
            number,
            content,
            status="pending",
            organisation=OWN,
            category=category,
            confidence=0.8,
            signature=signature,
        )
        writes += [records.put(key(*where), item) for where, item in places(one).items()]
    if records.write_many(writes):
        raise RuntimeError("the table did not take every contribution")
    records.write(records.added(OWN, pending=size, contributed=size))


def reviewed(http: httpx.Client, size: int) -> Seconds:
    """Return the seconds of each kind of call on a queue of this size, by turns."""

    def call(method: str, path: str, body: Any = None) -> None:
        http.request(method, path, json=body).raise_for_status()

    def ways(number: int) -> Ways:
        text = f"In round {number} of {size} Maria Schneider ({number}@tallbridge.se) found that routes come in order."
        one, other = (f"/pending/hv_{place:026}" for place in (number, number + QUEUE_ROUNDS + QUEUE_WARM_UP))
        made = {
            "a bare answer: the rules": partial(call, "GET", "/rules"),
            "contribute": partial(call, "POST", "/contributions", {"content": text, "category": "general"}),
            "a page of 50": partial(call, "GET", "/pending?limit=50"),
        }
        if size:
            # Another one than those that are decided, for they may come before it in a round.
            made["show"] = partial(call, "GET", f"/pending/hv_{number + 2 * (QUEUE_ROUNDS + QUEUE_WARM_UP):026}")
            made["approve"] = partial(call, "POST", f"{one}/approve", {})
            made["reject"] = partial(call, "POST", f"{other}/reject", {"reason": "Known."})
        return made

    return by_turns(map(ways, range(QUEUE_WARM_UP + QUEUE_ROUNDS)), warm_up=QUEUE_WARM_UP)
