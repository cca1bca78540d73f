"""Tables for tests: in moto, and in a DynamoDB Local, which shows what moto gets wrong.

DynamoDB Local is fetched by whoever runs the tests, under a licence of Amazon's own, and started once for a run.
`COMMONPLACE_TEST_DYNAMODB=http://127.0.0.1:PORT` has the tests use one that runs already, which saves its start, and
`COMMONPLACE_TEST_DYNAMODB=off` leaves these tests out: for who does not take on that licence. Each test makes tables of
its own.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.one_for_all import serving
from tests.opensearch_fixture import or_skipped

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RUNNING = "COMMONPLACE_TEST_DYNAMODB"


@pytest.fixture(scope="session")
def dynamodb_local_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the run's DynamoDB Local."""
    given = os.environ.get(RUNNING, "")
    if given == "off":
        pytest.skip(f"{RUNNING} is off")
    if given:
        yield given.rstrip("/")
        return
    from tests.dynamodb_local.node import LocalDynamoDB

    yield from serving(tmp_path_factory.getbasetemp(), "dynamodb", lambda: or_skipped(LocalDynamoDB))


@pytest.fixture(scope="session")
def dynamodb_local(dynamodb_local_url: str) -> "DynamoDBClient":
    """A client of it, with nobody's credentials, for many threads."""
    import boto3
    from botocore.config import Config

    session = boto3.session.Session("local", "x", region_name="us-east-1")
    config = Config(max_pool_connections=50, retries={"mode": "standard", "total_max_attempts": 3})
    return session.client("dynamodb", endpoint_url=dynamodb_local_url, config=config)


def new_table(client: "DynamoDBClient", kind: str) -> str:
    """The name of a table that is empty, with the keys of all of ours."""
    name = f"{kind}-{uuid4().hex}"
    keys: Any = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
    client.create_table(
        TableName=name,
        KeySchema=keys,
        AttributeDefinitions=[{"AttributeName": one, "AttributeType": "S"} for one in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


def dump(client: "DynamoDBClient", table: str) -> str:
    """Everything in a table, as text."""
    return repr([page["Items"] for page in client.get_paginator("scan").paginate(TableName=table)])
