"""Each contract test runs on each engine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.search.model import Engine
from tests.fakes.embeddings import FakeEmbeddings
from tests.unit.search.engines import ENGINES, Make


@pytest.fixture
def provider() -> FakeEmbeddings:
    return FakeEmbeddings()


@pytest.fixture(params=sorted(ENGINES))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with ENGINES[request.param](tmp_path, request.getfixturevalue) as make:
        yield make


@pytest.fixture
def engine(make: Make, provider: FakeEmbeddings) -> Engine:
    return make(provider)
