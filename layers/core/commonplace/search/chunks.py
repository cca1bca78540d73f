"""Chunking: a body cut into stretches of about 400 tokens, each under one heading path.

Sections too small to say anything alone join their neighbours; sections too large are cut at the best boundary:
blocks, lines, sentences, words. A table or a code block stays whole where it fits. No heading ends a chunk.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from commonplace.search.model import Chunk
from commonplace.search.text import WORDS, name_key, plain, words

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

CHUNKER_VERSION = "2"
"""Of chunks and of the text embedded for them. Stored with the index: another value means that it is built anew."""

PIECES_PER_CHUNK = 340
"""A model's tokenizer makes 1.18 tokens of a piece on average and 1.5 at worst: about 400 tokens, never over 512."""

SMALL_SECTION = 150
"""Pieces below which a section joins its neighbour."""

HARD_CUT = 200
"""Characters of a stretch without any space in it, when it is too long for a chunk."""

LISTING_HEADINGS = frozenset(heading.replace("_", " ") for heading in WORDS["listing"])

FEWEST_LINKS = 3
"""Below which a chunk is not taken for a list of them."""

_LINK = re.compile(r"\[\[?([^\[\]\n]+)\](?:\]|\([^()\n]*\))")
_PIECE = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,12}|[^\w\s]"
)
_BOUNDARIES: tuple[re.Pattern[str] | None, ...] = (
    *map(re.compile, (r"\n[ \t]*\n\s*", r"\n+", r"(?<=[.!?…:;])\s+", r"\s+")),
    None,
)


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    heading: str
    """The heading's own line or lines, or nothing for what comes before the first one."""
    blocks: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(self.blocks)


def count_pieces(text: str) -> int:
    """Words (long ones count as several), East Asian characters and punctuation marks."""
    return len(_PIECE.findall(text))


def chunk_body(body: str, pieces: int = PIECES_PER_CHUNK) -> tuple[Chunk, ...]:
    """The chunks of a Markdown body, in order, none above so many pieces. `text` has its line endings made `\\n`.

    Every index is built with the default: another size is for measuring what it would be worth.
    """
    sections = list(_without_bare_parents(list(_sections(body.replace("\r\n", "\n").replace("\r", "\n")))))
    stretches: list[tuple[tuple[str, ...], str]] = []
    for group in _groups(sections, pieces):
        path = _common([section.path for section in group])
        blocks = [block for section in group for block in _with_heading(section, named=section.path == path)]
        stretches += [(path, text) for text in pack(blocks, pieces)]
    return tuple(Chunk(ordinal, path, text) for ordinal, (path, text) in enumerate(stretches))


def is_listing(chunk: Chunk) -> bool:
    """Return whether the chunk only says what else there is: under a heading such as `References`, or mostly links."""
    if chunk.heading_path and name_key(chunk.heading_path[-1]) in LISTING_HEADINGS:
        return True
    links = [link for link in _LINK.findall(chunk.text) if link]
    return len(links) >= FEWEST_LINKS and 2 * len(words(" ".join(links))) > len(words(plain(chunk.text)))


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    from commonplace.kernel.markdown_budget import bounded

    # Only blocks are needed; parsing what is inside them would take as long again.
    return bounded(MarkdownIt("commonmark").enable("table")).disable("inline")


def _sections(body: str) -> Iterator[_Section]:
    lines = body.split("\n")
    tokens = [token for token in _markdown().parse(body) if token.level == 0 and token.map]
    # Sorted once: a body of thousands of headings is gone through once, and not once for each of them.
    cuts = sorted({line for token in tokens if token.map for line in token.map})
    path: list[tuple[int, str]] = []
    heading, start = "", 0
    for token in tokens:
        if token.type != "heading_open" or not token.map:
            continue
        yield _Section(_names(path), heading, tuple(_blocks(cuts, lines, start, token.map[0])))
        level, (first, start) = int(token.tag[1]), token.map
        heading = "\n".join(lines[first:start]).strip()
        underlined = re.sub(r"\n[ \t]*(?:=+|-+)[ \t]*$", "", heading)
        title = " ".join(plain(re.sub(r"(?<![ \t])[ \t]+#+[ \t]*$", "", underlined)).split())
        path = [parent for parent in path if parent[0] < level] + [(level, title)]
    yield _Section(_names(path), heading, tuple(_blocks(cuts, lines, start, len(lines))))


def _blocks(cuts: Sequence[int], lines: Sequence[str], start: int, end: int) -> Iterator[str]:
    """Texts of the blocks between two lines; what the parser makes no token of (link definitions) is a block too.

    `cuts` are the lines, in order, at which a block begins or ends.
    """
    within = cuts[bisect_right(cuts, start) : bisect_left(cuts, end)]
    for first, last in pairwise((start, *within, end)):
        if block := "\n".join(lines[first:last]).strip("\n").rstrip():
            yield block


def _names(path: Sequence[tuple[int, str]]) -> tuple[str, ...]:
    return tuple(name for _, name in path if name)


def _without_bare_parents(sections: Sequence[_Section]) -> Iterator[_Section]:
    """Gives a heading that is followed at once by one below it to that one: alone it would be stranded."""
    above = ""
    for section, following in zip(sections, [*sections[1:], None], strict=True):
        heading = "\n\n".join(part for part in (above, section.heading) if part)
        if section.blocks or not (following and following.path[: len(section.path)] == section.path):
            above = ""
            if heading or section.blocks:
                yield replace(section, heading=heading)
        else:
            above = heading


def _groups(sections: Sequence[_Section], budget: int) -> Iterator[list[_Section]]:
    """Neighbouring sections that go into one chunk: small ones join, as long as the whole fits."""
    group: list[_Section] = []
    total = 0
    for section in sections:
        size = count_pieces(section.heading) + count_pieces(section.text)
        if group and (total + size > budget or min(total, size) >= SMALL_SECTION):
            # The headings without text at the end of a group go with what follows them.
            bare = [*takewhile(lambda one: not one.blocks, reversed(group))][::-1]
            if len(bare) < len(group):
                yield group[: len(group) - len(bare)]
                group = bare
                total = sum(count_pieces(heading.heading) for heading in bare)
        group.append(section)
        total += size
    if group:
        yield group


def _with_heading(section: _Section, *, named: bool) -> tuple[str, ...]:
    """The blocks, the first of them under its heading where the chunk's path does not name it."""
    if not section.blocks:
        return (section.heading,)
    if named or not section.heading:
        return section.blocks
    return (f"{section.heading}\n\n{section.blocks[0]}", *section.blocks[1:])


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    shortest, longest = min(paths), max(paths)
    for position, name in enumerate(shortest):
        if name != longest[position]:
            return shortest[:position]
    return shortest


def pack(blocks: Sequence[str], budget: int) -> list[str]:
    """The blocks joined into stretches of even size, none above the budget; blocks that exceed it are cut."""
    pieces = [piece for block in blocks for piece in _cut(block, budget)]
    sizes = [count_pieces(piece) for _, piece in pieces]
    stretches = -(-sum(sizes) // budget)
    even = -(-sum(sizes) // max(1, stretches))
    packed: list[str] = []
    total = budget
    for (joint, piece), size in zip(pieces, sizes, strict=True):
        full = total >= even or total + size > budget or (total + size // 2 > even and total >= even // 2)
        if full:
            packed.append(piece)
            total = size
        else:
            packed[-1] += joint + piece
            total += size
    return packed


def _cut(block: str, budget: int, joint: str = "\n\n", boundary: int = 0) -> Iterator[tuple[str, str]]:
    """The block, or its parts where it exceeds the budget, each with what joins it to the part before."""
    if boundary == len(_BOUNDARIES) or len(block) <= budget or count_pieces(block) <= budget:
        yield joint, block
        return
    for position, (separator, part) in enumerate(_parts(block, _BOUNDARIES[boundary])):
        yield from _cut(part, budget, separator if position else joint, boundary + 1)


def _parts(block: str, boundary: re.Pattern[str] | None) -> Iterator[tuple[str, str]]:
    if boundary is None:
        yield from (("", block[start : start + HARD_CUT]) for start in range(0, len(block), HARD_CUT))
        return
    start, separator = 0, ""
    for match in boundary.finditer(block):
        if match.start() > start:
            yield separator, block[start : match.start()]
            start, separator = match.end(), match[0]
    if start < len(block):
        yield separator, block[start:]
