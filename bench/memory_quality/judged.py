"""A team's memory with our own judgements: entries, the files they come from, queries, and how useful each entry is."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from bench.retrieval.judged import drawn, is_locked, read_topics
from commonplace.memory import entry_files, validation
from commonplace.memory.model import Asked, Entry, EntryId, Import, content_hash
from local.memory import lessons

FOLDER = Path(__file__).parent
ORGANISATION = "bench"
NOTHING = "nothing"
"""The kind of query that no entry answers."""
USEFUL = 2
"""Grades from here on help whoever asked; 1 is merely about the same."""

_NAMESPACE = UUID("6d2b8f0e-52f3-4d6a-9a2c-6f1f5c1f0a11")
_WRITTEN = "2026-01-01T00:00:00.000000Z"


@dataclass(frozen=True, slots=True)
class Query:
    """What an agent asks for, of which kind, and under which conditions."""

    id: str
    kind: str
    asked: Asked


@dataclass(frozen=True, slots=True)
class JudgedMemory:
    """Entries, queries, and grades from 0, of no use, to 3, what was asked for."""

    entries: Mapping[str, Entry]
    """By the names that judgements call them by."""
    queries: Sequence[Query]
    unanswerable: Sequence[Query]
    grades: Mapping[str, Mapping[str, int]]
    """Query -> entry -> grade. What is not judged is of no use."""

    @property
    def kinds(self) -> list[str]:
        """Of the queries that have an answer, in order of appearance."""
        return list(dict.fromkeys(query.kind for query in self.queries))

    def useful(self, query: str) -> dict[str, int]:
        """The entries that help, by name."""
        return {name: grade for name, grade in self.grades[query].items() if grade >= USEFUL}


@cache
def judged_memory(*, final: bool = False) -> JudgedMemory:
    """The set of this folder; what nothing answers and is locked away only when `final`.

    Raises ValueError when an entry would not be taken, or a query not be answered.
    """
    told = entry_files.document((FOLDER / "queries.yaml").read_text(encoding="utf-8"))["queries"]
    queries = [Query(one["id"], one["kind"], _asked(one)) for one in told]
    nothing = [topic for topic in read_topics(FOLDER / "unanswerable.tsv") if final or not is_locked(topic.id)]
    return JudgedMemory(
        entries={one.ref or "": entry_of(one) for one in imports()},
        queries=[query for query in queries if query.kind != NOTHING],
        unanswerable=[query for query in queries if query.kind == NOTHING]
        + [Query(topic.id, topic.category, validation.asked(query=topic.text)) for topic in nothing],
        grades={one["id"]: one.get("relevant") or {} for one in told},
    )


def imports() -> Iterator[Import]:
    """The entries as `kb_bulk_import` takes them. Raises ValueError."""
    for file in sorted((FOLDER / "entries").glob("*.yaml")):
        for item in validation.imports(entry_files.read(file.read_text(encoding="utf-8"))):
            if isinstance(item, validation.Refused):
                raise ValueError(f"{file.name}: {item.sentence}")
            yield item


_LABEL = re.compile(r"\W*([^\W\d_][^:\n`]{2,40}):\s")
FACTS = 60


def facts_by_title(files: Iterable[Path], *, final: bool = False) -> JudgedMemory:
    """Return the entries of lessons files; queries are a story's title with a fact's label, or its section."""
    entries: dict[str, Entry] = {}
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for file in files:
        seeds = lessons.parse(file.read_text(encoding="utf-8"), file.name).seeds
        titles = {seed.ref: seed.metadata.get("title") for seed in seeds if seed.ref}
        for number, seed in enumerate(seeds):
            ref, label = f"{file.name}#{number}", _LABEL.match(seed.content)
            title, about = titles.get(seed.parent_ref or ""), label[1] if label else seed.metadata.get("section")
            if seed.entry_type == "fact" and title and about:
                found[f"{title} {about}".casefold()][ref] = 3
            (item,) = validation.imports([replace(seed, ref=ref, parent_ref=None).as_import()])
            if isinstance(item, Import):
                entries[ref] = entry_of(item)
    chosen = [query for query in drawn(found)[:FACTS] if final or not is_locked(query)]
    queries = [Query(query, "fact", validation.asked(query=query, entry_type="fact")) for query in chosen]
    return JudgedMemory(entries, queries, [], found)


def id_of(ref: str) -> EntryId:
    """The same for a name every time, so that ties fall the same way."""
    return EntryId(str(uuid5(_NAMESPACE, ref)))


def entry_of(item: Import) -> Entry:
    """Return the entry that an import makes, with the same id for the same name."""
    new = item.entry
    return Entry(
        organisation=ORGANISATION,
        id=id_of(item.ref or ""),
        content=new.content,
        content_hash=content_hash(new.content),
        entry_type=new.entry_type,
        roles=new.roles,
        tags=new.tags,
        confidence=new.confidence,
        created_at=_WRITTEN,
        updated_at=_WRITTEN,
        parent_id=id_of(item.parent_ref) if item.parent_ref else None,
        source_file=new.source_file,
        source_story=new.source_story,
        metadata=new.metadata,
    )


def _asked(told: Mapping[str, Any]) -> Asked:
    conditions = told.get("conditions") or {}
    return validation.asked(query=told["query"], **conditions)


def whole_files(judged: JudgedMemory) -> Mapping[str, str]:
    """The text of each source file: stories under headings, one bullet a fact; templates as they are."""
    by_file: dict[str, list[Entry]] = defaultdict(list)
    for entry in judged.entries.values():
        by_file[entry.source_file or ""].append(entry)
    return {name: _file(name, entries) for name, entries in by_file.items()}


def story_files(judged: JudgedMemory) -> Mapping[str, str]:
    """As if each story had a file of its own, and somebody knew which ones to open."""
    by_story: dict[str, list[Entry]] = defaultdict(list)
    for entry in judged.entries.values():
        by_story[story_of(entry)].append(entry)
    return {name: _file(name, entries) for name, entries in by_story.items()}


def story_of(entry: Entry) -> str:
    """The smallest file that holds the entry: its story's, else the one it came from."""
    return entry.source_story or entry.source_file or ""


def _file(name: str, entries: Sequence[Entry]) -> str:
    if all(entry.entry_type == "template" for entry in entries):
        return "\n".join(entry.content for entry in entries)
    by_story: dict[str | None, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_story[entry.source_story].append(entry)
    parts = [f"# {name}"]
    for story, told in sorted(by_story.items(), key=lambda each: each[0] or ""):
        lines = [f"## {story}"] if story else []
        lines += [entry.content + "\n" for entry in told if entry.entry_type == "summary"]
        lines += [f"- {entry.content}" for entry in told if entry.entry_type != "summary"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
