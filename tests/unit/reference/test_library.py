"""The shelf of one process: what is asked of the store and when, and what is answered while it fails."""

import threading
from collections.abc import Callable

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.objects import StoredObject
from commonplace.reference.library import MAX_AGE_SECONDS, RETRY_SECONDS, CatalogueLibrary, manifest_key
from tests.fakes.catalogues import catalogue, entry, publish
from tests.fakes.store import FakeObjectStore


class Counting(FakeObjectStore):
    """Says what it was asked for, and fails where a test wants it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.away: Callable[[str], bool] = lambda _key: False

    def get(self, key: str) -> StoredObject | None:
        self._asked(key)
        return super().get(key)

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        self._asked(key)
        return super().get_if_changed(key, etag)

    def _asked(self, key: str) -> None:
        self.asked.append(key)
        if self.away(key):
            raise OSError("the store is away")

    def since(self) -> list[str]:
        asked, self.asked = self.asked, []
        return asked


class World:
    def __init__(self, *names: str) -> None:
        self.store = Counting()
        self.now = 0.0
        self.library = CatalogueLibrary(self.store, names or ("helios",), lambda: self.now)

    def ids(self) -> dict[str, list[str]]:
        edition = self.library.edition()
        return {one.name: [placed.entry.id for placed in one.entries] for one in edition.catalogues}

    def publish(self, name: str, *ids: str, generation: int = 1) -> str:
        return publish(self.store, catalogue(name, *(entry(id) for id in ids), generation=generation))


def test_nothing_is_asked_of_the_store_while_the_edition_is_fresh() -> None:
    world = World()
    key = world.publish("helios", "a")
    first = world.library.edition()
    assert world.store.since() == [manifest_key("helios"), key]

    world.now = MAX_AGE_SECONDS - 1
    assert world.library.edition() is first
    assert world.store.since() == []

    world.now = MAX_AGE_SECONDS
    assert world.library.edition() is first
    assert world.store.since() == [manifest_key("helios")]


def test_a_publication_is_another_edition_once_the_one_that_is_held_is_old() -> None:
    world = World()
    world.publish("helios", "a")
    before = world.library.edition().version
    world.publish("helios", "a", "b", generation=2)
    assert world.ids() == {"helios": ["a"]}

    world.now = MAX_AGE_SECONDS
    assert world.ids() == {"helios": ["a", "b"]}
    assert world.library.edition().version != before


def test_catalogues_come_in_the_order_of_the_settings_and_one_without_publication_is_left_out() -> None:
    world = World("zeta", "never", "alpha")
    world.publish("alpha", "a")
    world.publish("zeta", "z")

    assert list(world.ids()) == ["zeta", "alpha"]


def test_a_store_that_fails_leaves_the_held_edition_and_is_tried_again_soon() -> None:
    world = World()
    world.publish("helios", "a")
    held = world.library.edition()
    world.publish("helios", "b", generation=2)
    world.now = MAX_AGE_SECONDS
    world.store.since()
    world.store.away = lambda _key: True

    assert world.library.edition() is held
    assert world.library.edition() is held
    assert world.store.since() == [manifest_key("helios")]

    world.store.away = lambda _key: False
    world.now += RETRY_SECONDS
    assert world.ids() == {"helios": ["b"]}


def test_one_catalogue_that_fails_does_not_keep_another_from_being_renewed() -> None:
    world = World("one", "two")
    world.publish("one", "a")
    world.publish("two", "b")
    world.library.edition()
    world.publish("two", "c", generation=2)
    world.store.away = lambda key: key == manifest_key("one")
    world.now = MAX_AGE_SECONDS

    assert world.ids() == {"one": ["a"], "two": ["c"]}


def test_without_anything_held_a_store_that_fails_is_said_and_is_asked_again_at_once() -> None:
    world = World("one", "two")
    world.publish("one", "a")
    world.publish("two", "b")
    world.store.away = lambda key: key == manifest_key("two")
    with pytest.raises(Unavailable, match="two"):
        world.library.edition()

    world.store.away = lambda _key: False
    assert world.ids() == {"one": ["a"], "two": ["b"]}


@pytest.mark.parametrize("body", [b"{", b"{}"])
def test_a_manifest_or_catalogue_that_cannot_be_read_leaves_the_last_good_one(body: bytes) -> None:
    world = World()
    world.publish("helios", "a")
    world.library.edition()
    key = world.publish("helios", "b", generation=2)
    world.store.put(key, body)
    world.now = MAX_AGE_SECONDS
    assert world.ids() == {"helios": ["a"]}

    world.store.put(manifest_key("helios"), body)
    world.now *= 2
    assert world.ids() == {"helios": ["a"]}


def test_a_manifest_whose_object_is_gone_already_is_read_once_more() -> None:
    world = World()
    world.publish("helios", "a")
    world.library.edition()
    gone = world.publish("helios", "b", generation=2)
    del world.store.objects[gone]
    world.store.away = lambda key: bool(key == gone and world.publish("helios", "c", generation=3)) and False
    world.now = MAX_AGE_SECONDS

    assert world.ids() == {"helios": ["c"]}


def test_a_catalogue_that_is_taken_away_leaves_the_shelf() -> None:
    world = World()
    world.publish("helios", "a")
    world.library.edition()
    world.store.delete([manifest_key("helios")])
    world.now = MAX_AGE_SECONDS

    assert world.ids() == {}


def test_while_one_thread_looks_the_others_answer_from_what_is_held() -> None:
    world = World()
    world.publish("helios", "a")
    held = world.library.edition()
    world.publish("helios", "b", generation=2)
    world.now = MAX_AGE_SECONDS
    looking, go_on = threading.Event(), threading.Event()

    def wait(_key: str) -> bool:
        looking.set()
        assert go_on.wait(60)
        return False

    world.store.away = wait
    other = threading.Thread(target=world.library.edition)
    other.start()
    assert looking.wait(60)
    assert world.library.edition() is held
    go_on.set()
    other.join(60)

    assert world.ids() == {"helios": ["b"]}


def test_the_first_look_is_done_once_however_many_ask() -> None:
    world = World()
    key = world.publish("helios", "a")
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(world.library.edition().catalogues))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert found == [1] * 8
    assert world.store.since() == [manifest_key("helios"), key]
