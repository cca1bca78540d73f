"""What must hold on a node of OpenSearch, whatever the engine says that it wrote there."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bench.acceptance.reading import Page
from bench.acceptance.statements import Statement, all_of, equal, fact, none, same
from bench.acceptance.truth import Truth
from commonplace.search.chunks import chunk_body
from commonplace.search.text import plain, words

if TYPE_CHECKING:
    from bench.acceptance.node import OpenSearchIndex

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
    wrong = [hit["_id"] for hit in live if not _is_current(hit, versions)]
    yield all_of("on the node: of the store's version, and with vectors", len(live), wrong)
    yield fact("on the node: tombstones", len(removed))
    yield none("on the node: tombstones that hold more than id and version", [*filter(None, map(_more, removed))])
    peculiar = sorted(_said(truth.unpublished) - _said(truth.published))
    found: dict[str, list[str]] = {}
    for start in range(0, len(peculiar), WORDS_PER_QUERY):
        found |= index.holding(peculiar[start : start + WORDS_PER_QUERY])
    told = [f"{path}: {', '.join(said)}" for path, said in found.items() if path in truth.published]
    yield fact("words that only unpublished files use", len(peculiar))
    yield none("on the node: published documents that are found by such a word", told)


def _is_current(hit: Mapping[str, Any], versions: Mapping[str, int]) -> bool:
    """A document that was published again after its removal may be of a newer version than its object."""
    source = hit["_source"]
    version = int(source["version"])
    return version >= versions.get(source["id"], 0) and int(hit["_version"]) == version * 4 + WITH_VECTORS


def _more(hit: Mapping[str, Any]) -> str | None:
    kept = hit["_source"].keys() | hit.get("fields", {}).keys()
    return None if kept <= REMOVED_HOLDS else f"{hit['_id']}: {', '.join(sorted(kept - REMOVED_HOLDS))}"


def _said(pages: Mapping[str, Page]) -> set[str]:
    """Every word as it is written and as it reads without Markdown's marks, those of paths and frontmatter too."""
    found: set[str] = set()
    for path, page in pages.items():
        texts = [path, page.body, *page.values, *(plain(chunk.text) for chunk in chunk_body(page.body))]
        found.update(word for text in texts for word in words(text.replace("'s", " ").replace("’s", " ")) + words(text))
    return found
