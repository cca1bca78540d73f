"""Questions as people put them, by REST and by MCP: what they find first, and what finds nothing.

Each names the files that it is about, and is asked of any clone that publishes them; the others are named as skipped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from bench.mcp_servers import Caller
from tests.acceptance.reading import Page, words
from tests.acceptance.truth import Statement, all_of, equal, fact, none

LIMIT = 5


@dataclass(frozen=True, slots=True)
class Question:
    """The files must be among the first `within` results, in any order."""

    text: str
    files: tuple[str, ...]
    within: int


DAOS, TITLED = "data/concepts/daos.md", "data/links/rndao-what-is-dao-conceptual-foundations.md"
GUIDE, NATIONS = "data/links/sobol-pragmatists-guide-daos.md", "data/resources/patterns/coordi-nations.md"
GOVERNANCE, ORGANISING = "data/concepts/governance.md", "data/links/Decentralised Tech & the Future of Organising.md"
BUTERIN = ("data/links/vitalik-buterin-thoughts-on-daos.md", "data/links/retroactive-public-goods-funding.md")
COMPARED = tuple(
    f"data/stories/articles/going-daonwind/daos-are-like-{what}.md" for what in ("planetary-systems", "water")
)

QUESTIONS = (
    Question("What is a DAO?", (TITLED, DAOS), 2),
    Question("what is a dao", (TITLED, DAOS), 2),
    Question("define DAO", (DAOS,), 2),
    Question("¿qué es una DAO?", (DAOS,), 2),
    Question("was ist eine DAO?", (DAOS,), 2),
    Question("a16z", ("data/links/a16z-dao-canon.md", "data/links/a16z-guide-decentralized-science.md"), 2),
    Question("coordinations", (NATIONS, "data/concepts/coordination.md"), 3),
    Question("coordi-nations", (NATIONS,), 1),
    Question("daoing", (GUIDE, DAOS), 3),
    Question("vitalk", BUTERIN[:1], 1),
    Question("decentralised governance", (GOVERNANCE,), 1),
    Question("decentralized tech and the future of organizing", (ORGANISING,), 1),
    Question("what is decentralisation?", ("data/concepts/decentralization.md",), 1),
    Question("Vitalik Buterin", BUTERIN, 3),
    Question("articles by Ayusha Mahajan", COMPARED, 3),
    Question("what is a quadrat?", ("data/concepts/quadrat.md",), 1),
    Question("harbor watch", ("data/groups/harbour-watch.md",), 1),
    Question("Wendeline Marsh", ("data/links/Tide Tables – How to Read One.md",), 1),
)
"""Some are of a knowledge base about organisations, some of the sample."""

NOTHING = ("xyzzy blorb", "florbin grattle", "wibbleflarn")

TAGGED = (
    ("which of our patterns are about good data", "data-quality"),
    ("which of our patterns are about autonomy", "autonomy"),
    ("patterns about governance", "governance"),
)
"""Each is about the patterns with that tag, if there are any."""

MISSPELT = {"vitalk": "vitalik", "¿qué": None, "¿qué es una DAO?": None, "xyzzy blorb": None}
"""What may be suggested, where the clone knows that word at all; else nothing."""


@dataclass(frozen=True, slots=True)
class Answered:
    paths: Sequence[str]
    suggestion: str | None


Asker = Mapping[str, Answered]
"""Question -> what an interface answers."""


def examine(api: httpx.Client, url: str, published: Mapping[str, Page], refs: Mapping[str, str]) -> Iterator[Statement]:
    """Ask everything by both interfaces. `refs`: `contentType/id` -> path of every document that is served."""
    texts = [*_asked(published), *NOTHING, *(text for text, _ in TAGGED), *MISSPELT]
    rest = {question: _by_rest(api, question) for question in texts}
    caller = Caller(url)
    mcp = {question: _by_mcp(caller, question, refs) for question in texts}
    caller.close()
    return statements(published, refs, {"REST": rest, "MCP": mcp})


def statements(
    published: Mapping[str, Page], refs: Mapping[str, str], interfaces: Mapping[str, Asker]
) -> Iterator[Statement]:
    """Yield what is true of the answers that the interfaces gave to the same questions."""
    asked = _asked(published)
    spoken = {word for page in published.values() for word in words(f"{page.title} {page.body}")}
    yield fact("questions that no file of this clone is about", len(QUESTIONS) - len(asked))
    for question in asked.values():
        first = {name: answers[question.text].paths[: question.within] for name, answers in interfaces.items()}
        found = min(len({*question.files} & {*paths}) for paths in first.values())
        shown = [f"{name}: {', '.join(paths) or 'nothing'}" for name, paths in first.items()]
        claim = f'"{question.text}" finds what it is about in the first {question.within}'
        yield equal(claim, len(question.files), found, shown)
    for text, tag in TAGGED:
        patterns = (path for ref, path in refs.items() if ref.startswith("pattern/"))
        if wanted := {path for path in patterns if tag in published[path].tags}:
            # Three of them among the results, or all where there are fewer.
            enough = min(3, len(wanted))
            found = min(len(wanted & {*answers[text].paths}) for answers in interfaces.values())
            shown = [f"{name}: {', '.join(answers[text].paths) or 'nothing'}" for name, answers in interfaces.items()]
            claim = f'"{text}" finds patterns with that tag in the first {LIMIT}'
            yield equal(claim, enough, min(found, enough), shown)
    for name, answers in interfaces.items():
        nothing = [text for text in NOTHING if spoken.isdisjoint(words(text))]
        some = [f"{text}: {', '.join(answers[text].paths[:2])}" for text in nothing if answers[text].paths]
        yield all_of(f"words that nobody wrote find nothing, by {name}", len(nothing), some)
        suggested = {text: answers[text].suggestion for text in MISSPELT}
        sensible = {text: {None, meant} if meant in spoken else {None} for text, meant in MISSPELT.items()}
        nonsense = [f"{text}: {word}" for text, word in suggested.items() if word not in sensible[text]]
        yield none(f"suggestions that make no sense, by {name}", nonsense)
    one, *others = interfaces.values()
    differing = [text for text, answer in one.items() if any(other[text] != answer for other in others)]
    yield all_of("questions that REST and MCP answer alike", len(one), differing)


def _asked(published: Mapping[str, Page]) -> dict[str, Question]:
    return {question.text: question for question in QUESTIONS if published.keys() >= {*question.files}}


def _by_rest(api: httpx.Client, text: str) -> Answered:
    answer: dict[str, Any] = api.get("/api/v1/search", params={"q": text, "limit": str(LIMIT)}).json()
    return Answered([hit["path"] for hit in answer["results"] if hit["fit"] != "weak"], answer.get("suggestion"))


def _by_mcp(caller: Caller, text: str, refs: Mapping[str, str]) -> Answered:
    arguments = {"query": text, "limit": LIMIT}
    told = caller("/mcp", "tools/call", {"name": "search_knowledge", "arguments": arguments})["structuredContent"]
    found = [refs[f"{hit['contentType']}/{hit['id']}"] for hit in told["results"] if hit["fit"] != "weak"]
    return Answered(found, told.get("suggestion"))
