"""What becomes of lessons: recurrences, votes, and the four metrics of seed 001, "Success Metrics"."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean

from commonplace.kernel.audit import Author
from commonplace.memory.model import MAX_RELEVANCE, Entry, EntryId, Mean, Metrics, NewEntry, Recurrence, Vote
from commonplace.memory.ports import Parts, unknown

MOST = 5
"""Lessons that are named as learned again most often, and entries as rated lowest."""
TOKENS_USED = "tokens_used"
"""In the metadata of a story's summary: what the whole story took."""


class Usage:
    """Notes and counts, one organisation at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._store = parts.store
        self._usage = parts.usage

    def recur(self, author: Author, id: EntryId, story: str | None) -> Recurrence | None:
        """Notes that this story learned the entry again, once; None where it learned it first. Raises Unavailable."""
        if not story:
            return None
        record = self._parts.record(author, "memory.recur", entry=id)
        return self._usage.recur(author.organisation, id, story, self._parts.now(), record)

    def record(self, author: Author, new: NewEntry | Entry) -> None:
        """Notes the story of a summary, and what it took. Never fails."""
        if new.entry_type == "summary" and new.source_story:
            took = new.metadata.get(TOKENS_USED)
            whole = took if isinstance(took, int) and not isinstance(took, bool) and took >= 0 else None
            self._usage.recorded(author.organisation, new.source_story, whole)

    def served(self, author: Author, story: str | None, tokens: int) -> None:
        """Counts a search of a story, and the tokens of its answer. Never fails."""
        if story:
            self._usage.searched(author.organisation, story, tokens)

    def rate(self, author: Author, id: EntryId, relevance: int, story: str | None) -> Mean:
        """Keeps the author's vote on a hit of that story, in place of an earlier one; the mean of all on the entry.

        Raises NotFound and Unavailable.
        """
        if self._store.get(author.organisation, id) is None:
            raise unknown(id)
        if not 0 <= relevance <= MAX_RELEVANCE:
            raise ValueError(relevance)
        self._usage.vote(author.organisation, Vote(id, story or "", author.account, relevance))
        return self.relevance(author.organisation, id)

    def relevance(self, organisation: str, id: EntryId) -> Mean:
        """Of the votes on one entry. Raises Unavailable."""
        return mean(vote.relevance for vote in self._usage.votes(organisation, id))

    def metrics(self, organisation: str) -> Metrics:
        """Of all stories that are known. Raises Unavailable."""
        stories = list(self._usage.stories(organisation))
        asking = [one for one in stories if one.searches]
        votes = list(self._usage.votes(organisation))
        return Metrics(
            tokens_with_searches=mean(one.tokens_used for one in asking if one.tokens_used is not None),
            tokens_without=mean(one.tokens_used for one in stories if not one.searches and one.tokens_used is not None),
            answer_tokens=mean(one.answer_tokens for one in asking),
            recurrences=self._usage.recurred(organisation),
            most=most(self._usage.recurrences(organisation)),
            relevance=mean(vote.relevance for vote in votes),
            votes=dict(sorted(Counter(vote.relevance for vote in votes).items())),
            lowest=lowest(votes),
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


def lowest(votes: Iterable[Vote]) -> tuple[tuple[EntryId, Mean], ...]:
    """The entries that were rated lowest."""
    by_entry: dict[EntryId, list[int]] = defaultdict(list)
    for vote in votes:
        by_entry[vote.id].append(vote.relevance)
    means = [(id, mean(given)) for id, given in by_entry.items()]
    return tuple(sorted(means, key=lambda one: (one[1].mean, -one[1].n, one[0]))[:MOST])


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
        "relevance": {
            **_mean(metrics.relevance),
            "votes": {str(vote): n for vote, n in metrics.votes.items()},
            "lowest": [{"id": id, **_mean(one)} for id, one in metrics.lowest],
        },
        "adoption": {**_mean(metrics.searches), "stories_that_searched": metrics.stories_that_searched},
    }


def _mean(one: Mean) -> dict[str, float | int | None]:
    return {"n": one.n, "mean": one.mean}
