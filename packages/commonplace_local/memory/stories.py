"""Stories of a lessons file, and the entries that are made of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.memory.client.learnings import recap
from commonplace.memory.entry_files import SUPERSEDED_BY, Seed, tag, tags
from commonplace.memory.lesson_words import Category
from commonplace.memory.model import MAX_SOURCE_CHARACTERS, Role

DROPPED_CONFIDENCE = 0.4
"""Of what was superseded, rejected or withdrawn: below what a search returns by default."""
MAX_FIELDS = 20
"""Fields of a story that its summary has as metadata: with them it stays below the metadata's bound."""


@dataclass(slots=True)
class Section:
    """What stands below one heading. `told` is what only the summary mentions."""

    title: str
    category: Category | None
    told: bool = False
    polarity: str = ""
    """What it says of its lessons: `went-well`, `went-wrong`, or nothing."""
    texts: list[str] = field(default_factory=list)
    dates: dict[int, str] = field(default_factory=dict)
    """Of a lesson by its place, where it has one of its own."""
    lines: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Story:
    """One story of the file, or in `id == ""` one that only its date and title name."""

    id: str
    title: str
    date: str = ""
    line: int = 0
    tracked: bool = False
    """By its id alone it is known in the whole file; `Lesson 1` may be another in the next chapter."""
    label: str = ""
    """What it is known by where others have the same id or title."""
    chapter: int = 0
    """Line of the heading that it stands below."""
    tags: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    place: tuple[int, int] | None = None
    """Line of the heading above it, where that is of a group, and the level of its own."""
    holds: bool = False
    """Other stories stand below its heading."""
    fields: dict[str, str] = field(default_factory=dict)
    """What its fields say, beside date and tags."""
    superseded_by: str = ""
    """The id of what replaces it, as its file writes it."""
    dropped: bool = False
    """It is not in force any more, as its status says."""
    about: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    @property
    def source(self) -> str:
        return (self.label or self.id or self.title or self.date)[:MAX_SOURCE_CHARACTERS]

    @property
    def silent(self) -> bool:
        return not self.about and not any(one.texts for one in self.sections)

    @property
    def lessons(self) -> list[Section]:
        """Its sections of facts. A story of nothing but paragraphs has these for its facts."""
        found = [one for one in self.sections if not one.told and one.texts]
        return found or ([Section("", None, texts=list(self.about))] if self.about else [])

    @property
    def told(self) -> str:
        """`STORY-007 Image gallery (2026-01-19): 12 facts`, for a report."""
        count = sum(len(one.texts) for one in self.lessons)
        named = f"{self.id} {self.title}".strip()
        dated = f"{named} ({self.date})" if self.date and named else named or self.date
        return f"{dated}: {count} fact{'' if count == 1 else 's'}"


def seeds_of(story: Story, source_file: str | None, roles: tuple[Role, ...]) -> Iterator[Seed]:
    """Its summary, then its facts."""
    metadata: dict[str, Any] = {name: told for name, told in (("date", story.date), ("title", story.title)) if told}
    if story.others:
        metadata["also"] = list(story.others)
    if story.fields:
        metadata["fields"] = dict(list(story.fields.items())[:MAX_FIELDS])
    if story.superseded_by:
        metadata[SUPERSEDED_BY] = story.superseded_by
    facts = [seed for section in story.lessons for seed in _facts(section, story, source_file, roles)]
    told = [(one.title or "Lessons", one.texts) for one in story.sections]
    yield Seed(
        content=recap(
            story.id or story.title or story.date, story.title if story.id else "", story.date, story.about, told
        ),
        entry_type="summary",
        roles=roles,
        tags=tags(("story", *_series(story), *story.tags, *(one for fact in facts for one in fact.tags[:1]))),
        source_file=source_file,
        source_story=story.source,
        ref=story.source,
        confidence=DROPPED_CONFIDENCE if story.dropped else 1.0,
        metadata=metadata,
    )
    yield from facts


def told_apart(stories: list[Story]) -> list[Story]:
    """Without headings that only announce a story of the file.

    Those that share a title are known by their dates as well, and those that share a number by their titles, if they
    stand in different chapters or have different dates: else `Week 1` is one week.
    """
    alike: dict[str, list[Story]] = {}
    for story in stories:
        alike.setdefault(story.source.casefold(), []).append(story)
    for same in alike.values():
        same[:] = [one for one in same if not one.silent] or same[:1]
        numbered = [one for one in same if one.id and not one.tracked]
        titled = [one for one in same if not one.id and one.date]
        if len({one.chapter for one in numbered}) > 1 or len({one.date for one in numbered if one.date}) > 1:
            for one in numbered:
                one.label = f"{one.id}: {one.title}".strip(": ")
        if len({one.date for one in titled}) > 1:
            for one in titled:
                one.label = f"{one.title} ({one.date})"
    kept = {id(one) for same in alike.values() for one in same}
    return [one for one in stories if id(one) in kept]


def loose_seeds(section: Section, source: str, source_file: str | None, roles: tuple[Role, ...]) -> Iterator[Seed]:
    """Facts of no story, or of one that their own line names."""
    for seed in _facts(section, None, source_file, roles):
        yield replace(seed, source_story=source or None)


def distinct(seeds: list[Seed]) -> list[Seed]:
    """A story that comes twice has two summaries, and the facts below each belong to the one above them."""
    seen: dict[str, int] = {}
    current: dict[str, str] = {}
    found = []
    for seed in seeds:
        if seed.ref is not None:
            seen[seed.ref] = seen.get(seed.ref, 0) + 1
            current[seed.ref] = seed.ref if seen[seed.ref] == 1 else f"{seed.ref}#{seen[seed.ref]}"
            found.append(replace(seed, ref=current[seed.ref]))
        else:
            found.append(replace(seed, parent_ref=current.get(seed.parent_ref or "")))
    return found


def _facts(section: Section, story: Story | None, source_file: str | None, roles: tuple[Role, ...]) -> Iterator[Seed]:
    kind = section.category.tags if section.category else (section.title,)
    for at, text in enumerate(section.texts):
        date = section.dates.get(at) or (story.date if story else "")
        known = (
            ("title", story.title if story else ""),
            ("section", section.title),
            ("date", date),
            (SUPERSEDED_BY, story.superseded_by if story else ""),
        )
        metadata = {name: told for name, told in known if told}
        yield Seed(
            content=text,
            entry_type="fact",
            roles=roles,
            tags=tags((*kind, section.polarity, *(_series(story) if story else ()), *(story.tags if story else ()))),
            source_file=source_file,
            source_story=story.source if story else None,
            parent_ref=story.source if story else None,
            confidence=min(
                section.category.confidence if section.category else 1.0,
                DROPPED_CONFIDENCE if story and story.dropped else 1.0,
            ),
            metadata=metadata,
        )


def _series(story: Story) -> tuple[str, ...]:
    """`wrkf` of `WRKF-1021`."""
    series = tag(story.id.rpartition("-")[0])
    return (series,) if len(series) > 1 else ()
