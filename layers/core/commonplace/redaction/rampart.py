"""Rampart, a small token classifier for personal data, as a detector of names and addresses in prose.

The model is by National Design Studio (CC BY 4.0). It reads Latin script, best in windows of some 480 characters. What
has a form, such as a card's number, is left to rules with check digits: the model takes hashes and versions for those.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.onnx import Graph, ModelFolder
from commonplace.redaction.model import Kind, Span

WINDOW, OVERLAP = 480, 64
"""In characters. What is longer in tokens than the model takes is read in pieces that overlap by as many tokens."""

THREADS = 1  # A window takes 15 ms: threads that wait for one another cost more processor than they save time

PARTS: Mapping[str, str] = {
    "GIVEN_NAME": "name",
    "SURNAME": "name",
    "EMAIL": "email",
    "PHONE": "phone",
    "STREET_NAME": "street",
    "SECONDARY_ADDRESS": "street",
    "BUILDING_NUMBER": "number",
    "ZIP_CODE": "number",
    "CITY": "place",
    "STATE": "place",
}
"""Labels that count, by what they are a part of; the others are numbers of accounts and papers, and URLs."""

POSSIBLE = 0.5  # How sure a word has to be beside others of its kind
SURE = 0.7  # How sure it has to be that a word alone is a name
CERTAIN = 0.9  # The same for what nobody wrote as a name, and for what has a form

_BREAK = re.compile(r"\s+")
_JOINTS: Mapping[str, re.Pattern[str]] = {
    "name": re.compile(r"[ \t\xa0]{1,2}|[ \t]?\n[ \t]?|[-'’‑–]|(?<=\b\w)\.[ \t]?|(?<=\b\w\w)\.[ \t]?"),
    "phone": re.compile(r"[\s().+/-]{1,3}"),
    "email": re.compile(r"[@._+%-]"),
    "address": re.compile(r"[\s,.;:#/()-]{1,4}(?:\w{1,8}[\s,.;:#/()-]{1,4})?"),
}
"""What may lie between two words of one thing; in an address a short word too, such as `No.`"""
_REGION = re.compile(r"(?:,?[ \t]+(?:[A-Z]{2,3}\b|(?=\w*\d)[\w-]{2,10}\b)){1,3}")
"""What ends an address and is read as something else: `WV 45334`."""
_INITIALS = re.compile(r"(?:\b[^\W\d_]\.[ \t]?){1,3}$")
_HYPHENATED = re.compile(r"(?:[-'’‑][^\W\d_]+)+")
"""What belongs to a name beside it, whatever the model takes it for: `J. R. Doe`, `Min-ji`."""
_IDENTIFIER = re.compile(r"[a-z][A-Z]{2}|[\d_/\\=<>(){}]")


@dataclass(slots=True)
class Word:
    """A word, and how likely it is a part of what; whatever is likeliest."""

    start: int
    end: int
    part: str
    score: float

    @property
    def group(self) -> str:
        return "address" if self.part in ("street", "number", "place") else self.part


@dataclass(slots=True)
class _Run:
    """Words of one thing, side by side."""

    words: list[Word] = field(default_factory=list)

    @property
    def parts(self) -> set[str]:
        return {word.part for word in self.words}

    @property
    def score(self) -> float:
        return sum(word.score for word in self.words) / len(self.words)


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Pieces of about 480 characters that cover the text and overlap, cut between words where there are any."""
    start = 0
    while start < len(text):
        end = min(start + WINDOW, len(text))
        if end < len(text) and (breaks := [each.start() for each in _BREAK.finditer(text, end - OVERLAP, end + 1)]):
            end = breaks[-1]
        yield start, end
        if end == len(text):
            return
        following = _BREAK.search(text, end - OVERLAP, end)
        start = following.end() if following and following.end() < end else end - OVERLAP


def spans(text: str, words: Sequence[Word]) -> list[Span]:
    """What these words, in order, come to. A place counts beside a number or a street, a street beside a number."""
    return [span for run in _runs(text, words) if (span := _judged(text, run))]


def _runs(text: str, words: Sequence[Word]) -> Iterator[_Run]:
    run = _Run()
    for word in words:
        last = run.words[-1] if run.words else None
        if last and (
            last.group != word.group
            or not (last.end == word.start or bool(_JOINTS[word.group].fullmatch(text, last.end, word.start)))
        ):
            yield run
            run = _Run()
        run.words.append(word)
    if run.words:
        yield run


def _judged(text: str, run: _Run) -> Span | None:
    if run.words[0].group == "name":
        # Small words around a name go, unless there are no others: `Ada Byron saw`.
        large = [index for index, word in enumerate(run.words) if not text[word.start : word.end].islower()]
        run = _Run(run.words[large[0] : large[-1] + 1]) if large else run
    start, end = run.words[0].start, run.words[-1].end
    if run.words[0].group == "name":
        if initials := _INITIALS.search(text, max(0, start - 12), start):
            start = initials.start()
        if hyphenated := _HYPHENATED.match(text, end):
            end = hyphenated.end()
    if run.words[0].group == "address" and (region := _REGION.match(text, end)):
        end = region.end()
    found, digits = text[start:end], sum(map(str.isdigit, text[start:end]))

    def span(kind: Kind, label: str) -> Span:
        return Span(start, end, kind, "model", run.score, label)

    match run.words[0].group:
        case "name" if re.search(r"[^\W\d_]{2}", found) and not _IDENTIFIER.search(found):
            sure = CERTAIN if found.islower() else SURE
            if (
                run.score >= (sure if len(run.words) == 1 else POSSIBLE)
                and "_" not in text[max(0, start - 1) : end + 1]
            ):
                return span("NAME", "NAME")
        case "phone" if 7 <= digits <= 15 and run.score >= CERTAIN:
            return span("PHONE", "PHONE")
        case "email" if "@" in found and run.score >= CERTAIN:
            return span("EMAIL", "EMAIL")
        case "address" if digits and len(run.parts) > 1 and run.score >= SURE:
            return span("LOCATION", "ADDRESS")
    return None


class Rampart:
    """The model from its folder, opened. Raises SettingsError for a folder that cannot work. Safe for threads."""

    def __init__(self, folder: Path) -> None:
        opened = ModelFolder(folder)
        self._graph = Graph(opened, threads=THREADS)
        self._columns = _columns(opened.path / "config.json")
        shape = self._graph.outputs.get("logits") or [0]
        if shape[-1] != len(self._columns):
            raise SettingsError(f"{opened.model} has {shape[-1]} labels, its config.json {len(self._columns)}.")

    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        """Return the spans of each text. Raises Unavailable."""
        places = [(index, start, end) for index, text in enumerate(texts) for start, end in windows(text)]
        # Positions stay. What stands for something left out reads best as a comma; lone surrogates are no UTF-8.
        pieces = [
            texts[index][start:end].replace("\ufffc", ",").encode("utf-8", "replace").decode()
            for index, start, end in places
        ]
        encodings, owners = [], []
        for place, encoding in zip(places, self._graph.encode_texts(pieces, overlap=OVERLAP), strict=True):
            for each in (encoding, *encoding.overflowing):
                encodings.append(each)
                owners.append(place)
        found: list[dict[int, Word]] = [{} for _ in texts]
        for positions, logits, _ in self._graph.run("logits", encodings):
            for position, rows in zip(positions, logits, strict=True):
                index, offset, _ = owners[position]
                for word in self._words(encodings[position], rows, offset):
                    # Read twice, in two windows: whichever sees more in it.
                    known = found[index].get(word.start)
                    if known is None or known.score < word.score:
                        found[index][word.start] = word
        return [
            spans(text, [words[start] for start in sorted(words)]) for text, words in zip(texts, found, strict=True)
        ]

    def _words(self, encoding: Any, logits: Any, offset: int) -> Iterator[Word]:
        """Words that are likelier something than nothing. The model sees pieces of words; their mean decides."""
        import numpy

        exponents = numpy.exp(logits - logits.max(axis=-1, keepdims=True))
        shares = exponents / exponents.sum(axis=-1, keepdims=True)
        pieces: dict[int, list[int]] = {}
        for position, word in enumerate(encoding.word_ids):
            if word is not None:
                pieces.setdefault(word, []).append(position)
        for positions in pieces.values():
            start, end = encoding.offsets[positions[0]][0], encoding.offsets[positions[-1]][1]
            likely: dict[str, float] = {}
            for share, part in zip(shares[positions].mean(axis=0).tolist(), self._columns, strict=True):
                likely[part] = likely.get(part, 0) + share
            best = max(likely, key=lambda part: likely[part])
            if best in PARTS.values() and likely[best] >= POSSIBLE:
                yield Word(offset + start, offset + end, best, likely[best])


def _columns(path: Path) -> list[str]:
    """Return what each label is a part of, in their order; empty for what does not count."""
    try:
        labels: dict[str, str] = json.loads(path.read_bytes())["id2label"]
        ordered = [labels[str(index)] for index in range(len(labels))]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"{path} does not say in id2label what the labels are.") from error
    return [PARTS.get(label.partition("-")[2], label) for label in ordered]
