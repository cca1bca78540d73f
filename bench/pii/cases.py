"""The set: contributions with their personal data marked, in `cases/*.yaml`.

A mark is `⟦KIND label|text⟧`, the label optional; without a text it is made by `keys`. `not` in place of a kind marks
what only looks like personal data, `kept` what is some and stays on purpose: data in code, persons that are examples.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from bench.pii.keys import made

Half = Literal["tuned", "held"]
HALVES: tuple[Half, ...] = ("tuned", "held")

FOLDER = Path(__file__).parent / "cases"
_MARK = re.compile(r"⟦(\w+)(?: ([\w-]+))?(?:\|([^⟦⟧]*))?⟧")


@dataclass(frozen=True, slots=True)
class Mark:
    """Characters `start` to `end` of a text, and what they are."""

    start: int
    end: int
    kind: str
    """A `Kind` of the redaction, `not` or `kept`."""
    label: str = ""

    @property
    def name(self) -> str:
        """What a table calls it: kind and label where the label divides the kind into what is found differently."""
        return f"{self.kind} {self.label}" if self.kind == "REDACTED" or self.label == "script" else self.kind

    def overlaps(self, start: int, end: int) -> bool:
        return self.start < end and start < self.end


@dataclass(frozen=True, slots=True)
class Case:
    """One contribution."""

    id: str
    half: Half
    text: str
    marks: Sequence[Mark]

    @property
    def wanted(self) -> list[Mark]:
        """What has to be masked."""
        return [mark for mark in self.marks if mark.kind not in ("not", "kept")]


@cache
def cases() -> tuple[Case, ...]:
    """The whole set. In each file every second case is of the half that nobody looks at."""
    return tuple(_read())


def _read() -> Iterator[Case]:
    for file in sorted(FOLDER.glob("*.yaml")):
        for place, marked in enumerate(yaml.safe_load(file.read_text(encoding="utf-8"))):
            name = f"{file.stem}-{place + 1}"
            yield Case(name, HALVES[place % 2], *parsed(marked, name))


def joined(size: int) -> list[str]:
    """The texts one after the other, in pieces of at least `size` characters."""
    pieces = [""]
    for case in cases():
        if len(pieces[-1]) >= size:
            pieces.append("")
        pieces[-1] += case.text + "\n"
    return pieces[:-1]


def parsed(marked: str, seed: str) -> tuple[str, tuple[Mark, ...]]:
    """Text without its marks, and the marks. Raises ValueError for one that is not closed."""
    text, last, marks = "", 0, list[Mark]()
    for found in _MARK.finditer(marked):
        kind, label, told = found.groups(default="")
        value = told or made(label, f"{seed} {len(marks)}")
        text += marked[last : found.start()]
        marks.append(Mark(len(text), len(text) + len(value), kind, label))
        text += value
        last = found.end()
    text += marked[last:]
    if "⟦" in text or "⟧" in text:
        raise ValueError(f"{seed}: a mark is not closed, or has no kind")
    return text, tuple(marks)
