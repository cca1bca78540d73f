"""A knowledge base from a folder of files: synced by the steps of the sync, indexed by the embedded engine."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from commonplace.documents.content.document import Document
from commonplace.documents.content.library import Library
from commonplace.documents.index_source import record_from_document
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.kernel.objects import ObjectStore
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embeddings import embed_records
from commonplace.search.model import EmbeddingProvider
from commonplace.search.service import SearchService
from tests.unit.documents.sync.drive import World

SAMPLE = Path(__file__).parents[4] / "samples" / "knowledge-base"


def synced(folder: Path) -> ObjectStore:
    """The store after one sync of every file of the folder."""
    world = World()
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts)
    world.push({path.relative_to(folder).as_posix(): path.read_bytes() for path in files})
    world.sync()
    return world.objects


@contextmanager
def knowledge_base(
    store: ObjectStore, index: Path, provider: EmbeddingProvider | None = None
) -> Iterator[KnowledgeServices]:
    """Services over the store and an index of everything in it, kept in the file `index`."""
    library = Library(store)
    stored = [found for found in library.documents(library.manifest().documents) if found]
    documents = [Document.model_validate_json(found.body) for found in stored]
    engine = EmbeddedEngine(index, provider)
    try:
        engine.write(embed_records([record_from_document(document) for document in documents], provider), ())
        yield KnowledgeServices(library=library, search=SearchService(engine, provider, documents=library))
    finally:
        engine.close()
