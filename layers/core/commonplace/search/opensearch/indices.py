"""The indexes of a collection: names, roles by alias, the facts each was built under, and their creation."""

import hashlib
import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from commonplace.kernel.errors import Unavailable
from commonplace.search.migration import Facts
from commonplace.search.model import REBUILD_HINT, EmbeddingProvider, IndexMismatch
from commonplace.search.opensearch import mapping
from commonplace.search.opensearch.bulk import outcome_of, write_alias
from commonplace.search.opensearch.client import WRITE_SECONDS, OpenSearchClient, Refused
from commonplace.search.opensearch.settings import IndexParameters

logger = logging.getLogger(__name__)

MOST_GENERATIONS = 99

REMEMBERED_SECONDS = 2.0
"""How long a reader goes on with the index it knows before it looks for another one."""


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


class Aliases:
    """The indexes that an engine reads and writes: those behind the aliases of a stem."""

    def __init__(
        self,
        client: OpenSearchClient,
        stem: str,
        *,
        remembered_seconds: float = REMEMBERED_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._stem = stem
        self._remembered_seconds = remembered_seconds
        self._clock = clock
        self._opened: dict[str, Opened] = {}
        self._current: tuple[float, Opened | None] | None = None

    def opened(self, name: str) -> Opened:
        """The index of this name. Raises Refused (404) when it is gone, IndexMismatch when it cannot be read."""
        # Facts never change: they are hashed into the name.
        if name not in self._opened:
            self._opened[name] = open_index(self._client, name)
        return self._opened[name]

    def current(self, *, fresh: bool = False) -> Opened | None:
        """The index that answers, known for two seconds unless `fresh`; None when there is none."""
        now = self._clock()
        if not fresh and self._current and now - self._current[0] < self._remembered_seconds:
            return self._current[1]
        name = self.roles().current
        opened = self.opened(name) if name else None
        self._current = (now, opened)
        return opened

    def searched(self) -> Opened | None:
        """The index that was answered from last, however long ago: what is shown goes with what was ranked."""
        return self._current[1] if self._current else self.current()

    def roles(self) -> Roles:
        """The roles as they are now."""
        answer = self._client.indices.get_alias(index=f"{self._stem}-*")
        held = {name: set(found["aliases"]) for name, found in answer.items() if is_index_of(self._stem, name)}
        current, upcoming, previous = (_holder(held, alias) for alias in role_aliases(self._stem))
        spare = sorted(held.keys() - {current, upcoming, previous})
        return Roles(current, upcoming, previous, tuple(spare))


class OneIndex(Aliases):
    """The one index that an engine reads and writes, whatever its role."""

    def current(self, *, fresh: bool = False) -> Opened | None:  # noqa: ARG002 - it never changes
        return self.opened(self._stem)

    def searched(self) -> Opened | None:
        return self.opened(self._stem)

    def roles(self) -> Roles:
        return Roles(current=self._stem)


def role_aliases(stem: str) -> tuple[str, str, str]:
    """The aliases of the index that answers, of the one being built, and of the one to go back to."""
    return stem, f"{stem}-next", f"{stem}-previous"


def index_name(stem: str, facts: Facts, number: int = 1) -> str:
    """`S-{hash12}`, and `S-{hash12}-2` and so on when an index is built anew under equal facts."""
    canonical = json.dumps(asdict(facts), sort_keys=True)
    name = f"{stem}-{hashlib.sha256(canonical.encode()).hexdigest()[:12]}"
    return name if number == 1 else f"{name}-{number}"


def is_index_of(stem: str, name: str) -> bool:
    """Return whether this is the name of an index of the collection, and not of another one whose stem begins alike."""
    return re.fullmatch(re.escape(stem) + r"-[0-9a-f]{12}(?:-[0-9]+)?", name) is not None


def open_index(client: OpenSearchClient, name: str) -> Opened:
    """Reads what an index was built under. Raises Refused when there is none, IndexMismatch when it says nothing."""
    answer = client.indices.get_mapping(index=name, filter_path="*.mappings._meta")
    meta: Mapping[str, Any] = answer.get(name, {}).get("mappings", {}).get("_meta", {})
    try:
        facts = Facts(**meta["commonplace"])
    except (KeyError, TypeError):
        raise IndexMismatch(f"The index {name} does not say what it was built under.", hint=REBUILD_HINT) from None
    if facts.schema != mapping.SCHEMA_VERSION:
        raise IndexMismatch("The search index was built by another version of Commonplace.", hint=REBUILD_HINT)
    return Opened(name, facts, meta.get("dimension"))


def mismatch(found: Sequence[Facts], wanted: Facts) -> IndexMismatch:
    """Return why nothing can be written to indexes of these facts."""
    first = found[0]
    if first.model != wanted.model:
        said = f"The search index was built with the embedding model {first.model}, not with {wanted.model}."
    elif first.chunker != wanted.chunker:
        said = "The search index holds text cut by another version of the chunker."
    elif first.schema != wanted.schema:
        said = "The search index was built by another version of Commonplace."
    else:
        said = "The search index was built with another mapping, analysis or set of parameters than those configured."
    return IndexMismatch(said, hint=REBUILD_HINT)


def _holder(held: Mapping[str, set[str]], alias: str) -> str | None:
    holders = sorted(name for name, aliases in held.items() if alias in aliases)
    if len(holders) > 1:
        # Two first writers under different facts: everybody has to choose the same one.
        logger.warning("several indexes hold one alias", extra={"alias": alias, "indexes": holders})
    return holders[0] if holders else None


def check(client: OpenSearchClient, provider: EmbeddingProvider | None, parameters: IndexParameters) -> None:
    """Raises ValueError for parameters that this cluster cannot have."""
    if client.local and client.serverless:
        raise ValueError("OPENSEARCH_SERVICE aoss is a collection of AWS, not a node of this machine.")
    if provider is None:
        return
    if client.local and parameters.engine != "lucene":
        raise ValueError(
            f"The k-NN engine {parameters.engine} cannot be used on this machine: a local node lacks its native library"
            " and would exit at the first vector. Leave `engine` in OPENSEARCH_PARAMETERS out, or set it to lucene."
        )
    if client.serverless and parameters.engine != "faiss":
        raise ValueError('A serverless collection has no lucene: set `{"engine": "faiss"}` in OPENSEARCH_PARAMETERS.')


def create_first(
    client: OpenSearchClient, stem: str, provider: EmbeddingProvider | None, parameters: IndexParameters
) -> None:
    """Makes the first index of a collection and its alias in one step. Another writer may have been faster."""
    facts = mapping.facts(provider, parameters, serverless=client.serverless)
    name = index_name(stem, facts)
    if client.serverless:
        probe(client, stem)
    body = mapping.index_body(provider, parameters, serverless=client.serverless)
    create(client, name, body, role_aliases(stem)[0])


def create_next(
    client: OpenSearchClient,
    stem: str,
    provider: EmbeddingProvider | None,
    parameters: IndexParameters,
    taken: tuple[str, ...],
) -> str:
    """Makes an empty index with the alias of the one to come, under a name that is not taken, and answers the name."""
    facts = mapping.facts(provider, parameters, serverless=client.serverless)
    if client.serverless:
        probe(client, stem)
    body = mapping.index_body(provider, parameters, serverless=client.serverless, building=True)
    for number in range(1, MOST_GENERATIONS + 1):
        name = index_name(stem, facts, number)
        if name not in taken and create(client, name, body, role_aliases(stem)[1]):
            return name
    raise Unavailable("There are too many indexes of this collection.", hint="Drop those without a role.")


def create(client: OpenSearchClient, name: str, body: dict[str, Any], role: str) -> bool:
    """Makes an index that holds the alias of a role; False when there is one of this name already."""
    vector = body["mappings"]["properties"]["chunks"]["properties"].get("vector")
    if client.local and vector is not None and vector.get("method", {}).get("engine") != "lucene":
        raise ValueError("A vector field without the engine lucene would make the local node exit.")
    aliases: dict[str, Any] = {write_alias(name): {}, role: {}}
    try:
        client.indices.create(index=name, body=body | {"aliases": aliases}, request_timeout=WRITE_SECONDS)
    except Refused as refused:
        if refused.kind != "resource_already_exists_exception":
            raise Unavailable(f"The index could not be created ({refused}).") from refused
        return False
    logger.info("an index was made", extra={"index": name, "alias": role})
    return True


def probe(client: OpenSearchClient, stem: str) -> None:
    """Raises Unavailable for a collection that takes no ids or no versions of ours: a classic vector collection."""
    name = f"{stem}-probe-{secrets.token_hex(4)}"
    body = {"mappings": {"properties": {"id": {"type": "keyword"}}}}
    client.indices.create(index=name, body=body, request_timeout=WRITE_SECONDS)
    try:
        action = {"index": {"_index": name, "_id": "probe", "version": 1, "version_type": "external"}}
        answer = client.bulk(body=[action, {"id": "probe"}], request_timeout=WRITE_SECONDS)
        refusal = next(iter(outcome_of(answer).refused), None)
    except Refused as refused:
        refusal = refused
    finally:
        client.indices.delete(index=name, request_timeout=WRITE_SECONDS)
    if refusal:
        raise Unavailable(
            f"This serverless collection takes no document ids or no external versions ({refusal}): without them late"
            " writes would undo newer ones.",
            hint="Use a managed domain, or a collection of the next generation (experimental).",
            retry_after_seconds=3_600,
        )
