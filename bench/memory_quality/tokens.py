"""What an answer costs in tokens: by `kb_search`, by looking words up in the files, by reading them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files as resources
from statistics import median
from typing import cast

from bench.memory_quality.judged import ORGANISATION, JudgedMemory, Query, id_of, story_files, story_of, whole_files
from bench.memory_quality.systems import store_of
from bench.retrieval.metrics import paired
from bench.table import Row
from commonplace.identity.principals import Principal
from commonplace.kernel.audit import Author
from commonplace.memory.entries import Memory
from commonplace.memory.model import Asked, SearchAnswer
from commonplace.memory.operations import MemoryServices, SearchArguments, kb_search
from commonplace.memory.search import MemorySearch
from commonplace.search.model import EmbeddingProvider, Engine
from commonplace.search.text import fold, query_terms
from commonplace.web.mcp import rendering
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.operations import Actor

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Reading:
    """What one way to an answer put before a model: the text, and the names of the entries in it."""

    text: str
    entries: frozenset[str]


Way = Callable[[Query], Reading]


@cache
def tokenizer() -> Count:
    """That of the local embedding model: a vocabulary of 32,000, smaller than any current chat model's."""
    from tokenizers import Tokenizer

    file = resources("wordllama").joinpath("tokenizers/l2_supercat_tokenizer_config.json")
    loaded = Tokenizer.from_str(file.read_text(encoding="utf-8"))
    loaded.no_padding()
    loaded.no_truncation()
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


def ways(judged: JudgedMemory, engine: Engine, provider: EmbeddingProvider | None) -> dict[str, Way]:
    """From the most to the least reading."""
    search = MemorySearch(engine, [provider] if provider else [], store_of(judged))
    return {
        "reading the file or files": _reading_files(judged),
        "reading the right stories, if one knew": _reading_stories(judged),
        "grep for the rarest word": _grep(judged),
        "kb_search, limit 10, text and data": _searching(judged, search, 10, data=True),
        "kb_search, limit 10": _searching(judged, search, 10),
        "kb_search, limit 5": _searching(judged, search, 5),
    }


def compared(judged: JudgedMemory, every: Mapping[str, Way]) -> list[Row]:
    """A row for each way: tokens by both counts, and how much of what helps it brings."""
    rows: list[Row] = []
    files = [tokenizer()(_reading_files(judged)(query).text) for query in judged.queries]
    for name, way in every.items():
        readings = [way(query) for query in judged.queries]
        real = [tokenizer()(reading.text) for reading in readings]
        answered = [_answers(judged, query, reading) for query, reading in zip(judged.queries, readings, strict=True)]
        share = sum(answered) / len(answered)
        sure = paired(real, [0.0] * len(real))
        missed = sum(cost for cost, found in zip(files, answered, strict=True) if not found) / len(answered)
        rows.append(
            {
                "way": name,
                "tokens, mean": round(sum(real) / len(real)),
                "95 %": f"{sure.low:,.0f} to {sure.high:,.0f}",
                "median": round(median(real)),
                "as estimated": round(sum(estimate_tokens(reading.text) for reading in readings) / len(readings)),
                "best entry in it": f"{share:.0%}",
                "useful ones in it": f"{_coverage(judged, readings):.0%}",
                "and the file where not": round(sum(real) / len(real) + missed),
            }
        )
    return rows


def figures_of_files(judged: JudgedMemory) -> Iterator[Row]:
    """How large the files are."""
    for name, text in whole_files(judged).items():
        yield {
            "file": name,
            "tokens": tokenizer()(text),
            "as estimated": estimate_tokens(text),
            "bytes": len(text.encode()),
        }


def _answers(judged: JudgedMemory, query: Query, reading: Reading) -> bool:
    grades = judged.grades[query.id]
    best = max(grades.values())
    return any(grades.get(name) == best for name in reading.entries)


def _coverage(judged: JudgedMemory, readings: Sequence[Reading]) -> float:
    shares = [
        len(judged.useful(query.id).keys() & reading.entries) / len(judged.useful(query.id))
        for query, reading in zip(judged.queries, readings, strict=True)
    ]
    return sum(shares) / len(shares)


def _reading_files(judged: JudgedMemory) -> Way:
    texts = whole_files(judged)

    def read(query: Query) -> Reading:
        wanted = {judged.entries[name].source_file or "" for name in judged.useful(query.id)}
        held = (name for name, entry in judged.entries.items() if entry.source_file in wanted)
        return Reading("".join(texts[file] for file in sorted(wanted)), frozenset(held))

    return read


def _reading_stories(judged: JudgedMemory) -> Way:
    texts = story_files(judged)

    def read(query: Query) -> Reading:
        wanted = {story_of(judged.entries[name]) for name in judged.useful(query.id)}
        held = (name for name, entry in judged.entries.items() if story_of(entry) in wanted)
        return Reading("".join(texts[story] for story in sorted(wanted)), frozenset(held))

    return read


def _grep(judged: JudgedMemory) -> Way:
    """All lines of all files with the word of the query that is in the fewest of them."""
    texts = {name: fold(entry.content) for name, entry in judged.entries.items()}

    def read(query: Query) -> Reading:
        lines = [[name for name, text in texts.items() if term in text] for term in query_terms(query.asked.query)]
        found = min((each for each in lines if each), key=len, default=[])
        shown = (f"{judged.entries[name].source_file}: {judged.entries[name].content}" for name in found)
        return Reading("\n".join(shown), frozenset(found))

    return read


class _Searching:
    """As much of the memory as `kb_search` asks for."""

    def __init__(self, search: MemorySearch) -> None:
        self._search = search

    def search(self, author: Author, asked: Asked) -> SearchAnswer:
        return self._search.search(author.organisation, asked)

    def served(self, author: Author, story: str | None, tokens: int) -> None:
        """Nothing is counted here."""


def _searching(judged: JudgedMemory, search: MemorySearch, limit: int, *, data: bool = False) -> Way:
    """What the tool answers: its text, which is what most clients show a model, or its data as well."""
    names = {str(id_of(name)): name for name in judged.entries}
    using = MemoryServices(memory=cast(Memory, _Searching(search)))
    actor = Actor(Principal(organisation=ORGANISATION))

    def read(query: Query) -> Reading:
        asked = query.asked
        arguments = SearchArguments(
            query=asked.query,
            role=asked.role,
            tags=list(asked.tags) or None,
            entry_type=asked.entry_type,
            limit=limit,
            min_confidence=asked.min_confidence,
        )
        answer = kb_search.run(using, actor, arguments)
        told = answer.data.model_dump(mode="json", exclude_none=True)
        shown = frozenset(names[id] for one in told["entries"] for id in (one["id"], *one.get("duplicates", ())))
        return Reading(answer.text + (rendering.compact(told) if data else ""), shown)

    return read
