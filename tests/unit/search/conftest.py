import pytest

from tests.fakes.embeddings import FakeEmbeddings


@pytest.fixture
def provider() -> FakeEmbeddings:
    return FakeEmbeddings()
