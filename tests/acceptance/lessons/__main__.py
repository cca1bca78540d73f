"""Lessons files as they are read, beside a count by hand: `python -m tests.acceptance.lessons FOLDER`."""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bench.table import Row, say
from commonplace.kernel.yaml import read
from commonplace.memory.entry_files import ALSO_IN, Parsed, Seed
from commonplace.memory.lesson_words import CATEGORIES
from commonplace_local.memory import claude, lessons

COUNTED = Path(__file__).with_name("counted.yaml")
RULES = "-claude.md"
"""Files that end so are read by the parser of rules."""
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

    def is_known_as(self, name: str) -> bool:
        """Return true for the story of that name: its id, or its title, or both."""
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

    def row(self, file: str) -> Row:
        return {
            "file": file,
            "stories": f"{self.found} of {self.stories}",
            "no story": self.more,
            "dates": f"{self.dated} of {self.dates}",
            "facts": self.facts,
            "read": self.read,
            "agreed": self.agreed,
            "wrong story": self.elsewhere,
        }

    def compare(self, name: str, counted: Mapping[str, int] | None, read: Mapping[str, int]) -> None:
        """Add the facts of one story, by category."""
        if counted is None:
            return
        self.facts += sum(counted.values())
        self.read += sum(read.values())
        self.agreed += sum(min(count, read.get(kind, 0)) for kind, count in counted.items())
        if +Counter(counted) != +Counter(read):
            differ = [f"{kind} {read.get(kind, 0)} for {counted.get(kind, 0)}" for kind in sorted({*counted, *read})]
            self.lines.append(f"{name}: {', '.join(differ)}")


def letters(text: str) -> str:
    """Return letters and digits alone, in lower case: what Markdown leaves as it is."""
    return re.sub(r"[\W_]+", "", text.casefold())


def beside(counted: Mapping[str, Any], parsed: Parsed, text: str) -> Beside:
    """Return what a parser has read, beside what was counted."""
    stories = [
        Counted(str(one.get("id") or ""), str(one.get("title") or ""), str(one.get("date") or ""), one.get("facts"))
        for one in counted["stories"]
    ]
    facts: Counter[tuple[str | None, str]] = Counter()
    for seed in parsed.seeds:
        if seed.entry_type == "fact":
            kind = next((KINDS[one] for one in seed.tags if one in KINDS), OTHER)
            facts.update((story, kind) for story in (seed.parent_ref or "", *seed.metadata.get(ALSO_IN, ())))
    left = [seed for seed in parsed.seeds if seed.entry_type == "summary"]
    result = Beside(stories=len(stories), dates=sum(bool(one.date) for one in stories))
    for story in stories:
        name = f"{story.id} {story.title}"
        # The title may go on after what was counted.
        mine = next(
            (
                one
                for one in left
                if story.is_known_as(one.source_story or "") and letters(_title(one)).startswith(letters(story.title))
            ),
            None,
        )
        if mine is None:
            result.lines.append(f"not found: {name}")
        else:
            left.remove(mine)
            result.found += 1
            date = mine.metadata.get("date", "")
            result.dated += bool(story.date) and date == story.date
            if date != story.date:
                result.lines.append(f"{name}: dated {date or 'not'}, counted {story.date or 'none'}")
        ref = mine.ref if mine else None
        result.compare(name, story.facts, {kind: count for (of, kind), count in facts.items() if of == ref})
    result.more = len(left)
    result.lines += [f"no story: {one.source_story} {_title(one)}" for one in left]
    loose = sum(count for (of, _), count in facts.items() if not of)
    result.compare("of no story", {OTHER: counted["unfiled"]}, {OTHER: loose})
    for seed, above in _elsewhere(stories, parsed.seeds, text):
        result.elsewhere += 1
        result.lines.append(f"of {above}, filed under {seed.source_story}: {seed.content[:80]}")
    return result


def _title(seed: Seed) -> str:
    return str(seed.metadata.get("title", ""))


def _elsewhere(stories: Sequence[Counted], seeds: Sequence[Seed], text: str) -> Iterator[tuple[Seed, str]]:
    """Yield facts that stand below the heading of another story than their own, as the file's own lines say."""
    lines = [(letters(line), owner) for line, owner in _owned(stories, text)]
    for seed in seeds:
        if seed.entry_type != "fact" or not seed.source_story or letters(seed.source_story) in letters(seed.content):
            continue
        mark = max((letters(line) for line in re.split(r"\n|; |: ", seed.content)), key=len)[:MARKED]
        owners = [owner for line, owner in lines if mark in line and owner and not mark.isdecimal()]
        if owners and not any(owner.is_known_as(seed.source_story) for owner in owners):
            yield seed, owners[0].id or owners[0].title


def _owned(stories: Sequence[Counted], text: str) -> Iterator[tuple[str, Counted | None]]:
    """Yield each line with the counted story above it: one that begins ends all that are as deep or deeper."""
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


def main(given: Sequence[str]) -> int:
    """Print a row of each file that is there, and their sum. 1 when none of them is."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance.lessons", description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="of the files, named as in the count")
    parser.add_argument("--counted", metavar="FILE", type=Path, default=COUNTED, help="the count, as YAML")
    parser.add_argument("--lines", action="store_true", help="list each difference")
    options = parser.parse_args(given)
    files = read(options.counted.read_text(encoding="utf-8"), max_depth=9, max_values=100_000).value
    found: dict[str, Beside] = {}
    for counted in files:
        file = options.folder / counted["file"]
        if file.exists():
            text = file.read_text(encoding="utf-8")
            parse = claude.parse if file.name.endswith(RULES) else lessons.parse
            found[file.name] = beside(counted, parse(text, file.name), text)
    if not found:
        print(f"None of the {len(files)} files is in {options.folder}; README.md says where they come from.")
        return 1
    total: dict[str, Any] = dict.fromkeys((each.name for each in fields(Beside) if each.name != "lines"), 0)
    for one in found.values():
        total = {name: count + getattr(one, name) for name, count in total.items()}
    rows = [one.row(name) for name, one in (*found.items(), ("all", Beside(**total)))]
    say("Lessons files beside a count by hand", rows)
    for name, one in found.items() if options.lines else ():
        print("\n".join((f"\n{name}", *(f"  {line}" for line in one.lines))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
