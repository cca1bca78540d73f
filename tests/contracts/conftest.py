"""What each implementation of a port is tested with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace.search.model import Engine
from tests.aws_fixture import aws, dynamodb, dynamodb_client, session
from tests.contracts.engines import ENGINES, Make
from tests.fakes.embeddings import FakeEmbeddings

__all__ = ["aws", "dynamodb", "dynamodb_client", "session"]


@pytest.fixture
def provider() -> FakeEmbeddings:
    return FakeEmbeddings()


@pytest.fixture(params=["embedded", "published", pytest.param("opensearch", marks=pytest.mark.real)])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with ENGINES[request.param](tmp_path, request.getfixturevalue) as make:
        yield make


@pytest.fixture
def engine(make: Make, provider: FakeEmbeddings) -> Engine:
    return make(provider)
