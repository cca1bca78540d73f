"""Upkeep by the index function: entries into the index, orphans without their lost parents, jobs continued, and facets
and counts compared with the cards that they are made of, and repaired.

Mutations write facets and counts in one transaction, so they differ only after a defect, or when somebody wrote to the
table. Counts are compared where no mutation came between: what they lack is added, and mutations after that add to the
same. Keys are compared without that, for each that seems wrong is judged again by its entry, under a condition.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from commonplace.kernel.errors import Unavailable
from commonplace.memory import facets
from commonplace.memory.facets import Counts, Key, Place, parent_facet
from commonplace.memory.index_source import EntryEvent, JobEvent, event_of, is_of_memory
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.jobs import LargeImports, Rebuilding
from commonplace.memory.model import EntryId, Job
from commonplace.memory.parts import Parts
from commonplace.memory.records import KEYS_PER_PAGE
from commonplace.memory.store import DynamoEntries
from commonplace.search.indexer import Enough, Message, Note, Report, complete, never
from commonplace.search.operations import Operations

logger = logging.getLogger(__name__)

STRETCH_SECONDS = 20.0
"""The time of one job: its progress is written at the end, and others wait behind it."""
TRIES = 3
"""How often counts are taken while nobody writes. Where somebody always does, the next comparison tries again."""

CarryOn = Callable[[str, str, Enough], object]
"""Carries a job of an organisation on until there is enough. Raises Unavailable."""


def carry_on(parts: Parts, organisation: str, job_id: str, enough: Enough) -> Job | None:
    """Do another stretch of a job, until there is `enough`, and return how it stands; None when there is none.

    The job is written once, at the end: each write of it is an event, which calls for the next stretch. A stretch that
    is lost is done again without harm, and one that two workers do is counted once. Raises Unavailable when nothing
    could be done: then it is to be tried again later.
    """
    job = parts.jobs.job(organisation, job_id)
    if job is None or job.status != "in_progress":
        return job
    if job.kind == "import":
        return LargeImports(parts).carry_on(job, enough)
    return Rebuilding(parts).carry_on(job, enough)


def remove_orphans(store: DynamoEntries, organisation: str, gone: Iterable[EntryId] | None = None) -> int:
    """Take parents that are gone out of the entries that name them; return how many entries that concerned.

    Without `gone` all parents are looked up: each is after its child was read, for it may be newer. Raises Unavailable.
    """
    concerned = 0
    for parent in _lost_parents(store, organisation) if gone is None else gone:
        children = [key.id for key in store.keys(organisation, parent_facet(parent))]
        store.forget_parent(organisation, children, parent)
        concerned += len(children)
    return concerned


def _lost_parents(store: DynamoEntries, organisation: str) -> Iterator[EntryId]:
    seen: set[EntryId] = set()
    cards = store.cards(organisation)
    while run := list(islice(cards, KEYS_PER_PAGE)):
        named = {card.parent_id for card in run if card.parent_id} - seen
        seen |= named
        yield from sorted(named - store.get_many(organisation, sorted(named)).keys()) if named else ()


def repair(store: DynamoEntries, organisation: str) -> int:
    """Repair facets and counts, and return how many counts and entries that concerned. Raises Unavailable."""
    wanted: dict[str, dict[str, Key]] = defaultdict(dict)
    drift: dict[str, Counts] = {}
    for _ in range(TRIES):
        wanted.clear()
        before = store.tally(organisation)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for card in store.cards(organisation):
            for name, cells in facets.counts(card).items():
                counts[name].update(cells)
            for (name, at), key in facets.keys(card).items():
                wanted[name][at] = key
        after = store.tally(organisation)
        if before.writes == after.writes:
            drift = facets.difference(after.counts, counts)
            break
    if drift:
        store.correct(organisation, drift, after)
    # Entries with a key that is missing, differs, or should not be there, and which places those are.
    wrong: dict[EntryId, list[Place]] = defaultdict(list)
    for name in sorted({*wanted, *after.counts, *facets.FIXED}):
        rest = dict(wanted.get(name, {}))
        for key in store.keys(organisation, name, newest_first=False):
            if rest.pop(key.position, None) != key:
                wrong[key.id].append((name, key.position))
        for key in rest.values():
            wrong[key.id].append((name, key.position))
    for id, places in wrong.items():
        store.place(organisation, id, places)
    return len(drift) + len(wrong)


class Upkeep:
    """Everything that follows an event of the memory's queue, and what is looked at now and then."""

    def __init__(
        self,
        operations: Operations,
        store: DynamoEntries,
        jobs: DynamoJobs,
        carry_on: CarryOn,
        clock: Callable[[], float] = time.monotonic,
        *,
        note: Note | None = None,
    ) -> None:
        """`clock` is in seconds; `note` is put where entries wait for vectors."""
        self.operations = operations
        self._note = note
        self._store = store
        self._jobs = jobs
        self._carry_on = carry_on
        self._clock = clock

    def claims(self, body: str) -> bool:
        return is_of_memory(body)

    def finish(self, enough: Enough = never) -> Report | None:
        """Give vectors to entries that lack them; None when none is noted."""
        return complete(self.operations.complete, self._note, enough) if self._note else None

    def take(self, messages: Sequence[Message], enough: Enough = never) -> list[str]:
        """Do what the messages ask for and return the ids of those that failed, in order.

        Entries come first: they are searched for in a moment. Raises Unavailable when the index takes no writes.
        """
        entries: list[tuple[Message, EntryEvent]] = []
        jobs: list[tuple[Message, JobEvent]] = []
        failed: set[str] = set()
        for message in messages:
            try:
                event = event_of(message.body)
            except ValueError:
                logger.error("a message names nothing of the memory", extra={"messageId": message.id})
                failed.add(message.id)
                continue
            if isinstance(event, EntryEvent):
                entries.append((message, event))
            else:
                jobs.append((message, event))
        failed |= set(self._take_entries(entries) if entries else ())
        for place, (message, job) in enumerate(jobs):
            # One stretch is always done; whose turn comes too late comes again.
            if (place and enough()) or not self._carried_on(job, enough):
                failed.add(message.id)
        return [message.id for message in messages if message.id in failed]

    def reconcile(self, enough: Enough = never) -> Report:
        """Compare index, facets and counts with the entries, sweep lost parents, go on with jobs."""
        report = self.operations.reconcile(enough)
        for organisation in self._store.organisations():
            if enough():
                break
            try:
                remove_orphans(self._store, organisation)
                if repaired := repair(self._store, organisation):
                    logger.warning("facets or counts of entries were repaired", extra={"repaired": repaired})
                for job in self._jobs.unfinished(organisation):
                    if enough():
                        break
                    self._carried_on(JobEvent(organisation, job.id), enough)
            except Exception as error:  # noqa: BLE001 - what goes wrong with one organisation is no other's matter
                logger.error(
                    "an organisation was not looked after",
                    extra={"organisation": organisation, "error": type(error).__name__},
                )
        return report

    def _take_entries(self, entries: Sequence[tuple[Message, EntryEvent]]) -> list[str]:
        failed = self.operations.take([message for message, _ in entries])
        wanted: dict[str, dict[EntryId, str]] = {}
        for message, event in entries:
            wanted.setdefault(event.organisation, {})[event.id] = message.id
        for organisation, messages in wanted.items():
            found = self._store.get_many(organisation, list(messages))
            gone = {id: message for id, message in messages.items() if id not in found}
            try:
                remove_orphans(self._store, organisation, gone)
            except Exception as error:  # noqa: BLE001 - one organisation, as in `reconcile`
                logger.error(
                    "children of entries that are gone were not swept",
                    extra={"organisation": organisation, "error": type(error).__name__},
                )
                failed += gone.values()
        return failed

    def _carried_on(self, job: JobEvent, enough: Enough) -> bool:
        """Return False when it is to be tried again."""
        end = self._clock() + STRETCH_SECONDS
        try:
            self._carry_on(job.organisation, job.id, lambda: enough() or self._clock() >= end)
        except Unavailable as error:
            logger.warning("a job waits", extra={"job": job.id, "reason": error.message})
            return False
        except Exception as error:  # noqa: BLE001 - one job, as in `reconcile`
            # Its kind alone: its text may be that of an entry.
            logger.error("a job cannot go on", extra={"job": job.id, "error": type(error).__name__})
            return False
        return True
