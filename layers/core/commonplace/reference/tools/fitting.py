"""As much of each entry as an answer has room for: whole, then without outputs, then with less text, then in a line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Any

from commonplace.reference.model import Hit
from commonplace.reference.tools.answers import (
    MAX_EXAMPLES,
    Told,
    ToldExample,
    brief,
    example_of,
    full,
    resource_of,
    row,
    whole,
)
from commonplace.reference.tools.markdown import line
from commonplace.web.mcp.budgets import estimate_tokens, fitting, piece
from commonplace.web.mcp.rendering import compact

ANSWER_TOKENS = 1_000
"""Of an answer, text and data together (the issue of this toolset; three quarters of a page)."""
NOTES_TOKENS = 60
"""Of that, for notes of the frame on how arguments were understood."""
ROOM = ANSWER_TOKENS - NOTES_TOKENS

EXAMPLE_TOKENS = 300
"""Of an example's code, and of its output: what is longer is in the resource."""
OUTPUT_TOKENS = 110
"""Of an output's first lines, where all of them are too many."""
NAME_CHARACTERS = 120
LEAST_CONTENT = 25
"""Tokens below which a beginning of a text says nothing."""

Shown = tuple[Told, str]
"""An entry as data, and for a reader."""


def fit_one(hit: Hit, room: int = ROOM) -> Shown:
    """As much as there is room for. What has to be exact is there whole or not at all."""
    barest = (_view(hit, "", []), Told(**brief(hit), truncated=True))
    return _first_fit(hit, chain(_views(hit), barest), room) or _last(hit)


def fit_many(hits: Sequence[Hit], room: int) -> list[Shown]:
    """As many of the first as fit in a line each; what they leave is spent on more of them, the first one first."""
    lines = [_line(number, hit, room) for number, hit in enumerate(hits, 1)]
    shown = fitting(lines, lambda one: cost(*one), room)
    left = room - sum(cost(*one) for one in shown)
    for at, hit in enumerate(hits[: len(shown)]):
        was = cost(*shown[at])
        number = at + 1 if len(hits) > 1 else None
        more = _first_fit(hit, _views(hit), left + was, number) if left > LEAST_CONTENT else None
        if more is not None:
            left -= cost(*more) - was
            shown[at] = more
    return shown


def fit_names(hits: Sequence[Hit], room: int) -> list[str]:
    """What the first of these are called, as many as there is room for."""
    names = [line(hit.entry.called, NAME_CHARACTERS) for hit in hits]
    return [name for name, spent in zip(names, accumulate(map(name_cost, names)), strict=True) if spent <= room]


def name_cost(name: str) -> int:
    """Told twice, with what stands around it."""
    return 2 * estimate_tokens(compact(name)) + 4


def cost(told: Told, text: str) -> int:
    """Tokens, with what stands between one entry and the next."""
    return estimate_tokens(text) + estimate_tokens(compact(_dumped(told))) + 2


def _first_fit(hit: Hit, views: Iterable[Told], room: int, number: int | None = None) -> Shown | None:
    shown = ((told, whole(told, hit.catalogue, number)) for told in views)
    return next((one for one in shown if cost(*one) <= room), None)


def _views(hit: Hit) -> Iterator[Told]:
    """From all of an entry to the beginning of its text, each with less than the one before."""
    content, examples = hit.entry.content.strip(), _examples(hit)
    bare = [example.model_copy(update={"output": None}) for example in examples]
    for count in (MAX_EXAMPLES, 2, 1):
        if count == MAX_EXAMPLES or count < len(examples):
            yield _view(hit, content, examples[:count])
    yield _view(hit, content, [_beginning(example) for example in examples[:1]])
    yield _view(hit, content, bare[:1])
    share = min(estimate_tokens(content), ROOM // 2)
    while (share := share * 4 // 5) >= LEAST_CONTENT:
        yield _view(hit, piece(content, max_tokens=share).text.rstrip(), bare[:1])
    if bare:
        yield _view(hit, "", bare[:1])


def _view(hit: Hit, content: str, examples: list[ToldExample]) -> Told:
    """Marked where less is told than the first view would."""
    entry = hit.entry
    complete = content == entry.content.strip() and examples == [
        example_of(example) for example in entry.examples[:MAX_EXAMPLES]
    ]
    return Told(**full(hit, examples, content), truncated=None if complete else True)


def _examples(hit: Hit) -> list[ToldExample]:
    """The first that are short enough, without outputs that are not."""
    short = (one for one in hit.entry.examples if estimate_tokens(one.code) <= EXAMPLE_TOKENS)
    told = [example_of(one, output=estimate_tokens(one.output or "") <= EXAMPLE_TOKENS) for one in short]
    return told[:MAX_EXAMPLES]


def _beginning(example: ToldExample) -> ToldExample:
    """With the first lines of its output: nobody types that, so less of it is not wrong."""
    lines = (example.output or "").splitlines()
    first = fitting(lines, lambda row: estimate_tokens(row) + 1, OUTPUT_TOKENS)
    if len(first) == len(lines) or estimate_tokens(lines[0]) > OUTPUT_TOKENS:
        return example.model_copy(update={"output": None})
    return example.model_copy(update={"output": "\n".join([*first, "…"])})


def _line(number: int, hit: Hit, room: int) -> Shown:
    told = Told(**brief(hit))
    shown = told, row(number, told, hit.catalogue)
    return shown if cost(*shown) <= room else _last(hit)


def _last(hit: Hit) -> Shown:
    """Of an entry whose very name has no room here: where it can be read."""
    told = Told(id=hit.entry.id, type=hit.entry.type, catalogue=hit.catalogue.name, truncated=True)
    return told, f"This {hit.entry.type} is too long to be told here: read {resource_of(hit).uri}"


def _dumped(told: Told) -> dict[str, Any]:
    return told.model_dump(mode="json", by_alias=True, exclude_none=True)
