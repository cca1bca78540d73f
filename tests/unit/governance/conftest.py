"""The organisation of `tests.fakes.governance` on moto's DynamoDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fakes.governance import found_tide

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from commonplace.governance.governance import Governance
    from tests.fakes.governance import Tide


@pytest.fixture
def tide(aws: None, dynamodb_client: DynamoDBClient) -> Tide:
    return found_tide(dynamodb_client)


@pytest.fixture
def governance(tide: Tide) -> Governance:
    return tide.governance
