"""Normalised spelling: letter case, separators, quotes and prompts; and whether two words are one edit apart.

Without a library: it serves the few words by which a query's shape is decided.
"""

import re

from commonplace.search.text import clean_query, fold

PROMPT = "$ "

_DASHES = str.maketrans("‐‑‒–—−", "------")
_CURLED = str.maketrans("‘’“”", "''\"\"")
_QUOTES = ("```", "`", '"', "'")
_PROMPTS = (PROMPT, "> ", "% ")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def typed(text: str) -> str:
    """Return what was meant to be typed: one line, straight quotes, `--` where a word processor made a dash of it."""
    if text.isascii():
        return " ".join(text.split())
    return clean_query(text).replace("—", "--").translate(_DASHES).translate(_CURLED)


def unwrapped(text: str) -> str:
    """Return the text without the quotes, backticks and prompts around the whole of it."""
    text, before = typed(text), None
    while text != before:
        before = text
        for prompt in _PROMPTS:
            text = text.removeprefix(prompt).lstrip()
        for quote in _QUOTES:
            inner = text[len(quote) : -len(quote)]
            if text.startswith(quote) and text.endswith(quote) and inner and quote not in inner:
                text = inner.strip()
                break
    return text


def spelling(text: str) -> str:
    """Equal for what differs in letter case, accents, and in whether words are joined by spaces, `-` or `_`."""
    return " ".join(fold(text).replace("-", " ").replace("_", " ").split())


def spellings(text: str) -> tuple[str, ...]:
    """The spelling, and the one with camelCase read as words, where that is another: `listUsers` is `list users`."""
    plain = spelling(text)
    if text.islower():
        return (plain,)
    humps = spelling(_HUMP.sub(" ", text))
    return (plain,) if humps == plain else (plain, humps)


def parts(word: str) -> tuple[str, ...]:
    """The words that one word joins by `-`, `_`, `.`, `:` or camelCase, folded."""
    separated = _HUMP.sub(" ", word).replace(".", " ").replace(":", " ")
    return tuple(spelling(separated).split())


def one_edit(one: str, other: str) -> bool:
    """One letter inserted, left out or replaced, or two neighbours swapped; equal words are not."""
    if one == other or abs(len(one) - len(other)) > 1:
        return False
    start = _common(one, other)
    left, right = one[start:], other[start:]
    end = _common(left[::-1], right[::-1])
    left, right = left[: len(left) - end], right[: len(right) - end]
    swapped = len(left) == len(right) == 2 and left == right[::-1]
    return swapped or max(len(left), len(right)) <= 1


def _common(one: str, other: str) -> int:
    """Letters that both begin with."""
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
