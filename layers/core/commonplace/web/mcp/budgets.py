"""Token budgets of answers: estimates, cuts, and handles that continue a cut answer.

A client puts the text of an answer before its model, or the structured data, and not both: what counts is the larger of
the two (`rendering.tokens_of`).

Tokens are estimated by kinds of letters (`WEIGHTS`): prose comes to about three and a half bytes of UTF-8 a token, JSON
with names and numbers to three or less. The weights are fitted to the tokenizer of the embedding model, from above: its
vocabulary (32,000) is smaller than that of any current chat model, and those need fewer tokens, not more.

A handle is good for the same tool, query and version only. It carries neither authority nor text: each use passes the
same checks as a first call.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeVar

from pydantic import BaseModel

from commonplace.kernel.errors import InvalidInput
from commonplace.web.sealed import opened, sealed

DEFAULT_TOKENS = 2_300
"""The tokens of an answer by default: about 8 KB, up to which every known client shows it at once."""
DOCUMENT_TOKENS = 5_000
"""The tokens of an answer that gives whole documents, by default: about 17 KB, which clients show, or put in a file
that a model reads; none cuts or refuses it."""
MAX_TOKENS = 20_000
"""The most tokens of any answer; common clients refuse results above 25,000."""
MAX_CHARACTERS = 100_000
"""The most of the text, or the data, of an answer of `MAX_TOKENS`: no character is cheaper than a fifth of a token."""

WEIGHTS = {"letter": 27, "space": 20, "structure": 40, "other": 100, "beyond": 50}
"""Hundredths of a token a byte: ASCII letters, white space, the marks of JSON, other ASCII, what is beyond ASCII."""

_LETTERS = bytes(code for code in range(128) if chr(code).isalpha())
_SPACES = b" \n\t"
_STRUCTURE = b'"{}[]:,'
_ASCII = bytes(range(128))
_BOUNDARIES = ("\n\n", "\n", ". ", " ")
_LOOK_BACK = 0.05
"""A boundary is worth at most this share of a piece, or so many characters if they are more, and never half of it."""
_LOOK_BACK_CHARACTERS = 40
_STEP = 1_000
"""Characters that are weighed together."""

Item = TypeVar("Item")

MAX_HANDLE_CHARACTERS = 512

_PURPOSE = b"mcp-continuation"
_VERSION_BYTES = 6


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a text; pieces laid end to end are the text."""

    text: str
    start: int
    end: int
    """Positions in the whole, in characters."""
    whole: int
    """Characters of the whole."""

    @property
    def complete(self) -> bool:
        return self.end >= self.whole


def estimate_tokens(text: str) -> int:
    """Return the tokens of prose, Markdown, code or JSON alike; at least 1 for text that is not empty."""
    return -(-_hundredths(text) // 100)


def _hundredths(text: str) -> int:
    raw = text.encode("utf-8", "surrogatepass")
    signs = raw.translate(None, _LETTERS)
    marks = signs.translate(None, _SPACES)
    others = marks.translate(None, _STRUCTURE)
    beyond = 0 if text.isascii() else len(others.translate(None, _ASCII))
    return (
        WEIGHTS["letter"] * (len(raw) - len(signs))
        + WEIGHTS["space"] * (len(signs) - len(marks))
        + WEIGHTS["structure"] * (len(marks) - len(others))
        + WEIGHTS["other"] * (len(others) - beyond)
        + WEIGHTS["beyond"] * beyond
    )


def escaped(text: str) -> str:
    """Return the text as it stands in JSON, without quotes: what it weighs in an answer, whose data holds it too."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def piece(
    text: str,
    start: int = 0,
    *,
    max_tokens: int | None = None,
    max_characters: int | None = None,
    write: Callable[[str], str] = str,
) -> Piece:
    """Return the text from `start` on, cut after a paragraph, a line, a sentence or a word, whichever is near enough.

    `write` is how it will be written where tokens count, such as `escaped`, each stretch by itself. The piece is at
    least one character long where there is one, so that whoever continues arrives.
    """
    start = min(max(start, 0), len(text))
    most = len(text) - start if max_characters is None else max(0, max_characters)
    if max_tokens is not None:
        most = min(most, _characters_within(text, start, max_tokens, write))
    end = min(start + max(most, 1), len(text))
    if end < len(text):
        size = end - start
        earliest = end - min(max(int(size * _LOOK_BACK), _LOOK_BACK_CHARACTERS), size // 2)
        stops = ((text.rfind(mark, earliest, end), len(mark)) for mark in _BOUNDARIES)
        end = next((found + size for found, size in stops if found >= 0 and found + size > start), end)
    return Piece(text[start:end], start, end, len(text))


def fitting(items: Iterable[Item], tokens: Callable[[Item], int], max_tokens: int) -> list[Item]:
    """Return as many of the first items as fit together; always the first one, whatever it costs."""
    kept: list[Item] = []
    left = max_tokens
    for item in items:
        left -= tokens(item)
        if left < 0 and kept:
            break
        kept.append(item)
    return kept


def shortened(text: str, max_characters: int) -> str:
    """Return at most so many characters, ellipsis included, cut at a word where one ends near enough."""
    if len(text) <= max_characters:
        return text
    return piece(text, max_characters=max(1, max_characters - 1)).text.rstrip()[: max_characters - 1] + "…"


def _characters_within(text: str, start: int, max_tokens: int, write: Callable[[str], str]) -> int:
    """Return how many characters from `start` on cost at most `max_tokens`."""
    end, left = start, 100 * max(max_tokens, 0)
    while end < len(text) and (cost := _hundredths(write(text[end : end + _STEP]))) <= left:
        end, left = end + _STEP, left - cost
    low, high = 0, min(_STEP, max(len(text) - end, 0))
    while low < high:
        middle = (low + high + 1) // 2
        if _hundredths(write(text[end : end + middle])) <= left:
            low = middle
        else:
            high = middle - 1
    return min(end + low, len(text)) - start


def question_of(arguments: BaseModel, *leaving_out: str) -> str:
    """Return the arguments without the handle and those that only change the page size; names as in the model."""
    return arguments.model_dump_json(exclude=set(leaving_out))


def handle(position: int | str, *, tool: str, question: str, version: str) -> str:
    """Return an opaque handle. `version` is that of what is continued: an ETag, a commit."""
    return sealed(_digest(version) + json.dumps(position).encode(), f"{tool}\n{question}", purpose=_PURPOSE)


def resume(text: str, *, tool: str, question: str, version: str) -> int | str:
    """Return the position. Raises InvalidInput for a handle of another tool, question or version, or an unknown one."""
    refused = "This handle does not continue this question."
    try:
        if len(text) > MAX_HANDLE_CHARACTERS:
            raise ValueError("longer than any handle")
        raw = opened(text, f"{tool}\n{question}", purpose=_PURPOSE)
        position: Any = json.loads(raw[_VERSION_BYTES:])
        if raw[:_VERSION_BYTES] != _digest(version):
            refused = "What this handle continues has changed since."
        elif isinstance(position, int | str) and not isinstance(position, bool):
            return position
    except ValueError:
        pass  # it is no handle of this question
    raise InvalidInput(refused, hint="Start again: repeat the call without the handle.")


def _digest(version: str) -> bytes:
    return blake2b(version.encode("utf-8", "backslashreplace"), digest_size=_VERSION_BYTES).digest()
