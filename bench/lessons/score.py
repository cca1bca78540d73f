"""One file as a parser reads it, beside what somebody counted in it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.memory.entry_files import ALSO_IN, Parsed, Seed
from commonplace.memory.lesson_words import CATEGORIES

OTHER = "lesson"
"""The category of what has none of the memory's."""
KINDS = {one.tags[0]: one.category for one in CATEGORIES}
MARKED = 40
"""Letters and digits by which a fact is found again in its file."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A story as it was counted by hand; `facts` is None where they were not."""

    id: str
    title: str
    date: str
    facts: Mapping[str, int] | None

    @staticmethod
    def of(value: Mapping[str, Any]) -> "Counted":
        name, title, date = (str(value.get(key) or "") for key in ("id", "title", "date"))
        return Counted(name, title, date, value.get("facts"))

    def is_named(self, name: str, title: str) -> bool:
        """Whether a summary of this story id and title is it; the title may go on after what was counted."""
        return self.is_known_as(name) and letters(title).startswith(letters(self.title))

    def is_known_as(self, name: str) -> bool:
        """Whether it is the story of that name: its id, or its title, or both."""
        whole = letters(self.id + self.title)
        return letters(name) == letters(self.id) or bool(self.title and letters(name).startswith(whole))


@dataclass(slots=True)
class Beside:
    """The figures of one file."""

    stories: int = 0
    found: int = 0
    """Counted stories that there is a summary of, by id and title."""
    more: int = 0
    """Summaries of no counted story."""
    dates: int = 0
    dated: int = 0
    facts: int = 0
    read: int = 0
    agreed: int = 0
    """Facts of the right story and category: of each, the lesser of both counts."""
    elsewhere: int = 0
    """Facts filed under another story than that whose heading stands above them."""
    lines: list[str] = field(default_factory=list)


def letters(text: str) -> str:
    """Letters and digits alone, in lower case: what Markdown leaves as it is."""
    return re.sub(r"[\W_]+", "", text.casefold())


def beside(counted: Mapping[str, Any], parsed: Parsed, text: str) -> Beside:
    """What a parser has read, beside what was counted."""
    stories = [Counted.of(one) for one in counted["stories"]]
    summaries = [seed for seed in parsed.seeds if seed.entry_type == "summary"]
    facts = Counter((ref, kind) for seed in parsed.seeds for ref, kind in _facts(seed))
    told = Beside(stories=len(stories), dates=sum(bool(one.date) for one in stories))
    left = list(summaries)
    for story in stories:
        mine = next((one for one in left if story.is_named(one.source_story or "", _title(one))), None)
        if mine is None:
            told.lines.append(f"not found: {story.id} {story.title}")
        else:
            left.remove(mine)
            told.found += 1
            date = mine.metadata.get("date", "")
            told.dated += bool(story.date) and date == story.date
            if date != story.date:
                told.lines.append(f"{story.id} {story.title}: dated {date or 'not'}, counted {story.date or 'none'}")
        ref = mine.ref if mine else None
        _compare(told, f"{story.id} {story.title}", story.facts, {k: n for (r, k), n in facts.items() if r == ref})
    told.more = len(left)
    told.lines += [f"no story: {one.source_story} {_title(one)}" for one in left]
    loose = sum(count for (ref, _), count in facts.items() if not ref)
    _compare(told, "of no story", {OTHER: counted["unfiled"]}, {OTHER: loose})
    for seed, above in _elsewhere(stories, parsed.seeds, text):
        told.elsewhere += 1
        told.lines.append(f"of {above}, filed under {seed.source_story}: {seed.content[:80]}")
    return told


def _title(seed: Seed) -> str:
    return str(seed.metadata.get("title", ""))


def _facts(seed: Seed) -> Iterator[tuple[str, str]]:
    """The story and category of a fact: several of what several stories say."""
    if seed.entry_type == "fact":
        kind = next((KINDS[one] for one in seed.tags if one in KINDS), OTHER)
        for story in (seed.parent_ref or "", *seed.metadata.get(ALSO_IN, ())):
            yield story, kind


def _compare(told: Beside, name: str, counted: Mapping[str, int] | None, read: Mapping[str, int]) -> None:
    if counted is None:
        return
    told.facts += sum(counted.values())
    told.read += sum(read.values())
    told.agreed += sum(min(count, read.get(kind, 0)) for kind, count in counted.items())
    differ = [f"{kind} {read.get(kind, 0)} for {counted.get(kind, 0)}" for kind in sorted({*counted, *read})]
    if +Counter(counted) != +Counter(read):
        told.lines.append(f"{name}: {', '.join(differ)}")


def _elsewhere(stories: Sequence[Counted], seeds: Sequence[Seed], text: str) -> Iterator[tuple[Seed, str]]:
    """Facts that stand below the heading of another story than their own, as the file's own lines say."""
    lines = [(letters(line), owner) for line, owner in _owned(stories, text)]
    for seed in seeds:
        if seed.entry_type != "fact" or not seed.source_story or letters(seed.source_story) in letters(seed.content):
            continue
        mark = max((letters(line) for line in re.split(r"\n|; |: ", seed.content)), key=len)[:MARKED]
        if mark.isdecimal():
            continue
        owners = [owner for line, owner in lines if mark in line and owner]
        if owners and not any(owner.is_known_as(seed.source_story) for owner in owners):
            yield seed, owners[0].id or owners[0].title


def _owned(stories: Sequence[Counted], text: str) -> Iterator[tuple[str, Counted | None]]:
    """Each line with the counted story that it stands below: one that begins ends all that are as deep or deeper."""
    headings: dict[int, tuple[int, str]] = {}
    lines, fenced = text.split("\n"), False
    for at, line in enumerate(lines):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and (heading := re.match(r"\s{0,3}(#{1,6})\s", line)):
            headings[at] = len(heading[1]), letters(line)
    begun: dict[int, Counted] = {}
    for one in stories:
        named = [at for at, (_, said) in headings.items() if letters(one.id) in said and letters(one.title) in said]
        if free := [at for at in named if at not in begun]:
            begun[min(free, key=lambda at: (headings[at][0], at))] = one
    path: list[tuple[int, Counted | None]] = []
    for at, line in enumerate(lines):
        if at in headings:
            path = [one for one in path if one[0] < headings[at][0]]
            path.append((headings[at][0], begun.get(at)))
        yield line, next((one for _, one in reversed(path) if one), None)


def total(parts: Sequence[Beside]) -> Beside:
    """The sums of several files."""
    names = ("stories", "found", "more", "dates", "dated", "facts", "read", "agreed", "elsewhere")
    return Beside(**{name: sum(getattr(part, name) for part in parts) for name in names})
