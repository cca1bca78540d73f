import pytest

from tests.aws_fixture import aws, s3, s3_client, session
from tests.fakes.embeddings import FakeEmbeddings

__all__ = ["aws", "s3", "s3_client", "session"]


@pytest.fixture
def provider() -> FakeEmbeddings:
    return FakeEmbeddings()
