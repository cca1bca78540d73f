"""The headings of a lessons file: which of them begin stories, and what stands below which."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from commonplace.memory.entry_files import Read
from commonplace.memory.model import Category, of_heading
from local.memory.dates import first_date
from local.memory.fields import date_of, is_field, tells_of_lesson, told_by
from local.memory.headings import Name, about_file, name, only_told, plain
from local.memory.markdown import Block, Heading, Item, Line, Paragraph
from local.memory.stories import Section, Story

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
class Outline:
    """Where a reader stands, and the stories that have begun so far."""

    adr: bool
    """The file is the record of a decision: its title has a number."""
    whole: frozenset[int]
    """Lines of headings with a date or with kinds of lessons below them: of stories, wherever they stand."""
    siblings: frozenset[tuple[int, int]] = frozenset()
    """Line of the heading above, and level, of headings that name lessons: what stands beside them does as well."""
    introduces: bool = True
    """Paragraphs below the title introduce the file."""
    path: list[Place] = field(default_factory=list)
    stories: list[Story] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)

    @classmethod
    def of(cls, found: Sequence[Block]) -> "Outline":
        titles = {plain(one.text) for one in found if isinstance(one, Heading)}
        return cls({"status", "context", "decision"} <= titles, frozenset(_whole(found)))

    @property
    def place(self) -> Place:
        if not self.path:
            self.path.append(Place(0, "", intro=self.introduces))
        return self.path[-1]

    def enter(self, heading: Heading) -> None:
        while self.path and self.path[-1].level >= heading.level:
            self.path.pop()
        above = self.path[-1] if self.path else None
        owner = above.story if above else None
        beside = (above.line, heading.level) if above and not owner and not above.intro else None
        if found := self.named(heading, above):
            self.begin(heading, found, above, beside)
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

    def begin(self, heading: Heading, found: Name, above: Place | None, beside: tuple[int, int] | None) -> None:
        """A story, with the date of a heading above it if it has none of its own."""
        dates = (first_date(one.title) for one in reversed(self.path))
        date = found.date or next((one.iso for one in dates if one), "")
        story = Story(found.id, found.title, date, heading.line, others=found.others, place=beside)
        self.stories.append(story)
        owner = above.story if above else None
        if owner is not None:
            owner.holds = True
        kind = above.category if above and not owner else None
        category = kind or (of_heading(heading.text) if not found.leads else None)
        self.path.append(Place(heading.level, heading.text, story, True, category, tracked=found.tracked))

    def named(self, heading: Heading, above: Place | None) -> Name | None:
        """The story that begins here; None for a section, which may well mention another."""
        if self.adr and heading.level == 1 and (one := _ADR.fullmatch(heading.text)):
            return Name(f"ADR-{one[1]}", one[2], tracked=True)
        found = name(heading.text)
        owner = above.story if above else None
        if found is None and owner is None and (above.line if above else 0, heading.level) in self.siblings:
            about = of_heading(heading.text) or about_file(heading.text) or only_told(heading.text)
            return None if about else Name("", heading.text)
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

    def begin_lesson(self, lines: tuple[Line, ...]) -> None:
        """A heading of no story that has a date or a problem right below it names a lesson."""
        place = self.place
        if place.story or place.section or place.intro or place.left_out or not place.title:
            return
        if any(tells_of_lesson(line) for line in lines):
            place.story = Story("", place.title, line=place.line, place=place.beside)
            place.begins, place.tracked = True, False
            self.stories.append(place.story)
            del self.read[next(at for at in reversed(range(len(self.read))) if self.read[at].line == place.line)]

    def pseudo(self, title: str, line: int) -> None:
        """Bold words alone in a line that name a kind of lesson stand for a heading."""
        if self.path and self.path[-1].level % 1:
            self.path.pop()
        category, above = of_heading(title), self.place
        self.path.append(Place(above.level + 0.5, title, above.story, category=category, told=category is None))
        self.read.append(Read(line, "section", title))


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
