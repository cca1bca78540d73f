"""Parameters of OpenSearch indexes and searches: all that an operator may choose, read once."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, cast

from commonplace.search.text import words

KnnEngine = Literal["lucene", "faiss"]

_INTERVAL = re.compile(r"-1|[1-9][0-9]{0,4}(?:ms|s|m)")
MAX_SYNONYM_RULES = 5_000


@dataclass(frozen=True, slots=True)
class IndexParameters:
    """Defaults suit some hundred thousand chunks on one shard. Counts are numbers of things, `synonyms` Solr rules.

    `engine` is `lucene` on a domain and on a laptop; `faiss` is for serverless collections, which have nothing else.
    """

    engine: KnnEngine = "lucene"
    m: int = 16
    ef_construction: int = 100
    ef_search: int = 200
    """Candidates looked at per search in the graph; never below the number of hits requested."""
    shards: int = 1
    replicas: int = 0
    refresh_interval: str = "1s"
    """How soon a write is found. Explicit, because an index with the default stops refreshing when nobody searches."""
    synonyms: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a JSON object with any of the names of `VALID`. Raises ValueError that names the valid values."""
        try:
            values = json.loads(text or "{}")
        except ValueError:
            raise ValueError(f"OpenSearch parameters are a JSON object with any of: {_described()}") from None
        if not isinstance(values, dict):
            raise ValueError(f"OpenSearch parameters are a JSON object with any of: {_described()}")
        if unknown := sorted(values.keys() - VALID.keys()):
            raise ValueError(f"{', '.join(unknown)}: no such parameter of OpenSearch. There are: {_described()}")
        return cls(**{VALID[name].field: VALID[name].read(name, value) for name, value in values.items()})


@dataclass(frozen=True, slots=True)
class _Parameter:
    field: str
    valid: str
    accept: Callable[[Any], bool]
    change: Callable[[Any], Any] = lambda value: value

    def read(self, name: str, value: Any) -> Any:
        if not self.accept(value):
            raise ValueError(f"{name} is {self.valid}, not {json.dumps(value)[:80]}")
        return self.change(value)


def _whole(field: str, low: int, high: int) -> _Parameter:
    return _Parameter(
        field,
        f"a whole number from {low} to {high}",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high,
    )


def _is_rules(value: Any) -> bool:
    if not isinstance(value, list) or len(value) > MAX_SYNONYM_RULES:
        return False
    for rule in value:
        sides = rule.split("=>") if isinstance(rule, str) else []
        names = [words(name) for side in sides for name in side.split(",")]
        if len(sides) > 2 or len(names) < 2 or not all(names):
            return False
    return True


VALID: Mapping[str, _Parameter] = {
    "engine": _Parameter("engine", "lucene or faiss", lambda value: value in ("lucene", "faiss")),
    "m": _whole("m", 2, 100),
    "efConstruction": _whole("ef_construction", 2, 2_000),
    "efSearch": _whole("ef_search", 1, 10_000),
    "shards": _whole("shards", 1, 64),
    "replicas": _whole("replicas", 0, 8),
    "refreshInterval": _Parameter(
        "refresh_interval",
        "a time such as 1s or 500ms",
        lambda value: isinstance(value, str) and _INTERVAL.fullmatch(value) is not None,
    ),
    "synonyms": _Parameter(
        "synonyms",
        f"a list of at most {MAX_SYNONYM_RULES} rules such as `dao, decentralized autonomous organization` or `a => b`",
        _is_rules,
        lambda rules: tuple(cast("list[str]", rules)),
    ),
}
"""Each name in the JSON, what it may be, and the field it sets."""


def _described() -> str:
    return "; ".join(f"{name} ({parameter.valid})" for name, parameter in VALID.items())
