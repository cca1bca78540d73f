"""A list of gaps in memory, in place of `commonplace.reference.store.DynamoGaps`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from commonplace.kernel.errors import Unavailable
from commonplace.reference.model import GAP_SECONDS, MAX_GAPS, EntryType, Gap, digest
from commonplace.reference.store import DynamoGaps


@dataclass
class MemoryGaps(DynamoGaps):
    clock: Callable[[], float]
    """Epoch seconds."""
    most: int = MAX_GAPS
    down: bool = False
    kept: dict[tuple[str, str], tuple[Gap, float]] = field(default_factory=dict)
    """By organisation and digest: a gap, and when it ends."""

    def count(self, organisation: str, query: str, type: EntryType | None, note: str | None) -> int | None:
        key, now = (organisation, digest(query, type)), self._now()
        was = self._current(organisation).get(key)
        if was is None and len(self._current(organisation)) >= self.most:
            return None
        new = Gap(query, 0, now, now, type) if was is None else was
        gap = replace(new, count=new.count + 1, last_at=now, note=note or new.note)
        self.kept[key] = gap, self.clock() + GAP_SECONDS
        return gap.count

    def gaps(self, organisation: str, limit: int) -> Sequence[Gap]:
        found = sorted(self._current(organisation).values(), key=lambda gap: gap.last_at, reverse=True)
        return sorted(found, key=lambda gap: -gap.count)[:limit]

    def _current(self, organisation: str) -> dict[tuple[str, str], Gap]:
        if self.down:
            raise Unavailable("A store that this needs does not answer just now.")
        now = self.clock()
        return {key: gap for key, (gap, ends) in self.kept.items() if key[0] == organisation and ends > now}

    def _now(self) -> str:
        return datetime.fromtimestamp(int(self.clock()), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
