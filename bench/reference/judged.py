"""What is asked of the judged catalogue, and which entries answer it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

NOTHING = "nothing"
SCENARIO = "scenario"
QUERIES = Path(__file__).parent / "queries.yaml"


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
