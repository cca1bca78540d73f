"""Items as a search of the hive reads them: those that are approved, in the memory of this process."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from commonplace.hive.model import Contribution, Counts, ItemId, content_hash
from commonplace.kernel.errors import Unavailable

CONTRIBUTED = "2026-11-01T08:00:00.000000Z"


def item(organisation: str, id: str, content: str, **told: Any) -> Contribution:
    """An approved contribution; `told` are fields that matter."""
    made = Contribution(
        organisation=organisation,
        id=ItemId(id),
        status="approved",
        content=content,
        content_hash=content_hash(content),
        category="general",
        confidence=0.8,
        contributed_at=CONTRIBUTED,
        valid_at=CONTRIBUTED,
        account=f"account-of-{organisation}",
        agent="agent",
    )
    return replace(made, **told)


class FakeItems:
    """The part of the store of contributions that index and search read."""

    def __init__(self) -> None:
        self.kept: dict[ItemId, Contribution] = {}
        self.counted: dict[ItemId, Counts] = {}
        self.reads: list[int] = []
        self.failing = False

    def put(self, *items: Contribution) -> None:
        self.kept |= {one.id: one for one in items}

    def change(self, id: str, **told: Any) -> Contribution:
        was = self.kept[ItemId(id)]
        now = self.kept[was.id] = replace(was, revision=was.revision + 1, **told)
        return now

    def items(self, owners: Mapping[ItemId, str]) -> dict[ItemId, tuple[Contribution, Counts]]:
        if self.failing:
            raise Unavailable("The store does not answer.")
        self.reads.append(len(owners))
        there = {id: self.kept[id] for id, owner in owners.items() if id in self.kept}
        return {
            id: (one, self.counted.get(id, Counts()))
            for id, one in there.items()
            if one.status == "approved" and one.organisation == owners[id]
        }

    def pending(
        self, organisation: str, after: str | None = None, *, newest: bool = False, page: int = 0
    ) -> Iterator[Contribution]:
        waiting = [one for one in self.kept.values() if (one.organisation, one.status) == (organisation, "pending")]
        return iter(sorted(waiting, key=lambda one: one.id))

    def organisations(self) -> Iterator[str]:
        return iter(sorted({one.organisation for one in self.kept.values()}))

    def versions(self, organisation: str) -> Iterator[tuple[ItemId, int]]:
        mine = (one for one in self.kept.values() if (one.organisation, one.status) == (organisation, "approved"))
        return ((one.id, one.revision) for one in mine)
