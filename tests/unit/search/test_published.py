"""The index as one object in the store: writers that race, readers that follow, stores that fail."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from moto import mock_aws

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.objects import ObjectStore, StoredObject
from commonplace.kernel.s3 import S3ObjectStore
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.embedded.published import PublishedEngine, open_index
from commonplace.search.filters import Filters
from commonplace.search.model import RecordId, Tombstone
from commonplace.search.query import Query
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import indexed, record, versions

KEY = "index/documents.sqlite"
Open = Callable[..., PublishedEngine]


class Racing(FakeObjectStore):
    """A store on which somebody else may write just before our own write arrives, and which may be away."""

    def __init__(self) -> None:
        super().__init__()
        self.races: list[Callable[[], None]] = []
        self.away = False
        self.puts = 0
        self.looks = 0

    def put(self, key: str, body: bytes, **told: object) -> str:
        if self.races:
            self.races.pop()()
        self.puts += 1
        return super().put(key, body, **told)  # type: ignore[arg-type]

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        self.looks += 1
        if self.away:
            raise EndpointConnectionError(endpoint_url="https://s3.example")
        return super().get_if_changed(key, etag)


@pytest.fixture
def store() -> Racing:
    return Racing()


@pytest.fixture
def open_(store: Racing, provider: FakeEmbeddings, tmp_path: Path) -> Iterator[Open]:
    with ExitStack() as opened:

        def open_(**told: object) -> PublishedEngine:
            facts: dict[str, object] = {"folder": tmp_path, "refresh_seconds": 0.0, **told}
            engine = PublishedEngine(store, KEY, provider, **facts)  # type: ignore[arg-type]
            opened.callback(engine.close)
            return engine

        yield open_


def test_a_writer_that_was_overtaken_applies_its_writes_to_what_the_other_left(
    store: Racing, open_: Open, provider: FakeEmbeddings
) -> None:
    ours, theirs = open_(), open_()
    ours.write(indexed(provider, record("note/a", "rain"), record("note/b", "snow")), ())
    store.races.append(
        lambda: theirs.write(indexed(provider, record("note/c", "wind")), [Tombstone(RecordId("note/b"), 2)])
    )

    ours.write(indexed(provider, record("note/d", "hail")), ())

    assert versions(open_()) == {"note/a": 1, "note/c": 1, "note/d": 1}


def test_two_first_writers_end_in_one_index(store: Racing, open_: Open, provider: FakeEmbeddings) -> None:
    ours, theirs = open_(), open_()
    store.races.append(lambda: theirs.write(indexed(provider, record("note/a", "rain")), ()))

    ours.write(indexed(provider, record("note/b", "wind")), ())

    assert versions(open_()) == {"note/a": 1, "note/b": 1}


def test_a_writer_gives_up_after_three_races_and_nothing_of_its_is_left(
    store: Racing, open_: Open, provider: FakeEmbeddings
) -> None:
    ours, theirs = open_(), open_()
    for number in range(3):
        rival = indexed(provider, record(f"note/n{number}", "rain"))
        store.races.insert(0, lambda rival=rival: theirs.write(rival, ()))  # type: ignore[misc]
    store.races = [race for pair in zip(store.races, [lambda: None] * 3, strict=True) for race in reversed(pair)]

    with pytest.raises(Unavailable, match="Other writers"):
        ours.write(indexed(provider, record("note/ours", "wind")), ())

    assert versions(ours) == versions(open_()) == {"note/n0": 1, "note/n1": 1, "note/n2": 1}


def test_writes_that_change_nothing_publish_nothing(store: Racing, open_: Open, provider: FakeEmbeddings) -> None:
    engine = open_()
    writes = indexed(provider, record("note/a", "rain"))
    engine.write(writes, ())

    engine.write(writes, [Tombstone(RecordId("note/a"), 1)])
    engine.write((), ())

    assert store.puts == 1


def test_a_reader_looks_for_a_new_version_when_its_time_has_come(
    store: Racing, open_: Open, provider: FakeEmbeddings
) -> None:
    now = [0.0]
    writer, reader = open_(), open_(refresh_seconds=2.0, clock=lambda: now[0])
    assert reader.candidates(Query.of("rain"), None, Filters(), 5).total == 0
    writer.write(indexed(provider, record("note/a", "rain")), ())
    looks = store.looks

    now[0] = 1.9
    assert reader.candidates(Query.of("rain"), None, Filters(), 5).total == 0
    assert store.looks == looks
    now[0] = 2.0
    assert reader.candidates(Query.of("rain"), None, Filters(), 5).total == 1


def test_a_reader_goes_on_with_its_copy_while_the_store_is_away(
    store: Racing, open_: Open, provider: FakeEmbeddings
) -> None:
    reader = open_()
    open_().write(indexed(provider, record("note/a", "rain")), ())
    assert reader.candidates(Query.of("rain"), None, Filters(), 5).total == 1

    store.away = True

    assert reader.candidates(Query.of("rain"), None, Filters(), 5).total == 1
    with pytest.raises(Unavailable):
        open_().candidates(Query.of("rain"), None, Filters(), 5)
    with pytest.raises(Unavailable):
        reader.write((), ())


def test_copies_do_not_pile_up(open_: Open, provider: FakeEmbeddings, tmp_path: Path) -> None:
    writer, reader = open_(), open_()
    for number in range(6):
        writer.write(indexed(provider, record(f"note/n{number}", "rain")), ())
        assert reader.candidates(Query.of("rain"), None, Filters(), 9).total == number + 1

    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
    writer.close()
    reader.close()
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_an_index_that_was_removed_is_empty_and_can_be_written_anew(
    store: Racing, open_: Open, provider: FakeEmbeddings
) -> None:
    engine = open_()
    engine.write(indexed(provider, record("note/a", "rain")), ())
    store.delete([KEY])

    assert versions(engine) == {}
    engine.write(indexed(provider, record("note/b", "wind")), ())
    assert versions(open_()) == {"note/b": 1}


def test_a_damaged_object_is_replaced(store: Racing, open_: Open, provider: FakeEmbeddings) -> None:
    store.put(KEY, b"This is no database. " * 500)
    engine = open_()

    with pytest.raises(Unavailable):
        engine.write(indexed(provider, record("note/a", "rain")), ())
    engine.replace(indexed(provider, record("note/a", "rain")))

    assert versions(open_()) == {"note/a": 1}


def test_s3s_own_conditions_keep_racing_writers_apart(provider: FakeEmbeddings, tmp_path: Path) -> None:
    with mock_aws(), ExitStack() as opened:
        client = boto3.session.Session("123456789012", "x", region_name="us-east-1").client("s3")
        client.create_bucket(Bucket="content")

        def open_(objects: ObjectStore) -> PublishedEngine:
            engine = PublishedEngine(objects, KEY, provider, folder=tmp_path, refresh_seconds=0)
            opened.callback(engine.close)
            return engine

        class Overtaken(S3ObjectStore):
            times = 2

            def put(self, key: str, body: bytes, **told: object) -> str:
                if self.times:
                    self.times -= 1
                    theirs.write(indexed(provider, record(f"note/theirs{self.times}", "wind")), ())
                return super().put(key, body, **told)  # type: ignore[arg-type]

        theirs = open_(S3ObjectStore(client, "content"))
        ours = open_(Overtaken(client, "content"))

        ours.write(indexed(provider, record("note/ours", "rain")), ())

        assert versions(theirs) == {"note/ours": 1, "note/theirs0": 1, "note/theirs1": 1}


def test_the_location_says_which_form_of_the_index_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a folder" / "index.sqlite"
    local = open_index(path.as_uri(), None, None, read_only=False)
    local.write((), ())
    remote = open_index("s3://content/index/documents.sqlite", FakeObjectStore(), None, read_only=True)

    assert isinstance(local, EmbeddedEngine)
    assert path.is_file()
    assert isinstance(remote, PublishedEngine)
    local.close()
    remote.close()


@pytest.mark.parametrize("location", ["https://content/x", "s3://content", "s3://content/x", ""])
def test_a_location_that_cannot_be_opened_is_refused_at_once(location: str) -> None:
    with pytest.raises(ValueError, match="location of an index"):
        open_index(location, None, None, read_only=True)
