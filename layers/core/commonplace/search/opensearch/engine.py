"""The search index in OpenSearch: words by BM25, meaning by k-NN over nested chunks, versions kept by the engine."""

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import Any, Generic, TypeVar

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.filters import Filters
from commonplace.search.migration import Facts, Generation, Role
from commonplace.search.model import (
    VECTOR_FLOOR,
    Candidates,
    EmbeddingProvider,
    Found,
    IndexedRecord,
    IndexMismatch,
    Page,
    Position,
    QueryVector,
    Record,
    RecordId,
    Standing,
    Tombstone,
)
from commonplace.search.opensearch import indices, mapping, queries, search
from commonplace.search.opensearch.bulk import Refresh, Vanished, Write, refresh_index, send
from commonplace.search.opensearch.client import WRITE_SECONDS, Numbers, OpenSearchClient, Refused, encode
from commonplace.search.opensearch.indices import Aliases, OneIndex, Opened, Roles
from commonplace.search.opensearch.queries import Query as Body
from commonplace.search.opensearch.settings import IndexParameters
from commonplace.search.query import Query

T = TypeVar("T")


class RecordMemory(Generic[T]):
    """The memory of one process, by index, record and version. The one that was wanted longest ago goes first.

    Who ranks records says in which versions they were found (`check`), before what is remembered of them is used.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._kept: OrderedDict[tuple[str, RecordId], tuple[int, T]] = OrderedDict()
        self._lock = Lock()

    def check(self, index: str, versions: Iterable[tuple[RecordId, int]]) -> None:
        """Forgets those of other versions."""
        with self._lock:
            for record, version in versions:
                kept = self._kept.get((index, record))
                if kept is not None and kept[0] != version:
                    del self._kept[index, record]

    def known(self, index: str, wanted: Sequence[RecordId]) -> dict[RecordId, T]:
        """Those of the wanted that are remembered."""
        found: dict[RecordId, T] = {}
        with self._lock:
            for record in wanted:
                if kept := self._kept.get((index, record)):
                    found[record] = kept[1]
                    self._kept.move_to_end((index, record))
        return found

    def remember(self, index: str, read: Mapping[RecordId, tuple[int, T]]) -> None:
        with self._lock:
            for record, kept in read.items():
                self._kept[index, record] = kept
            while len(self._kept) > self._capacity:
                self._kept.popitem(last=False)

    def forget(self) -> None:
        """All of it."""
        with self._lock:
            self._kept.clear()


logger = logging.getLogger(__name__)

UNREADABLE = Facts(schema="unknown", chunker="unknown", model="unknown", mapping="unknown")
"""The facts of an index that does not say its own."""

MOST_TOKENS_REMEMBERED = 5_000
"""Records; about 30 MB."""

MOST_SOURCES_REMEMBERED = 1_000
"""Records with the texts of their chunks; about 20 MB."""


class OpenSearchEngine:
    """One collection behind the alias `stem`, any number of readers and writers in any number of processes.

    Of `provider` only the facts are used. Writes go to every index of the collection that was built under these facts;
    when there is no index at all, the first write makes one. A reader follows the alias within two seconds; it searches
    an index of any model, and words only when the query's vector is of another one. `refresh` says whether a write
    returns before searches find it (`false`, as it should be but in tests).
    """

    def __init__(
        self,
        client: OpenSearchClient,
        stem: str,
        provider: EmbeddingProvider | None,
        parameters: IndexParameters | None = None,
        *,
        refresh: Refresh = "false",
        directory: Aliases | None = None,
        vector_floor: float = VECTOR_FLOOR,
        state_seconds: float = indices.REMEMBERED_SECONDS,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._stem = stem
        self._provider = provider
        self._parameters = parameters or IndexParameters()
        indices.check(client, provider, self._parameters)
        self._facts = mapping.facts(provider, self._parameters, serverless=client.serverless)
        self._refresh = refresh
        self._directory = directory or Aliases(client, stem)
        self._vector_floor = vector_floor
        self._state_seconds = state_seconds
        self._now = now
        self._prepared: tuple[QueryVector, Numbers | None] | None = None
        self._tokens = RecordMemory[tuple[bytes, ...]](MOST_TOKENS_REMEMBERED)
        self._sources = RecordMemory[Record](MOST_SOURCES_REMEMBERED)
        self._counted: tuple[str, float, str | None] | None = None

    def write(self, upserts: Sequence[IndexedRecord], tombstones: Sequence[Tombstone]) -> None:
        """Applies what is newer than what is there, in every index of these facts."""
        with_vectors = self._provider is not None
        for indexed in upserts if with_vectors else ():
            mapping.check_vectors(indexed)
        now_ms = int(self._now() * 1000)
        versioned = [(item.record.id, *mapping.written(item, with_vectors=with_vectors)) for item in upserts]
        versioned += [(gone.id, *mapping.buried(gone, now_ms)) for gone in tombstones]
        self.forget()
        writes = [Write(record, version, encode(source)) for record, version, source in versioned]
        for attempt in (1, 2):
            try:
                return self._send(writes)
            except Vanished as gone:
                # Dropped under the write: what is there now takes it.
                if attempt == 2:
                    raise Unavailable("The search index is being replaced.", retry_after_seconds=5) from gone
            except Refused as refused:
                if attempt == 2 or not refused.is_gone:
                    raise _unexpected(refused) from refused
        return None

    def replace(self, records: Sequence[IndexedRecord]) -> None:
        """Builds another index of these records and lets it take over; the one before stays as the previous one."""

        generations = OpenSearchGenerations(self._client, self._stem, self._provider, self._parameters)
        before = self._directory.roles().previous
        made = generations.create_next(anew=True)
        generations.engine(made.name).write(records, ())
        generations.settle(made.name)
        generations.swap()
        if before:
            generations.drop(before)
        self._directory.current(fresh=True)

    def model(self) -> str | None:
        """The model of the index that answers now, known for two seconds."""
        opened = self._directory.current()
        return None if opened is None or opened.facts.model == mapping.LEXICAL_ONLY else opened.facts.model

    def state(self) -> str | None:
        """Counts of the index that answers, known for `state_seconds`; None of a collection, which has none."""
        opened = None if self._client.serverless else self._directory.current()
        if opened is None:
            return None
        known, now = self._counted, time.monotonic()
        if known is None or known[0] != opened.name or now - known[1] >= self._state_seconds:
            known = self._counted = (opened.name, now, search.counts(self._client, opened.name))
        return known[2]

    def candidates(self, query: Query, vector: QueryVector | None, filters: Filters, size: int) -> Candidates:
        """All legs in one request, and one more when words may be misspelt."""
        nothing = Candidates(lexical=(), vector=(), total=0)
        return self._read(lambda opened: self._candidates(opened, query, vector, filters, size), nothing)

    def page(self, query: Query, filters: Filters, size: int, after: Position | None = None) -> Page:
        """A page of the lexical ranking. Writes meanwhile move scores a little, and so may show a record twice."""
        if not query.terms:
            return Page((), 0, None)
        where = queries.conditions(filters)
        # One more than requested shows whether there is another page.
        leg = queries.ranked(queries.lexical(query.terms, where), size + 1, counted=True, after=after)
        body = leg if after else leg | search.suggester(query)

        def ask(opened: Opened) -> Page:
            (answer,) = search.multi_search(self._client, opened.name, [body], query.text)
            self._check(opened, [answer])
            found = search.hits(answer)
            last = Position(found[size - 1].score, found[size - 1].id) if len(found) > size else None
            suggestions = self._suggestions(opened, query, answer, where)
            return Page(tuple(found[:size]), search.total(answer), last, suggestions)

        return self._read(ask, Page((), 0, None))

    def fetch(
        self, wanted: Sequence[tuple[RecordId, int | None]], query: Query, vector: QueryVector | None = None
    ) -> dict[RecordId, Found]:
        """Read from the index that was searched last, so that what is shown goes with what was ranked.

        Where every chunk is named, one request at most, and none for what was shown before.
        """

        def ask(opened: Opened) -> dict[RecordId, Found]:
            ordinals = {record: ordinal for record, ordinal in wanted if ordinal is not None}
            whole = self._sources.known(opened.name, list(ordinals))
            if missing := [record for record in ordinals if record not in whole]:
                read = search.sources(self._client, opened.name, missing)
                self._sources.remember(opened.name, {record: (found.version, found) for record, found in read.items()})
                whole |= read
            found = {record: search.shown(source, ordinals[record]) for record, source in whole.items()}
            if unnamed := [record for record, ordinal in wanted if ordinal is None]:
                found |= search.fetch(
                    self._client,
                    opened.name,
                    unnamed,
                    query=query,
                    vector=self._numbers(opened, vector),
                    ef_search=self._parameters.ef_search,
                )
            return found

        return self._read(ask, {}, searched=True) if wanted else {}

    def tokens(self, wanted: Sequence[RecordId]) -> dict[RecordId, tuple[bytes, ...]]:
        """One request for those that are not remembered; from the index that was searched last."""

        def ask(opened: Opened) -> dict[RecordId, tuple[bytes, ...]]:
            found = self._tokens.known(opened.name, wanted)
            if missing := [record for record in wanted if record not in found]:
                read = search.tokens(self._client, opened.name, missing)
                self._tokens.remember(opened.name, read)
                found |= {record: parts for record, (_, parts) in read.items()}
            return found

        return self._read(ask, {}, searched=True) if wanted else {}

    def ranks(self, record: RecordId, query: Query, vector: QueryVector | None, filters: Filters) -> Standing:
        """Several requests: nobody but an operator who asks why waits for them."""
        where = queries.conditions(filters)

        def ask(opened: Opened) -> Standing:
            client, index = self._client, opened.name
            held = search.held(client, index, [record]).get(record)
            if held is None or not search.admitted(client, index, record, where):
                return Standing(None, None, held=held)
            numbers = self._numbers(opened, vector)
            lexical = search.rank_by_words(client, index, record, query, where) if query.terms else None
            meaning = search.rank_by_vector(client, index, record, numbers, where) if numbers else None
            below = meaning[1] if meaning and meaning[1] < self._vector_floor else None
            return Standing(lexical, None if below is not None else meaning, below, held, admitted=True)

        return self._read(ask, Standing(None, None))

    def versions(self) -> Iterator[tuple[RecordId, int]]:
        """Every live record and its version, of the index that writes go to."""
        opened = self._listed()
        return search.live(self._client, opened.name) if opened else iter(())

    def held(self, ids: Sequence[RecordId]) -> dict[RecordId, int]:
        opened = self._listed()
        return search.held(self._client, opened.name, ids) if opened and ids else {}

    def incomplete(self) -> Iterator[RecordId]:
        opened = self._listed()
        if opened is None or opened.facts.model == mapping.LEXICAL_ONLY:
            return iter(())
        return (record for record, _ in search.live(self._client, opened.name, waiting=True))

    def sweep(self, before: datetime) -> int:
        """Forgets tombstones buried before then, in every index of these facts; says how many the fullest one had."""
        moment = before if before.tzinfo else before.replace(tzinfo=UTC)
        old = {"range": {"buried": {"lt": int(moment.timestamp() * 1000)}}}
        query = {"query": {"bool": {"filter": [{"term": {"deleted": True}}, old]}}}
        swept = 0
        for opened in self._writable(self._directory.roles()):
            refresh_index(self._client, opened.name)
            answer = self._client.delete_by_query(
                index=opened.name, body=query, conflicts="proceed", refresh=True, request_timeout=WRITE_SECONDS
            )
            swept = max(swept, int(answer["deleted"]))
        return swept

    def forget(self) -> None:
        """Lets go of what was read of records: the next search reads it again."""
        self._tokens.forget()
        self._sources.forget()

    def close(self) -> None:
        """Closes idle connections; the next call opens one again."""
        self._client.close()

    def _candidates(
        self, opened: Opened, query: Query, vector: QueryVector | None, filters: Filters, size: int
    ) -> Candidates:
        where = queries.conditions(filters)
        numbers = self._numbers(opened, vector)
        bodies: list[Body] = [queries.names_of(queries.named(query, where)), queries.counted(queries.LIVE)]
        if query.terms:
            leg = queries.ranked(queries.lexical(query.terms, where), size, counted=True)
            bodies.append(leg | search.suggester(query))
        if numbers:
            leg = queries.nearest(numbers, where, size, self._parameters.ef_search)
            bodies.append(queries.ranked(leg, size, counted=False))
        ranked = search.multi_search(self._client, opened.name, bodies, query.text)
        self._check(opened, ranked)
        answers = iter(ranked)
        named, records = search.named(next(answers), query), search.total(next(answers))
        found = next(answers) if query.terms else None
        near = search.similar(next(answers), self._vector_floor) if numbers else []
        return Candidates(
            lexical=tuple(search.hits(found)) if found else (),
            vector=tuple(near),
            total=search.total(found) if found else 0,
            named=tuple(named[:size]),
            records=records,
            degraded=vector is not None and not _comparable(opened, vector),
            suggestions=self._suggestions(opened, query, found, where) if found else (),
            index=opened.name,
        )

    def _check(self, opened: Opened, answers: Sequence[Mapping[str, Any]]) -> None:
        versions = search.versions(answers)
        self._tokens.check(opened.name, versions)
        self._sources.check(opened.name, versions)

    def _numbers(self, opened: Opened, vector: QueryVector | None) -> Numbers | None:
        """The vector, when the index can compare it. A query's is needed twice: to rank, and to show."""
        if vector is None or not _comparable(opened, vector):
            return None
        prepared = self._prepared
        if prepared is None or prepared[0] is not vector:
            prepared = (vector, Numbers(vector.values) if mapping.usable(vector.values) else None)
            self._prepared = prepared
        return prepared[1]

    def _suggestions(
        self, opened: Opened, query: Query, answer: Mapping[str, Any], where: Sequence[Body]
    ) -> tuple[str, ...]:
        return search.suggestions(self._client, opened.name, query, search.proposals(answer), where)

    def _read(self, ask: Callable[[Opened], T], nothing: T, *, searched: bool = False) -> T:
        """Asks the index that answers, and once more when it was dropped a moment ago."""
        try:
            opened = self._directory.searched() if searched else self._directory.current()
            return ask(opened) if opened else nothing
        except Refused as refused:
            if not refused.is_gone:
                raise _unexpected(refused) from refused
        try:
            opened = self._directory.current(fresh=True)
            return ask(opened) if opened else nothing
        except Refused as refused:
            raise _unexpected(refused) from refused

    def _send(self, writes: Sequence[Write]) -> None:
        roles = self._directory.roles()
        if not roles.served:
            indices.create_first(self._client, self._stem, self._provider, self._parameters)
            roles = self._directory.roles()
        if not roles.served:
            raise Unavailable("The search index was removed while it was created.", retry_after_seconds=5)
        targets = self._writable(roles)
        if not targets:
            raise indices.mismatch([self._directory.opened(name).facts for name in roles.served], self._facts)
        try:
            for opened in targets:
                send(self._client, opened.name, writes, self._refresh)
        finally:
            self._counted = None

    def _writable(self, roles: Roles) -> list[Opened]:
        found: list[Opened] = []
        for name in roles.served:
            with suppress(IndexMismatch):
                opened = self._directory.opened(name)
                found += [opened] if opened.facts == self._facts else []
        return found

    def _listed(self) -> Opened | None:
        """The index that is compared with the store: the first one that is written, else the one that answers."""
        roles = self._directory.roles()
        writable = self._writable(roles)
        if writable:
            return writable[0]
        return self._directory.opened(roles.current) if roles.current else None


def _comparable(opened: Opened, vector: QueryVector) -> bool:
    return opened.facts.model == vector.model and opened.dimension == len(vector.values)


def _unexpected(refused: Refused) -> Unavailable:
    logger.error("OpenSearch refused a request", extra={"kind": refused.kind, "reason": refused.reason[:500]})
    return Unavailable(f"The search index refused a request ({refused.kind or refused.status_code}).")


class OpenSearchGenerations:
    """`Generations` over the aliases `stem`, `stem-next` and `stem-previous`."""

    def __init__(
        self,
        client: OpenSearchClient,
        stem: str,
        provider: EmbeddingProvider | None,
        parameters: IndexParameters | None = None,
        *,
        refresh: Refresh = "false",
    ) -> None:
        self._client = client
        self._stem = stem
        self._provider = provider
        self._parameters = parameters or IndexParameters()
        indices.check(client, provider, self._parameters)
        self._aliases = Aliases(client, stem)
        self._refresh = refresh

    def wanted(self) -> Facts:
        return mapping.facts(self._provider, self._parameters, serverless=self._client.serverless)

    def all(self) -> list[Generation]:
        roles = self._aliases.roles()
        by_role: list[tuple[str | None, Role]] = [
            (roles.current, "current"),
            (roles.upcoming, "next"),
            (roles.previous, "previous"),
            *((name, "spare") for name in roles.spare),
        ]
        return [self._generation(name, role) for name, role in by_role if name]

    def create_next(self, *, anew: bool = False) -> Generation:
        roles = self._aliases.roles()
        if roles.upcoming and not anew and self._facts(roles.upcoming) == self.wanted():
            return self._generation(roles.upcoming, "next")
        if roles.upcoming:
            self._delete(roles.upcoming)
        taken = tuple(name for name in roles.every if name != roles.upcoming)
        made = indices.create_next(self._client, self._stem, self._provider, self._parameters, taken)
        return self._generation(made, "next")

    def engine(self, name: str) -> OpenSearchEngine:
        return OpenSearchEngine(
            self._client,
            self._stem,
            self._provider,
            self._parameters,
            refresh=self._refresh,
            directory=OneIndex(self._client, name),
        )

    def settle(self, name: str) -> None:
        if not self._client.serverless:
            settings = {"index": mapping.serving_settings(self._parameters)}
            self._client.indices.put_settings(index=name, body=settings, request_timeout=WRITE_SECONDS)
        refresh_index(self._client, name)

    def swap(self) -> tuple[str | None, str]:
        roles = self._aliases.roles()
        if roles.upcoming is None:
            raise InvalidInput("There is no next index.", hint="Build it first.", step="build")
        self._move(roles, current=roles.upcoming, upcoming=None, previous=roles.current)
        return roles.current, roles.upcoming

    def rollback(self) -> tuple[str, str]:
        roles = self._aliases.roles()
        if roles.previous is None or roles.current is None:
            raise InvalidInput("There is no previous index to go back to.", hint="See which there are.", step="status")
        self._move(roles, current=roles.previous, upcoming=roles.current, previous=None)
        return roles.current, roles.previous

    def drop(self, name: str) -> None:
        roles = self._aliases.roles()
        if name == roles.current:
            raise InvalidInput(f"{name} is the index that answers.", hint="Swap to another one first.")
        if name not in roles.every:
            raise InvalidInput(
                f"There is no index {name}.", hint="There are: " + (", ".join(roles.every) or "none at all") + "."
            )
        self._delete(name)

    def _move(self, roles: Roles, *, current: str, upcoming: str | None, previous: str | None) -> None:
        """Gives the roles to these indexes, in one change of the cluster's state: readers see all of it or nothing."""
        aliases = indices.role_aliases(self._stem)
        before = zip(aliases, (roles.current, roles.upcoming, roles.previous), strict=True)
        after = zip(aliases, (current, upcoming, previous), strict=True)
        # `must_exist`: when somebody else has moved them meanwhile, nothing of this happens.
        taken = [
            {"remove": {"index": name, "alias": alias, "must_exist": True}}
            for alias, name in before
            if name is not None
        ]
        given = [{"add": {"index": name, "alias": alias}} for alias, name in after if name is not None]
        try:
            self._client.indices.update_aliases(body={"actions": taken + given}, request_timeout=WRITE_SECONDS)
        except Refused as refused:
            raise Unavailable(f"The roles of the indexes have changed in the meantime ({refused}).") from refused
        logger.info("indexes changed roles", extra={"current": current, "next": upcoming, "previous": previous})

    def _generation(self, name: str, role: Role) -> Generation:
        return Generation(name, role, self._facts(name), search.count(self._client, name))

    def _facts(self, name: str) -> Facts:
        try:
            return self._aliases.opened(name).facts
        except IndexMismatch:
            return UNREADABLE

    def _delete(self, name: str) -> None:
        try:
            self._client.indices.delete(index=name, request_timeout=WRITE_SECONDS)
        except Refused as refused:
            if not refused.is_gone:
                raise Unavailable(f"The index {name} could not be deleted ({refused}).") from refused
        logger.info("an index was deleted", extra={"index": name})
