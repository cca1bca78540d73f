"""What a look-up and a search cost in the process, warm, beside a search of documents over the same texts; and tokens
of what the tools answer, beside a prompt that holds the catalogue.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from bench.mcp_servers import CONTEXT, Handler, modern, ours, result
from bench.reference.judged import catalogue, of_size, paraphrases, unanswerable
from bench.reference.quality import Fixed
from bench.retrieval import engines
from bench.table import Row, percentile
from commonplace.reference.index_source import record_of
from commonplace.reference.model import Asked, Catalogue, Entry
from commonplace.reference.ports import Meaning
from commonplace.reference.search import VectorMeaning
from commonplace.reference.service import Reference
from commonplace.reference.tools.answers import ANSWER_TOKENS
from commonplace.reference.tools.resources import product_of, system_prompt
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.search.model import EmbeddingProvider, Engine, SearchRequest
from commonplace.search.service import SearchService
from commonplace.web.mcp.budgets import estimate_tokens

LARGE = 5_000
WARM_UP, CALLS = 20, 200
ALLOWED_MS = 5.0
"""CPU of a warm look-up by its exact name, half of the calls and more."""

Call = Callable[[int], object]
"""The nth call of its kind: each asks for something else."""


@dataclass(frozen=True, slots=True)
class Timed:
    """Milliseconds of CPU of each call."""

    what: str
    entries: int
    taken: Sequence[float]
    exact: bool = False
    """Whether it is a look-up by exact name."""

    def row(self) -> Row:
        return {
            "call": self.what,
            "entries": self.entries,
            "p50 ms CPU": median(self.taken),
            "p95 ms CPU": percentile(self.taken, 95),
            "highest": max(self.taken),
        }


def timed(provider: EmbeddingProvider | None) -> Iterator[Timed]:
    """Look-ups and searches over the judged catalogue and over a large one."""
    yield from _alone(catalogue())
    yield from _alone(of_size(LARGE))
    if provider is not None:
        yield from _beside(catalogue(), provider)


def too_slow(all_timed: Sequence[Timed]) -> list[str]:
    """A sentence for each look-up by exact name that takes longer than is allowed."""
    return [
        f"{one.what} over {one.entries:,} entries takes {median(one.taken):.2f} ms; {ALLOWED_MS:g} are allowed."
        for one in all_timed
        if one.exact and median(one.taken) > ALLOWED_MS
    ]


def _alone(whole: Catalogue) -> Iterator[Timed]:
    """What needs neither model nor index."""
    size, shelf = len(whole.entries), Fixed((whole,))
    yield Timed("built for look-ups", size, [_took(lambda _: Reference(shelf).prepare(), 0)])
    reference = Reference(shelf)
    yield Timed("built for words, with the first search", size, [_took(lambda _: _search(reference, "bicycle"), 0)])
    commands = [placed.entry.called for placed in whole.entries if placed.entry.type == "command"]
    paths = [placed.entry.path_template or "" for placed in whole.entries if placed.entry.type == "api"]
    asked = [query.text for query in paraphrases()]
    yield _each("get_command, exact name", size, lambda n: reference.command(_of(commands, n)), exact=True)
    yield _each("search_knowledge, exact name", size, lambda n: _search(reference, _of(commands, n)), exact=True)
    yield _each("get_api_endpoint, concrete path", size, lambda n: reference.endpoint(_concrete(_of(paths, n))))
    yield _each("get_command, misspelt: suggestions", size, lambda n: reference.command(_misspelt(_of(commands, n))))
    yield _each("search_knowledge, words only", size, lambda n: _search(reference, _of(asked, n)))


def _beside(whole: Catalogue, provider: EmbeddingProvider) -> Iterator[Timed]:
    """The search of the reference and that of documents, by turns, over one index of the same texts."""
    records = [record_of(whole, placed) for placed in whole.entries]
    embedded = engines.embedded_records(records, provider, lambda *_: None)
    asked = [query.text for query in paraphrases()]
    with engines.embedded_engine(embedded, provider) as engine:
        ours, theirs = _turns(_reference_search(whole, engine, provider, asked), _documents(engine, provider, asked))
    yield Timed("search_knowledge of the reference, words and meaning", len(records), ours)
    yield Timed("search_knowledge of documents, the same texts", len(records), theirs)


def _reference_search(whole: Catalogue, engine: Engine, provider: EmbeddingProvider, asked: Sequence[str]) -> Call:
    reference = Reference(Fixed((whole,)), VectorMeaning(engine, [provider]))
    return lambda n: _search(reference, _of(asked, n))


def _documents(engine: Engine, provider: EmbeddingProvider, asked: Sequence[str]) -> Call:
    service = SearchService(engine, provider)
    return lambda n: service.search(SearchRequest(_of(asked, n)))


def _turns(ours: Call, theirs: Call) -> tuple[list[float], list[float]]:
    taken = [(_took(ours, n), _took(theirs, n)) for n in range(WARM_UP + CALLS)][WARM_UP:]
    return [one for one, _ in taken], [other for _, other in taken]


def _each(what: str, entries: int, call: Call, *, exact: bool = False) -> Timed:
    taken = [_took(call, n) for n in range(WARM_UP + CALLS)]
    return Timed(what, entries, taken[WARM_UP:], exact)


def _took(call: Call, number: int) -> float:
    began = time.process_time()
    call(number)
    return 1000 * (time.process_time() - began)


def _search(reference: Reference, query: str) -> object:
    return reference.search(Asked(query))


def _of(texts: Sequence[str], number: int) -> str:
    """A prime step: neighbours in the order of names are much alike."""
    return texts[number * 31 % len(texts)]


def _concrete(template: str) -> str:
    return template.replace("{id}", "42")


def _misspelt(name: str) -> str:
    """Without its last letter but one."""
    return name[:-2] + name[-1]


SAMPLES = 60
CONVERSATION = 3
"""Look-ups of one question: a search, the command itself, and one more that was not needed."""


@dataclass(frozen=True, slots=True)
class Told:
    """Tokens of the answers of one kind of call."""

    what: str
    tokens: Sequence[int]

    def row(self) -> Row:
        return {"answer": self.what, "tokens, median": int(median(self.tokens)), "at most": max(self.tokens)}


def serving(meaning: Meaning | None) -> Handler:
    """The toolset of the reference over the judged catalogue, behind the frame of every MCP call."""
    reference = Reference(Fixed((catalogue(),)), meaning)
    return ours(reference_toolset(ReferenceServices(reference=reference, keeps_gaps=False)))


def answers(handler: Handler) -> Iterator[Told]:
    """Each tool as an agent calls it, for many things each."""
    for what, tool, asked in _calls():
        yield Told(what, [_tokens(call(handler, tool, arguments)) for arguments in asked])


def too_long(told: Sequence[Told]) -> list[str]:
    """A sentence for each kind of answer that says more than it may."""
    return [
        f"{one.what}: {max(one.tokens):,} tokens, at most {ANSWER_TOKENS:,} are allowed."
        for one in told
        if max(one.tokens) > ANSWER_TOKENS
    ]


def prompts(handler: Handler, told: Sequence[Told]) -> Iterator[Row]:
    """A request whose system prompt holds the catalogue, and one whose prompt says where to look."""
    entries = [placed.entry for placed in catalogue().entries]
    minimal = estimate_tokens(system_prompt(product_of([catalogue().title])))
    schemas = sum(map(_declared, send(handler, "tools/list", {})["tools"]))
    searched = next(one for one in told if one.what == SEARCH)
    got = next(one for one in told if one.what == GET)
    lookups = int(median(searched.tokens)) + (CONVERSATION - 1) * int(median(got.tokens))
    commands = [entry for entry in entries if entry.type == "command"]
    ours_whole = minimal + schemas + lookups
    for what, embedded in (("every entry", entries), ("every command", commands)):
        whole = estimate_tokens("\n".join(map(embedded_line, embedded)))
        yield {
            "in the system prompt": f"{what}: name, syntax, summary",
            "entries": len(embedded),
            "tokens": whole,
            "minimal prompt": minimal,
            "and tools": schemas,
            f"and {CONVERSATION} answers": lookups,
            "saved in the prompt %": round(100 * (1 - minimal / whole), 1),
            "saved in all %": round(100 * (1 - ours_whole / whole), 1),
        }


def embedded_line(entry: Entry) -> str:
    """What the prompt that seed 003 complains of says of a thing."""
    return f"- {entry.syntax or entry.called}: {entry.summary}"


SEARCH, GET = "search_knowledge, a question", "get_command"


def _calls() -> Iterator[tuple[str, str, Sequence[Mapping[str, Any]]]]:
    entries = [placed.entry for placed in catalogue().entries]
    commands = [entry.called for entry in entries if entry.type == "command"][::8][:SAMPLES]
    paths = [(entry.path_template or "").replace("{id}", "42") for entry in entries if entry.type == "api"][::8]
    questions = [query.text for query in paraphrases()][::3][:SAMPLES]
    yield SEARCH, "search_knowledge", [{"query": query} for query in questions]
    yield "search_knowledge, limit 20", "search_knowledge", [{"query": query, "limit": 20} for query in questions]
    yield "search_knowledge, an exact name", "search_knowledge", [{"query": name} for name in commands]
    nothing = [query.text for query in unanswerable()] + [f"helios {name.split()[-1]}-everything" for name in commands]
    yield "search_knowledge, nothing found", "search_knowledge", [{"query": query} for query in nothing]
    yield GET, "get_command", [{"command": name} for name in commands]
    yield "get_command, not there", "get_command", [{"command": _misspelt(name)} for name in commands]
    yield "get_api_endpoint", "get_api_endpoint", [{"path": path} for path in paths[:SAMPLES]]
    yield "get_api_endpoint, not there", "get_api_endpoint", [{"path": f"{path}/nowhere"} for path in paths[:SAMPLES]]
    yield "list_commands, all", "list_commands", [{}]
    slugs = sorted({entry.category for entry in entries if entry.type == "command"})
    yield "list_commands, a category", "list_commands", [{"category": slug} for slug in slugs]


def call(handler: Handler, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a tool, an error as well."""
    return send(handler, "tools/call", {"name": tool, "arguments": dict(arguments)})


def send(handler: Handler, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return result(handler(modern(method, params), CONTEXT))


def _declared(tool: Mapping[str, Any]) -> int:
    """Of what a client puts before a model of a tool: its name, its description, and what it takes."""
    told = {key: tool[key] for key in ("name", "description", "inputSchema")}
    return estimate_tokens(json.dumps(told, ensure_ascii=False, separators=(",", ":")))


def _tokens(answer: Mapping[str, Any]) -> int:
    """Of the larger of text and data: a client puts one of them before a model."""
    text = "".join(block.get("text", "") for block in answer["content"])
    data = answer.get("structuredContent")
    told = json.dumps(data, ensure_ascii=False, separators=(",", ":")) if data else ""
    return max(estimate_tokens(text), estimate_tokens(told))
