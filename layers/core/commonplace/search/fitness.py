"""The fit gate: how well a record fits a query, and whether anything does. The best of a poor lot is no answer.

Likeness of tokens, coverage of the query's terms and the cosine are absolute, and the same in both engines; scores by
words and fused scores are neither. Weights and thresholds are from judged questions that nothing answers
(`docs/inside/retrieval.md`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from commonplace.search.candidates import Ranked
from commonplace.search.model import Fit, RecordId
from commonplace.search.models.tokens import Likeness

DEPTH = 10
"""How much of the ranking is judged: what is below is no reason to say that something fits."""

MOST_WEAK = 3
"""Documents that are shown where nothing fits."""

SMALL, LARGE = 55, 300
"""Records of a base in which little resembles a query by chance, and of one in which as much does as in any larger."""

NOTHING_FITS = "Nothing here is about this: nothing has enough of the query's words, and nothing is near in meaning."

NOTHING_WITHIN = "Nothing within these filters is about this; there may be something without them."


@dataclass(frozen=True, slots=True)
class Gate:
    """Weights of the three measures, and the least measure of a fair and of a strong fit."""

    tokens: float
    coverage: float
    cosine: float
    fair: float
    """The least measure in a base of `SMALL` records."""
    step: float
    """How much more is needed for each e-fold of records."""
    strong: float

    def measure(self, likeness: Likeness, cosine: float) -> float:
        """Return how well a record fits, from 0 to about 1."""
        return self.tokens * likeness.tokens + self.coverage * likeness.coverage + self.cosine * cosine

    def least(self, records: int) -> float:
        """The least measure of a record that fits, in a base of so many records."""
        return self.fair + self.step * (log(max(SMALL, min(LARGE, records))) - log(SMALL))


COVERAGE = Gate(tokens=0, coverage=1, cosine=0, fair=0.35, step=0, strong=0.75)
"""The gate of searches without a model, and of models that were not measured: cosines differ in their scale."""

GATES: Mapping[str, Gate] = {
    "wordllama-l2-supercat@0.4-folded/256": Gate(
        tokens=0.3, coverage=0.3, cosine=0.4, fair=0.215, step=0.1, strong=0.5
    ),
    "all-MiniLM-L6-v2-int8@0dbdb502af77067f/384": Gate(
        tokens=0.3, coverage=0.3, cosine=0.4, fair=0.26, step=0.07, strong=0.5
    ),
}
"""The gates by fingerprint, which has the model's revision: another one is judged by coverage until measured."""


def gate_of(ranked: Ranked) -> Gate:
    """Return the gate of the model that compared meaning."""
    return COVERAGE if ranked.by_words or ranked.vector is None else GATES.get(ranked.vector.model, COVERAGE)


def measures(
    ranked: Ranked, records: Iterable[RecordId], likeness: Mapping[RecordId, Likeness]
) -> dict[RecordId, float]:
    """Return how well each record fits whose likeness is known."""
    gate, cosines = gate_of(ranked), {hit.id: hit.score for hit in ranked.candidates.vector}
    return {
        record: gate.measure(likeness[record], cosines.get(record, 0.0)) for record in records if record in likeness
    }


def fits(ranked: Ranked, records: Iterable[RecordId], likeness: Mapping[RecordId, Likeness]) -> dict[RecordId, Fit]:
    """Return the grade of each record. A record that the query names is strong. One whose labels have all of its terms
    is at least fair, and so is one of which nothing is known: that is no reason for silence.
    """
    gate, wanted, named = gate_of(ranked), list(records), {hit.id for hit in ranked.candidates.named}
    known, least = measures(ranked, wanted, likeness), gate.least(ranked.candidates.records)

    def grade(record: RecordId) -> Fit:
        if record in named or known.get(record, least) >= gate.strong:
            return "strong"
        labelled = record in likeness and likeness[record].labelled
        return "fair" if labelled or known.get(record, least) >= least else "weak"

    return {record: grade(record) for record in wanted}
