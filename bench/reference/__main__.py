"""How well, how fast and at what cost the product reference answers: `python -m bench.reference`."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import starmap
from statistics import median
from typing import Any

from bench import table
from bench.engines import Missing, embedded_records, embedding_model, index
from bench.mcp_servers import CONTEXT, Handler, logging_as_on_lambda, modern, ours, result
from bench.reference.judged import Query, catalogue, misspelt, paraphrases, unanswerable
from bench.table import Row, percentile, say
from commonplace.reference.index_source import record_of
from commonplace.reference.model import Asked, Catalogue
from commonplace.reference.ports import FixedShelf, Meaning
from commonplace.reference.search import DEFAULT_TUNING, VectorMeaning
from commonplace.reference.service import Reference
from commonplace.reference.tools.answers import ANSWER_TOKENS
from commonplace.reference.tools.resources import product_of, system_prompt
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.search.fusion import Fusion
from commonplace.search.model import EmbeddingProvider, SearchRequest
from commonplace.search.service import SearchService
from commonplace.web.mcp.budgets import estimate_tokens

WORDS, VECTORS, BUILT = "words only", "vectors only", "both, as built"
FUSIONS: Mapping[str, Fusion] = {
    VECTORS: Fusion("min-max", 0.0, 1.0),
    BUILT: DEFAULT_TUNING.fusion,
    "both, min-max 0.6/0.4": Fusion("min-max", 0.6, 0.4),
    "both, min-max 0.4/0.6": Fusion("min-max", 0.4, 0.6),
    "both, RRF 0.5/0.5": Fusion("rrf", 0.5, 0.5),
}
DEPTHS = (1, 3, 5)
LEAST = 0.9
"""Share of paraphrases with an answer among the first five."""

System = Callable[[Query], Sequence[str]]
"""From a query to ids, best first."""


@contextmanager
def meaning_of(catalogues: Sequence[Catalogue], provider: EmbeddingProvider | None) -> Iterator[Meaning | None]:
    """Make an index of the catalogues in a file of its own; it goes away. None without a model."""
    if provider is None:
        yield None
        return
    records = [record_of(whole, placed) for whole in catalogues for placed in whole.entries]
    with index(embedded_records(records, provider), provider) as engine:
        yield VectorMeaning(engine, [provider])


def systems(meaning: Meaning | None) -> dict[str, System]:
    """Return every way of searching, the plainest first. Without a model there is nothing to fuse."""

    def searched(reference: Reference) -> System:
        return lambda query: [hit.entry.id for hit in reference.search(Asked(query.text, limit=max(DEPTHS))).hits]

    shelf = FixedShelf((catalogue(),))
    found = {WORDS: searched(Reference(shelf))}
    for name, fusion in FUSIONS.items() if meaning else ():
        found[name] = searched(Reference(shelf, meaning, tuning=replace(DEFAULT_TUNING, fusion=fusion)))
    return found


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of queries, from 0 to 1."""

    top: Mapping[int, float]
    """Depth -> share of paraphrases with an answer among so many."""
    held_out: float
    """The share at the greatest depth, of queries that weights were chosen without."""
    misspelt: float
    """The same of paraphrases with a mistake in one word."""
    missed: tuple[Query, ...]
    empty: float
    """Share of what nobody wrote about that nothing is found for."""

    def row(self, name: str) -> Row:
        return {
            "search": name,
            **{f"top {depth} %": round(100 * share, 1) for depth, share in self.top.items()},
            "held out, top 5 %": round(100 * self.held_out, 1),
            "a word misspelt, top 5 %": round(100 * self.misspelt, 1),
            "nothing for nothing %": round(100 * self.empty, 1),
        }


def measured(system: System) -> Figures:
    """Answer every question by one system."""
    deepest = max(DEPTHS)

    def rank(query: Query) -> int:
        return next((rank for rank, id in enumerate(system(query), 1) if id in query.answers), deepest + 1)

    def share(ranks: Sequence[int], depth: int) -> float:
        return sum(rank <= depth for rank in ranks) / len(ranks)

    ranked = [(query, rank(query)) for query in paraphrases()]
    return Figures(
        top={depth: share([rank for _, rank in ranked], depth) for depth in DEPTHS},
        held_out=share([rank for query, rank in ranked if query.held_out], deepest),
        misspelt=share([rank(query) for query in misspelt()], deepest),
        missed=tuple(query for query, rank in ranked if rank > deepest),
        empty=sum(not system(query) for query in unanswerable()) / len(unanswerable()),
    )


def too_few(figures: Figures) -> list[str]:
    """Return a sentence when fewer paraphrases are answered than should be."""
    share = figures.top[max(DEPTHS)]
    if share >= LEAST:
        return []
    return [f"{100 * share:.1f} % of paraphrases have an answer among the first five; {100 * LEAST:.0f} % should."]


def quality(meaning: Meaning | None) -> tuple[list[Row], list[str]]:
    """Print how well paraphrases are answered: by words, by meaning, and by both, over one index."""
    figures = {name: measured(system) for name, system in systems(meaning).items()}
    rows = [each.row(name) for name, each in figures.items()]
    best = BUILT if meaning else WORDS
    missed = figures[best].missed
    kinds: list[Row] = []
    for kind in dict.fromkeys(query.kind for query in paraphrases()):
        total = sum(query.kind == kind for query in paraphrases())
        found = total - sum(query.kind == kind for query in missed)
        kinds.append({"kind": kind, "queries": total, "top 5 %": round(100 * found / total, 1)})
    say(f"Paraphrases over {len(catalogue().entries):,} entries: an answer among the first 1, 3 and 5", rows)
    say(f"{best}, by kind", kinds)
    print("Missed: " + "; ".join(query.text for query in missed))
    return [*rows, *kinds], too_few(figures[best]) if meaning else []


WARM_UP, CALLS = 20, 200
ALLOWED_MS = 5.0
"""CPU of a warm look-up by its exact name, half of the calls and more."""
EXACT = "get_command, exact name"


def timed(provider: EmbeddingProvider | None) -> Iterator[Row]:
    """Yield the CPU of look-ups and searches in the process, warm, by turns with a search of documents over the same
    texts. Each call is for something else, by a prime step: neighbours in the order of names are much alike.
    """
    entries = [placed.entry for placed in catalogue().entries]
    commands = [entry.called for entry in entries if entry.type == "command"]
    paths = [(entry.path_template or "").replace("{id}", "42") for entry in entries if entry.type == "api"]
    questions = [query.text for query in paraphrases()]
    records = [record_of(catalogue(), placed) for placed in catalogue().entries]
    with index(embedded_records(records, provider), provider) as engine:
        shelf = FixedShelf((catalogue(),))
        words, both = Reference(shelf), Reference(shelf, VectorMeaning(engine, [provider]) if provider else None)
        documents = SearchService(engine, provider)
        calls: dict[str, tuple[Sequence[str], Callable[[str], object]]] = {
            EXACT: (commands, words.command),
            "get_api_endpoint, concrete path": (paths, words.endpoint),
            "get_command, misspelt: suggestions": ([f"{name[:-2]}{name[-1]}" for name in commands], words.command),
            "search_knowledge, words only": (questions, lambda text: words.search(Asked(text))),
            "search_knowledge, as built": (questions, lambda text: both.search(Asked(text))),
            "search of documents, the same texts": (questions, lambda text: documents.search(SearchRequest(text))),
        }
        taken: dict[str, list[float]] = {what: [] for what in calls}
        for number in range(WARM_UP + CALLS):
            for what, (texts, call) in calls.items():
                began = time.process_time()
                call(texts[number * 31 % len(texts)])
                taken[what].append(1000 * (time.process_time() - began))
    for what, every in taken.items():
        warm = every[WARM_UP:]
        yield {"call": what, "p50 ms CPU": median(warm), "p95 ms CPU": percentile(warm, 95), "highest": max(warm)}


def too_slow(rows: Sequence[Row]) -> list[str]:
    """Return a sentence when the look-up by exact name takes longer than is allowed."""
    spent = {row["call"]: float(str(row["p50 ms CPU"])) for row in rows}
    return [f"{EXACT} takes {spent[EXACT]:.2f} ms; {ALLOWED_MS:g} are allowed."] if spent[EXACT] > ALLOWED_MS else []


SAMPLES = 60
CONVERSATION = 3
"""Look-ups of one question: a search, the command itself, and one more that was not needed."""
SEARCH, GET = "search_knowledge, a question", "get_command"


def serving(catalogues: Sequence[Catalogue], meaning: Meaning | None) -> Handler:
    """Return the toolset of a deployment that has these catalogues, behind the frame of every MCP call."""
    reference = Reference(FixedShelf(tuple(catalogues)), meaning)
    return ours(reference_toolset(ReferenceServices(reference=reference, keeps_gaps=False)))


def call(handler: Handler, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a tool, an error as well."""
    return result(handler(modern("tools/call", {"name": tool, "arguments": dict(arguments)}), CONTEXT))


def _json_tokens(value: Any) -> int:
    return estimate_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":"))) if value else 0


def answers(handler: Handler) -> Iterator[tuple[str, list[int]]]:
    """Yield the tokens of the answers of each tool as an agent calls it, for many things each.

    They are those of the larger of text and data: a client puts one of them before a model.
    """
    entries = [placed.entry for placed in catalogue().entries]
    commands = [entry.called for entry in entries if entry.type == "command"][::8][:SAMPLES]
    paths = [(entry.path_template or "").replace("{id}", "42") for entry in entries if entry.type == "api"][::8]
    questions = [query.text for query in paraphrases()][::3][:SAMPLES]
    nothing = [query.text for query in unanswerable()] + [f"helios {name.split()[-1]}-everything" for name in commands]
    slugs = sorted({entry.category for entry in entries if entry.type == "command"})
    calls: dict[str, list[tuple[str, Mapping[str, Any]]]] = {
        SEARCH: [("search_knowledge", {"query": query}) for query in questions],
        "search_knowledge, limit 20": [("search_knowledge", {"query": query, "limit": 20}) for query in questions],
        "search_knowledge, an exact name": [("search_knowledge", {"query": name}) for name in commands],
        "search_knowledge, nothing found": [("search_knowledge", {"query": query}) for query in nothing],
        GET: [("get_command", {"command": name}) for name in commands],
        "get_command, not there": [("get_command", {"command": f"{name[:-2]}{name[-1]}"}) for name in commands],
        "get_api_endpoint": [("get_api_endpoint", {"path": path}) for path in paths[:SAMPLES]],
        "get_api_endpoint, not there": [("get_api_endpoint", {"path": f"{path}/nowhere"}) for path in paths[:SAMPLES]],
        "list_commands, all": [("list_commands", {})],
        "list_commands, a category": [("list_commands", {"category": slug}) for slug in slugs],
    }
    for what, each in calls.items():
        tokens = []
        for found in (call(handler, tool, arguments) for tool, arguments in each):
            shown = "".join(block.get("text", "") for block in found["content"])
            tokens.append(max(estimate_tokens(shown), _json_tokens(found.get("structuredContent"))))
        yield what, tokens


def too_long(what: str, tokens: Sequence[int]) -> list[str]:
    """Return a sentence for a kind of answer that says more than it may."""
    if max(tokens) <= ANSWER_TOKENS:
        return []
    return [f"{what}: {max(tokens):,} tokens, at most {ANSWER_TOKENS:,} are allowed."]


def prompts(handler: Handler, told: Mapping[str, Sequence[int]]) -> Iterator[Row]:
    """Yield a request whose system prompt holds the catalogue, as seed 003 complains of, beside one that looks up."""
    minimal = estimate_tokens(system_prompt(product_of([catalogue().title])))
    tools = result(handler(modern("tools/list", {}), CONTEXT))["tools"]
    # A client puts name, description and input of a tool before a model.
    schemas = sum(_json_tokens({key: tool[key] for key in ("name", "description", "inputSchema")}) for tool in tools)
    lookups = int(median(told[SEARCH])) + (CONVERSATION - 1) * int(median(told[GET]))
    entries = [placed.entry for placed in catalogue().entries]
    commands = [entry for entry in entries if entry.type == "command"]
    for what, embedded in (("every entry", entries), ("every command", commands)):
        lines = (f"- {entry.syntax or entry.called}: {entry.summary}" for entry in embedded)
        whole = estimate_tokens("\n".join(lines))
        yield {
            "in the system prompt": f"{what}: name, syntax, summary",
            "entries": len(embedded),
            "tokens": whole,
            "minimal prompt": minimal,
            "and tools": schemas,
            f"and {CONVERSATION} answers": lookups,
            "saved in the prompt %": round(100 * (1 - minimal / whole), 1),
            "saved in all %": round(100 * (1 - (minimal + schemas + lookups) / whole), 1),
        }


def costs(meaning: Meaning | None) -> tuple[list[Row], list[str]]:
    """Print the tokens of answers, and of a prompt that holds the catalogue."""
    with logging_as_on_lambda():
        handler = serving([catalogue()], meaning)
        told = dict(answers(handler))
        saved = list(prompts(handler, told))
    rows: list[Row] = [
        {"answer": what, "tokens, median": int(median(tokens)), "at most": max(tokens)} for what, tokens in told.items()
    ]
    say("Tokens of an answer, the larger of text and data", rows)
    say("Tokens of a request, beside the catalogue in the system prompt", saved)
    return [*rows, *saved], [fault for each in starmap(too_long, told.items()) for fault in each]


def main(given: Sequence[str]) -> int:
    """Return 1 when too few paraphrases are answered, a look-up takes too long, or an answer says too much."""
    parser = argparse.ArgumentParser(prog="python -m bench.reference", description=__doc__)
    parser.add_argument("--embeddings", default="local", help="a model: local, openai, onnx:/FOLDER, none")
    parser.add_argument("--only", default="quality,speed,costs", help="parts, with commas: quality, speed, costs")
    options = parser.parse_args(given)
    try:
        provider = embedding_model(options.embeddings)
    except Missing as error:
        print(f"Words only: {error}")
        provider = None
    rows: list[Row] = []
    faults: list[str] = []
    with meaning_of([catalogue()], provider) as meaning:
        for part in options.only.split(","):
            if part == "speed":
                found = list(timed(provider))
                say("CPU of a warm call in the process", found)
                wrong = too_slow(found)
            else:
                found, wrong = {"quality": quality, "costs": costs}[part](meaning)
            rows += found
            faults += wrong
    title = "How well, how fast and at what cost the product reference answers"
    print(f"\nWritten to {table.keep('reference', title, rows)}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
