"""Whether what is asked for by name comes first: story ids, files and error codes among many entries like it.

`python -m bench.memory_quality.names [ENTRIES [NAMES]]`: 9,000 entries and 100 names unless other numbers are given.
"""

import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from bench.memory_quality.judged import ORGANISATION
from bench.memory_quality.systems import FixedEntries
from bench.retrieval import engines
from commonplace.memory import validation
from commonplace.memory.index_source import record_of
from commonplace.memory.model import Entry, EntryId, content_hash
from commonplace.memory.search import MemorySearch
from commonplace.search.model import EmbeddingProvider

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
    """A name, the entry that has it, and how it is asked for."""

    name: str
    id: EntryId
    queries: tuple[str, ...]


def entries_of(size: int, names: int, seed: int = 22) -> tuple[list[Entry], list[Named]]:
    """Entries that resemble each other, of which so many have a name that no other has: in turn the story it comes
    from, its file, a file that it speaks of, and an error code. The names themselves resemble those of others."""
    chance = random.Random(seed)
    chosen = {at: number for number, at in enumerate(chance.sample(range(size), names))}
    made = [_entry(chance, at, chosen.get(at)) for at in range(size)]
    return [entry for entry, _ in made], [named for _, named in made if named]


def _entry(chance: random.Random, at: int, number: int | None) -> tuple[Entry, Named | None]:
    area, part, other = chance.choice(AREAS), chance.choice(PARTS), chance.choice(PARTS)
    text = chance.choice(SAID).format(area=area, part=part, other=other)
    story, file = f"STORY-{1000 + at % 1500}", f"docs/sprint-{at % 90}/LESSONS-LEARNED.md"
    name = None
    match None if number is None else number % 4:
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
    id = EntryId(str(UUID(int=at + 1)))
    content = f"{text} Noted as number {at} of its kind."
    created = f"2026-01-{1 + at % 28:02}T09:00:00.000000Z"
    entry = Entry(
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
    if name is None:
        return entry, None
    about = f"what did we learn from {name} about the {chance.choice(PARTS)} of {chance.choice(AREAS)} and its tests?"
    return entry, Named(name, id, (name, name.lower(), about))


@contextmanager
def searching(
    entries: Sequence[Entry], provider: EmbeddingProvider | None, *, by_name: bool = True
) -> Iterator[MemorySearch]:
    """A search of an index of these entries; without `by_name` of one that holds no identifiers."""
    records = [record_of(entry) for entry in entries]
    kept = records if by_name else [replace(record, identifiers=()) for record in records]
    with engines.embedded_engine(engines.embedded_records(kept, provider, lambda *_: None), provider) as engine:
        yield MemorySearch(engine, [provider] if provider else [], FixedEntries(entries))  # type: ignore[arg-type]


def missed(search: MemorySearch, names: Sequence[Named]) -> list[str]:
    """The queries whose first answer is not the entry with the name."""
    return [
        query
        for named in names
        for query in named.queries
        if [one.entry.id for one in search.search(ORGANISATION, validation.asked(query=query, limit=1)).found]
        != [named.id]
    ]


def main(arguments: Sequence[str]) -> int:
    """Prints how many queries by name find their entry first, without and with identifiers in the index."""
    size, number = (*map(int, arguments), *(9_000, 100)[len(arguments) :])
    entries, names = entries_of(size, number)
    provider = engines.embedding_model("local")
    asked = sum(len(named.queries) for named in names)
    lost: list[str] = []
    for by_name in (False, True):
        with searching(entries, provider, by_name=by_name) as search:
            lost = missed(search, names)
        print(f"{'with' if by_name else 'without'} identifiers: {asked - len(lost)} of {asked} first, {size} entries")
    print(*lost, sep="\n")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
