"""What becomes of lessons: recurrences, votes, and the four metrics of seed 001, "Success Metrics"."""

from collections.abc import Iterable, Mapping
from statistics import fmean

from commonplace.kernel.audit import Author
from commonplace.memory.model import EntryId, Mean, Metrics, NewEntry, Recurrence
from commonplace.memory.ports import Parts, unknown

MOST = 5
"""Lessons that are named as learned again most often."""
TOKENS_USED = "tokens_used"
"""In the metadata of a story's summary: what the whole story took."""


class Usage:
    """Notes and counts, one organisation at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store = parts.store
        self._usage = parts.usage

    def recur(self, author: Author, id: EntryId, story: str | None) -> Recurrence | None:
        """Notes that this story learned the entry again, once; None where it is nothing new. Raises Unavailable."""
        if not story:
            return None
        record = self._parts.record(author, "memory.recur", entry=id)
        return self._usage.recur(author.organisation, id, story, self._parts.now(), record)

    def record(self, author: Author, new: NewEntry) -> None:
        """Notes the story of a summary, and what it took. Never fails."""
        if new.entry_type == "summary" and new.source_story:
            took = new.metadata.get(TOKENS_USED)
            whole = took if isinstance(took, int) and not isinstance(took, bool) and took >= 0 else None
            self._usage.recorded(author.organisation, new.source_story, whole)

    def served(self, author: Author, story: str | None, tokens: int) -> None:
        """Counts a search of a story, and the tokens of its answer. Never fails."""
        if story:
            self._usage.searched(author.organisation, story, tokens)

    def rate(self, author: Author, id: EntryId, relevance: int) -> None:
        """Counts a vote on a hit. Raises NotFound and Unavailable."""
        if self._store.get(author.organisation, id) is None:
            raise unknown(id)
        self._usage.vote(author.organisation, relevance)

    def metrics(self, organisation: str) -> Metrics:
        """Of all stories that are known. Raises Unavailable."""
        stories = list(self._usage.stories(organisation))
        asking = [one for one in stories if one.searches]
        votes = self._usage.votes(organisation)
        n = sum(votes.values())
        return Metrics(
            tokens_with_searches=mean(one.tokens_used for one in asking if one.tokens_used is not None),
            tokens_without=mean(one.tokens_used for one in stories if not one.searches and one.tokens_used is not None),
            answer_tokens=mean(one.answer_tokens for one in asking),
            recurrences=self._usage.recurred(organisation),
            most=most(self._usage.recurrences(organisation)),
            relevance=Mean(n, round(sum(vote * times for vote, times in votes.items()) / n, 2) if n else None),
            votes=votes,
            searches=mean(one.searches for one in stories),
            stories_that_searched=len(asking),
        )


def most(found: Iterable[Recurrence]) -> tuple[Recurrence, ...]:
    """The last recurrence of each lesson that was learned again most often."""
    last: dict[EntryId, Recurrence] = {}
    for one in found:
        if one.id not in last or last[one.id].seen < one.seen:
            last[one.id] = one
    return tuple(sorted(last.values(), key=lambda one: (-one.seen, one.id))[:MOST])


def mean(values: Iterable[int]) -> Mean:
    known = list(values)
    return Mean(len(known), round(fmean(known), 2) if known else None)


def told(metrics: Metrics) -> Mapping[str, object]:
    """As answers have it."""
    return {
        "tokens_per_story": {
            "with_searches": _mean(metrics.tokens_with_searches),
            "without_searches": _mean(metrics.tokens_without),
            "of_answers": _mean(metrics.answer_tokens),
        },
        "recurrence": {
            "recurrences": metrics.recurrences,
            "most": [
                {"id": one.id, "seen": one.seen, "first_story": one.first, "last_story": one.story}
                for one in metrics.most
            ],
        },
        "relevance": {**_mean(metrics.relevance), "votes": {str(vote): n for vote, n in metrics.votes.items()}},
        "adoption": {**_mean(metrics.searches), "stories_that_searched": metrics.stories_that_searched},
    }


def _mean(one: Mean) -> dict[str, float | int | None]:
    return {"n": one.n, "mean": one.mean}
