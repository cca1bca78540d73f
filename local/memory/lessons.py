"""The parser of LESSONS-LEARNED.md: a summary of each story, and a fact for each lesson (seed 001, "Parser")."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.memory.client.learnings import recap
from commonplace.memory.entry_files import Parsed, Seed, merged, tag, tags
from commonplace.memory.model import Category, Role, of_heading
from local.memory.markdown import Block, Code, Heading, Item, Paragraph, Row, blocks

ROLES: tuple[Role, ...] = ("all",)
"""Seed 001, "Files to Seed": these files are for all."""

_STORY = re.compile(
    r"(?:\W*\d{4}-\d{2}-\d{2}\b)?(?i:\W*story\s+)?\W*"
    r"([A-Z][A-Z0-9]{0,15}(?:-[A-Z][A-Z0-9]*)*-\d[\w.-]*\w|[A-Z][A-Z0-9]{0,15}-\d)\b(.*)"
)
_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")
_EMPTY_BRACKETS = re.compile(r"[(\[]\s*[)\]]")
_FIELD = re.compile(r"(date|completed|finished|tags?|status|type|author|agent)\s*:\s*(.*)", re.IGNORECASE)
_NOTHING = re.compile(
    r"(?:(?:fast-fail|final verification)[\w ]{0,20}:\s*)?"
    r"(?:none|n/?a|nothing(?: new)?|tbd|no (?:\w+ )?(?:blockers?|issues?|failures?|surprises?))"
    r"(?: (?:found|hit|identified|encountered|needed|applicable|to report|noted|so far))?"
    r"[\s.!]*(?:[(\[—–-].{0,60})?[\s.!]*",
    re.IGNORECASE | re.DOTALL,
)
_RECAPPED = re.compile(r"plan (?:vs|versus|and)|plan accuracy|token (?:usage|costs?|summary)|files touched")


@dataclass(slots=True)
class Section:
    """What stands below one heading of a story. `category` is None for what only the summary mentions."""

    title: str
    category: Category | None
    known: bool = True
    texts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Story:
    """One story of the file."""

    id: str
    title: str
    level: int
    date: str = ""
    tags: tuple[str, ...] = ()
    about: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)


def parse(text: str, source_file: str | None = None, roles: tuple[Role, ...] = ROLES) -> Parsed:
    """Summaries, each followed by its facts. What is said twice becomes one entry that names the other stories.

    Sections of unknown titles become facts with the title as their tag; text outside of stories is taken only below a
    title that is known, and a remark says what was left out.
    """
    stories, loose, remarks = _read(blocks(text))
    seeds = [seed for story in stories for seed in _seeds(story, source_file, roles)]
    seeds += [seed for section in loose for seed in _facts(section, None, source_file, roles)]
    found = merged(_distinct(seeds))
    if len(found) < len(seeds):
        remarks.append(f"{len(seeds) - len(found)} repetitions were joined with what they repeat.")
    if not stories:
        remarks.append("No heading names a story, such as `## STORY-007: Image gallery`.")
    return Parsed(found, tuple(remarks))


def _read(found: Iterable[Block]) -> tuple[list[Story], list[Section], list[str]]:
    stories: list[Story] = []
    loose: list[Section] = []
    left_out: dict[str, int] = {}
    story: Story | None = None
    section: Section | None = None
    outside = ""
    for block in found:
        heading = _heading(block, story)
        if heading is None:
            texts = _texts(block)
            if story is not None and section is None:
                _tell(story, block.lines if isinstance(block, Paragraph) else texts)
            elif section is not None:
                section.texts += texts
            elif outside and texts:
                left_out[outside] = left_out.get(outside, 0) + 1
            continue
        begun = _story(heading) if story is None or heading.level <= story.level else None
        if begun is not None:
            story, section, outside = begun, None, ""
            stories.append(begun)
        elif story is not None and heading.level > story.level:
            section = _section(heading.text)
            story.sections.append(section)
        else:
            known = of_heading(heading.text)
            story, outside = None, heading.text if known is None and heading.level > 1 else ""
            section = Section(heading.text, known) if known else None
            loose += [section] if section else []
    return stories, loose, [f"“{title}” is no story: {count} parts left out." for title, count in left_out.items()]


def _heading(block: Block, story: Story | None) -> Heading | None:
    """A heading, or what stands for one: bold words alone in a line that name a known section."""
    if isinstance(block, Heading):
        return block
    if story is not None and isinstance(block, Paragraph) and block.bold:
        title = block.text.rstrip(": ")
        if of_heading(title) or _RECAPPED.match(title.casefold()):
            return Heading(story.level + 1, title)
    return None


def _story(heading: Heading) -> Story | None:
    found = _STORY.match(heading.text)
    if found is None:
        return None
    rest = found[2]
    date = _DATE.search(heading.text)
    title = _EMPTY_BRACKETS.sub("", _DATE.sub("", rest)).strip(" \t:—–-|[](),.")
    return Story(found[1], title, heading.level, date[1] if date else "")


def _section(title: str) -> Section:
    category = of_heading(title)
    if category is not None or _RECAPPED.match(title.casefold()):
        return Section(title, category)
    return Section(title, None, known=False)


def _tell(story: Story, texts: Iterable[str]) -> None:
    """What stands between a story's heading and its first section: fields, and what it was about."""
    for text in texts:
        told = _FIELD.fullmatch(text)
        if told is None:
            story.about.append(text)
        elif told[1].casefold().startswith("tag"):
            story.tags += tags(re.split(r"[,;\s]+", told[2].replace("#", " ").replace("`", " ")))
        elif date := _DATE.search(told[2]):
            story.date = story.date or date[1]


def _texts(block: Block) -> list[str]:
    match block:
        case Item(text) | Paragraph(text):
            return [] if _NOTHING.fullmatch(text) else [text]
        case Code(text):
            return [text]
        case Row(cells):
            told = [f"{name}: {cell}" if name else cell for name, cell in cells if cell]
            return ["; ".join(told)] if told else []
        case _:
            return []


def _seeds(story: Story, source_file: str | None, roles: tuple[Role, ...]) -> Iterator[Seed]:
    metadata: dict[str, Any] = {name: told for name, told in (("date", story.date), ("title", story.title)) if told}
    facts = [seed for section in story.sections for seed in _facts(section, story, source_file, roles)]
    yield Seed(
        content=recap(
            story.id, story.title, story.date, story.about, [(one.title, one.texts) for one in story.sections]
        ),
        entry_type="summary",
        roles=roles,
        tags=tags(("story", *_series(story), *story.tags, *(one for fact in facts for one in fact.tags[:1]))),
        source_file=source_file,
        source_story=story.id,
        ref=story.id,
        metadata=metadata,
    )
    yield from facts


def _facts(section: Section, story: Story | None, source_file: str | None, roles: tuple[Role, ...]) -> Iterator[Seed]:
    if section.known and section.category is None:
        return
    kind = section.category.tags if section.category else (section.title,)
    for text in section.texts:
        yield Seed(
            content=text,
            entry_type="fact",
            roles=roles,
            tags=tags((*kind, *(_series(story) if story else ()), *(story.tags if story else ()))),
            source_file=source_file,
            source_story=story.id if story else None,
            parent_ref=story.id if story else None,
            confidence=section.category.confidence if section.category else 1.0,
            metadata={"section": section.title} | ({"date": story.date} if story and story.date else {}),
        )


def _series(story: Story) -> tuple[str, ...]:
    """`wrkf` of `WRKF-1021`."""
    return (tag(story.id.rpartition("-")[0] or story.id),)


def _distinct(seeds: list[Seed]) -> list[Seed]:
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
