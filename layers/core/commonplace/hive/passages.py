"""A contribution's text for whoever reviews it: cut into pieces, and compared with another. Pure."""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Literal

from commonplace.hive.model import Mark
from commonplace.redaction.model import KINDS

PLACEHOLDER = re.compile(rf"\[(?:{'|'.join(KINDS)})\]")
SHOWN_CONTROLS = frozenset("\n\t")
HIDDEN = frozenset(("Cc", "Cf", "Co", "Cs", "Zl", "Zp"))
"""Categories of Unicode that are not seen, and may change what is."""

CONTEXT_WORDS = 8
"""On either side of what differs."""
COMPARED_WORDS = 2_000
"""Longer texts are compared line by line."""

UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text, to be shown as it is and never as markup."""

    text: str
    kind: Literal["text", "placeholder", "hidden"] = "text"
    """`hidden` is a character that is not seen, written out: `U+202E`."""
    code: str = ""
    """Of the mark that it lies in: it contains instructions to agents."""


@dataclass(frozen=True, slots=True)
class Change:
    text: str
    kind: Literal["same", "added", "removed", "gap"]


def pieces(text: str, marks: Sequence[Mark] = ()) -> Iterator[Piece]:
    """The text in its order; `marks` may overlap, and then the first counts."""
    cuts = {0, len(text)} | {min(max(0, at), len(text)) for mark in marks for at in (mark.start, mark.end)}
    bounds = sorted(cuts)
    for start, end in itertools.pairwise(bounds):
        code = next((mark.code for mark in marks if mark.start <= start and end <= mark.end), "")
        yield from _plain(text[start:end], code)


def _plain(text: str, code: str) -> Iterator[Piece]:
    at = 0
    for found in PLACEHOLDER.finditer(text):
        yield from _visible(text[at : found.start()], code)
        yield Piece(found.group(), "placeholder", code)
        at = found.end()
    yield from _visible(text[at:], code)


def _visible(text: str, code: str) -> Iterator[Piece]:
    run = ""
    for letter in text.replace("\r\n", "\n"):
        if letter in SHOWN_CONTROLS or unicodedata.category(letter) not in HIDDEN:
            run += letter
            continue
        if run:
            yield Piece(run, code=code)
        run = ""
        yield Piece(f"U+{ord(letter):04X}", "hidden", code)
    if run:
        yield Piece(run, code=code)


def difference(old: str, new: str) -> list[Change]:
    """What a text has, `added`, that another one has not, and what it lacks; longer stretches that are the same are a
    `gap`."""
    words = max(len(old.split()), len(new.split())) <= COMPARED_WORDS
    before, after = (re.findall(r"\S+\s*", text) if words else text.splitlines(keepends=True) for text in (old, new))
    compared = SequenceMatcher(None, [one.strip() for one in before], [one.strip() for one in after])
    around = CONTEXT_WORDS if words else 1
    found: list[Change] = []
    operations = compared.get_opcodes()
    for number, (operation, i, j, k, end) in enumerate(operations):
        if operation == "equal":
            found += _context(after[k:end], around, first=number == 0, last=number == len(operations) - 1)
            continue
        found += [Change("".join(before[i:j]), "removed")] if j > i else []
        found += [Change("".join(after[k:end]), "added")] if end > k else []
    return found


def _context(same: Sequence[str], around: int, *, first: bool, last: bool) -> list[Change]:
    head, tail = (0 if first else around), (0 if last else around)
    if len(same) <= head + tail + 2:
        return [Change("".join(same), "same")]
    parts = [
        Change("".join(same[:head]), "same"),
        Change(" … ", "gap"),
        Change("".join(same[len(same) - tail :]), "same"),
    ]
    return [part for part in parts if part.text]


def ago(time: str, now: datetime) -> str:
    """`3 days`, for ISO 8601."""
    seconds = (now - datetime.fromisoformat(time)).total_seconds()
    for size, unit in UNITS:
        if seconds >= size:
            number = int(seconds // size)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return "less than a minute"
