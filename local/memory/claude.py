"""The parser of CLAUDE.md: one fact for each rule, with the headings above it as tags."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from commonplace.memory.entry_files import Parsed, Seed, merged, tags
from commonplace.memory.model import Role
from local.memory.markdown import Block, Code, Heading, Item, Paragraph, Row, blocks

ROLES: tuple[Role, ...] = ("dev",)
"""Seed 001, "Files to Seed"."""

_IMPORT = re.compile(r"@[~./\w-]+\.\w+")


@dataclass(slots=True)
class _Page:
    """Where the reader stands: the headings above, and a sentence that waits for what it announces."""

    path: list[tuple[int, str]] = field(default_factory=list)
    announced: str = ""
    used: bool = False
    imports: int = 0

    @property
    def headings(self) -> list[str]:
        return [text for _, text in self.path]

    def enter(self, heading: Heading) -> None:
        while self.path and self.path[-1][0] >= heading.level:
            self.path.pop()
        self.path.append((heading.level, heading.text))


def parse(text: str, source_file: str | None = None, roles: tuple[Role, ...] = ROLES) -> Parsed:
    """A fact of each list item, paragraph, row of a table, and block of code.

    A sentence that ends with a colon, or stands there in bold, is put before each thing that it announces. Lines that
    only take in another file are no rules.
    """
    page = _Page()
    found = list(blocks(text))
    title = _title(found)
    seeds = [
        Seed(
            content=rule,
            entry_type="fact",
            roles=roles,
            tags=tags((*(path[1:] if path[:1] == [title] else path), "rule")),
            source_file=source_file,
            metadata={"heading": " > ".join(path)} if path else {},
        )
        for path, rule in _rules(found, page)
    ]
    facts = merged(seeds)
    remarks = []
    if page.imports:
        many = page.imports > 1
        told = "lines take in other files; parse those" if many else "line takes in another file; parse that"
        remarks.append(f"{page.imports} {told} as well.")
    if len(facts) < len(seeds):
        remarks.append(f"{len(seeds) - len(facts)} repetitions were joined with what they repeat.")
    if not facts:
        remarks.append("There is no rule in it: no list item and no paragraph.")
    return Parsed(facts, tuple(remarks))


def _title(found: Iterable[Block]) -> str | None:
    """The one heading of the first level, which names the file and no subject."""
    first = [block.text for block in found if isinstance(block, Heading) and block.level == 1]
    return first[0] if len(first) == 1 else None


def _rules(found: Iterable[Block], page: _Page) -> Iterator[tuple[list[str], str]]:
    """Each rule with the headings above it."""
    for block in found:
        if isinstance(block, Heading):
            yield from _left_over(page)
            page.enter(block)
        elif isinstance(block, Paragraph):
            yield from _left_over(page)
            yield from _said(block, page)
        elif isinstance(block, Code):
            subject = page.announced or (f"{page.headings[-1]}:" if page.path else "")
            yield page.headings, f"{subject}\n{block.text}".lstrip("\n")
            page.used = True
        elif rule := _rule(block):
            yield page.headings, f"{page.announced} {rule}".lstrip()
            page.used = True
    yield from _left_over(page)


def _said(block: Paragraph, page: _Page) -> Iterator[tuple[list[str], str]]:
    text = " ".join(line for line in block.lines if not _IMPORT.fullmatch(line))
    page.imports += sum(1 for line in block.lines if _IMPORT.fullmatch(line))
    if text.endswith(":") or (block.bold and text and text[-1] not in ".!?"):
        page.announced, page.used = f"{text.rstrip(':')}:", False
    elif text:
        yield page.headings, text


def _left_over(page: _Page) -> Iterator[tuple[list[str], str]]:
    """A sentence that announced nothing is a rule of its own."""
    if page.announced and not page.used:
        yield page.headings, page.announced
    page.announced, page.used = "", False


def _rule(block: Item | Row) -> str:
    if isinstance(block, Item):
        return "" if _IMPORT.fullmatch(block.text) else block.text
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in block.cells if cell)
