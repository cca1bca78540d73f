"""Seconds from a push until its text is found by search, beside the parts of that way.

`python -m bench.freshness [CLONE]`. The parts: the same edit put straight into the store, which takes the way of the
index only; and a message that says nothing, which takes the queue, its batching window and a function.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

from bench import table
from bench.corpus import asked_for, open_corpus
from bench.serving import RUN_SECONDS, Bench, Client, NotSynced, synced
from bench.table import percentile, ratio

ROUNDS = 7
LOOK_AGAIN_SECONDS = 0.02
NOTHING = json.dumps({"Service": "Amazon S3", "Event": "s3:TestEvent"})


class Writing:
    """Ways in which a word nobody has used reaches the index; each returns the seconds until it is found."""

    def __init__(self, bench: Bench, client: Client) -> None:
        self._bench, self._laptop, self._client = bench, bench.laptop, client
        manifest = bench.laptop.manifest()
        if manifest is None:
            raise NotSynced("nothing is published")
        self._entries = sorted(manifest.documents, key=lambda entry: entry.path)
        self._used = 0

    def pushed_edit(self) -> float:
        entry, word = self._entries[self._used % len(self._entries)], self._word()
        corpus = self._bench.corpus
        text = corpus.read(corpus.git("rev-parse", "main"), entry.path)
        corpus.commit({entry.path: text + f"\n\nThis tells of {word}.\n".encode()})
        return self._until_found(word, self._laptop.push)

    def pushed_document(self) -> float:
        word = self._word()
        text = f"---\ntitle: About {word}\npublish: true\n---\n\nThis tells of {word}.\n"
        self._bench.corpus.commit({f"docs/about-{word}.md": text.encode()})
        return self._until_found(word, self._laptop.push)

    def stored_edit(self) -> float:
        """As the sync would store it, with a later version than the index holds."""
        entry, word = self._entries[-1 - self._used % len(self._entries)], self._word()
        stored = self._laptop.store.get(entry.key)
        if stored is None:
            raise NotSynced(f"{entry.ref} is not in the store")
        document = json.loads(stored.body)
        changed = {"content": f"This tells of {word}.\n", "generation": document["generation"] + 1}
        body = json.dumps(document | changed).encode()
        return self._until_found(word, lambda: self._laptop.store.put(entry.key, body, media_type="application/json"))

    def empty_message(self) -> float:
        sqs = self._laptop.cloud.client("sqs")
        began = time.perf_counter()
        sqs.send_message(QueueUrl=self._laptop.cloud.queue_url("IndexQueue"), MessageBody=NOTHING)
        self._laptop.wait(RUN_SECONDS)
        return time.perf_counter() - began

    def _word(self) -> str:
        self._used += 1
        return f"zyx{self._used}quor"

    def _until_found(self, word: str, act: Callable[[], object]) -> float:
        question = f"/api/v1/search?{urlencode({'q': word})}"
        began = time.perf_counter()
        act()
        while not any(word in found["snippet"] for found in self._client.json(question)["results"]):
            if time.perf_counter() - began > RUN_SECONDS:
                raise NotSynced(f"{word} was never found")
            time.sleep(LOOK_AGAIN_SECONDS)
        seconds = time.perf_counter() - began
        self._laptop.wait(RUN_SECONDS)  # what else the push set off is not the next one's to wait for
        return seconds


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
            taken: dict[str, list[float]] = {way: [] for way in ways}
            for _ in range(ROUNDS):
                for way, go in ways.items():
                    taken[way].append(go())
    least = median(taken["an empty message through queue and function"])
    table.show(
        "freshness",
        f"Freshness over {corpus.label}: until search finds it, {ROUNDS} times each",
        [
            {
                "what": way,
                "median s": median(seconds),
                "p90 s": percentile(seconds, 90),
                "times an empty message": ratio(median(seconds), least),
            }
            for way, seconds in taken.items()
        ],
        note="The queue's batching window of 1 s is in all of them. A new document can show up to 5 s later\n"
        "than it is published: a serving process may go by the manifest it last read for so long.",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
