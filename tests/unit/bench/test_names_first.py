"""What an agent searches for by name comes first: story ids, files and error codes among many entries like it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from bench.engines import embedded_records, index
from bench.memory_quality.__main__ import search_of
from bench.memory_quality.judged import ORGANISATION
from commonplace.memory import validation
from commonplace.memory.index_source import record_of
from commonplace.memory.model import Entry, EntryId, content_hash
from tests.fakes.embeddings import FakeEmbeddings

AREAS = ("auth", "billing", "search", "routing", "upload", "export", "session", "webhook", "cache", "invoice")
PARTS = ("token", "handler", "worker", "parser", "client", "store", "queue", "schema", "limit", "retry")
SAID = (
    "The {area} {part} timed out until its limit was raised; check the {part} of {area} first.",
    "Reuse the {part} that {area} has already instead of another one for {other}.",
    "Tests of the {area} {part} pass alone and fail together: they share a {other}.",
    "Verify the {area} {part} against the real {other}, not against what it is said to do.",
    "Most time went into the {part} of {area}; a smaller {other} would have shown it sooner.",
)


@dataclass(frozen=True, slots=True)
class Named:
    """A name, the entry that has it, and queries with it."""

    name: str
    id: EntryId
    queries: tuple[str, ...]


def entries_of(size: int, names: int, seed: int = 22) -> tuple[list[Entry], list[Named]]:
    """Return entries that resemble each other, of which so many have a name that no other has: in turn the story it
    comes from, its file, a file that it speaks of, and an error code. The names resemble those of others.
    """
    chance = random.Random(seed)
    chosen = {at: number for number, at in enumerate(chance.sample(range(size), names))}
    entries: list[Entry] = []
    named: list[Named] = []
    for at in range(size):
        area, part, other = chance.choice(AREAS), chance.choice(PARTS), chance.choice(PARTS)
        text = chance.choice(SAID).format(area=area, part=part, other=other)
        story, file = f"STORY-{1000 + at % 1500}", f"docs/sprint-{at % 90}/LESSONS-LEARNED.md"
        id, name = EntryId(str(UUID(int=at + 1))), ""
        match chosen[at] % 4 if at in chosen else None:
            case 0:
                name = story = f"STORY-{3000 + at}"
            case 1:
                name = file = f"docs/{area}/{part}-{at}.md"
            case 2:
                name = f"src/{area}/{part}_{at}.py"
                text = f"{text} It was in `{name}`."
            case 3:
                name = f"ERR_{area.upper()}_{at}"
                text = f"{text} The log said {name}: {other}."
        content, created = f"{text} Noted as number {at} of its kind.", f"2026-01-{1 + at % 28:02}T09:00:00.000000Z"
        entries.append(
            Entry(
                organisation=ORGANISATION,
                id=id,
                content=content,
                content_hash=content_hash(content),
                entry_type="fact",
                roles=("dev",),
                tags=(area,),
                confidence=1.0,
                created_at=created,
                updated_at=created,
                source_file=file,
                source_story=story,
            )
        )
        if name:
            about = f"the {chance.choice(PARTS)} of {chance.choice(AREAS)} and its tests"
            named.append(Named(name, id, (name, name.lower(), f"what did we learn from {name} about {about}?")))
    return entries, named


def missed(entries: Sequence[Entry], names: Sequence[Named], *, by_name: bool = True) -> list[str]:
    """Return the queries whose first answer is not the entry with the name."""
    lost: list[str] = []
    provider = FakeEmbeddings()
    records = [record_of(entry) for entry in entries]
    records = records if by_name else [replace(record, identifiers=()) for record in records]
    with index(embedded_records(records, provider), provider) as engine:
        search = search_of(entries, engine, provider)
        for named in names:
            for query in named.queries:
                found = search.search(ORGANISATION, validation.asked(query=query, limit=1)).found
                lost += [query] if [one.entry.id for one in found] != [named.id] else []
    return lost


def test_every_name_is_first_among_600_entries_and_was_not_without_identifiers() -> None:
    entries, names = entries_of(600, 30)
    assert missed(entries, names) == []
    assert len(missed(entries, names, by_name=False)) > len(names) // 3
