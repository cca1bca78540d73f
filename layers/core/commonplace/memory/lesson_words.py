"""The words by which lessons and their files are recognised, of `lesson_words.toml`, and the kinds of lessons."""

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from commonplace.memory.model import Role

_WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def patterns(section: str) -> dict[str, re.Pattern[str]]:
    """Return the patterns of a section by their names."""
    parts: dict[str, str] = {}

    def whole(pattern: str) -> str:
        joined = pattern.replace("\n", "")
        return re.sub(r"\{([a-z]+)\}", lambda found: parts[found[1]], joined)

    for name, pattern in _WORDS["parts"].items():
        parts[name] = whole(pattern)
    return {name: re.compile(whole(pattern)) for name, pattern in _WORDS[section].items()}


@dataclass(frozen=True, slots=True)
class Category:
    """A kind of lessons, as `lesson_words.toml` describes it."""

    category: str
    key: str
    title: str
    tags: tuple[str, ...]
    roles: tuple[Role, ...]
    headings: re.Pattern[str]
    confidence: float = 1.0


CATEGORIES = tuple(
    Category(
        **one
        | {
            "tags": tuple(one["tags"]),
            "roles": tuple(one["roles"]),
            "headings": re.compile(rf"(?:{one['headings']})\b"),
        }
    )
    for one in _WORDS["categories"]
)
_SECTION = patterns("sections")
_POLARITY = patterns("polarity")


def of_heading(text: str) -> Category | None:
    """Return the kind of section that this heading begins, however it goes on; None if it is none of them.

    Words that only qualify may stand before it: `Key Recommendations`, `QA Verification Notes`.
    """
    words = re.sub(r"\A[^\w]+|\A\d+[.)]\s+", "", text.casefold()).strip(": ")
    last = _SECTION["last"].fullmatch(words)
    begins = {0, before.end() if (before := _SECTION["before"].match(words)) else 0, last.start(1) if last else 0}
    return next((one for at in sorted(begins) for one in CATEGORIES if one.headings.match(words, at)), None)


@lru_cache(maxsize=1024)
def polarity(text: str) -> str:
    """Return `went-well` or `went-wrong` where a heading says one of them; empty for neither, and for both."""
    found = [name for name, words in _POLARITY.items() if words.search(text)]
    return found[0] if len(found) == 1 else ""
