"""Medians, percentiles and ratios, and whether a target holds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median, quantiles

__all__ = ["Target", "median", "percentile", "ratio"]


def percentile(values: Sequence[float], percent: int) -> float:
    """Interpolated; the value itself when there is only one. Raises ValueError for none."""
    if not values:
        raise ValueError("no values")
    return values[0] if len(values) == 1 else quantiles(values, n=100, method="inclusive")[percent - 1]


def ratio(value: float, baseline: float) -> float | None:
    """How many times the baseline; None when that took no time."""
    return value / baseline if baseline else None


@dataclass(frozen=True, slots=True)
class Target:
    """What a count may come to at most; None means that nothing is asked of it."""

    calls: int | None = None
    texts: int | None = None

    def missed(self, name: str, *, calls: int, texts: int) -> list[str]:
        """A sentence for each count that is above its target."""
        checks: Iterable[tuple[str, int, int | None]] = (
            ("calls to GitHub", calls, self.calls),
            ("texts embedded", texts, self.texts),
        )
        return [
            f"{name}: {count} {what}, at most {most} are allowed."
            for what, count, most in checks
            if most is not None and count > most
        ]
