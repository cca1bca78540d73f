"""What a redaction found of a set, and what it took that is none.

A mark is found when all of its letters and digits are masked. A masked stretch is wrong when it touches no mark of
personal data; one that touches what is kept on purpose is neither right nor wrong. Intervals are Wilson's, 95 %.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt

from bench.pii.cases import Case, Mark
from commonplace.redaction.model import KINDS

EVERY = "all"
NAMES = "NAME"
_Z = 1.959964
_PLACEHOLDER = re.compile(rf"\[({'|'.join(KINDS)})\]")


@dataclass(frozen=True, slots=True)
class Masked:
    """Characters `start` to `end` of a text that a redaction took out, and what it says they are."""

    start: int
    end: int
    kind: str


System = Callable[[str], Sequence[Masked]]
"""A redaction as it is measured."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many."""

    part: int
    whole: int

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's, 95 %; everything is possible where nothing was counted."""
        if not self.whole:
            return 0.0, 1.0
        share, square = self.part / self.whole, _Z * _Z / self.whole
        centre, half = share + square / 2, _Z * sqrt(share * (1 - share) / self.whole + square / self.whole / 4)
        return max(0.0, (centre - half) / (1 + square)), min(1.0, (centre + half) / (1 + square))

    def __str__(self) -> str:
        if not self.whole:
            return "-"
        low, high = self.interval
        return f"{self.part / self.whole:.3f} ({self.part}/{self.whole}) [{low:.2f}, {high:.2f}]"


@dataclass(slots=True)
class Score:
    """Of one system on some cases. Classes are names of marks for what was found, kinds for what was masked."""

    found: Counter[str] = field(default_factory=Counter)
    partly: Counter[str] = field(default_factory=Counter)
    wanted: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    """Look-alikes that were masked, by label."""
    alike: Counter[str] = field(default_factory=Counter)
    other_kind: int = 0
    """Found, and called something else."""
    missed: list[tuple[Case, Mark]] = field(default_factory=list)
    taken: list[tuple[Case, Masked]] = field(default_factory=list)

    def recall(self, name: str = EVERY) -> Share:
        return _share(self.found, self.wanted, name)

    def precision(self, kind: str = EVERY) -> Share:
        return _share(self.right, self.right + self.wrong, kind)


def _share(part: Counter[str], whole: Counter[str], name: str) -> Share:
    return Share(part.total(), whole.total()) if name == EVERY else Share(part[name], whole[name])


def score(system: System, cases: Iterable[Case]) -> Score:
    """Of every case alone, in order."""
    result = Score()
    for case in cases:
        _add(result, case, system(case.text))
    return result


def _add(result: Score, case: Case, masked: Sequence[Masked]) -> None:
    hidden = {place for each in masked for place in range(each.start, each.end)}
    for mark in case.wanted:
        result.wanted[mark.name] += 1
        places = [place for place in range(mark.start, mark.end) if case.text[place].isalnum()]
        covered = sum(place in hidden for place in places)
        if covered == len(places):
            result.found[mark.name] += 1
            touching = {each.kind for each in masked if mark.overlaps(each.start, each.end)}
            result.other_kind += mark.kind not in touching
            continue
        result.partly[mark.name] += bool(covered)
        result.missed.append((case, mark))
    for each in masked:
        kinds = {mark.kind for mark in case.marks if mark.overlaps(each.start, each.end)}
        if kinds - {"not", "kept"}:
            result.right[each.kind] += 1
        elif "kept" not in kinds:
            result.wrong[each.kind] += 1
            result.taken.append((case, each))
    for mark in case.marks:
        if mark.kind == "not":
            result.alike[mark.label] += 1
            result.hit[mark.label] += any(mark.overlaps(each.start, each.end) for each in masked)


def masked_in(text: str, redacted: str) -> list[Masked]:
    """Which stretches of `text` stand as placeholders in `redacted`. Raises ValueError when more than that differs."""
    kept = _PLACEHOLDER.split(redacted)
    pattern = "(.+?)".join(re.escape(part) for part in kept[::2])
    if not (match := re.fullmatch(pattern, text, re.DOTALL)):
        raise ValueError("the text differs by more than its placeholders")
    return [Masked(*match.span(place), kind) for place, kind in enumerate(kept[1::2], 1)]
