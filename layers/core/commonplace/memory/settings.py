"""Settings of the memory. Names that begin with `KB_` are those of seed 001 ("Configuration")."""

import re
from collections.abc import Mapping
from typing import Literal, Self

from commonplace.kernel.configuration import Kind, one_of, setting, text, whole
from commonplace.kernel.settings import Activity, Organisation
from commonplace.memory.model import DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE, MAX_LIMIT
from commonplace.search.settings import FUSION, Batch


def _confidence(given: str) -> float | None:
    value = float(given) if re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,6})?", given) else -1
    return value if 0 <= value <= 1 else None


class MemorySettings(Activity, Organisation, Batch):
    """Where entries, their vectors and the records of who changed what are."""

    records_table: str = setting(text("the name of the table that holds what is remembered"), "RECORDS_TABLE")
    """The table with the memory; empty for mcp means no toolset `memory`."""
    cache_table: str = setting(text("the name of the table that remembers vectors"), "CACHE_TABLE")
    """The table that caches vectors and rerank orders; empty means in-process caching only."""

    @classmethod
    def where_remembered(cls, environ: Mapping[str, str]) -> Self | None:
        """None where nothing is remembered: a deployment without RECORDS_TABLE."""
        return cls.from_environ(environ) if environ.get("RECORDS_TABLE", "").strip() else None


class MemoryToolSettings(MemorySettings):
    """What a search is taken to mean besides."""

    default_limit: int = setting(
        whole(1, MAX_LIMIT), "KB_DEFAULT_SEARCH_LIMIT", key="kbDefaultSearchLimit", default=DEFAULT_LIMIT
    )
    """Default number of entries from `kb_search` (1 to 50)."""
    min_confidence: float = setting(
        Kind("a number from 0 to 1 with six decimal places at most", _confidence),
        "KB_MIN_CONFIDENCE",
        key="kbMinConfidence",
        default=str(DEFAULT_MIN_CONFIDENCE),
    )
    """Default minimum confidence of an entry (0 to 1)."""
    fusion: str | None = setting(FUSION, "KB_FUSION", key="kbFusion", default=None, shown="`rrf:0.3,0.7`")
    """Like `fusion`, for the memory. With the model `local`, `min-max:0.5,0.5` finds
    [more](../inside/memory-quality.md)."""
    redaction: Literal["off", "mask", "refuse"] = setting(
        one_of("off", "mask", "refuse"), "KB_REDACTION", key="kbRedaction", default="off"
    )
    """Personal data and secrets in the memory: `mask` replaces them, `refuse` refuses the entry, `off` refuses secrets
    only, see [memory](../agents/memory.md)."""
