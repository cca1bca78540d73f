"""Whether an index may take over: it holds what is published, and sampled records are found in it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from commonplace.search.differences import Difference, DifferenceKind, Inspected, compare
from commonplace.search.model import Engine
from commonplace.search.source import Source
from commonplace.search.verification import Searches, sample

NAMED = 20
"""Differences told by name; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Verification:
    """What was looked at and what differs. An index without differences may take over."""

    index: str
    documents: int
    """Records that are published."""
    sampled: int
    """Those that were searched for by title, words and meaning."""
    overlap: float | None
    """Mean share of the ten best hits in common with the current index; None without one, or when the models differ."""
    counts: Mapping[DifferenceKind, int]
    differences: tuple[Difference, ...]
    """The first ones, by name."""

    @property
    def passed(self) -> bool:
        return not self.counts


def verify(source: Source, index: Inspected, current: Engine | None) -> Verification:
    """Compares ids and versions, then searches. `current` is compared with where its vectors are of the same model.

    Every write must be visible (`Generations.settle`). Raises Unavailable.
    """
    found = compare(source, index, vectors=index.embeddings is not None)
    published = source.published()
    searches = Searches(source, index, current)
    if published and not found:
        found += searches.run(sample(published))
    counts = Counter(difference.kind for difference in found)
    documents = len(published.versions) if published else 0
    return Verification(index.name, documents, searches.sampled, searches.overlap, counts, tuple(found[:NAMED]))
