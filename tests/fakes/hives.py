"""A hive of which everything is at hand: its store in memory, a redactor of words, a search of words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from commonplace.hive.model import Asked, Contribution, Found, ItemId, SearchAnswer
from commonplace.hive.review import Reviews
from commonplace.hive.service import Hive, Parts
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Unavailable
from commonplace.kernel.limits import Limiter
from tests.fakes.hive import MemoryContributions
from tests.fakes.redaction import WordRedactor

START = datetime(2026, 11, 23, 8, tzinfo=UTC)


class WordSearch:
    """The search: items that share a word with the query, those that share most first."""

    def __init__(self, store: MemoryContributions, names: dict[str, str]) -> None:
        self.store, self.names = store, names
        self.parts: Parts | None = None
        self.asked: list[Asked] = []
        self.failing = False
        self.fallback = False

    def search(self, organisation: str, asked: Asked, now: str) -> SearchAnswer:
        self.asked.append(asked)
        if self.failing:
            raise Unavailable("The index does not answer.")
        assert self.parts is not None
        moment, words = asked.as_of or now, set(asked.query.casefold().split())
        visible = self.store.visible(organisation, [id for kept in self.store.kept.values() for id in kept])
        scored = [
            (len(words & set(one.content.casefold().split())) / len(words), one, counts)
            for one, counts in visible.values()
            if asked.category in (None, one.category)
            and one.valid_at <= moment
            and (one.invalid_at is None or one.invalid_at > moment)
        ]
        hits = sorted((hit for hit in scored if hit[0]), key=lambda hit: (-hit[0], hit[1].id))
        end = asked.offset + asked.limit
        found = [
            Found(self.parts.item(organisation, one, counts), round(score, 4))
            for score, one, counts in hits[asked.offset : end]
        ]
        return SearchAnswer(tuple(found), len(hits), end if end < len(hits) else None, fallback=self.fallback)

    def similar(self, organisation: str, text: str, limit: int) -> Sequence[tuple[ItemId, float]]:
        return ()


@dataclass
class FakeHive:
    """One deployment's hive, its clock, and a redactor that knows a few words."""

    names: dict[str, str] = field(default_factory=lambda: {"acme": "Acme DAO"})
    seconds: int = 0
    made: int = 0
    limits: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store = MemoryContributions(lambda: self.clock().timestamp())
        self.search = WordSearch(self.store, self.names)
        self.parts = Parts(
            store=self.store,
            redactor=WordRedactor("Rosa", "Luxemburg"),
            search=self.search,
            limiter=Limiter(Counters(), lambda: self.clock().timestamp()),
            clock=self.clock,
            new_id=self.new_id,
            names=self.names,
            **self.limits,
        )
        self.search.parts = self.parts
        self.hive, self.reviews = Hive(self.parts), Reviews(self.parts)

    def clock(self) -> datetime:
        self.seconds += 1
        return START + timedelta(seconds=self.seconds)

    def new_id(self) -> ItemId:
        self.made += 1
        # As many digits as most ULIDs have: they cost more tokens than letters.
        letters = str.maketrans("0123456789", "ABCDEFGHJK")
        return ItemId("hv_01JDX5Z8K4QW7M2N6P9R3T" + f"{self.made:04}".translate(letters))

    def kept(self) -> dict[ItemId, Contribution]:
        """All contributions of all organisations."""
        return {id: one for kept in self.store.kept.values() for id, one in kept.items()}

    def approve(self, author: Author, *ids: str, public: bool = False) -> None:
        for id in ids:
            self.reviews.approve(author, ItemId(id), public=public)


class Counters:
    """Of rate limits, in this process."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, key: str, amount: int, expires_at: int) -> int:
        self.counts[key] = self.counts.get(key, 0) + amount
        return self.counts[key]
