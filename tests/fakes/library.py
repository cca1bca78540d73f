"""A published library in memory: documents, attachments, links and manifest, written as a publication writes them."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from commonplace.documents.content.document import MANIFEST_KEY, Attachment, Document, Entry, Manifest
from commonplace.documents.content.keys import content_key
from commonplace.repository.blobs import BlobSha
from tests.fakes.store import FakeObjectStore

COMMIT = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SYNCED = datetime(2026, 3, 21, 9, 30, 12, tzinfo=UTC)


def make(content_type: str, document_id: str, path: str, **told: Any) -> Document:
    """A document with everything a test does not care about filled in."""
    title = told.pop("title", document_id.replace("-", " ").capitalize())
    content = told.pop("content", f"\n# {title}\n\nAbout {title.casefold()}.\n")
    defaults: dict[str, Any] = {
        "metadata": {"title": title},
        "frontmatter": {"title": title, "publish": True},
        "commit_sha": COMMIT,
        "synced_at": SYNCED,
        "blob_sha": BlobSha("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        "generation": 1,
    }
    return Document(
        id=document_id, content_type=content_type, path=path, title=title, content=content, **(defaults | told)
    )


def garden() -> list[Document]:
    """A small library with every property the interface speaks of."""
    return [
        make("index", "garden", "index.md", title="The garden", updated_at=datetime(2026, 1, 1, tzinfo=UTC)),
        make(
            "pattern",
            "rotating-stewardship",
            "artifacts/patterns/rotating-stewardship.md",
            description="How a circle passes its responsibilities on every season.",
            group="seed-library",
            release="first-harvest",
            tags=["governance", "roles"],
            date="2026-02-14",
            updated_at=datetime(2026, 3, 20, 17, 4, 5, tzinfo=UTC),
            source_url=f"https://github.com/example/garden/blob/{COMMIT}/artifacts/patterns/rotating-stewardship.md",
            author=["Rosa Lind"],
            aliases=["stewardship rota"],
            banner="files/seedlings.png",
            permalink="/stewardship/",
            content="\r\n# Rotating stewardship\r\n\r\nEvery season — ask who carries what.\r\n<b>raw</b>\r\n",
            metadata={"title": "Rotating stewardship", "author": ["Rosa Lind"]},
        ),
        make(
            "practice",
            "seed-swap",
            "artifacts/practices/Seed swap.md",
            group="seed-library",
            tags=["governance", "seeds"],
            date="2025-11-02",
            updated_at=datetime(2026, 3, 1, tzinfo=UTC),
        ),
        make("project", "old-orchard", "data/projects/old-orchard.md", status="paused", tags=["roles"]),
        make("group", "seed-library", "data/groups/seed-library.md", title="Seed library"),
        make("index", "docs-kitchen", "docs/kitchen/index.md", title="The kitchen"),
        make("file", "rules", "docs/kitchen/rules.md", group="kitchen", title="Zest & rules"),
        make("file", "rules-2", "docs/kitchen-old/rules.md", title="Ancient rules"),
        make("tag", "governance", "tags/governance.md", aliases=["#Deciding together"], date="2024-05-05"),
        make(
            "link",
            "seed-atlas",
            "links/seed-atlas.md",
            url="https://example.org/atlas",
            link_type="directory",
            tags=["seeds"],
        ),
        make("link", "dots...and-more", "links/dots...and more.md", title="Dots"),
    ]


class FakeLibrary(FakeObjectStore):
    """An object store that holds a publication, and can be unreachable."""

    def __init__(self, documents: Iterable[Document] = (), **manifest: Any) -> None:
        super().__init__()
        self.unreachable = False
        self.reads: list[str] = []
        self.generation = 0
        self.attachments: list[Attachment] = []
        documents = list(documents)
        if documents:
            self.publish(documents, **manifest)

    def get(self, key: str) -> Any:
        self._reach(key)
        return super().get(key)

    def get_if_changed(self, key: str, etag: str | None) -> Any:
        self._reach(key)
        return super().get_if_changed(key, etag)

    def attach(self, name: str, media_type: str, body: bytes) -> None:
        """Stores an attachment; the next publication lists it."""
        etag = self.put(f"attachments/{name}", body, media_type=media_type)
        self.attachments.append(
            Attachment(
                name=name,
                path=f"files/{name}",
                key=f"attachments/{name}",
                etag=etag,
                blob_sha=BlobSha(f"{etag:0<40}"),
                media_type=media_type,
                size=len(body),
            )
        )

    def publish(self, documents: Iterable[Document], graph: dict[str, Any] | None = None, **manifest: Any) -> None:
        """Documents, then graph, then manifest: the order of a real publication."""
        self.generation += 1
        entries = [self._store(document) for document in documents]
        graph_key = None
        if graph is not None:
            graph_key = f"metadata/graph/{self.generation}.json"
            self.put(graph_key, json.dumps(graph).encode())
        told: dict[str, Any] = {
            "pipeline": "fake-pipeline",
            "repository": "example/garden",
            "branch": "main",
            "commit_sha": COMMIT,
            "generation": self.generation,
            "synced_at": SYNCED,
            "documents": entries,
            "attachments": self.attachments,
            "graph_key": graph_key,
        }
        self.put(MANIFEST_KEY, Manifest(**(told | manifest)).to_json())

    def _store(self, document: Document) -> Entry:
        key = content_key(document.content_type, document.id)
        etag = self.put(key, document.to_json())
        facts = document.model_dump(exclude={"metadata", "frontmatter", "content"})
        return Entry(**facts, key=key, etag=etag, raw_etag=etag, size=len(document.content.encode()))

    def _reach(self, key: str) -> None:
        if self.unreachable:
            raise ConnectionError("no route to the store")
        self.reads.append(key)


AUTHORED = {"target": "authored-only", "fragment": None, "kind": "link", "text": "authored-only", "line": 3}


def node(document: Document) -> dict[str, Any]:
    """A document as the stored graph shows it."""
    return {
        "ref": document.ref,
        "id": document.id,
        "contentType": document.content_type,
        "title": document.title,
        "path": document.path,
        "tags": document.tags,
    }


def links_between(documents: Iterable[Document]) -> dict[str, Any]:
    """A graph in which the pattern links to the practice and the lexicon, the practice back, and one link is broken."""
    pattern, practice, tag = "pattern/rotating-stewardship", "practice/seed-swap", "tag/governance"
    pairs = [(pattern, practice), (pattern, tag), (practice, pattern), ("index/garden", practice)]
    return {
        "nodes": [node(document) for document in documents],
        "edges": [{"source": source, "target": target} for source, target in pairs],
        "broken": [{"source": pattern, "target": "../practises/swap.md", "line": 9, "suggestion": practice}],
        "authored": {"artifacts/patterns/rotating-stewardship.md": [AUTHORED]},
    }
