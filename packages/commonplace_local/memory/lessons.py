"""The parser of LESSONS-LEARNED.md: a summary of each story, and a fact for each lesson (seed 001, "Parser").

Every line of the file is either recognised or reported: see `Parsed.read` and `Parsed.unread`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from commonplace.memory.entry_files import Kind, Parsed, Read, Seed, Unread, linked, merged, tags
from commonplace.memory.lesson_words import Category, of_heading, polarity
from commonplace.memory.model import MAX_CONTENT_BYTES, MAX_SOURCE_CHARACTERS, Role
from commonplace_local.memory.dates import is_date, own_date
from commonplace_local.memory.documents import are_lists, is_meta, is_numbering, is_timed, signed
from commonplace_local.memory.fields import (
    date_of,
    is_bookkeeping,
    is_dropped,
    is_field,
    is_nothing,
    is_record,
    is_state,
    is_status,
    is_title,
    names_stories,
    replacement,
    tags_of,
    tells_of_file,
    told_by,
    two_days,
)
from commonplace_local.memory.headings import ids, name
from commonplace_local.memory.markdown import (
    Block,
    Code,
    End,
    Heading,
    Item,
    Line,
    Paragraph,
    Row,
    Unreadable,
    blocks,
    front_matter,
)
from commonplace_local.memory.outline import Outline, Place
from commonplace_local.memory.stories import Section, Story, distinct, loose_seeds, seeds_of, told_apart

ROLES: tuple[Role, ...] = ("all",)
"""Seed 001, "Files to Seed": these files are for all."""

_SIGNED = 4
"""The last blocks of a file, one of which may be its sign-off."""
_NO_WORDS = 12
"""Characters of a cell that can be left out when it says “none”."""


@dataclass(slots=True)
class _Reader:
    outline: Outline
    loose: list[tuple[Section, str]] = field(default_factory=list)
    """What belongs to no story, or to one that only its own line names."""
    unread: list[Unread] = field(default_factory=list)
    waiting: Line | None = None
    """A line that announces what follows it."""
    waits_for_text: bool = False
    used: bool = False
    last: tuple[list[str], int] | None = None
    """The text that a block of code would belong to."""

    @property
    def place(self) -> Place:
        return self.outline.place

    def note(self, line: int, kind: Kind, what: str) -> None:
        self.outline.read.append(Read(line, kind, what))

    def take(self, block: Block) -> None:
        match block:
            case Heading(level, text, line):
                self.release()
                self.last = None
                if len(text) > MAX_SOURCE_CHARACTERS:
                    self.unread.append(Unread(line, f"a heading of more than {MAX_SOURCE_CHARACTERS} characters"))
                self.outline.enter(Heading(level, text[:MAX_SOURCE_CHARACTERS], line))
            case End(level):
                self.release()
                self.outline.end(level)
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

    def paragraph(self, block: Paragraph) -> None:
        self.last = None
        self.outline.begin_lesson(block.lines)
        place, lines = self.place, block.lines
        title = block.text.strip(": ")
        if block.bold and not block.quoted:
            self.release()
            if not self.outline.pseudo(title, block.line, label=block.text.endswith(":")):
                if title[-1:] in ".!?":
                    self.text(block.text, block.line)
                else:
                    self.announce(Line(title, block.line), for_text=True)
        elif place.story and not place.begins and is_state(place.title, block.text):
            self.field(Line(block.text, block.line, place.title, block.text), place.story)
        elif (place.begins or is_meta(place.title)) and all(map(is_field, lines)) and place.story:
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

    def labelled(self, lines: tuple[Line, ...]) -> None:
        """A part of a paragraph that begins with a label in bold."""
        first = lines[0]
        if is_title(first):
            self.outline.close(0.25)
        place = self.place
        text = " ".join(line.text for line in lines)
        rest = " ".join((first.rest, *(line.text for line in lines[1:]))).strip()
        if place.begins and place.story and len(lines) == 1 and is_field(first):
            self.field(first, place.story)
        elif is_title(first) and self.outline.bold_story(first.label, first.line, first.rest):
            if len(lines) > 1:
                self.text(" ".join(line.text for line in lines[1:]), lines[1].line)
        elif first.label and not rest:
            if not self.outline.pseudo(first.label, first.line):
                self.announce(Line(first.label, first.line), for_text=True)
        elif first.label and not place.intro:
            kind = of_heading(first.label) if place.category is None else None
            self.fact(text, first.line, kind, said=polarity(first.label))
        else:
            self.text(text, first.line)

    def text(self, text: str, line: int) -> None:
        """A paragraph: what a story was about, or an introduction of the file, or else a lesson."""
        if self.place.begins and not self.waiting:
            self.tell(text, line)
        elif self.place.intro:
            self.note(line, "introduction", text)
        else:
            self.fact(text, line)

    def tell(self, text: str, line: int) -> None:
        story = self.place.story
        if is_nothing(text):
            self.note(line, "nothing", text)
        elif tells_of_file(text):
            self.note(line, "introduction", text)
        elif story is None:
            self.fact(text, line)
        else:
            story.about.append(text)
            self.note(line, "told", text)
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
        self.outline.begin_lesson((item.first,))
        place, first = self.place, item.first
        if is_nothing(item.text):
            announced = f"{self.waiting.text}: " if self.waiting else ""
            self.used = True
            self.note(item.line, "nothing", announced + item.text)
            return
        if (place.begins or is_meta(place.title)) and place.story and not item.items and is_field(first):
            self.field(first, place.story)
            return
        free = place.category is None
        kind = of_heading(first.label) if (free or place.told) and len(first.label.split()) <= 5 else None
        said = polarity(first.label) if len(first.label.split()) <= 8 else ""
        if (kind or said) and not first.rest and item.items:
            for one in item.items:
                self.fact(one.text, one.line, kind, first.label, said=said)
        elif place.story is None and (told := name(first.label or first.text)) and told.tracked and not told.title:
            for one in item.items if item.items and not first.rest else (item,):
                self.fact(one.text, one.line, kind, source=told.id)
        else:
            self.fact(item.text, item.line, None if place.told else kind, first.label if said else "", said=said)

    def record(self, items: Sequence[Item]) -> None:
        """Take items that are fields of one record: together they are one lesson."""
        self.last = None
        self.outline.begin_lesson(tuple(one.first for one in items))
        story = self.place.story
        told = [one for one in items if not (story and is_bookkeeping(one.first.label))]
        for one in items:
            if story and is_bookkeeping(one.first.label):
                self.field(one.first, story)
        if told:
            self.fact("\n".join(one.text for one in told), items[0].line)

    def row(self, row: Row) -> None:
        self.last = None
        cells = [(column.strip(), cell.strip()) for column, cell in row.cells]
        cells = [(column, cell) for column, cell in cells if not is_numbering(column, cell)]
        said = [(column, cell) for column, cell in cells if cell and not (len(cell) < _NO_WORDS and is_nothing(cell))]
        text = "; ".join(f"{column}: {cell}" if column else cell for column, cell in said)
        place = self.place
        label, rest = [*(cell for _, cell in cells), "", ""][:2]
        line = Line(text, row.line, label.rstrip(":"), rest)
        if not said:
            self.note(row.line, "nothing", "; ".join(cell for _, cell in cells))
        elif is_timed([column for column, _ in cells]):
            self.unread.append(Unread(row.line, "a row of a timeline, and no lesson"))
        elif are_lists([column for column, _ in cells if column]):
            for column, cell in said:
                self.fact(cell, row.line, of_heading(column), column, said=polarity(column))
        elif (place.begins or is_meta(place.title)) and place.story and len(cells) == 2 and is_field(line):
            self.field(line, place.story)
        else:
            source, kind = "", None
            if place.story is None:
                named = (ids(cell) for column, cell in said if names_stories(column))
                source = next((found[0] for found in named if found), "")
                kinds = (of_heading(cell) for column, cell in said if column.casefold() in ("category", "type", "kind"))
                kind = next(filter(None, kinds), None)
            dates = (date_of(column, cell) for column, cell in said)
            date = next((one.iso for one in dates if one and one.iso), "")
            self.fact(text, row.line, kind, source=source, date=date)

    def code(self, text: str, line: int) -> None:
        """A block of code belongs to what stands before it."""
        if self.last and not self.waiting and len(text) + len(self.last[0][self.last[1]]) < MAX_CONTENT_BYTES // 4:
            texts, at = self.last
            texts[at] += f"\n{text}"
            self.note(line, "code", text)
        elif self.place.intro:
            self.release()
            self.note(line, "introduction", text)
        elif self.waiting or not self.place.title:
            self.fact(text, line)
        else:
            self.fact(f"{self.place.title}:\n{text}", line)

    def field(self, line: Line, story: Story) -> None:
        for label, value in told_by(line):
            story.tags += tags(tags_of(label, value))
            story.superseded_by = story.superseded_by or replacement(label, value)
            story.dropped = story.dropped or bool(story.superseded_by) or (is_status(label) and is_dropped(value))
            if label and value and label != "title" and not tags_of(label, value) and not is_date(value):
                story.fields.setdefault(label, value)
            if date := date_of(label, value):
                story.date = story.date or date.iso
                if not date.iso:
                    self.unread.append(Unread(line.line, two_days(value)))
        self.note(line.line, "field", line.text)

    def fact(
        self,
        text: str,
        line: int,
        kind: Category | None = None,
        title: str = "",
        *,
        source: str = "",
        date: str = "",
        said: str = "",
    ) -> None:
        """Take a lesson; `said` is what its own label or column says of it, in place of its section."""
        place = self.place
        if is_nothing(text):
            self.note(line, "nothing", text)
            return
        if self.waiting is None and tells_of_file(text):
            self.note(line, "introduction", text)
            return
        if place.told and kind is None and place.story is None:
            self.unread.append(
                Unread(line, f"“{place.title}” is about plans, files or figures, and belongs to no story")
            )
            return
        written = text
        if self.waiting is not None:
            between = "\n" if text.startswith("```") else " "
            text, self.used = f"{self.waiting.text}:{between}{text}", True
        if len(text.encode()) > MAX_CONTENT_BYTES:
            self.unread.append(Unread(line, f"longer than the {MAX_CONTENT_BYTES:,} bytes of an entry"))
            return
        section = self.section(kind, title, source, said)
        section.texts.append(text)
        section.lines.append(line)
        self.last = (section.texts, len(section.texts) - 1)
        if place.story is None and (date := date or own_date(written)):
            section.dates[len(section.texts) - 1] = date
        self.note(line, "told" if section.told else "fact", text)

    def section(self, kind: Category | None, title: str, source: str, said: str) -> Section:
        """Where a text of this kind goes at this place: one section for each kind and source, in order."""
        place = self.place
        if place.section and not kind and not source and not said:
            return place.section
        heading = "" if place.begins or place.intro else place.title
        told = place.told and kind is None and not said
        made = Section(title or heading, kind or place.category, told=told, polarity=said or place.polarity)
        if place.story is not None:
            place.story.sections.append(made)
        else:
            self.loose.append((made, source))
        if not kind and not source and not said:
            place.section = made
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
    found, front = list(blocks(text)), front_matter(text)
    outline = Outline.of(found, source_file, front)
    reader = _read(found, outline, front)
    if siblings := reader.outline.of_lessons:
        reader = _read(found, outline.again(siblings=siblings), front)
    if not reader.outline.stories and not reader.loose:
        reader = _read(found, outline.again(introduces=False), front)
    outline = reader.outline
    stories = told_apart([one for one in outline.stories if not (one.holds and one.silent)])
    groups = set(outline.stories).difference(stories)
    seeds = [seed for story in stories for seed in seeds_of(story, source_file, roles)]
    seeds += [seed for section, source in reader.loose for seed in loose_seeds(section, source, source_file, roles)]
    entries = linked(merged(distinct(seeds)))
    remarks = []
    if len(entries) < len(seeds):
        remarks.append(f"{len(seeds) - len(entries)} repetitions were joined with what they repeat.")
    if not stories:
        remarks.append("No heading names a story, such as `## STORY-007: Image gallery`.")
    read = [
        *outline.read,
        *(Read(one.line, "group" if one in groups else "story", one.told) for one in outline.stories),
    ]
    at = attrgetter("line")
    unread = reader.unread + outline.unread + [*_left_out(outline, stories, entries)]
    return Parsed(entries, tuple(remarks), tuple(sorted(read, key=at)), tuple(sorted(unread, key=at)))


def _read(found: Sequence[Block], outline: Outline, front: Sequence[Line]) -> _Reader:
    reader = _Reader(outline)
    whole = outline.stories[0] if outline.forms.whole else None
    for line in front:
        if whole:
            reader.field(line, whole)
        else:
            reader.unread.append(Unread(line.line, "frontmatter of a file that is not one story"))
    signatures = {one: date for one in found[-_SIGNED:] if isinstance(one, Paragraph) and (date := signed(one.text))}
    for several, group in groupby(found, lambda one: isinstance(one, Item)):
        items = [one for one in group if isinstance(one, Item)] if several else []
        if items and is_record([one.first for one in items]) and not outline.place.left_out:
            reader.release()
            reader.record(items)
            continue
        for block in items or group:
            if whole and block in signatures:
                reader.field(Line(block.text, block.line, "signed", block.text), whole)
                whole.date = whole.date or signatures[block]
            else:
                reader.take(block)
    reader.release()
    return reader


def _left_out(outline: Outline, stories: Sequence[Story], entries: Sequence[Seed]) -> Iterator[Unread]:
    """Yield what introduces the file, and what a summary was to tell and is too long for."""
    for one in outline.read:
        if one.kind == "introduction":
            yield Unread(one.line, "introduces the file, or ends it, and is no lesson")
    summaries = {one.ref: one.content for one in entries if one.ref}
    for story in stories:
        told = summaries.get(story.source, "")
        for section in (one for one in story.sections if one.told):
            for text, line in zip(section.texts, section.lines, strict=True):
                if text.rstrip(".:; ") not in told:
                    yield Unread(line, f"“{section.title}” is no lesson, and is in the summary only in part")
