"""Clients of AWS for functions: bounded waits and a few retries, built in one place."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import boto3
from botocore.config import Config

if TYPE_CHECKING:
    from botocore.credentials import Credentials
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_stepfunctions import SFNClient

CONNECT_TIMEOUT_SECONDS = 2

MODEL_CONNECT_TIMEOUT_SECONDS = 1
"""To Bedrock: retries are ours (`search.models.guarded`), and somebody waits."""

_MAKING = Lock()
"""A session may make one client at a time; the clients themselves may be used by every thread."""


def config(
    *,
    read_timeout_seconds: float,
    attempts: int = 3,
    connections: int = 10,
    connect_timeout_seconds: float = CONNECT_TIMEOUT_SECONDS,
) -> Config:
    """Botocore's standard retries (capped, with jitter) and timeouts shorter than any caller's.

    `attempts` counts the first try. The longest a call can take is about
    `attempts * (connect_timeout_seconds + read_timeout_seconds)`.
    """
    return Config(
        connect_timeout=connect_timeout_seconds,
        read_timeout=read_timeout_seconds,
        retries={"mode": "standard", "total_max_attempts": attempts},
        max_pool_connections=connections,
        user_agent=f"commonplace Boto3/{boto3.__version__}",  # botocore puts its own together anew for each request
    )


@cache
def _session() -> boto3.session.Session:
    # One session: credentials and the service models are looked up once for all clients.
    return boto3.session.Session()


def credentials() -> Credentials | None:
    """Whatever signs the requests of this process; they renew themselves."""
    return _session().get_credentials()


def region() -> str | None:
    return _session().region_name


def _client(service: str, region: str | None = None, **options: Any) -> Any:
    session: Any = _session()
    with _MAKING:
        return session.client(service, region_name=region, config=config(**options))


def s3(*, read_timeout_seconds: float = 20, connections: int = 20) -> S3Client:
    client: S3Client = _client("s3", read_timeout_seconds=read_timeout_seconds, connections=connections)
    return client


def sqs(*, read_timeout_seconds: float = 5) -> SQSClient:
    client: SQSClient = _client("sqs", read_timeout_seconds=read_timeout_seconds)
    return client


def dynamodb(
    *,
    read_timeout_seconds: float = 2,
    attempts: int = 3,
    connect_timeout_seconds: float = CONNECT_TIMEOUT_SECONDS,
) -> DynamoDBClient:
    client: DynamoDBClient = _client(
        "dynamodb",
        read_timeout_seconds=read_timeout_seconds,
        attempts=attempts,
        connect_timeout_seconds=connect_timeout_seconds,
    )
    return client


def stepfunctions() -> SFNClient:
    client: SFNClient = _client("stepfunctions", read_timeout_seconds=3, attempts=2)
    return client


def secretsmanager(*, read_timeout_seconds: float = 3) -> SecretsManagerClient:
    client: SecretsManagerClient = _client("secretsmanager", read_timeout_seconds=read_timeout_seconds, attempts=2)
    return client


def lambda_functions(
    *,
    read_timeout_seconds: float = 12,
    attempts: int = 1,
    connect_timeout_seconds: float = CONNECT_TIMEOUT_SECONDS,
) -> Any:
    return _client(
        "lambda",
        read_timeout_seconds=read_timeout_seconds,
        attempts=attempts,
        connect_timeout_seconds=connect_timeout_seconds,
    )


def comprehend() -> Any:
    return _client("comprehend", read_timeout_seconds=3, attempts=2, connect_timeout_seconds=1)


def cloudfront() -> Any:
    return _client("cloudfront", read_timeout_seconds=20)


def bedrock(
    service: Literal["bedrock-runtime", "bedrock-agent-runtime"], *, region: str | None, read_timeout_seconds: float
) -> Any:
    """A client of Bedrock that tries once."""
    return _client(
        service,
        region,
        read_timeout_seconds=read_timeout_seconds,
        attempts=1,
        connect_timeout_seconds=MODEL_CONNECT_TIMEOUT_SECONDS,
    )
