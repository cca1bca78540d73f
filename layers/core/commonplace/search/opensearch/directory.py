"""Which index has which role, asked of the aliases; and under which facts each was built."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from commonplace.search.generations import Facts
from commonplace.search.model import IndexMismatch
from commonplace.search.opensearch import mapping, names
from commonplace.search.opensearch.connection import Connection, Refused

logger = logging.getLogger(__name__)

REMEMBERED_SECONDS = 2.0
"""How long a reader goes on with the index it knows before it looks for another one."""

REBUILD = (
    "Run `commonplace index build`, which rebuilds the index beside the one that answers,"
    " then `commonplace index swap`."
)


@dataclass(frozen=True, slots=True)
class Opened:
    """An index and what it was built under."""

    name: str
    facts: Facts
    dimension: int | None


@dataclass(frozen=True, slots=True)
class Roles:
    """The indexes of a collection by role, by name."""

    current: str | None = None
    upcoming: str | None = None
    previous: str | None = None
    spare: tuple[str, ...] = ()

    @property
    def served(self) -> tuple[str, ...]:
        """Those that writes go to, if their facts allow it."""
        return tuple(dict.fromkeys(name for name in (self.current, self.upcoming, self.previous) if name))

    @property
    def every(self) -> tuple[str, ...]:
        return (*self.served, *self.spare)


class Directory(Protocol):
    """Where an engine reads and writes."""

    def opened(self, name: str) -> Opened:
        """The index of this name. Raises Refused (404) when it is gone, IndexMismatch when it cannot be read."""
        ...

    def current(self, *, fresh: bool = False) -> Opened | None:
        """The index that answers, known for two seconds unless `fresh`; None when there is none."""
        ...

    def searched(self) -> Opened | None:
        """The index that was answered from last, however long ago: what is shown goes with what was ranked."""
        ...

    def roles(self) -> Roles:
        """As they are now."""
        ...


class Aliases:
    """The directory that follows the aliases of a stem."""

    def __init__(
        self,
        connection: Connection,
        stem: str,
        *,
        remembered_seconds: float = REMEMBERED_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._stem = stem
        self._remembered_seconds = remembered_seconds
        self._clock = clock
        self._opened: dict[str, Opened] = {}
        self._current: tuple[float, Opened | None] | None = None

    def opened(self, name: str) -> Opened:
        # Facts never change: they are hashed into the name.
        if name not in self._opened:
            self._opened[name] = open_index(self._connection, name)
        return self._opened[name]

    def current(self, *, fresh: bool = False) -> Opened | None:
        now = self._clock()
        if not fresh and self._current and now - self._current[0] < self._remembered_seconds:
            return self._current[1]
        name = self.roles().current
        opened = self.opened(name) if name else None
        self._current = (now, opened)
        return opened

    def searched(self) -> Opened | None:
        return self._current[1] if self._current else self.current()

    def roles(self) -> Roles:
        answer = self._connection.call("GET", f"/{self._stem}-*/_alias")
        held = {name: set(told["aliases"]) for name, told in answer.items() if names.is_index_of(self._stem, name)}
        current = _holder(held, names.current(self._stem))
        upcoming = _holder(held, names.upcoming(self._stem))
        previous = _holder(held, names.previous(self._stem))
        spare = sorted(held.keys() - {current, upcoming, previous})
        return Roles(current, upcoming, previous, tuple(spare))


class OneIndex:
    """The directory of an engine that reads and writes one index, whatever its role."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._opened: Opened | None = None

    def opened(self, name: str) -> Opened:
        if self._opened is None:
            self._opened = open_index(self._connection, name)
        return self._opened

    def current(self, *, fresh: bool = False) -> Opened | None:  # noqa: ARG002 - it never changes
        return self.opened(self._name)

    def searched(self) -> Opened | None:
        return self.opened(self._name)

    def roles(self) -> Roles:
        return Roles(current=self._name)


def open_index(connection: Connection, name: str) -> Opened:
    """Reads what an index was built under. Raises Refused when there is none, IndexMismatch when it says nothing."""
    answer = connection.call("GET", f"/{name}/_mapping", params={"filter_path": "*.mappings._meta"})
    meta: Mapping[str, Any] = answer.get(name, {}).get("mappings", {}).get("_meta", {})
    try:
        facts = Facts(**meta["commonplace"])
    except (KeyError, TypeError):
        raise IndexMismatch(f"The index {name} does not say what it was built under.", hint=REBUILD) from None
    if facts.schema != mapping.SCHEMA_VERSION:
        raise IndexMismatch("The search index was built by another version of Commonplace.", hint=REBUILD)
    return Opened(name, facts, meta.get("dimension"))


def mismatch(found: Sequence[Facts], wanted: Facts) -> IndexMismatch:
    """Why nothing can be written to indexes of these facts."""
    first = found[0]
    if first.model != wanted.model:
        said = f"The search index was built with the embedding model {first.model}, not with {wanted.model}."
    elif first.chunker != wanted.chunker:
        said = "The search index holds text cut by another version of the chunker."
    elif first.schema != wanted.schema:
        said = "The search index was built by another version of Commonplace."
    else:
        said = "The search index was built with another mapping, analysis or set of parameters than those configured."
    return IndexMismatch(said, hint=REBUILD)


def is_gone(error: Refused) -> bool:
    """Whether an index, or the alias asked for, is not there any more."""
    return error.status_code == 404


def _holder(held: Mapping[str, set[str]], alias: str) -> str | None:
    holders = sorted(name for name, aliases in held.items() if alias in aliases)
    if len(holders) > 1:
        # Two first writers under different facts: everybody has to choose the same one.
        logger.warning("several indexes hold one alias", extra={"alias": alias, "indexes": holders})
    return holders[0] if holders else None
