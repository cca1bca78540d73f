"""What agents are given of the documents over MCP: what readers see of each, by paging, and how much at once.

Comments and invisible characters are left out, and nothing else.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bench.mcp_servers import Caller
from commonplace.repository.comments import visible
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS, MAX_TOKENS, estimate_tokens
from commonplace.web.mcp.rendering import cleaned
from tests.acceptance.truth import Statement, all_of, fact

QUERIES = (
    "What is a DAO?",
    "how do groups make decisions",
    "reimagining power",
    "roles and responsibilities",
    "onboarding new members",
    "local places",
    "counting and recording",
    "who keeps the keys",
)
"""Some are of a knowledge base about organisations, some of the sample."""

USED = 0.9
"""The share of its tokens that a page uses where the document goes on."""

_NEXT = re.compile(r'\A\[Page \d+ of \d+; the next is fetched with id "([^"]+)"\]\n\n')
_MORE = re.compile(r"More: get_document with cursor `([^`]+)`")

Answer = Mapping[str, Any]


def examine(url: str, bodies: Mapping[str, str]) -> Iterator[Statement]:
    """`bodies`: `contentType/id` -> the body as published. Agents may read whole documents there."""
    bodies = {ref: cleaned(visible(body))[0] for ref, body in bodies.items()}
    caller = Caller(url)

    def call(name: str, **arguments: Any) -> Answer:
        return caller("/mcp", "tools/call", {"name": name, "arguments": arguments})

    try:
        wrong = [ref for ref, body in bodies.items() if _fetched(call, ref) != body]
        yield all_of("all that readers see, by fetch page by page", len(bodies), wrong)
        for tokens in (DOCUMENT_TOKENS, MAX_TOKENS):
            pages = {ref: _read(call, ref, tokens) for ref in bodies}
            wrong = [ref for ref, told in pages.items() if "".join(text for text, _ in told) != bodies[ref]]
            yield all_of(f"all that readers see, by get_document with {tokens:,} tokens", len(bodies), wrong)
            spent = [
                (ref, cost, page < len(told)) for ref, told in pages.items() for page, (_, cost) in enumerate(told, 1)
            ]
            unfit = [f"{ref}: {cost}" for ref, cost, more in spent if cost > tokens or (more and cost < USED * tokens)]
            yield all_of(f"pages of {tokens:,} tokens that use nine tenths of them, and no more", len(spent), unfit)
            yield fact(f"documents of one page of {tokens:,} tokens", sum(len(told) == 1 for told in pages.values()))
        for tokens in (DOCUMENT_TOKENS, MAX_TOKENS):
            yield fact(
                f"per cent of the text of found documents that search_with_documents gives with {tokens:,} tokens",
                round(100 * _share(call, bodies, tokens)),
            )
    finally:
        caller.close()


def _fetched(call: Any, ref: str) -> str:
    """What stands between the first and the last line of each page, which say where it belongs."""
    text = str(call("fetch", id=ref)["structuredContent"]["text"])
    if (onward := _NEXT.match(text)) is None:
        return text
    told = _between(text)
    while onward is not None:
        text = json.loads(call("fetch", id=onward[1])["content"][0]["text"])["text"]
        told, onward = told + _between(text), _NEXT.match(text)
    return told


def _between(page: str) -> str:
    return page.partition("\n\n")[2].rpartition("\n\n")[0]


def _read(call: Any, ref: str, tokens: int) -> list[tuple[str, int]]:
    """Each page's text, and what the page costs a model."""
    told: list[tuple[str, int]] = []
    cursor: dict[str, str] = {}
    while True:
        answer = call("get_document", id=ref, maxTokens=tokens, **cursor)
        text, data = answer["content"][0]["text"], answer["structuredContent"]
        written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        told.append((data["content"], max(estimate_tokens(text), estimate_tokens(written))))
        if (more := _MORE.search(text[:2_000])) is None:
            return told
        cursor = {"cursor": more[1]}


def _share(call: Any, bodies: Mapping[str, str], tokens: int) -> float:
    given = whole = 0
    for query in QUERIES:
        for one in call("search_with_documents", query=query, maxTokens=tokens)["structuredContent"]["results"]:
            size = len(bodies[f"{one['contentType']}/{one['id']}"])
            left_out = re.findall(r"\[… ([\d,]+) characters left out …\]", one.get("content", ""))
            given += size - sum(int(found.replace(",", "")) for found in left_out) if "content" in one else 0
            whole += size
    return given / whole if whole else 1.0
