"""How well a team's memory is searched, and what an answer costs: `python -m bench.memory_quality`."""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from statistics import median
from typing import cast

from bench import table
from bench.engines import Missing, embedded_records, embedding_model, index
from bench.memory_quality.judged import (
    ORGANISATION,
    JudgedMemory,
    Query,
    id_of,
    judged_memory,
    story_files,
    whole_files,
)
from bench.table import (
    NDCG,
    Evaluated,
    Row,
    best_first,
    every_figure,
    ndcg,
    paired,
    recall,
    reciprocal_rank,
    say,
    say_figures,
)
from commonplace.identity.principals import Principal
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Unavailable
from commonplace.memory import search as conditions
from commonplace.memory.entries import Memory
from commonplace.memory.index_source import record_of
from commonplace.memory.model import DEFAULT_LIMIT, Asked, Entry, EntryId, SearchAnswer
from commonplace.memory.operations import MemoryServices, SearchArguments, kb_search
from commonplace.memory.search import SEED_FUSION, MemorySearch
from commonplace.memory.store import DynamoEntries
from commonplace.search.embeddings import model_fingerprint
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, Engine
from commonplace.search.models.local import TOKENIZER, bundled
from commonplace.search.text import fold, query_terms
from commonplace.web.mcp import rendering
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.operations import Actor

GREP, LEXICAL, BUILT = "grep", "lexical only", "RRF 0.3/0.7, as built"
FUSIONS: Mapping[str, Fusion] = {
    LEXICAL: Fusion("rrf", 1.0, 0.0),
    "vector only": Fusion("rrf", 0.0, 1.0),
    BUILT: SEED_FUSION,
    "min-max 0.3/0.7": Fusion("min-max", 0.3, 0.7),
    "RRF 0.5/0.5": Fusion("rrf", 0.5, 0.5),
    "RRF 0.6/0.4": Fusion("rrf", 0.6, 0.4),
    "min-max 0.5/0.5": Fusion("min-max", 0.5, 0.5),
    "min-max 0.6/0.4": Fusion("min-max", 0.6, 0.4),
    "min-max 0.7/0.3": Fusion("min-max", 0.7, 0.3),
}
"""Weights of words and of meaning: the seed's, those of documents (0.6 and 0.4), and what lies around them."""

System = Callable[[Query], Sequence[str]]
"""From a query to names of entries, best first. What stands for others is followed by them."""


class FixedEntries:
    """The part of `DynamoEntries` that a search needs, over entries that stay as they are."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = {entry.id: entry for entry in entries}

    def get_many(self, organisation: str, ids: Sequence[EntryId]) -> dict[EntryId, Entry]:  # noqa: ARG002 - the port's
        return {id: self._entries[id] for id in ids if id in self._entries}


@contextmanager
def indexed(entries: Sequence[Entry], provider: EmbeddingProvider | None, url: str | None = None) -> Iterator[Engine]:
    """Make an index of the entries; it goes away."""
    records = [record_of(entry) for entry in entries]
    with index(embedded_records(records, provider), provider, url) as engine:
        yield engine


def search_of(
    entries: Sequence[Entry], engine: Engine, provider: EmbeddingProvider | None, fusion: Fusion = SEED_FUSION
) -> MemorySearch:
    return MemorySearch(
        engine, [provider] if provider else [], cast(DynamoEntries, FixedEntries(entries)), fusion=fusion
    )


def systems_of(judged: JudgedMemory, engine: Engine, provider: EmbeddingProvider | None) -> dict[str, System]:
    """Return every system, the plainest first. Without a model there is nothing to fuse."""
    names = {id_of(name): name for name in judged.entries}
    texts = {name: fold(entry.content) for name, entry in judged.entries.items()}

    def grep(query: Query) -> Sequence[str]:
        """Entries with the most of the query's words in them, anywhere in a word, in the order of the files."""
        terms = query_terms(query.asked.query)
        counted = [
            (-sum(term in text for term in terms), place, name)
            for place, (name, text) in enumerate(texts.items())
            if conditions.found(query.asked, judged.entries[name])
        ]
        return [name for count, _, name in sorted(counted) if count][:DEFAULT_LIMIT]

    def searched(fusion: Fusion) -> System:
        search = search_of(list(judged.entries.values()), engine, provider, fusion)
        return lambda query: [
            names[id]
            for one in search.search(ORGANISATION, query.asked).found
            for id in (one.entry.id, *one.duplicates)
        ]

    fusions = FUSIONS if provider else {LEXICAL: FUSIONS[LEXICAL]}
    return {GREP: grep} | {name: searched(fusion) for name, fusion in fusions.items()}


def evaluate(judged: JudgedMemory, systems: Mapping[str, System]) -> Evaluated:
    """Run every system on every query that has an answer: nDCG by all grades, MRR and recall of entries that help."""
    scores: dict[str, dict[str, list[float]]] = {}
    for name, system in systems.items():
        scores[name] = {metric: [] for metric in (NDCG, "MRR", "recall@5", "recall@10", "best first")}
        for query in judged.queries:
            ranking, grades, useful = system(query), judged.grades[query.id], judged.useful(query.id)
            scores[name][NDCG].append(ndcg(ranking, grades))
            scores[name]["MRR"].append(reciprocal_rank(ranking, useful))
            scores[name]["recall@5"].append(recall(ranking, useful, 5))
            scores[name]["recall@10"].append(recall(ranking, useful, 10))
            scores[name]["best first"].append(best_first(ranking, grades))
    return Evaluated([query.kind for query in judged.queries], scores, LEXICAL)


def of_nothing(judged: JudgedMemory, system: System) -> list[Row]:
    """Return how much is found for what nobody wrote about, a row for each kind."""
    rows: list[Row] = []
    for kind in dict.fromkeys(query.kind for query in judged.unanswerable):
        found = [len(system(query)) for query in judged.unanswerable if query.kind == kind]
        none, mean = found.count(0), round(sum(found) / len(found), 2)
        rows.append({"system": BUILT, "kind": kind, "queries": len(found), "finds nothing": none, "entries": mean})
    return rows


Way = Callable[[Query], tuple[str, set[str]]]
"""One way to an answer: the text that it puts before a model, and the names of the entries in it."""
FILES = "reading the file or files"


@cache
def tokenizer() -> Callable[[str], int]:
    """Return that of the local embedding model: a vocabulary of 32,000, smaller than any current chat model's."""
    from tokenizers import Tokenizer

    file = bundled() / TOKENIZER
    loaded = Tokenizer.from_str(file.read_text(encoding="utf-8"))
    loaded.no_padding()
    loaded.no_truncation()
    return lambda text: len(loaded.encode(text, add_special_tokens=False).ids)


class _Searching:
    """The part of the memory that `kb_search` needs."""

    def __init__(self, search: MemorySearch) -> None:
        self._search = search

    def search(self, author: Author, asked: Asked) -> SearchAnswer:
        return self._search.search(author.organisation, asked)

    def served(self, author: Author, story: str | None, tokens: int) -> None:
        """Nothing is counted here."""


def ways(judged: JudgedMemory, engine: Engine, provider: EmbeddingProvider | None) -> dict[str, Way]:
    """Return the ways to an answer, from the most to the least reading."""
    search = search_of(list(judged.entries.values()), engine, provider)
    using = MemoryServices(memory=cast(Memory, _Searching(search)))
    actor = Actor(Principal(organisation=ORGANISATION))
    names = {str(id_of(name)): name for name in judged.entries}
    texts = {name: fold(entry.content) for name, entry in judged.entries.items()}

    def reading(files: Mapping[str, str], place_of: Callable[[str], str]) -> Way:
        def read(query: Query) -> tuple[str, set[str]]:
            wanted = {place_of(name) for name in judged.useful(query.id)}
            return "".join(files[place] for place in sorted(wanted)), {
                name for name in judged.entries if place_of(name) in wanted
            }

        return read

    def grep(query: Query) -> tuple[str, set[str]]:
        """All lines of all files with the word of the query that is in the fewest of them."""
        lines = [[name for name, text in texts.items() if term in text] for term in query_terms(query.asked.query)]
        found = min((each for each in lines if each), key=len, default=[])
        return "\n".join(f"{judged.file_of(name)}: {judged.entries[name].content}" for name in found), set(found)

    def searching(limit: int, *, data: bool = False) -> Way:
        """Return the answer of the tool: its text, which most clients show a model, or its data as well."""

        def read(query: Query) -> tuple[str, set[str]]:
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
            sent = answer.data.model_dump(mode="json", exclude_none=True)
            shown = {names[id] for one in sent["entries"] for id in (one["id"], *one.get("duplicates", ()))}
            return answer.text + (rendering.compact(sent) if data else ""), shown

        return read

    return {
        FILES: reading(whole_files(judged), judged.file_of),
        "reading the right stories, if one knew": reading(story_files(judged), judged.story_of),
        "grep for the rarest word": grep,
        "kb_search, limit 10, text and data": searching(10, data=True),
        "kb_search, limit 10": searching(10),
        "kb_search, limit 5": searching(5),
    }


def compared(judged: JudgedMemory, every: Mapping[str, Way]) -> list[Row]:
    """Return a row for each way: tokens by both counts, and how much of what helps it brings."""
    rows: list[Row] = []
    count = tokenizer()
    files = [count(every[FILES](query)[0]) for query in judged.queries]
    number = len(judged.queries)
    for name, way in every.items():
        tokens: list[int] = []
        estimated = answered = missed = 0
        useful = 0.0
        for query, whole in zip(judged.queries, files, strict=True):
            text, entries = way(query)
            tokens.append(count(text))
            estimated += estimate_tokens(text)
            grades, helpful = judged.grades[query.id], judged.useful(query.id)
            best = any(grades.get(one) == max(grades.values()) for one in entries)
            answered += best
            missed += 0 if best else whole
            useful += len(helpful.keys() & entries) / len(helpful)
        sure = paired(tokens, [0.0] * number)
        rows.append(
            {
                "way": name,
                "tokens, mean": round(sum(tokens) / number),
                "95 %": f"{sure.low:,.0f} to {sure.high:,.0f}",
                "median": round(median(tokens)),
                "as estimated": round(estimated / number),
                "best entry in it": f"{answered / number:.0%}",
                "useful ones in it": f"{useful / number:.0%}",
                "and the file where not": round(sum(tokens) / number + missed / number),
            }
        )
    return rows


def measure(judged: JudgedMemory, name: str, url: str | None) -> Iterator[Row]:
    """Print the tables of one model on one engine and yield their figures."""
    provider = embedding_model(name)
    where, model = "opensearch" if url else "embedded", model_fingerprint(provider) if provider else "none"
    with indexed(list(judged.entries.values()), provider, url) as engine:
        systems = systems_of(judged, engine, provider)
        evaluated = evaluate(judged, systems)
        print(f"\non {where}, {model}")
        say_figures(evaluated, BUILT)
        yield from every_figure(evaluated, engine=where, model=model)
        if provider is None:
            return
        nothing = of_nothing(judged, systems[BUILT])
        say("For what nobody wrote about", nothing)
        yield from nothing
        if url is None:
            costs = compared(judged, ways(judged, engine, provider))
            files: list[Row] = [
                {
                    "file": file,
                    "tokens": tokenizer()(text),
                    "as estimated": estimate_tokens(text),
                    "bytes": len(text.encode()),
                }
                for file, text in whole_files(judged).items()
            ]
            say("Tokens to answer a query", costs)
            say("Tokens of the files", files)
            yield from (*costs, *files)


def main(given: Sequence[str]) -> int:
    """Measure what can be measured and say what cannot; 1 when nothing could."""
    parser = argparse.ArgumentParser(prog="python -m bench.memory_quality", description=__doc__)
    parser.add_argument("--opensearch", metavar="URL", help="a node to measure on as well")
    parser.add_argument("--embeddings", default="local", help="models, with commas: local, openai, onnx:/FOLDER, none")
    parser.add_argument("--final", action="store_true", help="with the questions that are locked away")
    options = parser.parse_args(given)
    judged, figures = judged_memory(final=options.final), list[Row]()
    print(f"\n{len(judged.entries):,} entries, {len(judged.queries):,} queries")
    for name in filter(None, options.embeddings.split(",")):
        for address in dict.fromkeys((None, options.opensearch)):
            try:
                figures += measure(judged, name, address)
            except (Missing, RuntimeError, Unavailable) as error:
                print(f"\nSkipped: {name} on {'opensearch' if address else 'embedded'}. {error}")
    if not figures:
        print("\nNothing was measured.")
        return 1
    title = "How well a team's memory is searched, and what an answer costs"
    print(f"\nWritten to {table.keep('memory_quality', title, figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
