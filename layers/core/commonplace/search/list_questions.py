"""Questions that ask for a list: `all patterns`, `newest documents`, `everything Ada wrote`.

Each word of such a question belongs to its frame (`list_questions.toml`) or names a type, an author, a tag or a date.
Any other word is a subject, and a question with a subject is searched.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from commonplace.search.filters import Filters
from commonplace.search.text import words

Names = Mapping[str, tuple[str, tuple[str, ...]]]
"""Folded phrases, what they name, and the values: `T` several of a type, `S` one of it, `A` authors (after an `@`), `G`
a tag (after a `#`); or further parts of the frame, without values."""

MOST_WORDS, LONGEST_PHRASE = 16, 6


def read(text: str, names: Names) -> tuple[Filters, str] | None:
    """Return the conditions of the list that a question requests, dates as it has them, and what comes first: `newest`,
    `oldest` or `changed`. None if it has a subject or is in quotes."""
    given, parts = words(text), ""
    phrases, patterns = _frames()
    found: dict[str, list[str]] = {"T": [], "A": [], "G": []}
    start, end = None, None
    if len(given) > MOST_WORDS or patterns["quotes"].search(text):
        return None
    while given:
        last = parts.rstrip("f")[-1:]
        for size in range(min(LONGEST_PHRASE, len(given)), 0, -1):
            phrase = " ".join(given[:size])
            tag = names.get(f"#{phrase}") if last in {"t", "G"} else None
            if named := tag or names.get(phrase) or phrases.get(phrase) or names.get(f"@{phrase}"):
                part, values = named
                found.get("T" if part == "S" else part, []).extend(values)
                break
            if patterns["date"].fullmatch(phrase):
                part, day = "Y", phrase.replace(" ", "-")
                start, end = start if last == "u" else start or day, end if last == "s" else day
                break
        else:
            return None
        parts, given = parts + part, given[size:]
    if not patterns["question"].match(parts):
        return None
    types, authors, tags = (tuple(dict.fromkeys(values)) for values in found.values())
    wanted = Filters(content_types=types, authors=authors, tags_all=tags, date_from=start, date_to=end)
    return wanted, "changed" if "c" in parts else "oldest" if "o" in parts else "newest"


@cache
def _frames() -> tuple[Names, Mapping[str, re.Pattern[str]]]:
    """The parts that each folded phrase is, and the patterns of dates, of quotes and of the parts of a question."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    named = [(name, text) for each in data["phrases"].values() for name, texts in each.items() for text in texts]
    parts: Names = {" ".join(words(text)): ("".join(part[0] for part in name.split()), ()) for name, text in named}
    return parts, {name: re.compile(pattern, re.VERBOSE) for name, pattern in data["patterns"].items()}
