"""Each contract test runs on each engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.search.model import Engine
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.engines import ENGINES, Make


@pytest.fixture
def provider() -> FakeEmbeddings:
    return FakeEmbeddings()


def engine_params() -> list[Any]:
    """Those that need a real node say so: `-m "not opensearch"` leaves them out."""
    marks = {"opensearch": [pytest.mark.opensearch]}
    return [pytest.param(name, marks=marks.get(name, [])) for name in sorted(ENGINES)]


@pytest.fixture(params=engine_params())
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with ENGINES[request.param](tmp_path, request.getfixturevalue) as make:
        yield make


@pytest.fixture
def engine(make: Make, provider: FakeEmbeddings) -> Engine:
    return make(provider)
