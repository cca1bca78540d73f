"""What becomes of lessons: recurrences, votes, and the four metrics of seed 001, "Success Metrics"."""

from collections import Counter
from collections.abc import Mapping

from commonplace.kernel.audit import Author
from commonplace.memory.model import MAX_RELEVANCE, Entry, EntryId, Mean, Metrics, NewEntry, Recurrence, StoryUse, Vote
from commonplace.memory.ports import Parts, unknown

MOST = 5
"""Lessons that are named as learned again most often, and entries as rated lowest."""
RECURRENCES = "recurrences"
"""The total of them."""
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
        return self._usage.vote(author.organisation, Vote(id, story or "", author.account, relevance)).mean

    def relevance(self, organisation: str, id: EntryId) -> Mean:
        """Of the votes on one entry. Raises Unavailable."""
        return self._usage.rating(organisation, id).mean

    def metrics(self, organisation: str) -> Metrics:
        """Of all that was ever noted. Raises Unavailable."""
        totals = Counter(self._usage.totals(organisation))
        votes = {vote: n for vote in range(MAX_RELEVANCE + 1) if (n := totals[f"rated_{vote}"])}
        return Metrics(
            tokens_with_searches=Mean.of(totals["searching_told"], totals["searching_tokens"]),
            tokens_without=Mean.of(totals["other_told"], totals["other_tokens"]),
            answer_tokens=Mean.of(totals["searching"], totals["answer_tokens"]),
            recurrences=totals[RECURRENCES],
            most=tuple(self._usage.recurring(organisation, MOST)),
            relevance=Mean.of(sum(votes.values()), sum(vote * n for vote, n in votes.items())),
            votes=votes,
            lowest=tuple(self._usage.lowest(organisation, MOST)),
            searches=Mean.of(totals["stories"], totals["searches"]),
            stories_that_searched=totals["searching"],
        )


def of_story(use: StoryUse | None) -> Counter[str]:
    """What a story adds to the totals."""
    if use is None:
        return Counter()
    cells = Counter(stories=1)
    if use.searches:
        cells += Counter(searching=1, searches=use.searches, answer_tokens=use.answer_tokens)
    if use.tokens_used is not None:
        kind = "searching" if use.searches else "other"
        cells.update({f"{kind}_told": 1, f"{kind}_tokens": use.tokens_used})
    return cells


def of_vote(vote: Vote | None) -> Counter[str]:
    """What a vote adds to the totals."""
    return Counter({f"rated_{vote.relevance}": 1}) if vote else Counter()


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
            "lowest": [{"id": one.id, **_mean(one.mean)} for one in metrics.lowest],
        },
        "adoption": {**_mean(metrics.searches), "stories_that_searched": metrics.stories_that_searched},
    }


def _mean(one: Mean) -> dict[str, float | int | None]:
    return {"n": one.n, "mean": one.mean}
