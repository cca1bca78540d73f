"""The way of entries into the index: events late and doubled, deletions, orphans, vectors that come later, jobs."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import Unavailable
from commonplace.memory.index_source import StoredEntries, record_id
from commonplace.memory.model import Entry, EntryId, Job, content_hash
from commonplace.memory.upkeep import STRETCH_SECONDS, Upkeep, remove_orphans
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.indexer import SETTLED_SECONDS, Enough, Indexer, Message, Report, complete
from commonplace.search.model import Vector, VectorMemory
from commonplace.search.operations import Operations
from commonplace.search.source import FOR_EVER
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.memory_stores import MemoryCaches, MemoryEntries, MemoryJobs
from tests.unit.search.records import versions

AUDIT = AuditRecord(event="memory.add", outcome="ok", at=0.0, organisation="acme")
AT = "2026-01-01T12:00:00.000000Z"


class Note:
    """`search.waiting.Note` in memory, with a clock that stands where it is put."""

    def __init__(self) -> None:
        self.at: float | None = None
        self.now = 1_000.0

    def put(self) -> None:
        self.at = self.now

    def read(self) -> float | None:
        return self.at

    def clear(self, noted: float) -> None:
        self.at = None if self.at == noted else self.at


class Choosy(FakeEmbeddings):
    """Fails with texts that have a word in them."""

    refused = ""

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        if self.refused and any(self.refused in text for text in texts):
            raise Unavailable("The model refuses this.")
        return super().embed(texts, query=query)


class Kept:
    """The memory of a deployment, and its index function."""

    def __init__(self, folder: Path) -> None:
        self.store, self.jobs, self.caches = MemoryEntries(), MemoryJobs(), MemoryCaches()
        self.model = Choosy()
        self.note = Note()
        self.engine = EmbeddedEngine(folder / "memory.sqlite", self.model)
        self.carried: list[tuple[str, str]] = []
        self.unanswered = False
        self.damaged: set[str] = set()
        indexer = Indexer(
            StoredEntries(self.store), self.engine, self.model, self._memory, waiting=self.note.put, records_per_write=2
        )
        self.operations = Operations([indexer], None, "memory")
        self.seconds = 0.0
        self.upkeep = Upkeep(self.operations, self.store, self.jobs, self._carry_on, clock=lambda: self.seconds)

    def _memory(self, organisation: str | None) -> VectorMemory:
        return self.caches.of(organisation or "nobody")

    def _carry_on(self, organisation: str, job: str, enough: Enough) -> None:
        if self.unanswered:
            raise Unavailable("The model does not answer.")
        if organisation in self.damaged:
            raise RuntimeError("a secret of this organisation")
        while not enough():
            self.seconds += 1
        self.carried.append((organisation, job))

    def add(self, id: str, content: str = "", organisation: str = "acme", parent: str | None = None) -> Entry:
        entry = entry_of(id, content, organisation, parent)
        self.store.add(organisation, [entry], AUDIT)
        return entry

    def messages(self) -> list[Message]:
        """What the table's stream has told so far; the next call tells what came since."""
        told, self.store.announced = self.store.announced, []
        return [Message(f"m{number}", json.dumps(body)) for number, body in enumerate(told)]

    def finish(self) -> Report | None:
        return complete(self.operations.complete, self.note, clock=lambda: self.note.now)


def entry_of(id: str, content: str = "", organisation: str = "acme", parent: str | None = None) -> Entry:
    text = content or f"Lesson {id} about the build."
    return Entry(
        organisation=organisation,
        id=EntryId(id),
        content=text,
        content_hash=content_hash(text),
        entry_type="fact",
        roles=("dev",),
        tags=(),
        confidence=1.0,
        created_at=AT,
        updated_at=AT,
        parent_id=EntryId(parent) if parent else None,
    )


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    made = Kept(tmp_path)
    yield made
    made.engine.close()


def test_an_entry_is_indexed_when_its_event_comes(kept: Kept) -> None:
    kept.add("1")
    kept.add("1", organisation="globex")

    assert kept.upkeep.take(kept.messages()) == []

    assert versions(kept.engine) == {"acme/1": 1, "globex/1": 1}
    assert list(kept.engine.incomplete()) == []
    assert kept.note.at is None


def test_late_and_doubled_events_change_nothing(kept: Kept) -> None:
    entry = kept.add("1")
    early = kept.messages()
    kept.store.replace("acme", replace(entry, confidence=0.5, revision=2), entry, AUDIT)
    kept.upkeep.take(kept.messages())
    asked = list(kept.model.asked)

    kept.upkeep.take([*early, *early])

    assert versions(kept.engine) == {"acme/1": 2}
    assert kept.model.asked == asked


def test_a_deleted_entry_leaves_the_index_and_no_late_writer_brings_it_back(kept: Kept) -> None:
    entry = kept.add("1")
    kept.upkeep.take(kept.messages())
    kept.store.delete("acme", entry.id, AUDIT)
    kept.upkeep.take(kept.messages())

    kept.engine.write([], [])
    late = Indexer(_Frozen(entry), kept.engine, kept.model)
    late.take([Message("m", json.dumps({"table": "records", "pk": "acme#memory#entries", "sk": "1"}))])

    assert versions(kept.engine) == {}


class _Frozen(StoredEntries):
    """What a writer saw that read the entry before it was deleted."""

    def __init__(self, entry: Entry) -> None:
        store = MemoryEntries()
        store.add(entry.organisation, [entry], AUDIT)
        super().__init__(store)


def test_a_message_of_another_form_fails_alone(kept: Kept) -> None:
    kept.add("1")
    bad = Message("bad", json.dumps({"table": "records", "pk": "acme#memory#cards", "sk": "1"}))

    assert kept.upkeep.take([bad, *kept.messages()]) == ["bad"]
    assert versions(kept.engine) == {"acme/1": 1}


def test_children_of_a_deleted_parent_lose_it_when_its_event_comes(kept: Kept) -> None:
    parent = kept.add("p")
    kept.add("c", parent="p")
    kept.add("s", parent="other", organisation="globex")
    kept.upkeep.take(kept.messages())
    kept.store.delete("acme", parent.id, AUDIT)

    kept.upkeep.take(kept.messages())

    child = kept.store.get("acme", EntryId("c"))
    assert child is not None
    assert (child.parent_id, child.version, child.revision) == (None, 1, 2)
    kept.upkeep.take(kept.messages())
    assert versions(kept.engine) == {"acme/c": 2, "globex/s": 1}


def test_the_schedule_sweeps_orphans_that_no_event_told_of(kept: Kept) -> None:
    kept.add("s", parent="gone", organisation="globex")

    kept.upkeep.reconcile()

    swept = kept.store.get("globex", EntryId("s"))
    assert swept is not None and swept.parent_id is None


def test_a_parent_that_came_after_the_list_is_not_taken_away(kept: Kept) -> None:
    class Slow(MemoryEntries):
        """The parent is added while the cards are listed."""

        def cards(self, organisation: str, *, after: str = "") -> Iterator:  # type: ignore[type-arg]
            found = list(super().cards(organisation, after=after))
            self.add(organisation, [entry_of("p")], AUDIT)
            yield from found

    store = Slow()
    store.add("acme", [entry_of("c", parent="p")], AUDIT)

    assert remove_orphans(store, "acme") == 0


def test_the_schedule_brings_the_index_to_what_the_store_says(kept: Kept) -> None:
    for number in range(5):
        kept.add(str(number))
    kept.upkeep.take(kept.messages()[:2])
    kept.store.delete("acme", EntryId("0"), AUDIT)

    report = kept.upkeep.reconcile()

    assert (report.indexed, report.removed, report.remaining) == (3, 1, 0)
    assert versions(kept.engine) == {f"acme/{number}": 1 for number in range(1, 5)}


def test_entries_that_come_back_from_a_backup_are_found_after_a_rebuild(kept: Kept) -> None:
    entry = kept.add("1")
    kept.upkeep.take(kept.messages())
    kept.store.delete("acme", entry.id, AUDIT)
    kept.upkeep.take(kept.messages())
    kept.add("1")
    kept.upkeep.take(kept.messages())
    assert versions(kept.engine) == {}

    assert kept.operations.rebuild().indexed == 1

    assert versions(kept.engine) == {"acme/1": 1}


def test_an_empty_memory_empties_its_index(kept: Kept) -> None:
    entry = kept.add("1")
    kept.upkeep.take(kept.messages())
    kept.store.delete("acme", entry.id, AUDIT)

    assert kept.upkeep.reconcile().removed == 1
    assert versions(kept.engine) == {}


def test_entries_wait_for_a_model_that_is_away_and_get_their_vectors_without_anybody_asking(kept: Kept) -> None:
    kept.model.failing = True
    for number in range(3):
        kept.add(str(number))
    assert kept.upkeep.take(kept.messages()) == []
    waiting = {"acme/0", "acme/1", "acme/2"}
    assert (set(kept.engine.incomplete()), kept.note.at) == (waiting, kept.note.now)

    assert kept.finish() == Report(incomplete=3)
    kept.model.failing = False
    assert kept.finish() == Report(indexed=3)

    assert list(kept.engine.incomplete()) == []
    assert versions(kept.engine) == {"acme/0": 1, "acme/1": 1, "acme/2": 1}


def test_the_note_goes_when_nothing_waits_any_more_and_the_index_is_left_alone_from_then_on(kept: Kept) -> None:
    kept.note.put()
    assert kept.finish() == Report()
    assert kept.note.read() is not None, "lists of an index may lag behind its writes"

    kept.note.now += SETTLED_SECONDS
    kept.finish()
    assert kept.note.read() is None

    kept.engine.close()
    kept.engine.path.parent.joinpath("memory.sqlite").write_bytes(b"no index at all")
    assert kept.finish() is None


def test_a_text_that_the_model_refuses_holds_nobody_up(kept: Kept) -> None:
    kept.model.refused = "refused"
    kept.add("0", "refused")
    kept.add("1")
    kept.upkeep.take(kept.messages())

    assert set(kept.engine.incomplete()) == {"acme/0"}
    assert kept.finish() == Report(incomplete=1)


def test_no_organisation_uses_the_vectors_of_another(kept: Kept) -> None:
    kept.add("1", "the same words")
    kept.add("2", "the same words", organisation="globex")

    kept.upkeep.take(kept.messages())

    assert kept.model.asked.count("the same words") == 2
    assert (kept.caches.size("acme"), kept.caches.size("globex")) == (1, 1)


def test_a_job_is_carried_on_for_a_stretch_when_its_event_comes(kept: Kept) -> None:
    kept.jobs.create(job("j1"))
    (body,) = kept.jobs.announced

    assert kept.upkeep.take([Message("m", json.dumps(body))]) == []

    assert kept.carried == [("acme", "j1")]
    assert kept.seconds == STRETCH_SECONDS


def test_a_job_that_cannot_go_on_comes_again(kept: Kept) -> None:
    kept.jobs.create(job("j1"))
    kept.add("1")
    kept.unanswered = True
    told = [Message("job", json.dumps(kept.jobs.announced[0])), *kept.messages()]

    assert kept.upkeep.take(told) == ["job"]
    assert versions(kept.engine) == {"acme/1": 1}


def test_jobs_whose_turn_comes_too_late_come_again(kept: Kept) -> None:
    for number in range(4):
        kept.jobs.create(job(f"j{number}"))
    told = [Message(f"m{number}", json.dumps(body)) for number, body in enumerate(kept.jobs.announced)]

    assert kept.upkeep.take(told, lambda: kept.seconds >= 1.5 * STRETCH_SECONDS) == ["m2", "m3"]
    assert kept.upkeep.take(told[2:], lambda: True) == ["m3"]

    assert [id for _, id in kept.carried] == ["j0", "j1", "j2"]


def test_the_schedule_goes_on_with_jobs_that_were_left(kept: Kept) -> None:
    kept.add("1")
    kept.jobs.create(job("j1"))
    kept.jobs.create(replace(job("j2"), status="complete"))

    kept.upkeep.reconcile(lambda: kept.seconds > 2)

    assert kept.carried == [("acme", "j1")]


def test_what_goes_wrong_with_one_organisation_is_no_others_matter(
    kept: Kept, caplog: pytest.LogCaptureFixture
) -> None:
    for organisation in ("acme", "globex"):
        kept.add("1", organisation=organisation)
        kept.jobs.create(replace(job("j1"), organisation=organisation))
    kept.damaged = {"acme"}
    told = [Message(f"j{number}", json.dumps(body)) for number, body in enumerate(kept.jobs.announced)]

    assert kept.upkeep.take([*told, *kept.messages()]) == ["j0"]
    kept.seconds = 0
    kept.upkeep.reconcile(lambda: kept.seconds > 2)

    assert kept.carried == [("globex", "j1"), ("globex", "j1")]
    assert len(versions(kept.engine)) == 2
    assert "secret" not in caplog.text


def job(id: str) -> Job:
    return Job(organisation="acme", id=id, kind="import", created_at=AT, updated_at=AT, total=10)


def test_what_is_published_is_every_card_of_every_organisation(kept: Kept) -> None:
    kept.add("1")
    kept.add("2", organisation="globex")
    kept.store.touch("globex", [EntryId("2")])

    published = StoredEntries(kept.store).published()

    assert published.versions == {"acme/1": 1, "globex/2": 2}
    record = record_id("globex", EntryId("2"))
    assert (published.horizon(record), published.newest(record)) == (FOR_EVER, 2)


STEPS = st.lists(
    st.tuples(st.sampled_from(["add", "touch", "delete", "deliver", "lose"]), st.integers(0, 3), st.booleans()),
    max_size=25,
)


@settings(
    max_examples=examples(10, soak=400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(STEPS)
def test_however_events_come_the_index_ends_as_the_store(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    kept = Kept(tmp_path_factory.mktemp("kept"))
    made = 0
    for what, which, failing in steps:
        kept.model.failing = failing
        ids = [card.id for card in kept.store.cards("acme")]
        if what == "add":
            kept.add(f"{made:03d}", f"text {made % 3} of {made}")
            made += 1
        elif what == "touch" and ids:
            kept.store.touch("acme", [ids[which % len(ids)]])
        elif what == "delete" and ids:
            kept.store.delete("acme", ids[which % len(ids)], AUDIT)
        elif what == "deliver":
            told = kept.messages()
            kept.upkeep.take([*reversed(told), *told[: which + 1]])
        elif what == "lose":
            kept.messages()
    kept.model.failing = False
    kept.upkeep.reconcile()

    assert versions(kept.engine) == StoredEntries(kept.store).published().versions
    assert list(kept.engine.incomplete()) == []
    kept.engine.close()
