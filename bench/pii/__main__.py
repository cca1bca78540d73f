"""What the redaction finds, and what it takes that is none: `python -m bench.pii`.

A mark is found when all of its letters and digits are masked. A masked stretch is wrong when it touches no mark of
personal data; one that touches what stays on purpose is neither right nor wrong.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

from bench.pii.cases import HALVES, Case, Mark, cases
from bench.table import EVERY, Row, Share, percentile, show
from commonplace.redaction.model import KINDS, Policy
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.ports import Detector, Redactor, Survived
from commonplace.redaction.rampart import Rampart
from commonplace_local.wheel_models import RAMPART

RULES, MODEL, BOTH = "rules", "model", "both"
SIZE = 1_000
CONTEXT = 60
"""Characters that are shown on both sides of a miss."""
_PLACEHOLDER = re.compile(rf"\[({'|'.join(KINDS)})\]")


@dataclass(frozen=True, slots=True)
class Masked:
    """Characters `start` to `end` of a text that a redaction took out, and what it says they are."""

    start: int
    end: int
    kind: str


System = Callable[[str], Sequence[Masked]]
"""A redaction as it is measured."""


def systems(detector: Detector) -> Mapping[str, System]:
    """Return them by name. The model alone is what it says of the text as it was written, code and all."""
    return {
        RULES: whole(Pipeline()),
        MODEL: lambda text: [Masked(span.start, span.end, span.kind) for span in detector.detect([text])[0]],
        BOTH: whole(Pipeline(detector)),
    }


def whole(redactor: Redactor) -> System:
    """Return what is missing of a text after its redaction. A text that is refused is not stored: all of it is gone."""

    def system(text: str) -> Sequence[Masked]:
        try:
            return masked_in(text, redactor.redact({"content": text}, Policy()).fields["content"])
        except Survived:
            return [Masked(0, len(text), "REDACTED")]

    return system


def masked_in(text: str, redacted: str) -> list[Masked]:
    """Return the stretches that stand as placeholders in `redacted`. Raises ValueError when more than that differs."""
    parts = _PLACEHOLDER.split(redacted)
    pattern = "(.+?)".join(re.escape(part) for part in parts[::2])
    if not (match := re.fullmatch(pattern, text, re.DOTALL)):
        raise ValueError("the text differs by more than its placeholders")
    return [Masked(*match.span(place), kind) for place, kind in enumerate(parts[1::2], 1)]


@dataclass(slots=True)
class Score:
    """The counts of one system on some cases: by names of marks what was found, by kinds what was masked."""

    found: Counter[str] = field(default_factory=Counter)
    partly: Counter[str] = field(default_factory=Counter)
    wanted: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    hit: Counter[str] = field(default_factory=Counter)
    """Look-alikes that were masked, by label."""
    alike: Counter[str] = field(default_factory=Counter)
    missed: list[tuple[Case, Mark]] = field(default_factory=list)
    taken: list[tuple[Case, Masked]] = field(default_factory=list)

    def recall(self, name: str = EVERY) -> Share:
        return _share(self.found, self.wanted, name)

    def precision(self, kind: str = EVERY) -> Share:
        return _share(self.right, self.right + self.wrong, kind)


def _share(part: Counter[str], whole: Counter[str], name: str) -> Share:
    return Share(part.total(), whole.total()) if name == EVERY else Share(part[name], whole[name])


def score(system: System, cases: Iterable[Case]) -> Score:
    """Score every case alone, in order."""
    result = Score()
    for case in cases:
        masked = system(case.text)
        hidden = {place for each in masked for place in range(each.start, each.end)}
        for mark in case.wanted:
            result.wanted[mark.name] += 1
            places = [place for place in range(mark.start, mark.end) if case.text[place].isalnum()]
            covered = sum(place in hidden for place in places)
            if covered == len(places):
                result.found[mark.name] += 1
            else:
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
    return result


def recalls(scores: Mapping[str, Score]) -> list[Row]:
    """Return a row by class of what is marked; `partly` is of both together."""
    both = scores[BOTH]
    return [
        {
            "class": name,
            **{system: str(each.recall(name)) for system, each in scores.items()},
            "partly": both.partly.total() if name == EVERY else both.partly[name],
        }
        for name in (EVERY, *sorted(both.wanted))
    ]


def precisions(scores: Mapping[str, Score]) -> list[Row]:
    """Return a row by kind of what was masked, and how many of the look-alikes were."""
    rows: list[Row] = [
        {"class": kind, **{system: str(each.precision(kind)) for system, each in scores.items()}}
        for kind in (EVERY, *KINDS)
    ]
    alike = {system: f"{each.hit.total()}/{each.alike.total()} taken" for system, each in scores.items()}
    return [*rows, {"class": "look-alikes", **alike}]


def misses(result: Score) -> list[str]:
    """Return one line for each, with its surroundings."""
    missed = [(case, mark.name, mark.start, mark.end) for case, mark in result.missed]
    taken = [(case, masked.kind, masked.start, masked.end) for case, masked in result.taken]
    lines: list[str] = []
    for title, found in (("Missed:", missed), ("Wrongly taken:", taken)):
        lines += ["", title]
        for case, name, start, end in found:
            before, after = case.text[max(0, start - CONTEXT) : start], case.text[end : end + CONTEXT]
            shown = " ".join(f"{before}»{case.text[start:end][:80]}«{after}".split())
            lines.append(f"  {case.id:14} {name:16} {shown}")
    return lines


def costs(measured: Mapping[str, System]) -> list[Row]:
    """Return the CPU of texts that no system has read before: the cases in pieces of at least `SIZE` characters."""
    pieces = [""]
    for case in cases():
        if len(pieces[-1]) >= SIZE:
            pieces.append("")
        pieces[-1] += case.text + "\n"
    rows: list[Row] = []
    for name, system in measured.items():
        spent = []
        for text in pieces[:-1]:
            began = process_time()
            system(text)
            spent.append((process_time() - began) * 1000)
        rows.append({"system": name, "texts": len(spent), "p50": percentile(spent, 50), "p95": percentile(spent, 95)})
    return rows


def main(given: Sequence[str]) -> int:
    """Measure all systems on both halves."""
    parser = argparse.ArgumentParser(prog="python -m bench.pii", description=__doc__)
    parser.add_argument(
        "--misses", action="store_true", help="list what was missed and wrongly taken, of `tuned` alone"
    )
    parser.add_argument("--model", metavar="FOLDER", type=Path, help="the model's folder; it is fetched otherwise")
    options = parser.parse_args(given)
    measured = systems(Rampart(options.model or RAMPART.provide()))
    for half in HALVES:
        mine = [case for case in cases() if case.half == half]
        began = process_time()
        scores = {name: score(system, mine) for name, system in measured.items()}
        spent = process_time() - began
        show(f"pii-{half}-recall", f"Recall, half {half}", recalls(scores))
        note = f"{len(mine)} contributions, {scores[BOTH].recall().whole} spans, {spent:.1f} s of CPU for all."
        show(f"pii-{half}-precision", f"Precision, half {half}", precisions(scores), note=note)
        if options.misses and half == "tuned":
            print("\n".join(misses(scores[BOTH])))
    show("pii-cost", f"CPU of one text of about {SIZE} characters, ms", costs(measured))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
