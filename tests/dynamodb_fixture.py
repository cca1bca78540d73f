"""Tables of identity for tests: in moto, and in a DynamoDB Local that runs already.

`COMMONPLACE_TEST_DYNAMODB=http://127.0.0.1:PORT` has the tests of the stores use it, too. We neither fetch nor start
it: its licence is its user's to accept, and it listens on every interface.
"""

import os
from typing import TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

RUNNING = "COMMONPLACE_TEST_DYNAMODB"


def running() -> str | None:
    """The address of a DynamoDB Local."""
    return os.environ.get(RUNNING) or None


def local_client() -> "DynamoDBClient":
    """A client of the DynamoDB Local that runs, with nobody's credentials."""
    import boto3
    from botocore.config import Config

    session = boto3.session.Session("local", "x", region_name="us-east-1")
    config = Config(max_pool_connections=50, retries={"mode": "standard", "total_max_attempts": 3})
    return session.client("dynamodb", endpoint_url=running(), config=config)


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
