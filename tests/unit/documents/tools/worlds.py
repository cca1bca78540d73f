"""The garden with its links, and a search that finds what a test wants found."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Document
from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from tests.fakes.library import SYNCED, FakeLibrary, garden, links_between
from tests.fakes.search import FakeSearch, hit
from tests.unit.documents.rest.told import ToldSearch
from tests.unit.documents.tools.calling import ORIGIN

FORMER = {"practice/swapping-seeds": "artifacts/practices/Seed swap.md"}


@dataclass
class World:
    store: FakeLibrary
    search: FakeSearch = field(default_factory=FakeSearch)

    def services(self, **told: Any) -> KnowledgeServices:
        return KnowledgeServices(
            library=Library(self.store),
            search=self.search,
            clock=lambda: SYNCED + timedelta(seconds=42),
            **({"addresses": DocumentAddresses(base_url=ORIGIN)} | told),
        )


def world(documents: Iterable[Document] | None = None, **manifest: Any) -> World:
    """The garden, or other documents, and a search that finds nothing."""
    documents = garden() if documents is None else list(documents)
    store = FakeLibrary()
    links = links_between(documents)
    store.publish(documents, **({"graph": links, "former_refs": FORMER} | manifest))
    return World(store)


def finding(*refs: str, **told: Any) -> World:
    """The garden, whose search finds these documents in this order; `told` are members of its answers."""
    made = world()
    hits = [hit(*ref.split("/", 1), score=1 - number / 100) for number, ref in enumerate(refs)]
    made.search = ToldSearch(*hits, **told)
    return made
