"""The engines that the contract is tested on. One more engine is one more entry."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embedded.published import PublishedEngine
from commonplace.search.model import EmbeddingProvider, Engine
from commonplace.search.opensearch.client import connect
from commonplace.search.opensearch.engine import OpenSearchEngine
from commonplace.search.opensearch.indices import Aliases
from tests.fakes.store import FakeObjectStore
from tests.opensearch_fixture import remove_indexes

Make = Callable[[EmbeddingProvider | None], Engine]
"""An engine of the same index, as another process with this model would open it."""

Fixture = Callable[[str], Any]
"""What a fixture of this name gives: asked for only by the engines that need it."""


@contextmanager
def embedded(folder: Path, fixture: Fixture) -> Iterator[Make]:
    made: list[EmbeddedEngine] = []

    def make(provider: EmbeddingProvider | None) -> Engine:
        made.append(EmbeddedEngine(folder / "documents.sqlite", provider))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@contextmanager
def published(folder: Path, fixture: Fixture) -> Iterator[Make]:
    store = FakeObjectStore()
    made: list[PublishedEngine] = []

    def make(provider: EmbeddingProvider | None) -> Engine:
        made.append(PublishedEngine(store, "index/documents.sqlite", provider, folder=folder, refresh_seconds=0))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@contextmanager
def opensearch(folder: Path, fixture: Fixture) -> Iterator[Make]:
    stem = f"contract-{secrets.token_hex(5)}"
    connection = connect(fixture("opensearch_url"), "none")

    def make(provider: EmbeddingProvider | None) -> Engine:
        # Writes are seen at once, and so is an index that takes the place of another one.
        directory = Aliases(connection, stem, remembered_seconds=0)
        return OpenSearchEngine(connection, stem, provider, refresh="true", directory=directory, state_seconds=0)

    yield make
    remove_indexes(connection, stem)
    connection.close()


ENGINES: dict[str, Callable[[Path, Fixture], AbstractContextManager[Make]]] = {
    "embedded": embedded,
    "published": published,
    "opensearch": opensearch,
}
