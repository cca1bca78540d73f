"""The product reference as a function wires it: over the store, the embedded index, and the local model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.reference import composition
from commonplace.reference.collection import collection
from commonplace.reference.model import Asked
from commonplace.reference.settings import CatalogueSource
from commonplace.search import providers
from commonplace.search.collections import IndexContext
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.indexer import Message
from commonplace.search.settings import EmbeddingChoice, RetrievalSettings
from tests.fakes.catalogues import catalogue, entry, publish
from tests.fakes.gaps import MemoryGaps
from tests.fakes.store import FakeObjectStore
from tests.unit.search.records import body_of, notification

HELIOS = CatalogueSource("helios", "example/product", "main", "")
MANIFEST = Message("m", body_of(notification("reference/helios/manifest.json")))


@pytest.fixture
def store() -> FakeObjectStore:
    made = FakeObjectStore()
    guides = [
        entry("rota", title="Plan a rota", summary="Who is on duty at the pools, week by week."),
        entry("tides", title="Read a tide table", summary="When the water is low enough to count."),
    ]
    command = entry("cmd-users", type="command", title="List users", name="helios users list", summary="Lists users.")
    publish(made, catalogue("helios", command, *guides))
    return made


@pytest.fixture
def settings(tmp_path: Path) -> RetrievalSettings:
    return RetrievalSettings(index_location=(tmp_path / "documents.sqlite").as_uri())


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The engines that were opened; closed at the end."""
    made: list[Any] = []
    open_engine = providers.search_engine

    def noted(*given: Any, **told: Any) -> Any:
        made.append(open_engine(*given, **told))
        return made[-1]

    monkeypatch.setattr(providers, "search_engine", noted)
    yield made
    for engine in made:
        assert isinstance(engine, EmbeddedEngine)
        engine.close()


def test_what_is_published_is_found_by_name_words_and_meaning(
    store: FakeObjectStore, settings: RetrievalSettings, opened: list[Any], tmp_path: Path
) -> None:
    environ = {"CATALOGUES": '[{"name": "helios"}]', "GITHUB_REPOSITORY": "example/product", "GITHUB_BRANCH": "main"}
    indexed = cast(Any, settings)
    models = providers.indexed_models(settings)
    context = IndexContext(
        environ, indexed, store, lambda: pytest.fail("no table"), models, note=lambda _name: None, changes=None
    )
    made = collection(context)
    assert made is not None and made.take([MANIFEST]) == []
    assert (tmp_path / "reference.sqlite").exists()

    reference = composition.reference(settings, [HELIOS], store)

    found = reference.command("helios users list").hit
    assert found is not None
    assert len(opened) == 1, "no index is opened for a name"
    answer = reference.search(Asked("who has duty this week"))
    assert not answer.fallback
    assert [hit.entry.id for hit in answer.hits][:1] == ["rota"]
    assert len(opened) == 2


def test_without_a_model_words_alone_are_compared_and_no_index_is_opened(
    store: FakeObjectStore, settings: RetrievalSettings, opened: list[Any]
) -> None:
    words = settings.model_copy(update={"embedding_provider": EmbeddingChoice("none")})

    answer = composition.reference(words, [HELIOS], store).search(Asked("low water"))

    assert ([hit.entry.id for hit in answer.hits], answer.fallback, opened) == (["tides"], True, [])


def test_before_anything_is_indexed_words_answer(
    store: FakeObjectStore, settings: RetrievalSettings, opened: list[Any]
) -> None:
    answer = composition.reference(settings, [HELIOS], store).search(Asked("low water"))

    assert ([hit.entry.id for hit in answer.hits], answer.fallback) == (["tides"], True)


def test_gaps_are_kept_where_there_is_a_table(
    store: FakeObjectStore, settings: RetrievalSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    gaps = MemoryGaps(lambda: 0.0)
    monkeypatch.setattr("commonplace.kernel.aws.dynamodb", lambda **_: None)
    monkeypatch.setattr("commonplace.reference.store.DynamoGaps", lambda _, table: gaps if table == "records" else None)

    reported = [
        composition.reference(settings, [HELIOS], store, table).report_gap("acme", "helios fly").count
        for table in (None, "records")
    ]

    assert reported == [None, 1]
