"""The engines that the contract is tested on. One more engine is one more entry."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from commonplace.adapters.embedded.engine import EmbeddedEngine
from commonplace.adapters.embedded.published import PublishedEngine
from commonplace.search.model import EmbeddingProvider, Engine
from tests.fakes.store import FakeObjectStore

Make = Callable[[EmbeddingProvider | None], Engine]
"""An engine of the same index, as another process with this model would open it."""


@contextmanager
def embedded(folder: Path) -> Iterator[Make]:
    made: list[EmbeddedEngine] = []

    def make(provider: EmbeddingProvider | None) -> Engine:
        made.append(EmbeddedEngine(folder / "documents.sqlite", provider))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


@contextmanager
def published(folder: Path) -> Iterator[Make]:
    store = FakeObjectStore()
    made: list[PublishedEngine] = []

    def make(provider: EmbeddingProvider | None) -> Engine:
        made.append(PublishedEngine(store, "index/documents.sqlite", provider, folder=folder, refresh_seconds=0))
        return made[-1]

    yield make
    for engine in made:
        engine.close()


ENGINES: dict[str, Callable[[Path], AbstractContextManager[Make]]] = {"embedded": embedded, "published": published}
