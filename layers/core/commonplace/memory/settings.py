"""What the memory reads from the environment: of the function that answers agents, and of the one that indexes.

As `settings`: a missing or malformed variable raises SettingsError with the variable's name and its valid values.
Standard library only. The names that begin with `KB_` are those of seed 001 ("Configuration").
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from commonplace.kernel.settings import Environment
from commonplace.memory.model import BATCH, DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE, MAX_LIMIT

_DECIMAL = re.compile(r"[0-9]{1,2}(?:\.[0-9]{1,6})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """Where entries, their vectors and the records of who changed what are, and what a search is taken to mean."""

    records_table: str
    cache_table: str
    activity_table: str
    organisation: str
    """Of callers whom nobody asked who they are: on a laptop alone."""
    default_limit: int = DEFAULT_LIMIT
    """Entries that a search gives which asks for no number of them."""
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    """Of a search that asks for none."""
    batch: int = BATCH
    """Entries that are embedded and written together."""
    fusion: str | None = None
    """As `search.fusion` reads it; None means `memory.searching.SEED_FUSION`."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self | None:
        """None where nothing is remembered: a deployment without RECORDS_TABLE."""
        if not environ.get("RECORDS_TABLE", "").strip():
            return None
        env = Environment(environ)
        return cls(
            records_table=env.text("RECORDS_TABLE", "the name of the table that holds what is remembered"),
            cache_table=env.text("CACHE_TABLE", "the name of the table that remembers vectors"),
            activity_table=env.activity_table(),
            organisation=env.organisation(),
            default_limit=_whole(env, "KB_DEFAULT_SEARCH_LIMIT", DEFAULT_LIMIT, MAX_LIMIT),
            min_confidence=env.parsed(
                "KB_MIN_CONFIDENCE", "a number from 0 to 1", _confidence, str(DEFAULT_MIN_CONFIDENCE)
            ),
            batch=_whole(env, "KB_BATCH_SIZE", BATCH, BATCH),
            fusion=env.fusion("KB_FUSION"),
        )


def _whole(env: Environment, name: str, default: int, most: int) -> int:
    def parse(text: str) -> int | None:
        return int(text) if re.fullmatch(r"[0-9]{1,3}", text) and 1 <= int(text) <= most else None

    return env.parsed(name, f"a whole number from 1 to {most}", parse, str(default))


def _confidence(text: str) -> float | None:
    value = float(text) if _DECIMAL.fullmatch(text) else math.nan
    return value if 0 <= value <= 1 else None
