"""Seconds from a push until its text is served and found by search, beside the parts of that way.

`python -m bench.freshness [CLONE]`. The parts: the same edit put straight into the store, which takes the way of the
index only; and a message that says nothing, which takes the queue, its batching window and a function.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from bench import table
from bench.corpus import asked_for, open_corpus
from bench.serving import RUN_SECONDS, Bench, Client, NotSynced, Refused, synced
from bench.table import percentile, ratio

ROUNDS = 7
LOOK_AGAIN_SECONDS = 0.02
NOTHING = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})


@dataclass(frozen=True, slots=True)
class Seconds:
    """From a change until a document says it by GET, where it is to, and until search finds it."""

    found: float
    served: float | None = None


class Writing:
    """Ways in which a word nobody has used reaches readers."""

    def __init__(self, bench: Bench, client: Client) -> None:
        self._bench, self._laptop, self._client = bench, bench.laptop, client
        manifest = bench.laptop.manifest()
        if manifest is None:
            raise NotSynced("nothing is published")
        self._entries = sorted(manifest.documents, key=lambda entry: entry.path)
        self._used = 0

    def pushed_edit(self) -> Seconds:
        entry, word = self._entries[self._used % len(self._entries)], self._word()
        corpus = self._bench.corpus
        text = corpus.read(corpus.git("rev-parse", "main"), entry.path)
        corpus.commit({entry.path: text + f"\n\nThis tells of {word}.\n".encode()})
        return self._until_found(word, self._laptop.push, entry.path)

    def pushed_document(self) -> Seconds:
        word = self._word()
        text = f"---\ntitle: About {word}\npublish: true\n---\n\nThis tells of {word}.\n"
        self._bench.corpus.commit({f"docs/about-{word}.md": text.encode()})
        return self._until_found(word, self._laptop.push, f"docs/about-{word}.md")

    def stored_edit(self) -> Seconds:
        """As the sync would store it, with a later version than the index holds."""
        entry, word = self._entries[-1 - self._used % len(self._entries)], self._word()
        stored = self._laptop.store.get(entry.key)
        if stored is None:
            raise NotSynced(f"{entry.ref} is not in the store")
        document = json.loads(stored.body)
        changed = {"content": f"This tells of {word}.\n", "generation": document["generation"] + 1}
        body = json.dumps(document | changed).encode()
        return self._until_found(word, lambda: self._laptop.store.put(entry.key, body, media_type="application/json"))

    def empty_message(self) -> Seconds:
        sqs = self._laptop.cloud.client("sqs")
        began = time.perf_counter()
        sqs.send_message(QueueUrl=self._laptop.cloud.queue_url("IndexQueue"), MessageBody=NOTHING)
        self._laptop.wait(RUN_SECONDS)
        return Seconds(time.perf_counter() - began)

    def _word(self) -> str:
        self._used += 1
        return f"zyx{self._used}quor"

    def _is_served(self, path: str, word: str) -> bool:
        try:
            return word.encode() in self._client.get(f"/api/v1/entries/by-path?{urlencode({'path': path})}")
        except Refused:
            return False

    def _until_found(self, word: str, act: Callable[[], object], path: str | None = None) -> Seconds:
        """Asks by turns, for both."""
        question = f"/api/v1/search?{urlencode({'q': word})}"
        began = time.perf_counter()
        act()
        found = served = None
        while found is None or (path and served is None):
            if path and served is None and self._is_served(path, word):
                served = time.perf_counter() - began
            if found is None and any(word in one["snippet"] for one in self._client.json(question)["results"]):
                found = time.perf_counter() - began
            if time.perf_counter() - began > RUN_SECONDS:
                raise NotSynced(f"{word} was never found")
            time.sleep(LOOK_AGAIN_SECONDS)
        self._laptop.wait(RUN_SECONDS)  # what else the push set off is not the next one's to wait for
        return Seconds(found, served)


def main(arguments: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory(prefix="commonplace-bench-") as name:
        folder = Path(name)
        corpus = open_corpus(asked_for(arguments), folder)
        with synced(corpus, folder / "data") as bench, Client(bench.laptop.url) as client:
            writing = Writing(bench, client)
            ways = {
                "an edit, pushed": writing.pushed_edit,
                "a new document, pushed": writing.pushed_document,
                "an edit, put into the store": writing.stored_edit,
                "an empty message through queue and function": writing.empty_message,
            }
            taken: dict[str, list[Seconds]] = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, go in ways.items():
                    taken[way].append(go())
    found = {way: [one.found for one in seconds] for way, seconds in taken.items()}
    served = {way: [one.served for one in seconds if one.served is not None] for way, seconds in taken.items()}
    least = median(found["an empty message through queue and function"])
    table.show(
        "freshness",
        f"Freshness over {corpus.label}: until it is served by GET and until search finds it, {ROUNDS} times each",
        [
            {
                "what": way,
                "GET: median s": median(served[way]) if served[way] else None,
                "p90 s": percentile(served[way], 90) if served[way] else None,
                "search: median s": median(seconds),
                "search: p90 s": percentile(seconds, 90),
                "times an empty message": ratio(median(seconds), least),
            }
            for way, seconds in found.items()
        ],
        note="The queue's batching window of 1 s is in what search takes.",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
