"""One chat for each test."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.chats import ChatWorld
from tests.fakes.one_at_a_time import OneAtATime

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def world(dynamodb: "DynamoDBClient") -> Iterator[ChatWorld]:
    client: Any = OneAtATime(dynamodb)
    made = ChatWorld(client)
    yield made
    made.close()
