"""The headings of a lessons file: which of them begin stories, and what stands below which."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.memory.entry_files import Read, Unread
from commonplace.memory.lesson_words import Category, of_heading, polarity
from commonplace_local.memory.dates import first_date, is_date
from commonplace_local.memory.documents import Forms, forms, is_section, is_timeline
from commonplace_local.memory.fields import date_of, is_field, tells_of_lesson, told_by, two_days
from commonplace_local.memory.headings import Name, about_file, describes, name, numbered, only_told, series
from commonplace_local.memory.markdown import Block, Heading, Item, Line, Paragraph
from commonplace_local.memory.stories import Section, Story

_NUMBER = re.compile(r"[^\w`]*(\d{1,3})[.)]\s+\S")
_MIN_COUNTED = 5


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
    polarity: str = ""


@dataclass(slots=True)
class Outline:
    """Where a reader stands, and the stories that have begun so far."""

    whole: frozenset[int]
    """Lines of headings with a date or with kinds of lessons below them: of stories, wherever they stand."""
    counted: Mapping[int, bool] = field(default_factory=dict)
    """Lines of headings that are numbered through the file, with nothing but text below them: each is a lesson.

    True where the numbers go on in another chapter, and hence are of the file and not of one story.
    """
    forms: Forms = field(default_factory=Forms)
    kinds: frozenset[str] = frozenset()
    """Words that number stories here, beside those that do so everywhere."""
    siblings: frozenset[tuple[int, int]] = frozenset()
    """Line of the heading above, and level, where most headings name lessons: what stands beside them does as well."""
    introduces: bool = True
    """Paragraphs below the title introduce the file."""
    path: list[Place] = field(default_factory=list)
    stories: list[Story] = field(default_factory=list)
    read: list[Read] = field(default_factory=list)
    titles: set[int] = field(default_factory=set)
    """Lines of headings that name the file."""
    unread: list[Unread] = field(default_factory=list)
    headings: Counter[tuple[int, int]] = field(default_factory=Counter)
    """How many headings stand at a place, as in `siblings`."""

    @classmethod
    def of(cls, found: Sequence[Block], source_file: str | None = None, front: Sequence[Line] = ()) -> "Outline":
        headings = [one for one in found if isinstance(one, Heading)]
        titles = [one.text for one in headings]
        kinds = numbered(titles)
        counted = dict(_counted(found))
        read = forms(headings, kinds, source_file, front, numbered=bool(counted))
        return cls(frozenset(_whole(found)), counted, read, kinds)

    def __post_init__(self) -> None:
        if (named := self.forms.whole) is not None:
            line = self.forms.line
            story = Story(named.id, named.title, named.date, line or 1, named.tracked, others=named.others)
            self.path.append(Place(0, "", story, True, tracked=named.tracked, line=line))
            self.stories.append(story)

    def again(self, *, siblings: frozenset[tuple[int, int]] = frozenset(), introduces: bool = True) -> "Outline":
        """One at the begin of the same file, for another reading."""
        return Outline(self.whole, self.counted, self.forms, self.kinds, siblings, introduces)

    @property
    def of_lessons(self) -> frozenset[tuple[int, int]]:
        """Places where half of the headings name lessons, or more; right below the title, where most tell a problem."""
        named = Counter(one.place for one in self.stories if one.place)
        return frozenset(
            place for place, count in named.items() if 2 * count >= self.headings[place] + (place[0] in self.titles)
        )

    @property
    def place(self) -> Place:
        if not self.path:
            self.path.append(Place(0, "", intro=self.introduces))
        return self.path[-1]

    def enter(self, heading: Heading) -> None:
        self.close(0.25)
        self.end(heading.level)
        if self.forms.whole and heading.line == self.forms.line:
            return
        above = self.path[-1] if self.path else None
        owner = above.story if above else None
        beside = (above.line, heading.level) if above and not owner else None
        if beside and not self.is_section(heading.text):
            self.headings[beside] += 1
        if found := self.named(heading, above):
            self.begin(heading.level, heading.text, heading.line, found, None if above and above.intro else beside)
            return
        category = of_heading(heading.text)
        told = category is None and only_told(heading.text)
        place = Place(
            heading.level, heading.text, owner, category=category, told=told, line=heading.line, beside=beside
        )
        if owner is None and category is None:
            if (above and above.left_out) or (about_file(heading.text) and (self.read or heading.level > 1)):
                place.left_out = f"“{heading.text}” is about the file, and is not a lesson"
            place.intro = self.introduces and not self.path and heading.level == 1
            if place.intro:
                self.titles.add(heading.line)
        if is_timeline(heading.text):
            place.left_out = f"“{heading.text}” is a timeline, and is no lesson"
        elif owner and above and above.left_out and above.story is owner and category is None:
            place.left_out = above.left_out
        if category is None and not told and above:
            place.category, place.told = above.category, above.told
        place.polarity = polarity(heading.text) or (above.polarity if above else "")
        self.path.append(place)
        self.read.append(Read(heading.line, "section" if owner or category else "group", heading.text))

    def end(self, level: int) -> None:
        """End what headings of this level or deeper ones began."""
        while self.path and self.path[-1].level >= level:
            self.path.pop()

    @staticmethod
    def is_section(title: str) -> bool:
        """Whether the words of a heading name a kind of lesson, or what is none."""
        return of_heading(title) is not None or about_file(title) or only_told(title)

    def begin(self, level: float, title: str, line: int, found: Name, beside: tuple[int, int] | None = None) -> None:
        """A story, with the date of a heading above it if it has none of its own."""
        above = self.path[-1] if self.path else None
        own = first_date(title)
        if own and not own.iso:
            self.unread.append(Unread(line, two_days(title[own.begin : own.end])))
        dates = (first_date(one.title) for one in reversed(self.path))
        date = found.date or next((one.iso for one in dates if one), "")
        story = Story(found.id, found.title, date, line, found.tracked, others=found.others, place=beside)
        story.chapter = above.line if above else 0
        self.stories.append(story)
        owner = above.story if above else None
        if owner is not None:
            owner.holds = True
        kind = above.category if above and not owner else None
        category = kind or (of_heading(title) if not found.leads else None)
        self.path.append(Place(level, title, story, True, category, tracked=found.tracked))
        self.place.polarity = polarity(title) or (above.polarity if above and not owner else "")

    def named(self, heading: Heading, above: Place | None) -> Name | None:
        """The story that begins here; None for a section, which may well mention another."""
        found = name(heading.text, self.kinds)
        owner = above.story if above else None
        if heading.line in self.forms.running and not (owner and owner.tracked):
            return found
        if heading.line in self.forms.chapters:
            return None
        beside = (above.line if above else 0, heading.level) in self.siblings
        if self.counted.get(heading.line) and not (found and found.id) and not (owner and owner.tracked):
            return Name("", heading.text, found.date if found else "")
        if found is None and owner is None and (heading.line in self.counted or beside):
            lesson = heading.line in self.counted or not self.is_section(heading.text)
            return Name("", heading.text) if lesson else None
        if found is None or (above and above.left_out and not (found.date and describes(above.title))):
            return None
        if owner is None:
            return found if found.id or of_heading(heading.text) is None else None
        return found if self.is_apart(heading, found, owner) else None

    def is_apart(self, heading: Heading, found: Name, owner: Story) -> bool:
        """Whether a heading below that of a story begins another one.

        It does with a tracker's id, with the next number of the same series, with another date where dates name
        stories, or with a label such as `Lesson:` where labels do; whatever else it names, it is a part.
        """
        if found.id and found.id.casefold() == owner.id.casefold():
            return False
        if owner.id and not owner.tracked and found.id.startswith(f"{owner.id}."):
            return False
        container = next(one for one in reversed(self.path) if one.begins)
        within = self.path[self.path.index(container) + 1 :]
        if any(one.category for one in within) and heading.line not in self.whole:
            return False
        if container.level == 0:
            parts = [heading.text, *(one.title for one in within)]
            return bool(found.id and found.tracked and found.leads and found.closed) and not any(map(is_section, parts))
        if not found.id:
            alike = not found.date and not owner.id and name(owner.title, self.kinds) is not None
            return alike or (is_other(found.date, owner) and of_heading(heading.text) is None)
        if not found.leads and of_heading(heading.text):
            return False
        file = container.level == 1 and not owner.id
        if found.leads and found.closed and (series(found.id) == series(owner.id) or file):
            return True
        return found.tracked and (found.leads or not container.tracked or not owner.id)

    def begin_lesson(self, lines: tuple[Line, ...]) -> None:
        """A heading of no story that has a date or a problem right below it names a lesson.

        So does one below a story that only its date and title name, if its own date is another.
        """
        place, above = self.place, self.place.story
        if place.begins or place.section or place.intro or place.left_out or not place.title or place.level % 1:
            return
        if above is not None:
            dates = [date_of(*one) for line in lines if is_field(line) for one in told_by(line)]
            if place.category or place.told or not any(one and is_other(one.iso, above) for one in dates):
                return
            above.holds = True
        if any(tells_of_lesson(line) for line in lines):
            place.story = Story("", place.title, line=place.line, place=place.beside)
            place.begins, place.tracked = True, False
            self.stories.append(place.story)
            del self.read[next(at for at in reversed(range(len(self.read))) if self.read[at].line == place.line)]

    def pseudo(self, title: str, line: int, *, label: bool = True) -> bool:
        """Bold words alone in a line end what such words began, and stand for a heading where they name a kind."""
        if self.bold_story(title, line):
            return True
        self.close(0.5 if label else 0.25)
        category, above, said = of_heading(title), self.place, polarity(title)
        if category is None and not only_told(title) and not said:
            return False
        told = category is None and not said
        self.path.append(Place(above.level + 0.5, title, above.story, category=category, told=told, polarity=said))
        self.read.append(Read(line, "section", title))
        return True

    def bold_story(self, title: str, line: int, date: str = "") -> bool:
        """Bold words name a lesson where no heading does: `2026-01-24: Locks`, or `Locks` with a date behind it."""
        after = bool(date and is_date(date))
        found, dated = name(f"{title} {date}" if after else title), first_date(title)
        if found is None or (date and not after) or not found.title or not found.leads or title[-1:] in ".!?":
            return False
        tracked = found.id and found.tracked and found.closed
        if any(one.story for one in self.path if not one.level % 1) or self.place.left_out:
            return False
        if not (tracked or after or (dated and dated.begin <= 2)):
            return False
        self.close(0.25)
        self.begin(self.place.level + 0.25, title, line, found)
        return True

    def close(self, rank: float) -> None:
        """Ends what bold words began, of this rank or lower."""
        while self.path and self.path[-1].level % 1 >= rank:
            self.path.pop()


def is_other(date: str, story: Story) -> bool:
    """Whether a date is not that of a story which nothing but its own date names."""
    return bool(date and story.date and date != story.date and not story.id)


def _counted(found: Iterable[Block]) -> Iterator[tuple[int, bool]]:
    headings = [one for one in found if isinstance(one, Heading)]
    for level in {one.level for one in headings}:
        numbers: dict[str, int] = {}
        chapters = set()
        count = chapter = 0
        for one, after in zip(headings, [*headings[1:], None], strict=True):
            chapter = one.line if one.level < level else chapter
            if one.level == level and (number := _NUMBER.match(one.text)):
                count += 1
                chapters.add(chapter)
                if after is None or after.level <= level:
                    numbers[number[1]] = one.line
        if len(numbers) == count >= _MIN_COUNTED:
            yield from ((line, len(chapters) > 1) for line in numbers.values())


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
