"""The vector caches of organisations in dictionaries. They keep what they were told for good, and can be away."""

from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import Vector
from commonplace.search.store import DynamoVectorCaches


class FakeVectorCaches(DynamoVectorCaches):
    """`down` has it answer nothing, as a table that does not."""

    def __init__(self) -> None:
        self.kept: dict[str, dict[str, Vector]] = defaultdict(dict)
        """By organisation and key."""
        self.down = False

    def of(self, organisation: str) -> "FakeVectorMemory":  # type: ignore[override]
        return FakeVectorMemory(self, organisation)

    def clear(self, organisation: str) -> int:
        self.check()
        return len(self.kept.pop(organisation, {}))

    def size(self, organisation: str) -> int:
        self.check()
        return len(self.kept.get(organisation, {}))

    def check(self) -> None:
        if self.down:
            raise Unavailable("The cache of embeddings does not answer now.")


class FakeVectorMemory:
    """One organisation's part of it."""

    def __init__(self, caches: FakeVectorCaches, organisation: str) -> None:
        self._caches = caches
        self._organisation = organisation

    def known(self, keys: Sequence[str]) -> Mapping[str, Vector]:
        if self._caches.down:
            return {}
        kept = self._caches.kept.get(self._organisation, {})
        return {key: kept[key] for key in keys if key in kept}

    def remember(self, vectors: Mapping[str, Vector]) -> None:
        if not self._caches.down:
            self._caches.kept[self._organisation] |= {key: array("f", vector) for key, vector in vectors.items()}
