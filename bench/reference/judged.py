"""What is asked of the judged catalogue, and which entries answer it."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import yaml

NOTHING = "nothing"
SCENARIO = "scenario"
SEED = 7
QUERIES = Path(__file__).parent / "queries.yaml"

_LONG = re.compile(r"\b[a-z]{5,}\b")


@dataclass(frozen=True, slots=True)
class Query:
    """One question. `answers` are ids, each of which is enough; none where nobody wrote about it."""

    text: str
    kind: str
    answers: frozenset[str]
    held_out: bool
    """Weights were chosen without looking at it."""


@cache
def queries() -> tuple[Query, ...]:
    """All of them, kind by kind."""
    told: Mapping[str, Sequence[Sequence[str]]] = yaml.safe_load(QUERIES.read_text(encoding="utf-8"))
    return tuple(
        Query(str(text), kind, frozenset(answers), held_out=bool(place % 2))
        for kind, lines in told.items()
        for place, (text, *answers) in enumerate(lines)
    )


def paraphrases() -> tuple[Query, ...]:
    """Those that have an answer."""
    return tuple(query for query in queries() if query.kind != NOTHING)


def unanswerable() -> tuple[Query, ...]:
    return tuple(query for query in queries() if query.kind == NOTHING)


@cache
def misspelt() -> tuple[Query, ...]:
    """The paraphrases, each with one mistake in one of its longer words; the same mistakes every time."""
    chance = random.Random(SEED)
    return tuple(
        replace(query, text=query.text.replace(word, _mistaken(word, chance), 1))
        for query in paraphrases()
        if (words := _LONG.findall(query.text)) and (word := chance.choice(words))
    )


def _mistaken(word: str, chance: random.Random) -> str:
    """Two neighbours swapped, a letter left out, one too many, or a wrong one; never the first."""
    at, letter = chance.randrange(1, len(word) - 1), chance.choice("etaoinsr")
    ways = (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[:at] + letter + word[at:],
        word[:at] + letter + word[at + 1 :],
    )
    return chance.choice(ways)
