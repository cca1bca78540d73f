"""How sure a difference of two systems on the same queries is: the paired percentile bootstrap, the same every time."""

from collections.abc import Sequence
from dataclasses import dataclass

SAMPLES = 10_000
SEED = 20_260_223
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Difference:
    """Mean of the differences, and the interval that 95 of 100 resamplings of the queries fall into."""

    mean: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """`better` or `worse` when the whole interval says so, else nothing."""
        return "better" if self.low > 0 else "worse" if self.high < 0 else ""

    def __str__(self) -> str:
        return f"{self.mean:+.3f} [{self.low:+.3f}, {self.high:+.3f}]"


def paired(system: Sequence[float], baseline: Sequence[float], *, samples: int = SAMPLES) -> Difference:
    """Of values for the same queries in the same order. Raises ValueError for none, and for unequal numbers of them."""
    if len(system) != len(baseline) or not system:
        raise ValueError("paired values are as many of each, and at least one")
    import numpy

    differences = numpy.subtract(system, baseline)
    drawn = numpy.random.default_rng(SEED).integers(0, len(differences), (samples, len(differences)))
    means = differences[drawn].mean(axis=1)
    low, high = numpy.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return Difference(float(differences.mean()), float(low), float(high))


def ratio_of_medians(
    ours: Sequence[float], theirs: Sequence[float], *, samples: int = 2_000
) -> tuple[float, float, float]:
    """The ratio of two medians of interleaved timings, and its interval; pairs are resampled together."""
    if len(ours) != len(theirs) or not ours:
        raise ValueError("paired values are as many of each, and at least one")
    import numpy

    first, second = numpy.asarray(ours), numpy.asarray(theirs)
    drawn = numpy.random.default_rng(SEED).integers(0, len(first), (samples, len(first)))
    ratios = numpy.median(first[drawn], axis=1) / numpy.median(second[drawn], axis=1)
    low, high = numpy.quantile(ratios, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(numpy.median(first) / numpy.median(second)), float(low), float(high)
