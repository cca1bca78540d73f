"""Seconds from a push until its text is served and found by search, beside the parts of that way.

The parts: the same edit put straight into the store, which takes the way of the
index only; and a message that says nothing, which takes the queue, its batching window and a function.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from bench.corpus import open_corpus
from bench.measure import Table
from bench.serving import RUN_SECONDS, Bench, Client, NotSynced, Refused, synced
from bench.table import Row, percentile, ratio

ROUNDS = 7
LOOK_AGAIN_SECONDS = 0.02
NOTHING = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})
EMPTY = "an empty message through queue and function"

Seconds = tuple[float, float | None]
"""From a change until search finds it, and until a document says it by GET, where there is one."""


def found_after(bench: Bench, client: Client, word: str, act: Callable[[], object], path: str | None = None) -> Seconds:
    """Make a change, and look for its word by turns until both ways have it."""
    began = time.perf_counter()
    act()
    found = served = None
    while found is None or (path and served is None):
        if path and served is None:
            try:
                if word.encode() in client.get(f"/api/v1/entries/by-path?{urlencode({'path': path})}"):
                    served = time.perf_counter() - began
            except Refused:
                pass
        results = client.json(f"/api/v1/search?{urlencode({'q': word})}")["results"] if found is None else ()
        if any(word in one["snippet"] for one in results):
            found = time.perf_counter() - began
        if time.perf_counter() - began > RUN_SECONDS:
            raise NotSynced(f"{word} was never found")
        time.sleep(LOOK_AGAIN_SECONDS)
    bench.laptop.wait(RUN_SECONDS)  # what else the push set off is not the next one's to wait for
    return found, served


def one_round(bench: Bench, client: Client, number: int) -> dict[str, Seconds]:
    """Let words that nobody has used reach readers in every way."""
    laptop, corpus = bench.laptop, bench.corpus
    manifest = laptop.manifest()
    if manifest is None or not manifest.documents:
        raise NotSynced("nothing is published")
    entries = sorted(manifest.documents, key=lambda entry: entry.path)
    edited, later = entries[number % len(entries)].path, entries[-1 - number % len(entries)]
    taken: dict[str, Seconds] = {}

    word, path = f"zyx{number}quor", edited
    text = corpus.read(corpus.git("rev-parse", "main"), path).decode() + f"\n\nThis tells of {word}.\n"
    corpus.commit({path: text.encode()})
    taken["an edit, pushed"] = found_after(bench, client, word, laptop.push, path)

    word, path = f"zyx{number}newquor", f"docs/about-zyx{number}.md"
    text = f"---\ntitle: About {word}\npublish: true\n---\n\nThis tells of {word}.\n"
    corpus.commit({path: text.encode()})
    taken["a new document, pushed"] = found_after(bench, client, word, laptop.push, path)

    word, stored = f"zyx{number}storquor", laptop.store.get(later.key)
    if stored is None:
        raise NotSynced(f"{later.ref} is not in the store")
    document = json.loads(stored.body)  # as the sync would store it, with a later version than the index holds
    body = json.dumps(document | {"content": f"This tells of {word}.\n", "generation": document["generation"] + 1})
    taken["an edit, put into the store"] = found_after(
        bench, client, word, lambda: laptop.store.put(later.key, body.encode(), media_type="application/json")
    )

    began = time.perf_counter()
    queue = laptop.cloud.queue_url("IndexQueue")
    laptop.cloud.client("sqs").send_message(QueueUrl=queue, MessageBody=NOTHING)
    laptop.wait(RUN_SECONDS)
    taken[EMPTY] = (time.perf_counter() - began, None)
    return taken


def freshness(options: argparse.Namespace, folder: Path) -> Iterator[Table]:
    corpus = open_corpus(options.repository, folder)
    with synced(corpus, folder / "data") as bench, Client(bench.laptop.url) as client:
        rounds = [one_round(bench, client, number) for number in range(ROUNDS)]
    rows: list[Row] = []
    least = median(each[EMPTY][0] for each in rounds)
    for way in rounds[0]:
        found = [each[way][0] for each in rounds]
        served = [seconds for each in rounds if (seconds := each[way][1]) is not None]
        rows.append(
            {
                "what": way,
                "GET: median s": median(served) if served else None,
                "p90 s": percentile(served, 90) if served else None,
                "search: median s": median(found),
                "search: p90 s": percentile(found, 90),
                "times an empty message": ratio(median(found), least),
            }
        )
    title = f"Freshness over {corpus.label}: until it is served by GET and until search finds it, {ROUNDS} times each"
    yield Table("freshness", title, rows, "The queue's batching window of 1 s is in what search takes.")
