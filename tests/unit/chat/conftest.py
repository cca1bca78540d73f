"""One chat for each test."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.fakes.chats import ChatWorld

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@pytest.fixture
def world(dynamodb: "DynamoDBClient") -> Iterator[ChatWorld]:
    made = ChatWorld(dynamodb)
    yield made
    made.close()
