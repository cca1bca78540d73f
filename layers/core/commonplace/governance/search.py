"""Search of messages: words and meaning, within the channels that a caller reaches (seed 002, `search_messages`).

The index proposes messages and the store decides: it is narrowed to those channels in the query, and every message is
read and judged again before anything of it is shown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from commonplace.governance.model import Channel
from commonplace.governance.rules import Access
from commonplace.governance.store import CHANNELS, Store
from commonplace.search.candidates import CANDIDATES_PER_LEG, Retrievals, Stopwatch
from commonplace.search.filters import Filters
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine, SearchRequest
from commonplace.search.query import Query
from commonplace.search.snippets import snippet

FUSION = Fusion("rrf", lexical_weight=0.5, vector_weight=0.5, rank_constant=60)
"""By ranks alone: no score says how often a word occurs in messages that the caller cannot read."""
DEPTH = 2 * CANDIDATES_PER_LEG
"""Where a ranking ends."""
READ_TOGETHER = 25
"""Messages that the store reads at a time."""
EXCERPT_CHARACTERS = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A message that was found, as the store has it now."""

    message: str
    channel: Channel
    author: str
    created_at: str
    excerpt: str
    score: float
    position: int
    """Its place in the ranking, from 0: where the next page begins after it."""


class MessageSearch:
    """Searches the index of the collection `messages`.

    Several `embeddings` are those of the index that answers and of the one that is to take its place.
    """

    def __init__(self, engine: Engine, embeddings: Sequence[EmbeddingProvider], store: Store) -> None:
        self._retrievals = Retrievals(engine, embeddings, FUSION)
        self._store = store

    def search(self, access: Access, text: str, channel: Channel | None = None, start: int = 0) -> Iterator[Hit]:
        """Yield messages of the channels that `access` reaches, or of one of them, best first, from a place on.

        Raises Unavailable when index or store do not answer.
        """
        room = self._store.records.list(access.organisation, CHANNELS, within="ch_", page=1_000)
        channels = {one.id: one for one in ([channel] if channel else room) if access.reaches(one)}
        if not channels:
            return
        processes = access.touches("topics")
        types = () if processes else ("message", "reply")
        filters = Filters(organisation=access.organisation, roles_any=tuple(channels), content_types=types)
        query, watch = Query.of(text), Stopwatch(time.perf_counter)
        request = SearchRequest(query.text, filters, collapse=False)
        ranking = self._retrievals.of(access.organisation).rank(query, request, DEPTH, watch).best.ranking
        for begin in range(start, len(ranking), READ_TOGETHER):
            some = [(record.partition("/")[2], score) for record, score in ranking[begin : begin + READ_TOGETHER]]
            found = self._store.said(access.organisation, [id for id, _ in some])
            for position, (id, score) in enumerate(some, begin):
                message = found.get(id)
                if message is None or message.channel not in channels or (message.process and not processes):
                    continue
                yield Hit(
                    message=id,
                    channel=channels[message.channel],
                    author=message.author,
                    created_at=message.created_at,
                    excerpt=snippet(message.text, query, EXCERPT_CHARACTERS).text,
                    score=round(score, 6),
                    position=position,
                )
