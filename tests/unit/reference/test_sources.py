"""The collection `reference`: what its source says is there, and the index that follows it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.reference.index_source import StoredCatalogues, Upkeep, address, body_of, record_id, record_of
from commonplace.reference.library import manifest_key
from commonplace.reference.model import Entry, Example, Placed
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.filters import Filters
from commonplace.search.indexer import SETTLED_SECONDS, Indexer, Message, Report
from commonplace.search.operations import Operations
from commonplace.search.query import Query
from commonplace.search.source import batches
from tests.fakes.catalogues import catalogue, entry, publish
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.store import FakeObjectStore
from tests.unit.memory.test_upkeep import Note
from tests.unit.search.records import TEST_EVENT, notification, versions
from tests.unit.search.records import body_of as told

NAMES = ("helios", "tidebook")
MANIFEST = told(notification("reference/helios/manifest.json"))


class World:
    """An index function with one model over a store of catalogues."""

    def __init__(self, folder: Path) -> None:
        self.objects = FakeObjectStore()
        self.model = FakeEmbeddings("1")
        self.engine = EmbeddedEngine(folder / "reference.sqlite", self.model)
        self.source = StoredCatalogues(self.objects, NAMES)
        indexer = Indexer(self.source, self.engine, self.model, records_per_write=2)
        self.operations = Operations([indexer], None, "reference")
        self.note = Note()
        self.upkeep = Upkeep(self.operations, self.note, lambda: self.note.now)

    def publish(self, name: str, generation: int, **ids: int) -> None:
        """Entries of these ids, each with the generation that changed it last."""
        placed = [
            Placed(entry=entry(id, summary=f"{id} as of {at}"), path=f"{id}.md", generation=at)
            for id, at in ids.items()
        ]
        publish(self.objects, catalogue(name, *placed, generation=generation))

    def held(self) -> dict[str, int]:
        return {str(record): version for record, version in versions(self.engine).items()}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.engine.close()


def full(**told: object) -> Entry:
    return entry(
        "cmd-users-list",
        type="command",
        title="List users",
        name="helios gw users list",
        category="google-workspace",
        subcategory="users",
        module="workspace",
        summary="Lists every user.",
        content="## Options\n\nTakes `--json`.",
        keywords=["accounts", "people"],
        aliases=["get users", "people"],
        examples=[Example(description="As JSON", code="helios gw users list --json\n```", output="[]")],
        **told,
    )


def test_a_record_says_what_an_entry_is_called_and_what_is_said_of_it() -> None:
    made = catalogue("helios", full(), generation=3)

    record = record_of(made, made.entries[0])

    assert (record.id, record.version, record.document_id) == ("helios/cmd-users-list", 3, "cmd-users-list")
    assert (record.content_type, record.group, record.path) == ("command", "helios", "helios/helios/cmd-users-list.md")
    assert (record.title, record.description) == ("helios gw users list: List users", "Lists every user.")
    assert record.tags == ("google-workspace", "users", "workspace")
    assert record.aliases == ("get users", "people")
    assert [(chunk.heading_path, chunk.text) for chunk in record.chunks] == [((), "get users")]
    for words in ("Takes `--json`.", "helios gw users list --json"):
        assert words in record.body
    assert "[]" not in record.body


def test_of_a_guide_what_it_says_is_near_as_well_and_of_a_command_what_it_is_for() -> None:
    made = catalogue(
        "helios",
        entry("guide", keywords=["start"], content="Sign in first."),
        entry("cmd", type="command", name="helios in", content="Options: many.", aliases=["sign in"]),
    )

    guide, command = (
        record_of(made, made_of) for made_of in sorted(made.entries, key=lambda one: one.entry.type == "command")
    )

    assert [(chunk.ordinal, chunk.text) for chunk in guide.chunks] == [(0, "start"), (1, "Sign in first.")]
    assert [chunk.text for chunk in command.chunks] == ["sign in"]


def test_a_guide_is_titled_once_and_what_is_deprecated_says_so() -> None:
    made = catalogue("helios", entry("intro", title="Start", deprecated=True))

    record = record_of(made, made.entries[0])

    assert (record.title, record.status) == ("Start", "deprecated")


def test_the_same_version_is_the_same_record_whatever_else_is_published() -> None:
    before = catalogue("helios", full(), generation=1)
    after = catalogue("helios", before.entries[0], entry("more"), generation=2, title="Other")

    assert record_of(before, before.entries[0]) == record_of(after, before.entries[0])


def test_an_entry_without_a_word_still_has_a_chunk() -> None:
    made = catalogue("helios", entry("bare", summary=""))

    assert len(record_of(made, made.entries[0]).chunks) == 1
    assert body_of(made.entries[0].entry) == ""


@given(st.from_regex(r"[a-z][a-z0-9-]{0,39}", fullmatch=True), st.from_regex(r"[a-z0-9][a-z0-9._-]*", fullmatch=True))
def test_an_address_is_what_it_was_made_of(name: str, id: str) -> None:
    assert address(record_id(name, id)) == (name, id)


def test_what_is_published_is_the_entries_of_every_catalogue_with_its_own_horizon(world: World) -> None:
    world.publish("helios", 7, a=3, b=7)
    world.publish("tidebook", 2, a=2)

    published = world.source.published()

    assert published is not None
    assert published.versions == {"helios/a": 3, "helios/b": 7, "tidebook/a": 2}
    horizon = world.source.horizon()
    for name, generation in (("helios", 7), ("tidebook", 2), ("gone", 0)):
        record = record_id(name, "x")
        assert (published.horizon(record), published.newest(record), horizon(record)) == (generation,) * 3


def test_before_any_publication_the_source_does_not_know(world: World) -> None:
    assert world.source.published() is None
    assert StoredCatalogues(world.objects, ()).published() is not None


def test_entries_are_read_as_they_are_now_and_one_that_is_gone_is_missing(world: World) -> None:
    world.publish("helios", 1, a=1, b=1)
    world.source.read([record_id("helios", "a")])
    world.publish("helios", 2, a=2)

    reading = world.source.read([record_id("helios", "a"), record_id("helios", "b"), record_id("other", "c")])

    assert {id: record.version for id, record in reading.records.items()} == {"helios/a": 2}
    assert reading.missing == ["helios/b", "other/c"]


def test_a_catalogue_whose_object_is_missing_or_broken_is_unreadable_and_nothing_else_is(world: World) -> None:
    world.publish("helios", 1, a=1)
    world.publish("tidebook", 1, b=1)
    key = next(key for key in world.objects.objects if key.startswith("reference/helios/catalogues/"))
    world.objects.put(key, b"{")
    ids = [record_id("helios", "a"), record_id("tidebook", "b")]

    broken = world.source.read(ids)
    world.objects.delete([key])
    missing = world.source.read(ids)

    for reading in (broken, missing):
        assert (reading.unreadable, list(reading.records)) == (["helios/a"], ["tidebook/b"])


def test_a_large_catalogue_is_read_once_for_all_its_batches(world: World) -> None:
    world.publish("helios", 1, **{f"e{number}": 1 for number in range(10)})
    read: list[str] = []
    get = world.objects.get
    world.objects.get = lambda key: (read.append(key), get(key))[1]  # type: ignore[method-assign,func-returns-value]

    for batch in batches([record_id("helios", f"e{number}") for number in range(10)], 2):
        assert len(world.source.read(batch).records) == 2

    assert len([key for key in read if "/catalogues/" in key]) == 1


@pytest.mark.parametrize("body", ["", "{}", '{"Records": [{}]}'])
def test_a_message_that_is_no_notification_is_refused(world: World, body: str) -> None:
    with pytest.raises(ValueError):
        world.source.named(body)
    assert world.source.named(TEST_EVENT) == world.source.named(MANIFEST) == ()


def test_the_message_of_a_manifest_brings_the_index_to_all_that_is_published(world: World) -> None:
    world.publish("helios", 1, a=1, b=1)
    assert world.upkeep.take([Message("m", MANIFEST)]) == []
    world.publish("helios", 2, a=1, c=2)
    assert world.upkeep.take([Message("m", MANIFEST), Message("n", MANIFEST)]) == []

    assert world.held() == {"helios/a": 1, "helios/c": 2}
    found = world.engine.candidates(Query.of("as of"), None, Filters(), 10)
    assert {str(hit.id) for hit in found.lexical} == {"helios/a", "helios/c"}


def test_a_catalogue_that_counts_less_is_not_held_back_by_one_that_counts_more(world: World) -> None:
    world.publish("tidebook", 100, z=100)
    world.publish("helios", 5, a=1, b=1)
    world.operations.reconcile()
    world.publish("helios", 6, b=1)
    world.operations.reconcile()

    world.publish("helios", 7, a=7, b=1)
    world.operations.reconcile()
    assert world.held() == {"helios/a": 7, "helios/b": 1, "tidebook/z": 100}
    world.publish("helios", 8, a=8, b=1)
    world.operations.reconcile()

    assert world.held()["helios/a"] == 8


def test_what_a_call_has_no_time_for_is_noted_and_done_by_the_schedule(world: World) -> None:
    world.publish("helios", 1, **{f"e{number}": 1 for number in range(5)})

    assert world.upkeep.finish() is None
    assert world.upkeep.take([Message("m", MANIFEST)], lambda: True) == []
    assert (len(world.held()), world.note.at) == (2, world.note.now)

    assert world.upkeep.finish(lambda: True) == Report(indexed=2, remaining=1)
    assert world.upkeep.finish() == Report(indexed=1)
    world.note.now += SETTLED_SECONDS
    assert world.upkeep.finish() == Report()
    assert (len(world.held()), world.note.at) == (5, None)


def test_without_notes_the_messages_come_again(world: World) -> None:
    world.publish("helios", 1, a=1, b=1, c=1)
    upkeep = Upkeep(world.operations, None)
    messages = [Message("m", MANIFEST), Message("n", MANIFEST)]

    assert upkeep.take(messages, lambda: True) == ["m", "n"]
    assert upkeep.take(messages, lambda: True) == []
    assert upkeep.finish() is None


def test_a_store_that_fails_lets_the_messages_come_again(world: World) -> None:
    world.objects.put(manifest_key("helios"), b"{")

    assert world.upkeep.take([Message("m", MANIFEST)]) == ["m"]


def test_entries_without_vectors_get_them_from_the_schedule(world: World) -> None:
    world.model.failing = True
    world.publish("helios", 1, a=1)
    operations = Operations(
        [Indexer(world.source, world.engine, world.model, waiting=world.note.put)], None, "reference"
    )
    upkeep = Upkeep(operations, world.note, lambda: world.note.now)
    upkeep.take([Message("m", MANIFEST)])
    assert list(world.engine.incomplete()) == ["helios/a"]

    world.model.failing = False
    assert upkeep.finish() == Report(indexed=1)
    assert list(world.engine.incomplete()) == []


STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sets(st.sampled_from("abc")), st.booleans()), min_size=1, max_size=12
)


@given(steps=STEPS)
def test_the_index_equals_what_is_published_whatever_happened_before(
    steps: list[tuple[str, set[str], bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    world = World(tmp_path_factory.mktemp("world"))
    generations: dict[str, int] = {}
    before: dict[str, dict[str, int]] = {}
    for name, ids, delivered in steps:
        generation = generations[name] = generations.get(name, 0) + 1
        held = before.get(name, {})
        before[name] = {id: held.get(id, generation) for id in sorted(ids)}
        world.publish(name, generation, **before[name])
        if delivered:
            world.upkeep.take([Message("m", MANIFEST)])
    world.operations.reconcile()

    assert world.held() == {f"{name}/{id}": at for name, held in before.items() for id, at in held.items()}
    assert world.operations.reconcile() == Report()
    world.engine.close()
