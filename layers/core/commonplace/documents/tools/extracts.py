"""Extracts: of documents that were found, the sections that match a query, and whole documents while there is room."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from commonplace.documents.tools.pagination import shares
from commonplace.kernel.byte_cache import ByteCache
from commonplace.search.analysis import terms
from commonplace.search.query import Query
from commonplace.web.mcp.budgets import escaped, estimate_tokens, piece

SECTION_CHARACTERS = 800  # From which on the next paragraph begins a section of its own

RELATED = 0.4  # Sections that match are those with at least this share of the best score in their document

LEAST_WANTED = 300  # Tokens of a document that is longer: a heading that matches says little by itself

LEAST_TOKENS = 60  # Least for the beginning of a section to be worth showing

GAP_TOKENS = 14  # Of the note on what is left out

SHOWN_THERE = 0.7
"""Share of a passage's words from which on a section is the one that the passage was taken from."""

LISTING = 0.3  # What a section counts for that is little but links

_BLANK_LINES = re.compile(r"\r?\n[ \t]*\r?\n\s*")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]")
_LINKED = re.compile(r"\]\(|\]\]|https?://")


@dataclass(frozen=True, slots=True)
class Extract:
    """What is given of a body. `complete` when it is all there is, exactly as in its file."""

    text: str
    given: int  # Characters of the body that are in it
    whole: int

    @property
    def complete(self) -> bool:
        return self.given == self.whole


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    end: int
    tokens: int
    counts: Counter[str]
    listing: bool
    score: float = 0.0  # Among those that a search found, for its query


_PARTS: ByteCache[str, tuple[_Section, ...]] = ByteCache(2_000_000, lambda parts: parts[-1].end if parts else 0)
"""The sections of bodies that were found lately. Characters of the bodies are counted: in memory it is some 30 MB."""


class Extracts:
    """Documents that were found for a query, divided into sections once; cut to any room."""

    def __init__(self, query: str, bodies: Sequence[str | None], passages: Sequence[str]) -> None:
        """`passages` are those that the search has shown of each."""
        self._bodies = bodies
        self._divided = _divided(query, bodies, passages)
        self._whole = [sum(one.tokens for one in parts) for parts in self._divided]
        self._wanted: list[int] = []
        for need, parts in zip(self._whole, self._divided, strict=True):
            best = max((one.score for one in parts), default=0)
            related = [one for one in parts if one.score >= RELATED * best] if best else parts[:1]
            self._wanted.append(min(need, max(sum(one.tokens for one in related), LEAST_WANTED)))

    def within(self, room: int) -> list[Extract | None]:
        """Of each body as much as its share of `room` holds, in tokens as JSON; None where that would say nothing.

        First each gets room for the sections that match, then the best ranked are made whole. What is shown of a body
        stands in its own order.
        """
        given = shares(self._wanted, room)
        left = max(room, 0) - sum(given)
        for at, need in enumerate(self._whole):
            more = min(need - given[at], left)
            given[at], left = given[at] + more, left - more
        return [
            None if body is None else _extract(body, parts, tokens, need)
            for body, parts, tokens, need in zip(self._bodies, self._divided, given, self._whole, strict=True)
        ]


def _extract(body: str, parts: Sequence[_Section], tokens: int, need: int) -> Extract | None:
    if tokens >= need:
        return Extract(body, len(body), len(body))
    left, spans = tokens, []
    for one in sorted(parts, key=lambda part: (-part.score, part.start)):
        if one.tokens + GAP_TOKENS <= left:
            spans.append((one.start, one.end))
            left -= one.tokens + GAP_TOKENS
        elif left - GAP_TOKENS >= LEAST_TOKENS:
            cut = piece(body[one.start : one.end], max_tokens=left - GAP_TOKENS, write=escaped)
            spans.append((one.start, one.start + cut.end))
            left = 0
    if not spans:
        return None
    # The stretches come in order, with a note wherever something between them is left out.
    text, end = "", 0
    for start, following in [*sorted(spans), (len(body), len(body))]:
        if start > end:
            before = "\n\n" if end else ""
            after = "\n\n" if start < len(body) else ""
            text += f"{before}[… {start - end:,} characters left out …]{after}"
        text += body[start:following]
        end = following
    return Extract(text, sum(end - start for start, end in spans), len(body))


def _divided(query: str, bodies: Sequence[str | None], passages: Sequence[str]) -> list[list[_Section]]:
    """Return the sections of each body with their scores: rare words of the query count for more than common ones."""
    divided = [_parts(body or "") for body in bodies]
    every = [part.counts for parts in divided for part in parts]
    weights = {
        term: math.log(1 + len(every) / (1 + sum(1 for row in every if term in row))) for term in Query.of(query).terms
    }
    return [
        [replace(part, score=_score(part, weights, passage)) for part in parts]
        for parts, passage in zip(divided, map(set, map(terms, passages)), strict=True)
    ]


def _score(section: _Section, weights: Mapping[str, float], passage: set[str]) -> float:
    counts = section.counts
    score = sum(weight * counts[term] / (counts[term] + 1) for term, weight in weights.items())
    if section.listing:
        score *= LISTING
    if passage and len(passage & counts.keys()) >= SHOWN_THERE * len(passage):
        score = 2 * score + 1
    return score


def _parts(body: str) -> tuple[_Section, ...]:
    if (known := _PARTS.get(body)) is not None:
        return known
    parts = []
    for start, end in _spans(body):
        text = body[start:end]
        lines = [line for line in text.splitlines() if line.strip()]
        listing = len(lines) > 2 and sum(1 for line in lines if _LINKED.search(line)) > 0.6 * len(lines)
        parts.append(_Section(start, end, estimate_tokens(escaped(text)), Counter(terms(text)), listing))
    _PARTS.put(body, tuple(parts))
    return tuple(parts)


def _spans(body: str) -> Iterator[tuple[int, int]]:
    """Stretches of whole paragraphs that lie end to end: a heading begins one, and so does what comes after many."""
    breaks = [0, *(found.end() for found in _BLANK_LINES.finditer(body)), len(body)]
    start, bare = 0, False
    for begin, end in chain.from_iterable(_cut(body, *block) for block in pairwise(dict.fromkeys(breaks))):
        heading = _HEADING.match(body, begin) is not None
        if begin > start and not bare and (heading or begin - start >= SECTION_CHARACTERS):
            yield start, begin
            start = begin
        # A heading of one line keeps what follows it, another heading too.
        bare = heading and "\n" not in body[begin:end].strip()
    if start < len(body):
        yield start, len(body)


def _cut(body: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """A paragraph, or its parts where it is as long as several sections: a table, or a text without blank lines."""
    while end - begin > 2 * SECTION_CHARACTERS:
        following = piece(body, begin, max_characters=SECTION_CHARACTERS).end
        yield begin, following
        begin = following
    yield begin, end
