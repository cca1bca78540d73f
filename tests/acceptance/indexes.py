"""The index of a deployment, in a file or on an OpenSearch node, looked into past the engine that wrote it."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from commonplace.search.chunks import chunk_body
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.model import EmbeddingProvider, Engine, VectorMemory
from commonplace.search.opensearch.client import connect
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.text import plain, words
from tests.acceptance.reading import Page, texts_in
from tests.acceptance.truth import Statement, Truth, all_of, equal, fact, none, same
from tests.opensearch_node.node import ask

Where = tuple[str, Iterable[str]]
"""Which part of an index, and every text found there."""


class Index(Protocol):
    """One collection. `environment` tells the functions of a laptop cloud to use it."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    def open(self, embeddings: EmbeddingProvider) -> Engine:
        """For a writer in this process."""
        ...

    def close(self, engine: Engine) -> None: ...

    def memory(self, engine: Engine) -> VectorMemory | None: ...

    def texts(self) -> Iterator[Where]:
        """Every text that it keeps."""
        ...

    def chunk_texts(self) -> dict[str, list[str]]:
        """`contentType/id` -> the pieces of its text, in order, of every live record."""
        ...

    def statements(self, truth: Truth, versions: Mapping[str, int]) -> Iterator[Statement]:
        """What can be said of this kind alone. `versions`: the store's, by `contentType/id`."""
        ...


_READABLE = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE '%content = ''''%'"


class EmbeddedIndex:
    """One file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.environment: Mapping[str, str] = {}

    def open(self, embeddings: EmbeddingProvider) -> EmbeddedEngine:
        return EmbeddedEngine(self.file, embeddings)

    def close(self, engine: Engine) -> None:
        if isinstance(engine, EmbeddedEngine):
            engine.close()

    def memory(self, engine: Engine) -> VectorMemory | None:
        return engine if isinstance(engine, EmbeddedEngine) else None

    def texts(self) -> Iterator[Where]:
        """Every text of every table. One that keeps no text cannot be read: its words are in its vocabulary."""
        with closing(self._read()) as index:
            for (name,) in index.execute(_READABLE).fetchall():
                cells = (cell for row in index.execute(f'SELECT * FROM "{name}"') for cell in row)
                found = [text for cell in cells if isinstance(cell, str) for text in texts_in(cell.encode())]
                yield f"table {name}", found

    def chunk_texts(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        query = """SELECT records.id, chunks.text FROM chunks JOIN records ON records.rowid = chunks.rowid >> 16
                   WHERE records.deleted = 0 ORDER BY records.id, chunks.rowid"""
        with closing(self._read()) as index:
            for ref, text in index.execute(query):
                found[ref].append(text)
        return found

    def statements(self, truth: Truth, versions: Mapping[str, int]) -> Iterator[Statement]:
        return iter(())

    def _read(self) -> sqlite3.Connection:
        return sqlite3.connect(f"{self.file.absolute().as_uri()}?mode=ro", uri=True)


WORDS_PER_QUERY = 5_000
REMOVED_HOLDS = {"id", "version", "deleted", "buried"}
WITH_VECTORS = 3
"""The last two bits of an external version: a live record whose chunks all have vectors."""


def node_statements(index: "OpenSearchIndex", truth: Truth, versions: Mapping[str, int]) -> Iterator[Statement]:
    """`versions`: the store's, by `contentType/id`. No text of what is removed or unpublished is on the node."""
    hits = [*index.documents()]
    live = [hit for hit in hits if not hit["_source"]["deleted"]]
    removed = [hit for hit in hits if hit["_source"]["deleted"]]
    yield equal("indexes of the collection", 1, len(index.names()))
    yield same("on the node: live documents", versions, [hit["_source"]["id"] for hit in live])
    wrong = []
    for hit in live:
        # A document that was published again after its removal may be of a newer version than its object.
        ref, version = hit["_source"]["id"], int(hit["_source"]["version"])
        if version < versions.get(ref, 0) or int(hit["_version"]) != version * 4 + WITH_VECTORS:
            wrong.append(hit["_id"])
    yield all_of("on the node: of the store's version, and with vectors", len(live), wrong)
    yield fact("on the node: tombstones", len(removed))
    more = {hit["_id"]: (hit["_source"].keys() | hit.get("fields", {}).keys()) - REMOVED_HOLDS for hit in removed}
    full = [f"{name}: {', '.join(sorted(fields))}" for name, fields in more.items() if fields]
    yield none("on the node: tombstones that hold more than id and version", full)
    peculiar = sorted(_said(truth.unpublished) - _said(truth.published))
    found: dict[str, list[str]] = {}
    for start in range(0, len(peculiar), WORDS_PER_QUERY):
        found |= index.holding(peculiar[start : start + WORDS_PER_QUERY])
    told = [f"{path}: {', '.join(said)}" for path, said in found.items() if path in truth.published]
    yield fact("words that only unpublished files use", len(peculiar))
    yield none("on the node: published documents that are found by such a word", told)


def _said(pages: Mapping[str, Page]) -> set[str]:
    """Every word as it is written and as it reads without Markdown's marks, those of paths and frontmatter too."""
    found: set[str] = set()
    for path, page in pages.items():
        texts = [path, page.body, *page.values, *(plain(chunk.text) for chunk in chunk_body(page.body))]
        found.update(word for text in texts for word in words(text.replace("'s", " ").replace("’s", " ")) + words(text))
    return found


PAGE = 500
"""Documents in one answer of the node: whole ones, so that it stays some megabytes."""
ASK_SECONDS = 60


class OpenSearchIndex:
    """A collection on a node. Functions reach it at `endpoint`, which may be a tap in front of the node."""

    def __init__(self, url: str, stem: str, *, endpoint: str | None = None) -> None:
        self.url, self.stem, self.endpoint = url, stem, endpoint or url
        self.environment: Mapping[str, str] = {
            "SEARCH_ENGINE": "opensearch",
            "OPENSEARCH_ENDPOINT": self.endpoint,
            "OPENSEARCH_INDEX": stem,
        }

    def open(self, embeddings: EmbeddingProvider) -> Engine:
        return OpenSearchEngine(connect(self.endpoint, "none"), self.stem, embeddings)

    def close(self, engine: Engine) -> None:
        if isinstance(engine, OpenSearchEngine):
            engine.close()

    def memory(self, engine: Engine) -> VectorMemory | None:
        return None

    def texts(self) -> Iterator[Where]:
        """Of every document, tombstones included, what is kept and the columns beside it; and the index's own facts."""
        yield "facts of the index", [*_strings(self._ask(""))]
        for hit in self.documents():
            fields = hit.get("fields", {})
            named = [name[1:] for name in fields.get("named", ())]  # a letter for its kind stands before each name
            yield hit["_id"], [hit["_id"], *_strings(hit["_source"]), *fields.get("names", ()), *named]

    def chunk_texts(self) -> dict[str, list[str]]:
        live = (hit["_source"] for hit in self.documents() if not hit["_source"]["deleted"])
        return {source["id"]: [chunk["text"] for chunk in source["chunks"]] for source in live}

    def statements(self, truth: Truth, versions: Mapping[str, int]) -> Iterator[Statement]:
        return node_statements(self, truth, versions)

    def names(self) -> list[str]:
        """The indexes of the collection: one, unless a change of model is under way."""
        return sorted(self._ask(""))

    def documents(self) -> Iterator[dict[str, Any]]:
        """Every hit of the node, without vectors, by id."""
        self._ask("/_refresh", method="POST")
        body: dict[str, Any] = {
            "size": PAGE,
            "sort": [{"id": "asc"}, {"version": "asc"}],
            "version": True,
            "_source": {"excludes": ["chunks.vector"]},
            "docvalue_fields": ["names", "named"],
        }
        while hits := self._ask("/_search", body)["hits"]["hits"]:
            yield from hits
            body["search_after"] = hits[-1]["sort"]

    def holding(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Path -> those of the words that are in the vocabulary of that document."""
        query = {"size": 10_000, "_source": ["path"], "query": {"terms": {"spelling": [*words]}}}
        paths = [hit["_source"]["path"] for hit in self._ask("/_search", query)["hits"]["hits"]]
        if not paths or len(words) == 1:
            return {path: [*words] for path in paths}
        half = len(words) // 2
        found: dict[str, list[str]] = defaultdict(list)
        for part in (words[:half], words[half:]):
            for path, said in self.holding(part).items():
                found[path] += said
        return found

    def _ask(self, path: str, body: Any = None, *, method: str | None = None) -> Any:
        return ask(self.url, f"/{quote(self.stem)}-*{path}", body, method=method, seconds=ASK_SECONDS)


def _strings(value: Any) -> Iterator[str]:
    """The values, not the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
