"""Whether anything fits a query: the best of a poor lot is no answer.

Likeness of tokens, coverage of the query's terms and the cosine are absolute, and the same in both engines; scores by
words are neither. Weights and thresholds are from judged questions that nothing answers (`docs/retrieval.md`).
"""

from collections.abc import Iterable, Mapping
from math import log

from commonplace.search.model import LegHit, RecordId
from commonplace.search.models.tokens import Likeness

DEPTH = 10
"""Of the ranking: what is below is no reason to show anything."""

SMALL, LARGE = 55, 300
"""Records of a base in which little resembles a query by chance, and of one in which as much does as in any larger."""

LEAST_SMALL = 0.215
LEAST_STEP = 0.1
"""For each e-fold of records."""

NOTHING_FITS = "Nothing here is about this: no document has enough of the query's words, and none is near in meaning."

NOTHING_WITHIN = "Nothing within these filters is about this; there may be something without them."


def fit(likeness: Likeness, cosine: float | None) -> float:
    """How well a record fits, from 0 to about 1; without a cosine by words and tokens alone."""
    if likeness.labelled:
        return 1.0
    if cosine is None:
        return 0.45 * likeness.tokens + 0.45 * likeness.coverage
    return 0.3 * likeness.tokens + 0.3 * likeness.coverage + 0.4 * cosine


def best_fit(
    ranking: Iterable[RecordId], likeness: Mapping[RecordId, Likeness], near: Iterable[LegHit] | None
) -> float | None:
    """That of the record that fits best; None where nothing is known of one of them. `near` is the leg of meaning."""
    best, cosines = 0.0, None if near is None else {hit.id: hit.score for hit in near}
    for record in ranking:
        known = likeness.get(record)
        if known is None:
            return None
        best = max(best, fit(known, None if cosines is None else cosines.get(record, 0.0)))
    return best


def least_fit(records: int) -> float:
    """What the best has to reach in a base of so many records."""
    return LEAST_SMALL + LEAST_STEP * (log(max(SMALL, min(LARGE, records))) - log(SMALL))
