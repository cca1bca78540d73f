"""The parser of LESSONS-LEARNED.md: a summary of each story, and a fact for each lesson (seed 001, "Parser").

Every line of the file is either recognised or reported: see `Parsed.read` and `Parsed.unread`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from commonplace.memory.entry_files import Parsed, Read, Unread, merged, tags
from commonplace.memory.model import MAX_CONTENT_BYTES, Category, Role, of_heading
from local.memory.dates import first_date
from local.memory.fields import date_of, is_field, is_nothing, names_stories, tags_of, tells_of_lesson, told_by
from local.memory.headings import Name, about_file, ids, name, only_told, plain
from local.memory.markdown import Block, Code, Heading, Item, Line, Paragraph, Row, Unreadable, blocks
from local.memory.stories import Section, Story, distinct, loose_seeds, seeds_of

ROLES: tuple[Role, ...] = ("all",)
"""Seed 001, "Files to Seed": these files are for all."""

_NO_WORDS = 12
"""Characters of a cell that can be left out when it says “none”."""
_ADR = re.compile(r"(?:ADR\W*)?0*(\d+)[.:]\s+(.+)")


@dataclass(slots=True)
class Place:
    """An open heading: what stands below it belongs to its story, or to none."""

    level: float
    title: str
    story: Story | None = None
    begins: bool = False
    """Its story begins with it."""
    category: Category | None = None
    told: bool = False
    left_out: str = ""
    """Why nothing is taken from below it."""
    intro: bool = False
    """It names the file: text below it introduces, lists below it are lessons."""
    tracked: bool = True
    line: int = 0
    beside: tuple[int, int] | None = None
    """Line of the heading above and its own level, where that heading is of a group."""
    section: Section | None = None


@dataclass(slots=True)
class _Reader:
    adr: bool
    whole: frozenset[int]
    """Lines of headings with a date or with kinds of lessons below them: of stories, wherever they stand."""
    introduces: bool
    """Paragraphs below the title introduce the file."""
    siblings: frozenset[tuple[int, int]]
    """Line of the heading above, and level, of headings that name lessons: what stands beside them does as well."""
    path: list[Place] = field(default_factory=list)
    stories: list[Story] = field(default_factory=list)
    loose: list[tuple[Section, str]] = field(default_factory=list)
    """What belongs to no story, or to one that only its own line names."""
    read: list[Read] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    waiting: Line | None = None
    """A line that announces what follows it."""
    waits_for_text: bool = False
    used: bool = False
    last: tuple[list[str], int] | None = None
    """The text that a block of code would belong to."""

    @property
    def place(self) -> Place:
        return self.path[-1] if self.path else Place(0, "", intro=self.introduces)

    def take(self, block: Block) -> None:
        match block:
            case Heading():
                self.release()
                self.enter(block)
            case Unreadable(reason, line):
                self.unread.append(Unread(line, reason))
            case _ if self.place.left_out:
                self.unread.append(Unread(block.line, self.place.left_out))
            case Paragraph():
                self.paragraph(block)
            case Item():
                self.item(block)
            case Row():
                self.row(block)
            case Code(text, line):
                self.code(text, line)

    def enter(self, heading: Heading) -> None:
        self.last = None
        while self.path and self.path[-1].level >= heading.level:
            self.path.pop()
        above = self.path[-1] if self.path else None
        owner = above.story if above else None
        beside = (above.line, heading.level) if above and not owner and not above.intro else None
        found = self.named(heading, above)
        if found is not None:
            dated = next((first_date(one.title) for one in reversed(self.path) if first_date(one.title)), None)
            date = found.date or (dated.iso if dated else "")
            story = Story(found.id, found.title, date, heading.line, others=found.others, place=beside)
            if owner is not None:
                owner.holds = True
            self.stories.append(story)
            kind = above.category if above and not owner else None
            category = kind or (of_heading(heading.text) if not found.leads else None)
            self.path.append(
                Place(heading.level, heading.text, story, begins=True, category=category, tracked=found.tracked)
            )
            return
        category = of_heading(heading.text)
        told = category is None and only_told(heading.text)
        place = Place(
            heading.level, heading.text, owner, category=category, told=told, line=heading.line, beside=beside
        )
        if owner is None and category is None:
            if (above and above.left_out) or about_file(heading.text):
                place.left_out = f"“{heading.text}” tells of the file, and is no lesson"
            place.intro = self.introduces and not self.path and heading.level == 1
        if category is None and not told and above:
            place.category, place.told = above.category, above.told
        self.path.append(place)
        self.read.append(Read(heading.line, "section" if owner or category else "group", heading.text))

    def named(self, heading: Heading, above: Place | None) -> Name | None:
        """The story that begins here; None for a section, which may well mention another."""
        if self.adr and heading.level == 1 and (one := _ADR.fullmatch(heading.text)):
            return Name(f"ADR-{one[1]}", one[2], tracked=True)
        found = name(heading.text)
        owner = above.story if above else None
        if found is None and owner is None and (above.line if above else 0, heading.level) in self.siblings:
            about = of_heading(heading.text) or about_file(heading.text) or only_told(heading.text)
            return None if about else Name("", heading.text)
        if found is None and (above.line if above else 0, heading.level) in self.siblings:
            return None if of_heading(heading.text) or about_file(heading.text) else Name("", heading.text)
        if found is None or (above and above.left_out) or (owner and found.id == owner.id):
            return None
        if owner is None:
            return found if found.id or (found.date and of_heading(heading.text) is None) else None
        container = next(one for one in reversed(self.path) if one.begins)
        within = self.path[self.path.index(container) + 1 :]
        if not found.id or (any(one.category for one in within) and heading.line not in self.whole):
            return None
        wide = not container.tracked or not owner.id
        if not found.leads and of_heading(heading.text):
            return None
        return found if found.tracked and (found.leads or wide) else None

    def paragraph(self, block: Paragraph) -> None:
        self.last = None
        self.begin_dated(block.lines)
        place, lines = self.place, block.lines
        title = block.text.strip(": ")
        if block.bold and not block.quoted:
            self.release()
            if of_heading(title) or only_told(title):
                self.pseudo(title, block.line)
            elif title[-1:] in ".!?":
                self.text(block.text, block.line)
            else:
                self.announce(Line(title, block.line), for_text=True)
        elif place.begins and all(map(is_field, lines)) and place.story:
            for line in lines:
                self.field(line, place.story)
        elif any(line.bold and line.label for line in lines) and not (place.intro and block.quoted):
            self.release()
            for part in _parts(lines):
                self.labelled(part)
        elif block.text.endswith(":") and title and not block.quoted:
            above = f"{self.waiting.text}: " if self.waiting and self.waits_for_text else ""
            self.used = self.used or bool(above)
            self.announce(Line(above + block.text.rstrip(": "), block.line))
        else:
            if not self.waits_for_text:
                self.release()
            self.text(block.text, block.line)

    def begin_dated(self, lines: tuple[Line, ...]) -> None:
        """A heading of no story that has a date or a problem right below it names a lesson."""
        place = self.place
        if place.story or place.section or place.intro or place.left_out or not place.title or self.waiting:
            return
        if any(tells_of_lesson(line) for line in lines):
            place.story = Story("", place.title, line=place.line, place=place.beside)
            place.begins, place.tracked = True, False
            self.stories.append(place.story)
            self.read.remove(Read(place.line, "section" if place.category else "group", place.title))

    def pseudo(self, title: str, line: int) -> None:
        """Bold words alone in a line that name a kind of lesson stand for a heading."""
        if self.path and self.path[-1].level % 1:
            self.path.pop()
        category, above = of_heading(title), self.place
        self.path.append(Place(above.level + 0.5, title, above.story, category=category, told=category is None))
        self.read.append(Read(line, "section", title))

    def labelled(self, lines: tuple[Line, ...]) -> None:
        """A part of a paragraph that begins with a label in bold."""
        first, place = lines[0], self.place
        text = " ".join(line.text for line in lines)
        rest = " ".join((first.rest, *(line.text for line in lines[1:]))).strip()
        if place.begins and place.story and len(lines) == 1 and is_field(first):
            self.field(first, place.story)
        elif first.label and not rest:
            if of_heading(first.label) or only_told(first.label):
                self.pseudo(first.label, first.line)
            else:
                self.announce(Line(first.label, first.line), for_text=True)
        elif first.label and not place.intro:
            self.fact(text, first.line, of_heading(first.label) if place.category is None else None)
        else:
            self.text(text, first.line)

    def text(self, text: str, line: int) -> None:
        """A paragraph: what a story was about, or an introduction of the file, or else a lesson."""
        if self.place.begins and not self.waiting:
            self.tell(text, line)
        elif self.place.intro:
            self.read.append(Read(line, "introduction", text))
        else:
            self.fact(text, line)

    def tell(self, text: str, line: int) -> None:
        story = self.place.story
        if is_nothing(text):
            self.read.append(Read(line, "nothing", text))
        elif story is None:
            self.fact(text, line)
        else:
            story.about.append(text)
            self.read.append(Read(line, "told", text))
            self.last = (story.about, len(story.about) - 1)

    def announce(self, line: Line, *, for_text: bool = False) -> None:
        self.release()
        self.waiting, self.waits_for_text, self.used = line, for_text, False

    def release(self) -> None:
        """A line that announced nothing is a lesson itself."""
        line, used = self.waiting, self.used
        self.waiting, self.waits_for_text, self.used = None, False, False
        if line is not None and not used:
            self.text(line.text, line.line)

    def item(self, item: Item) -> None:
        self.last = None
        self.begin_dated((item.first,))
        place, first = self.place, item.first
        if is_nothing(item.text):
            announced = f"{self.waiting.text}: " if self.waiting else ""
            self.used = True
            self.read.append(Read(item.line, "nothing", announced + item.text))
            return
        if place.begins and place.story and not item.items and is_field(first):
            self.field(first, place.story)
            return
        free = place.category is None
        kind = of_heading(first.label) if (free or place.told) and len(first.label.split()) <= 5 else None
        if kind and not first.rest and item.items:
            for one in item.items:
                self.fact(one.text, one.line, kind, first.label)
        elif place.story is None and (told := name(first.label or first.text)) and told.tracked and not told.title:
            for one in item.items if item.items and not first.rest else (item,):
                self.fact(one.text, one.line, kind, source=told.id)
        else:
            self.fact(item.text, item.line, None if place.told else kind)

    def row(self, row: Row) -> None:
        self.last = None
        cells = [(column.strip(), cell.strip()) for column, cell in row.cells]
        said = [(column, cell) for column, cell in cells if cell and not (len(cell) < _NO_WORDS and is_nothing(cell))]
        text = "; ".join(f"{column}: {cell}" if column else cell for column, cell in said)
        place = self.place
        line = Line(text, row.line, cells[0][1].rstrip(":"), cells[1][1] if len(cells) > 1 else "")
        if not said:
            self.read.append(Read(row.line, "nothing", "; ".join(cell for _, cell in cells)))
        elif place.begins and place.story and len(cells) == 2 and is_field(line):
            self.field(line, place.story)
        else:
            source, kind = "", None
            if place.story is None:
                named = (ids(cell) for column, cell in said if names_stories(column))
                source = next((found[0] for found in named if found), "")
                kinds = (of_heading(cell) for column, cell in said if column.casefold() in ("category", "type", "kind"))
                kind = next(filter(None, kinds), None)
            self.fact(text, row.line, kind, source=source)

    def code(self, text: str, line: int) -> None:
        """A block of code belongs to what stands before it."""
        if self.last and not self.waiting:
            texts, at = self.last
            texts[at] += f"\n{text}"
            self.read.append(Read(line, "told", "code of what stands above it"))
        elif self.place.intro:
            self.release()
            self.read.append(Read(line, "introduction", text))
        elif self.waiting or not self.place.title:
            self.fact(text, line)
        else:
            self.fact(f"{self.place.title}:\n{text}", line)

    def field(self, line: Line, story: Story) -> None:
        for label, value in told_by(line):
            story.tags += tags(tags_of(label, value))
            if date := date_of(label, value):
                story.date = story.date or date.iso
                if not date.iso:
                    self.unread.append(Unread(line.line, f"`{value}` may be two days; write it as 2026-01-24"))
        self.read.append(Read(line.line, "field", line.text))

    def fact(self, text: str, line: int, kind: Category | None = None, title: str = "", *, source: str = "") -> None:
        place = self.place
        if is_nothing(text):
            self.read.append(Read(line, "nothing", text))
            return
        if place.told and kind is None and place.story is None:
            self.unread.append(Unread(line, f"“{place.title}” tells of plans or tokens, and belongs to no story"))
            return
        if self.waiting is not None:
            between = "\n" if text.startswith("```") else " "
            text, self.used = f"{self.waiting.text}:{between}{text}", True
        if len(text.encode()) > MAX_CONTENT_BYTES:
            self.unread.append(Unread(line, f"longer than the {MAX_CONTENT_BYTES:,} bytes of an entry"))
            return
        section = self.section(kind, title, source)
        section.texts.append(text)
        self.last = (section.texts, len(section.texts) - 1)
        if place.story is None and (date := first_date(text)) and date.begin <= 4 and date.iso:
            section.dates[len(section.texts) - 1] = date.iso
        self.read.append(Read(line, "told" if section.told else "fact", text))

    def section(self, kind: Category | None, title: str, source: str) -> Section:
        """Where a text of this kind goes at this place: one section for each kind and source, in order."""
        place = self.place
        if place.section and not kind and not source:
            return place.section
        heading = "" if place.begins or place.intro else place.title
        made = Section(title or heading, kind or place.category, told=place.told and kind is None)
        if place.story is not None:
            place.story.sections.append(made)
        else:
            self.loose.append((made, source))
        if not kind and not source:
            place.section = made
            if not self.path:
                self.path.append(place)
        return made


def _parts(lines: Iterable[Line]) -> Iterator[tuple[Line, ...]]:
    """The lines of a paragraph, cut before each that begins with a label in bold."""
    part: list[Line] = []
    for line in lines:
        if part and line.bold and line.label:
            yield tuple(part)
            part = []
        part.append(line)
    if part:
        yield tuple(part)


def parse(text: str, source_file: str | None = None, roles: tuple[Role, ...] = ROLES) -> Parsed:
    """Summaries, each followed by its facts. What is said twice becomes one entry that names the other stories.

    Sections of unknown titles become facts with the title as their tag, and so does what belongs to no story.
    """
    found = list(blocks(text))
    titles = {plain(one.text) for one in found if isinstance(one, Heading)}
    adr = {"status", "context", "decision"} <= titles
    reader = _read(found, adr)
    if siblings := frozenset(one.place for one in reader.stories if one.place):
        reader = _read(found, adr, siblings=siblings)
    if not reader.stories and not reader.loose:
        reader = _read(found, adr, introduces=False)
    groups = [one for one in reader.stories if one.holds and one.silent]
    stories = [one for one in reader.stories if one not in groups]
    seeds = [seed for story in stories for seed in seeds_of(story, source_file, roles)]
    seeds += [seed for section, source in reader.loose for seed in loose_seeds(section, source, source_file, roles)]
    entries = merged(distinct(seeds))
    remarks = []
    if len(entries) < len(seeds):
        remarks.append(f"{len(seeds) - len(entries)} repetitions were joined with what they repeat.")
    if not stories:
        remarks.append("No heading names a story, such as `## STORY-007: Image gallery`.")
    read = [*reader.read, *(Read(one.line, "group" if one in groups else "story", one.told) for one in reader.stories)]
    at = attrgetter("line")
    return Parsed(entries, tuple(remarks), tuple(sorted(read, key=at)), tuple(sorted(reader.unread, key=at)))


def _read(
    found: Sequence[Block], adr: bool, *, introduces: bool = True, siblings: frozenset[tuple[int, int]] = frozenset()
) -> _Reader:
    reader = _Reader(adr, frozenset(_whole(found)), introduces, siblings)
    for block in found:
        reader.take(block)
    reader.release()
    return reader


def _whole(found: Iterable[Block]) -> Iterator[int]:
    open_at: list[Heading] = []
    for block in found:
        if isinstance(block, Heading):
            open_at = [one for one in open_at if one.level < block.level]
            if of_heading(block.text) and open_at:
                yield open_at[-1].line
            open_at.append(block)
        elif open_at and isinstance(block, Paragraph | Item):
            first = list(block.lines) if isinstance(block, Paragraph) else [block.first]
            if any(is_field(line) and any(date_of(*one) for one in told_by(line)) for line in first):
                yield open_at[-1].line
