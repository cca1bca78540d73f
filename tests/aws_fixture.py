"""moto's AWS in this process: no network, no credentials, and nothing of the developer's own configuration."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import boto3
import pytest
from moto import mock_aws
from moto.core import models

from commonplace_local.cloud import moto_patches

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient

# For each test moto would note a thousand addresses that it answers to clients of `requests`. Ours are botocore's.
models.RESPONSES_METHODS.clear()

BUCKET = "content"
TABLE = "activity"


@pytest.fixture(scope="session")
def session() -> Iterator[boto3.session.Session]:
    """Kept for all tests: service models are slow to load, and moto starts empty for each test all the same."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            patch.delenv(name)
        patch.setenv("AWS_CONFIG_FILE", os.devnull)
        patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
        yield boto3.session.Session("123456789012", "x", region_name="us-east-1")


@pytest.fixture(scope="session")
def s3_client(session: boto3.session.Session) -> "S3Client":
    return session.client("s3")


@pytest.fixture(scope="session")
def dynamodb_client(session: boto3.session.Session) -> "DynamoDBClient":
    return session.client("dynamodb")


@pytest.fixture(scope="session")
def secrets_client(session: boto3.session.Session) -> "SecretsManagerClient":
    return session.client("secretsmanager")


@pytest.fixture
def aws() -> Iterator[None]:
    moto_patches.patch_tables()
    with mock_aws():
        yield


@pytest.fixture
def s3(s3_client: "S3Client", aws: None) -> "S3Client":
    s3_client.create_bucket(Bucket=BUCKET)
    return s3_client


@pytest.fixture
def dynamodb(dynamodb_client: "DynamoDBClient", aws: None) -> "DynamoDBClient":
    create_table(dynamodb_client, TABLE)
    return dynamodb_client


def create_table(client: "DynamoDBClient", name: str) -> None:
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
