"""What unit tests of several rooms share."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.aws_fixture import aws, dynamodb, dynamodb_client, s3, s3_client, secrets_client, session

__all__ = ["aws", "dynamodb", "dynamodb_client", "s3", "s3_client", "secrets_client", "session"]


@pytest.fixture
def loop() -> Iterator[None]:
    """An event loop for code that takes the current one (Mangum): the runtime has one for life, a test its own."""
    own = asyncio.new_event_loop()
    asyncio.set_event_loop(own)
    yield
    asyncio.set_event_loop(None)
    own.close()
