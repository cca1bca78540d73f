"""The parser of CLAUDE.md: one fact for each rule, with the headings above it as tags."""

import re
from dataclasses import dataclass, field
from operator import attrgetter

from commonplace.memory.entry_files import Parsed, Read, Seed, Unread, merged, tags
from commonplace.memory.model import MAX_CONTENT_BYTES, Role
from commonplace_local.memory.markdown import Block, Code, Heading, Item, Paragraph, Row, Unreadable, blocks

ROLES: tuple[Role, ...] = ("dev",)
"""Seed 001, "Files to Seed"."""

_IMPORT = re.compile(r"@[~./\w-]+\.\w+")


@dataclass(slots=True)
class _Page:
    """Where the reader stands: the headings above, and a sentence that waits for what it announces."""

    path: list[tuple[int, str]] = field(default_factory=list)
    announced: str = ""
    announced_at: int = 0
    used: bool = False
    rules: list[tuple[list[str], str]] = field(default_factory=list)
    """Each with the headings above it."""
    read: list[Read] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)

    @property
    def headings(self) -> list[str]:
        return [text for _, text in self.path]

    def enter(self, heading: Heading) -> None:
        while self.path and self.path[-1][0] >= heading.level:
            self.path.pop()
        self.path.append((heading.level, heading.text))
        self.read.append(Read(heading.line, "section", heading.text))

    def rule(self, text: str, line: int) -> None:
        if len(text.encode()) > MAX_CONTENT_BYTES:
            self.unread.append(Unread(line, f"longer than the {MAX_CONTENT_BYTES:,} bytes of an entry"))
        else:
            self.rules.append((self.headings, text))
            self.read.append(Read(line, "fact", text))

    def announce(self, text: str, line: int) -> None:
        self.announced, self.announced_at, self.used = text, line, False

    def release(self) -> None:
        """A sentence that announced nothing is a rule of its own."""
        if self.announced and not self.used:
            self.rule(self.announced, self.announced_at)
        self.announced, self.used = "", False

    def take(self, block: Block) -> None:
        match block:
            case Heading():
                self.release()
                self.enter(block)
            case Paragraph():
                self.release()
                self.paragraph(block)
            case Unreadable(reason, line):
                self.unread.append(Unread(line, reason))
            case Code(text, line):
                subject = self.announced or (f"{self.headings[-1]}:" if self.path else "")
                self.rule(f"{subject}\n{text}".lstrip("\n"), line)
                self.used = True
            case Item(text, line) if _IMPORT.fullmatch(text):
                self.takes_in(text, line)
            case Item() | Row():
                if isinstance(block, Item):
                    text = block.text
                else:
                    text = "; ".join(f"{name}: {cell}" if name else cell for name, cell in block.cells if cell)
                self.rule(f"{self.announced} {text}".lstrip(), block.line)
                self.used = True

    def paragraph(self, block: Paragraph) -> None:
        for line in block.lines:
            if _IMPORT.fullmatch(line.text):
                self.takes_in(line.text, line.line)
        text = " ".join(line.text for line in block.lines if not _IMPORT.fullmatch(line.text))
        if text.endswith(":") or (block.bold and text and text[-1] not in ".!?"):
            self.announce(f"{text.rstrip(':')}:", block.line)
        elif text:
            self.rule(text, block.line)

    def takes_in(self, name: str, line: int) -> None:
        self.unread.append(Unread(line, f"takes in {name.removeprefix('@')}; parse that as well"))


def parse(text: str, source_file: str | None = None, roles: tuple[Role, ...] = ROLES) -> Parsed:
    """A fact of each list item, paragraph, row of a table, and block of code.

    A sentence that ends with a colon, or stands there in bold, is put before each thing that it announces. Lines that
    only take in another file are no rules.
    """
    page = _Page()
    found = list(blocks(text))
    for block in found:
        page.take(block)
    page.release()
    # The one heading of the first level names the file and no subject.
    first = [block.text for block in found if isinstance(block, Heading) and block.level == 1]
    title = first[0] if len(first) == 1 else None
    seeds = [
        Seed(
            content=rule,
            entry_type="fact",
            roles=roles,
            tags=tags((*(path[1:] if path[:1] == [title] else path), "rule")),
            source_file=source_file,
            metadata={"heading": " > ".join(path)} if path else {},
        )
        for path, rule in page.rules
    ]
    facts = merged(seeds)
    remarks = []
    if len(facts) < len(seeds):
        remarks.append(f"{len(seeds) - len(facts)} repetitions were joined with what they repeat.")
    if not facts:
        remarks.append("There is no rule in it: no list item and no paragraph.")
    at = attrgetter("line")
    return Parsed(facts, tuple(remarks), tuple(sorted(page.read, key=at)), tuple(sorted(page.unread, key=at)))
