"""What is published of what was read: places, generations, days."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from commonplace.reference.model import Catalogue
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.compilation import compile
from commonplace.reference.source.reader import Reading, read_catalogue
from tests.reference_files import COMMIT, SYNCED_AT, WEB_URL, compiled

UNDATED = {"id": "a", "type": "guide", "title": "A", "category": "c", "summary": "S.", "content": "T."}
A = UNDATED | {"lastUpdated": "2026-01-01"}
B = A | {"id": "b", "title": "B"}


def reading(*entries: dict[str, Any], settings: bytes = b"") -> Reading:
    return read_catalogue({"all.json": json.dumps(entries).encode(), "catalogue.yaml": settings}, "helios")


def generations(catalogue: Catalogue) -> dict[str, int]:
    return {placed.entry.id: placed.generation for placed in catalogue.entries}


def test_a_catalogue_says_where_and_when_it_was_published() -> None:
    settings = b"title: Helios\nroots: [helios]\nsynonyms: {a: [b]}\nservers: [https://h.example]\nmodules: {m: M}\n"
    made = compiled(reading(B, A, settings=settings), folder="docs/reference", generation=7)
    assert (made.name, made.title, made.roots, made.servers) == ("helios", "Helios", ["helios"], ["https://h.example"])
    assert (made.synonyms, made.modules) == ({"a": ["b"]}, {"m": "M"})
    assert (made.commit_sha, made.generation, made.synced_at) == (COMMIT, 7, SYNCED_AT)
    assert [(one.entry.id, one.path, one.generation) for one in made.entries] == [
        ("a", "docs/reference/all.json", 7),
        ("b", "docs/reference/all.json", 7),
    ]
    assert made.source_url(made.entries[0]) == f"{WEB_URL}/blob/{COMMIT}/docs/reference/all.json#L1"
    assert made.tree_url == f"{WEB_URL}/tree/{COMMIT}"
    assert made.model_copy(update={"web_url": None}).source_url(made.entries[0]) is None


def test_in_a_folder_of_this_machine_sources_are_its_files(tmp_path: Path) -> None:
    made = compiled(reading(A), folder="docs of ours").model_copy(update={"web_url": tmp_path.as_uri()})

    assert made.source_url(made.entries[0]) == (tmp_path / "docs of ours" / "all.json").as_uri()
    assert made.tree_url == tmp_path.as_uri()


def test_an_entry_that_moves_in_its_file_is_not_changed() -> None:
    before = compiled(reading(A), generation=1)
    moved = read_catalogue({"all.json": json.dumps([A], indent=2).encode()}, "helios")
    after = compiled(moved, generation=2, before=before)

    assert [(one.line, one.generation) for one in (*before.entries, *after.entries)] == [(1, 1), (2, 1)]


def test_what_has_not_changed_keeps_its_generation() -> None:
    before = compiled(reading(A, B), generation=1)
    after = compiled(reading(A, B | {"summary": "Other."}), generation=2, before=before)
    assert generations(after) == {"a": 1, "b": 2}


def test_an_entry_that_moves_to_another_file_is_of_this_generation() -> None:
    before = compiled(reading(A), generation=1)
    moved = read_catalogue({"other.json": json.dumps([A]).encode()}, "helios")
    assert generations(compiled(moved, generation=2, before=before)) == {"a": 2}


def test_an_entry_without_a_day_has_that_of_the_publication_that_changed_it() -> None:
    source = CatalogueSource("helios", "example/product", "main", "")

    def at(days: int, given: dict[str, Any], before: Catalogue | None) -> Catalogue:
        when = SYNCED_AT + timedelta(days=days)
        return compile(
            reading(given), source=source, web_url=None, commit=COMMIT, generation=days, synced_at=when, before=before
        )

    first = at(1, UNDATED, None)
    second = at(2, UNDATED, first)
    third = at(3, UNDATED | {"title": "C"}, second)
    days = [one.entries[0].entry.last_updated for one in (first, second, third)]
    assert days == ["2026-03-02T12:00:00Z", "2026-03-02T12:00:00Z", "2026-03-04T12:00:00Z"]
    assert [one.entries[0].generation for one in (first, second, third)] == [1, 1, 3]
