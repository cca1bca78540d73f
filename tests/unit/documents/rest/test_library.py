"""The library under the interface: when the store is asked, and that indexes find what a plain look would."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.documents.content.document import MANIFEST_KEY, Entry
from commonplace.documents.content.document_index import Catalogue, Selection, Sort
from commonplace.documents.content.library import Library
from commonplace.kernel.byte_cache import ByteCache
from commonplace.kernel.errors import Unavailable
from commonplace.search.filters import Filters
from commonplace.search.model import Documents, Publication, RecordId
from tests.fakes.library import FakeLibrary, garden, links_between, make
from tests.unit.documents.rest.conftest import Seconds

TAGS = st.sampled_from(["a", "b", "c"])
MOMENTS = st.sampled_from([datetime(2026, month, 1, tzinfo=UTC) for month in (1, 2, 3)])
DAYS = st.sampled_from(["2025-01-01", "2025-06-30", "2026-01-01"])
FOLDERS = st.sampled_from(["docs/", "docs/a/", "docs-old/", ""])


def optional(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str | None]:
    return st.none() | strategy


@st.composite
def catalogues(draw: st.DrawFn) -> Catalogue:
    documents = [
        make(
            draw(st.sampled_from(["file", "pattern", "tag"])),
            f"d-{number}",
            f"{draw(FOLDERS)}d-{number}.md",
            title=draw(st.sampled_from(["x", "X", "y", "Ä"])),
            group=draw(optional(TAGS)),
            author=draw(st.lists(TAGS, max_size=2)),
            aliases=draw(st.lists(TAGS, max_size=2)),
            tags=draw(st.lists(TAGS, max_size=3)),
            date=draw(optional(DAYS)),
            updated_at=draw(st.none() | MOMENTS),
        )
        for number in range(draw(st.integers(0, 12)))
    ]
    store = FakeLibrary()
    store.publish(documents)
    return Library(store).edition().catalogue


filters = st.builds(
    Filters,
    content_types=st.lists(st.sampled_from(["file", "pattern", "tag"]), max_size=2).map(tuple),
    groups=st.lists(TAGS, max_size=2).map(tuple),
    authors=st.lists(TAGS, max_size=2).map(tuple),
    aliases=st.lists(TAGS, max_size=2).map(tuple),
    tags_all=st.lists(TAGS, max_size=2).map(tuple),
    tags_any=st.lists(TAGS, max_size=2).map(tuple),
    path_prefix=optional(FOLDERS),
    date_from=optional(DAYS),
    date_to=optional(DAYS),
)
selections = st.builds(Selection, filters=filters, updated_since=st.none() | MOMENTS)
sorts: st.SearchStrategy[Sort] = st.sampled_from(
    ["title", "-title", "date", "-date", "updated", "-updated", "path", "-path"]
)


def matches(entry: Entry, selection: Selection) -> bool:
    """The conditions, said plainly."""
    wanted, since = selection.filters, selection.updated_since
    return (
        (not wanted.content_types or entry.content_type in wanted.content_types)
        and (not wanted.groups or entry.group in wanted.groups)
        and (not wanted.authors or not set(wanted.authors).isdisjoint(entry.author))
        and (not wanted.aliases or not set(wanted.aliases).isdisjoint(entry.aliases))
        and set(wanted.tags_all) <= set(entry.tags)
        and (not wanted.tags_any or bool(set(wanted.tags_any) & set(entry.tags)))
        and entry.path.startswith(wanted.path_prefix or "")
        and (wanted.date_from is None or (entry.date is not None and entry.date >= wanted.date_from))
        and (wanted.date_to is None or (entry.date is not None and entry.date <= wanted.date_to))
        and (since is None or (entry.updated_at is not None and entry.updated_at >= since))
    )


@given(catalogue=catalogues(), wanted=selections, sort=sorts)
def test_indexes_find_exactly_what_a_plain_look_finds(catalogue: Catalogue, wanted: Selection, sort: Sort) -> None:
    found = catalogue.select(wanted, sort)
    assert {entry.ref for entry in found} == {
        entry.ref for entry in catalogue.manifest.documents if matches(entry, wanted)
    }
    assert len({entry.ref for entry in found}) == len(found)


@given(catalogue=catalogues(), sort=sorts)
def test_lists_are_in_order_with_absent_values_last(catalogue: Catalogue, sort: Sort) -> None:
    field = {"title": "title", "date": "date", "updated": "updated_at", "path": "path"}[sort.removeprefix("-")]
    values = [getattr(entry, field) for entry in catalogue.select(Selection(), sort)]
    told = [value.casefold() if field == "title" else value for value in values if value is not None]
    assert told == sorted(told, reverse=sort.startswith("-"))
    assert None not in values[: len(told)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 40))))
def test_cache_never_holds_more_than_its_bytes(puts: list[tuple[int, int]]) -> None:
    cache: ByteCache[int, bytes] = ByteCache(100, len)
    for key, size in puts:
        cache.put(key, b"x" * size)
    held = [value for key in range(6) if (value := cache.get(key)) is not None]
    assert sum(map(len, held)) <= 100
    assert max(map(len, held), default=0) <= 25


@pytest.fixture
def store() -> FakeLibrary:
    store = FakeLibrary()
    store.publish(garden(), graph=links_between(garden()))
    return store


def test_manifest_is_asked_for_at_most_every_half_second(store: FakeLibrary) -> None:
    clock = Seconds()
    library = Library(store, clock=clock)
    for _ in range(10):
        library.manifest()
        clock.now += 0.1
    assert store.reads.count(MANIFEST_KEY) == 2


def test_unchanged_manifest_is_not_parsed_again(store: FakeLibrary) -> None:
    clock = Seconds()
    library = Library(store, clock=clock)
    first = library.edition()
    clock.now += 6
    assert library.edition() is first


def test_many_documents_come_in_order_with_gaps_where_one_has_gone(store: FakeLibrary) -> None:
    library = Library(store)
    entries = list(library.edition().catalogue.entries)
    store.delete([entries[2].key])
    found = library.documents(entries)
    assert [one is None for one in found] == [position == 2 for position in range(len(entries))]
    assert all(one is None or entry.id.encode() in one.body for entry, one in zip(entries, found, strict=True))


def test_documents_read_together_are_remembered(store: FakeLibrary) -> None:
    library = Library(store)
    entries = list(library.edition().catalogue.entries)
    library.documents(entries)
    before = len(store.reads)
    library.documents(entries)
    assert len(store.reads) == before


def test_graph_is_read_once_per_publication(store: FakeLibrary) -> None:
    clock = Seconds()
    library = Library(store, clock=clock)
    assert library.graph() is library.graph()
    store.publish(garden(), graph={"nodes": [], "edges": [], "broken": []})
    clock.now += 5
    assert library.graph().edges == []


def test_store_that_fails_is_told_as_unavailable_and_asked_again(store: FakeLibrary) -> None:
    library = Library(store)
    store.unreachable = True
    with pytest.raises(Unavailable):
        library.manifest()
    store.unreachable = False
    assert len(library.manifest().documents) == 11


def test_library_that_was_emptied_is_empty(store: FakeLibrary) -> None:
    clock = Seconds()
    library = Library(store, clock=clock)
    library.manifest()
    store.delete([MANIFEST_KEY])
    clock.now += 5
    assert (library.edition().etag, library.manifest().documents) == (None, [])


def test_whole_documents_come_in_the_order_asked_for_whatever_is_missing() -> None:
    documents = garden()
    store = FakeLibrary(documents)
    store.delete(["content/practice/seed-swap.json"])
    store.put("content/tag/governance.json", b'{"id": 7}')
    asked = ["pattern/rotating-stewardship", "tag/nobody", "practice/seed-swap", "tag/governance", "index/garden"]
    read = Library(store).read([*asked, asked[0]])
    whole = {str(document.ref): document for document in documents}
    assert read == [whole[asked[0]], None, None, None, whole[asked[4]], whole[asked[0]]]


def test_an_unreadable_document_is_logged_by_its_name_alone(caplog: pytest.LogCaptureFixture) -> None:
    store = FakeLibrary(garden())
    store.put("content/tag/governance.json", b'{"id": "secret text"}')
    Library(store).read(["tag/governance"])
    assert [record.getMessage() for record in caplog.records] == ["a document cannot be read"]
    assert "secret text" not in caplog.text


def test_documents_that_are_not_published_are_never_read() -> None:
    store = FakeLibrary(garden())
    store.put("content/file/hidden.json", make("file", "hidden", "hidden.md").to_json())
    assert Library(store).read(["file/hidden"]) == [None]
    assert "content/file/hidden.json" not in store.reads


def test_documents_read_once_are_remembered() -> None:
    store = FakeLibrary(garden())
    library = Library(store)
    library.read(["tag/governance", "index/garden"])
    before = list(store.reads)
    assert [document and document.id for document in library.read(["index/garden"])] == ["garden"]
    assert store.reads == before


def test_no_documents_can_be_read_from_a_store_that_does_not_answer() -> None:
    store = FakeLibrary(garden())
    library = Library(store)
    library.manifest()
    store.unreachable = True
    with pytest.raises(Unavailable):
        library.read(["tag/governance"])


def test_what_is_published_is_told_with_its_generation_however_recently_it_changed() -> None:
    documents = garden()
    store = FakeLibrary(documents)
    library = Library(store, clock=Seconds())
    assert (library.generation_of("tag/governance"), library.generation_of("tag/nobody")) == (1, None)
    changed = [document.model_copy(update={"generation": 9}) for document in documents]
    store.publish([document for document in changed if document.ref != "index/garden"])
    assert (library.generation_of("tag/governance"), library.generation_of("index/garden")) == (9, None)


def test_the_library_is_what_a_search_asks_for_documents_and_for_what_is_published() -> None:
    library = Library(FakeLibrary(garden()))
    documents: Documents = library
    publication: Publication = library
    assert documents.read([RecordId("tag/governance")])
    assert publication.generation_of(RecordId("tag/governance")) == 1
