"""A team's memory with our own judgements: entries, the files they come from, queries, and how useful each entry is."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from uuid import UUID, uuid5

from bench.retrieval.sets import is_locked, read_topics
from commonplace.memory import entry_files, validation
from commonplace.memory.model import Asked, Entry, EntryId, Import, content_hash

FOLDER = Path(__file__).parent
ORGANISATION = "bench"
NOTHING = "nothing"
"""The kind of query that no entry answers."""
USEFUL = 2
"""Grades from here on help whoever searches; 1 is merely about the same."""

_NAMESPACE = UUID("6d2b8f0e-52f3-4d6a-9a2c-6f1f5c1f0a11")
_WRITTEN = "2026-01-01T00:00:00.000000Z"


@dataclass(frozen=True, slots=True)
class Query:
    """What an agent searches for, of which kind, and under which conditions."""

    id: str
    kind: str
    asked: Asked


@dataclass(frozen=True, slots=True)
class JudgedMemory:
    """Entries by the names that judgements call them by, queries, and grades from 0, of no use, to 3."""

    entries: Mapping[str, Entry]
    queries: Sequence[Query]
    unanswerable: Sequence[Query]
    grades: Mapping[str, Mapping[str, int]]
    """Query -> entry -> grade. What is not judged is of no use."""

    def useful(self, query: str) -> dict[str, int]:
        """Return the entries that help, by name."""
        return {name: grade for name, grade in self.grades[query].items() if grade >= USEFUL}

    def story_of(self, name: str) -> str:
        """Return the smallest file that could hold the entry: its story's, else the one it came from."""
        return self.entries[name].source_story or self.file_of(name)

    def file_of(self, name: str) -> str:
        return self.entries[name].source_file or ""


@cache
def judged_memory(*, final: bool = False) -> JudgedMemory:
    """Return the set of this folder; what nothing answers and is locked away only when `final`.

    Raises ValueError when an entry would not be taken, or a query not be answered.
    """
    listed = entry_files.document((FOLDER / "queries.yaml").read_text(encoding="utf-8"))["queries"]
    queries = [
        Query(one["id"], one["kind"], validation.asked(query=one["query"], **(one.get("conditions") or {})))
        for one in listed
    ]
    nothing = [topic for topic in read_topics(FOLDER / "unanswerable.tsv") if final or not is_locked(topic.id)]
    return JudgedMemory(
        entries={one.ref or "": entry_of(one) for one in imports()},
        queries=[query for query in queries if query.kind != NOTHING],
        unanswerable=[query for query in queries if query.kind == NOTHING]
        + [Query(topic.id, topic.category, validation.asked(query=topic.text)) for topic in nothing],
        grades={one["id"]: one.get("relevant") or {} for one in listed},
    )


def imports() -> Iterator[Import]:
    """Yield the entries as `kb_bulk_import` takes them. Raises ValueError."""
    for file in sorted((FOLDER / "entries").glob("*.yaml")):
        for item in validation.imports(entry_files.read(file.read_text(encoding="utf-8"))):
            if isinstance(item, validation.Refused):
                raise ValueError(f"{file.name}: {item.sentence}")
            yield item


def id_of(ref: str) -> EntryId:
    """Return the same id for a name every time, so that ties fall the same way."""
    return EntryId(str(uuid5(_NAMESPACE, ref)))


def entry_of(item: Import) -> Entry:
    """Return the entry that an import makes."""
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


def whole_files(judged: JudgedMemory) -> Mapping[str, str]:
    """Return the text of each source file."""
    return _files(judged, {name: judged.file_of(name) for name in judged.entries})


def story_files(judged: JudgedMemory) -> Mapping[str, str]:
    """Return files as if each story had one of its own, and somebody knew which ones to open."""
    return _files(judged, {name: judged.story_of(name) for name in judged.entries})


def _files(judged: JudgedMemory, places: Mapping[str, str]) -> dict[str, str]:
    """Write stories under headings, one bullet a fact; templates as they are."""
    by_file: dict[str, list[Entry]] = defaultdict(list)
    for name, place in places.items():
        by_file[place].append(judged.entries[name])
    files: dict[str, str] = {}
    for place, entries in by_file.items():
        if all(entry.entry_type == "template" for entry in entries):
            files[place] = "\n".join(entry.content for entry in entries)
            continue
        parts = [f"# {place}"]
        for story in sorted({entry.source_story or "" for entry in entries}):
            of_story = [entry for entry in entries if (entry.source_story or "") == story]
            lines = [f"## {story}"] if story else []
            lines += [entry.content + "\n" for entry in of_story if entry.entry_type == "summary"]
            lines += [f"- {entry.content}" for entry in of_story if entry.entry_type != "summary"]
            parts.append("\n".join(lines))
        files[place] = "\n\n".join(parts) + "\n"
    return files
