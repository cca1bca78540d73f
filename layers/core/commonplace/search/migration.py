"""Migration of an index: a new one is built beside the current one and takes over without delaying reads or writes.

Next is built from the source by the code of the index function, and takes every write meanwhile. When it holds what is
published, and searches find in it what they should, it becomes current in one step; the former current one stays as
previous, and can be restored in one step.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.search.embeddings import no_memories
from commonplace.search.indexer import Enough, Indexer, Report, Told, never
from commonplace.search.model import REBUILD_HINT, EmbeddingProvider, Engine, IndexMismatch, VectorMemories
from commonplace.search.source import ChangeLog, Source
from commonplace.search.verification import (
    NAMED,
    Difference,
    DifferenceKind,
    Inspected,
    Verification,
    Work,
    compare,
    estimate,
    verify,
)

logger = logging.getLogger(__name__)

Role = Literal["current", "next", "previous", "spare"]

BUILD_RECORDS_PER_WRITE = 50
"""Small enough that a model which takes one text a call is done with one write well within a function's time."""

Step = Literal["plan", "status", "build", "build-anew", "swap", "rollback"]
"""What an operator does next, as errors name it in their details (`step`)."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The parameters of an index, kept in the index itself. Two indexes with equal facts are interchangeable."""

    schema: str
    """Version of the fields and of the queries over them: another one cannot be read."""
    chunker: str
    model: str
    """Fingerprint of the embedding model, or `none`."""
    mapping: str
    """Hash of mapping and analysis, k-NN parameters included."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One index."""

    name: str
    role: Role
    facts: Facts
    documents: int
    """Live records."""


class Generations(Protocol):
    """The indexes of one collection. Every change of roles is one step for readers. All raise Unavailable."""

    def wanted(self) -> Facts:
        """Return what an index built under the present configuration is like."""
        ...

    def all(self) -> Sequence[Generation]:
        """Every index of the collection: current, next, previous, then the spare ones by name."""
        ...

    def create_next(self, *, anew: bool = False) -> Generation:
        """The index to build: the one under way when its facts are those wanted, else a new and empty one.

        `anew` drops the one under way first. From now on writes of the index function go to it as well.
        """
        ...

    def engine(self, name: str) -> Engine:
        """An engine that reads and writes this one index, whatever its role."""
        ...

    def settle(self, name: str) -> None:
        """Makes every write visible and gives a freshly built index its serving settings."""
        ...

    def swap(self) -> tuple[str | None, str]:
        """Next becomes current, current becomes previous, in one step. Answers both names, old and new."""
        ...

    def rollback(self) -> tuple[str, str]:
        """Previous becomes current, current becomes next, in one step. Answers both names, old and new."""
        ...

    def drop(self, name: str) -> None:
        """Deletes an index that is not current. Raises InvalidInput for the current one."""
        ...


@dataclass(frozen=True, slots=True)
class Target:
    """The indexes as one configuration builds them, and the model that fills them."""

    generations: Generations
    embeddings: EmbeddingProvider | None
    memories: VectorMemories = no_memories


@dataclass(frozen=True, slots=True)
class Plan:
    """The present indexes, the wanted one, and the work between them."""

    generations: tuple[Generation, ...]
    wanted: Facts
    changes: Mapping[str, tuple[str, str]]
    """By what the current index is not as wanted: name of the fact -> (as it is, as wanted)."""
    work: Work
    warnings: tuple[str, ...]
    step: Step | None
    """What to do next; None when there is nothing to do."""

    def holding(self, role: Role) -> Generation | None:
        return _holding(self.generations, role)


@dataclass(frozen=True, slots=True)
class Built:
    """The outcome of one stretch of building. `complete` means that next holds what is published."""

    index: str
    done: int
    remaining: int
    unreadable: int
    seconds: float
    complete: bool

    @property
    def rate(self) -> float:
        """Records a second."""
        return self.done / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Swapped:
    """Another index answers now. Names of the one before (None: there was none) and of the new one."""

    old: str | None
    new: str
    verification: Verification | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was changed, because of these differences."""

    index: str
    counts: Mapping[DifferenceKind, int]
    differences: tuple[Difference, ...]
    step: Step
    """To take before it is tried again."""
    hint: str | None = None
    """What else to do before."""


class Migration:
    """The change of generations of one collection.

    `targets` are the configurations in use, the wanted one last: during a change of model there are two. Everything can
    be called again after a crash, and by several at a time: writes are ordered by version, and each change of roles is
    one step. Methods raise InvalidInput, whose details name the `step` to take, and Unavailable.
    """

    def __init__(
        self,
        source: Source,
        targets: Sequence[Target],
        *,
        changes: ChangeLog | None = None,
        clock: Callable[[], float] = time.monotonic,
        records_per_write: int = BUILD_RECORDS_PER_WRITE,
    ) -> None:
        self._source = source
        self._targets = tuple(targets)
        self._wanted = self._targets[-1]
        self._changes = changes
        self._clock = clock
        self._records_per_write = records_per_write

    def plan(self) -> Plan:
        """Return what differs and what is to be done about it. Changes nothing."""
        generations = tuple(self._wanted.generations.all())
        wanted = self._wanted.generations.wanted()
        current, coming = _holding(generations, "current"), _holding(generations, "next")
        goes_on = coming if coming and coming.facts == wanted else None
        changes = _changes(current.facts, wanted) if current else {}
        if goes_on is None and current and not changes:
            published = self._source.published()
            nothing = Work(0, 0, len(published.versions) if published else 0)
            return Plan(generations, wanted, {}, nothing, tuple(self._warnings(generations)), None)
        engine = self._wanted.generations.engine(goes_on.name) if goes_on else None
        work = estimate(self._source, engine, self._wanted.embeddings, self._wanted.memories)
        step: Step = "swap" if goes_on and work.documents == 0 else "build"
        return Plan(generations, wanted, changes, work, tuple(self._warnings(generations)), step)

    def begin(self, *, anew: bool = False) -> Generation:
        """The index to build, empty or begun earlier. From now on it takes writes. `anew` begins from nothing."""
        generations = self._wanted.generations.all()
        wanted = self._wanted.generations.wanted()
        current, coming = _holding(generations, "current"), _holding(generations, "next")
        under_way = coming is not None and coming.facts == wanted
        if current and current.facts == wanted and not under_way and not anew:
            raise InvalidInput(
                f"{current.name} already matches the settings.",
                hint="It can be built again all the same.",
                step="build-anew",
            )
        return self._wanted.generations.create_next(anew=anew)

    def build(self, enough: Enough = never, *, anew: bool = False, told: Told | None = None) -> Built:
        """Brings next towards what is published until there is `enough`; goes on where it was left."""
        began = self._clock()
        name = self.begin(anew=anew).name
        indexer = self._indexer(self._wanted, name)
        report = indexer.reconcile(enough, told)
        done = _done(report)
        # Each look finds what was published during the one before, until that is too little to be worth another.
        while not _left(report) and report.indexed + report.removed > self._records_per_write and not enough():
            report = indexer.reconcile(enough, told)
            done += _done(report)
        complete = not _left(report) and report.indexed + report.removed <= self._records_per_write
        if complete:
            self._wanted.generations.settle(name)
        return Built(name, done, _left(report), report.unreadable, self._clock() - began, complete)

    def verify(self, enough: Enough = never) -> Verification:
        """Brings next up to date with the source, compares the two, and searches it for sampled records.

        Raises InvalidInput when more is left to be written than `enough` leaves time for.
        """
        generations = self._wanted.generations.all()
        coming, current = _holding(generations, "next"), _holding(generations, "current")
        if coming is None:
            raise InvalidInput("There is no next index.", hint="Build it first.", step="build")
        target = self._target_of(coming.facts)
        if target is None:
            raise InvalidInput(
                f"{coming.name} was built under other settings than those in force ({_said(coming.facts)}).",
                hint="Build one for these.",
                step="build",
            )
        self._bring_up_to_date(target, coming.name, enough, "build")
        engine: Engine | None = None
        if current and current.facts.schema == self._wanted.generations.wanted().schema:  # else it cannot be read
            engine = (self._target_of(current.facts) or self._wanted).generations.engine(current.name)
        return verify(self._source, self._inspected(target, coming.name), engine)

    def swap(self, enough: Enough = never) -> Swapped | Refused:
        """Verifies next and, if nothing differs, makes it current in one step."""
        verification = self.verify(enough)
        if not verification.passed:
            return Refused(verification.index, verification.counts, verification.differences, "build")
        old, new = self._wanted.generations.swap()
        self._catch_up(new)
        return Swapped(old, new, verification)

    def rollback(self, enough: Enough = never) -> Swapped | Refused:
        """Brings previous up to date, if a model at hand is its own, and makes it current again in one step.

        Refused while it differs from what is published: it might show what was taken back. Records without vectors are
        no reason: they are found by their words.
        """
        generations = self._wanted.generations.all()
        previous = _holding(generations, "previous")
        if previous is None:
            raise InvalidInput("There is no previous index to go back to.", hint="See which there are.", step="status")
        target = self._target_of(previous.facts)
        if target:
            self._bring_up_to_date(target, previous.name, enough, "rollback")
        differences = compare(self._source, self._inspected(target, previous.name), vectors=False)
        if differences:
            counts = Counter(difference.kind for difference in differences)
            named = tuple(differences[:NAMED])
            if target:
                return Refused(previous.name, counts, named, "status")
            hint = "First set OPENSEARCH_PARAMETERS and version back to what they were."
            if previous.facts.model != self._wanted.generations.wanted().model:
                hint = f"First set EMBEDDING_PROVIDER_NEXT to the provider of {previous.facts.model}."
            return Refused(previous.name, counts, named, "rollback", hint)
        old, new = self._wanted.generations.rollback()
        self._catch_up(new)
        return Swapped(old, new)

    def drop(self, name: str) -> None:
        """Deletes an index that is not current."""
        names = [generation.name for generation in self._wanted.generations.all()]
        if name not in names:
            raise InvalidInput(f"There is no index {name}.", hint=f"There are: {', '.join(names) or 'none'}.")
        self._wanted.generations.drop(name)

    def cleanup(self) -> list[str]:
        """Deletes the spare indexes, which have no role, and answers their names."""
        spare = [generation.name for generation in self._wanted.generations.all() if generation.role == "spare"]
        for name in spare:
            self._wanted.generations.drop(name)
        return spare

    def keep_up(self, enough: Enough = never) -> Report | None:
        """Mends current and previous, so that both hold what is published. Next is left to `build`.

        What is mended in current was missing from answers, so it is reported as a change; nothing else here is.

        None when there is no current index. Raises IndexMismatch when no model at hand is that of the current index.
        """
        report = Report()
        generations = self._wanted.generations.all()
        if _holding(generations, "current") is None:
            return None
        for generation in generations:
            target = self._target_of(generation.facts)
            if target and generation.role in ("current", "previous"):
                changes = self._changes if generation.role == "current" else None
                report += self._indexer(target, generation.name, changes).reconcile(enough)
            elif generation.role == "current":
                raise mismatch(generation.facts, self._wanted.generations.wanted())
        return report

    def _bring_up_to_date(self, target: Target, name: str, enough: Enough, step: Step) -> None:
        report = self._indexer(target, name).reconcile(enough)
        if report.remaining:
            raise InvalidInput(f"{name} still lacks {report.remaining} records.", hint="Continue.", step=step)
        target.generations.settle(name)

    def _catch_up(self, name: str) -> None:
        """Return what was published between the last look and the swap. The swap has happened: a failure is only
        reported.
        """
        generation = next((each for each in self._wanted.generations.all() if each.name == name), None)
        target = self._target_of(generation.facts) if generation else None
        try:
            if target:
                self._indexer(target, name).reconcile()
        except Unavailable as error:
            logger.warning("the new index is brought up to date by the schedule", extra={"reason": error.message})

    def _target_of(self, facts: Facts) -> Target | None:
        return next((target for target in self._targets if target.generations.wanted() == facts), None)

    def _indexer(self, target: Target, name: str, changes: ChangeLog | None = None) -> Indexer:
        return Indexer(
            self._source,
            target.generations.engine(name),
            target.embeddings,
            target.memories,
            changes=changes,
            rebuilds=False,
            records_per_write=self._records_per_write,
        )

    def _inspected(self, target: Target | None, name: str) -> Inspected:
        if target is None:
            return Inspected(name, self._wanted.generations.engine(name), None, no_memories, None)
        engine = target.generations.engine(name)
        return Inspected(name, engine, target.embeddings, target.memories, self._indexer(target, name))

    def _warnings(self, generations: Sequence[Generation]) -> Iterator[str]:
        current, coming = _holding(generations, "current"), _holding(generations, "next")
        if current and self._target_of(current.facts) is None:
            yield (
                f"No writes reach the current index: it was built under other settings ({_said(current.facts)}). "
                "What is published meanwhile is found after the swap."
            )
        if coming and self._target_of(coming.facts) is None:
            yield f"{coming.name} was begun under other settings ({_said(coming.facts)}) and gives way to a new one."


def mismatch(found: Facts, wanted: Facts) -> IndexMismatch:
    """Return what a writer says to an index that was built otherwise."""
    differing = ", ".join(f"{name} {was!r} instead of {now!r}" for name, (was, now) in _changes(found, wanted).items())
    return IndexMismatch(f"The search index was built otherwise: {differing}.", hint=REBUILD_HINT)


def _done(report: Report) -> int:
    return max(0, report.indexed + report.removed - report.incomplete)


def _left(report: Report) -> int:
    return report.remaining + report.incomplete


def _holding(generations: Sequence[Generation], role: Role) -> Generation | None:
    return next((generation for generation in generations if generation.role == role), None)


def _changes(found: Facts, wanted: Facts) -> dict[str, tuple[str, str]]:
    pairs = {name: (getattr(found, name), getattr(wanted, name)) for name in ("schema", "chunker", "model", "mapping")}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def _said(facts: Facts) -> str:
    return f"schema {facts.schema}, chunker {facts.chunker}, model {facts.model}, mapping {facts.mapping}"
