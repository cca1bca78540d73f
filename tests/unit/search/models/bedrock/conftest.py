"""A real boto3 client that speaks to the loopback Bedrock: its own serializer, signer, parser and timeouts."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest

from commonplace.kernel import aws
from tests.fakes.bedrock import REGION, FakeBedrock, running

Client = Callable[..., Any]

IMPATIENT_SECONDS = 1.5
"""For a server that never answers; everywhere else a slow machine must not count as one."""


@pytest.fixture
def bedrock() -> Iterator[FakeBedrock]:
    with running() as server:
        yield server


@pytest.fixture
def client(session: boto3.session.Session, bedrock: FakeBedrock) -> Iterator[Client]:
    """Builds a client by service name, with the configuration that is deployed."""
    opened = []

    def build(service: str, read_timeout_seconds: float = 30) -> Any:
        built: Any = session.client(
            service,  # type: ignore[call-overload]
            region_name=REGION,
            endpoint_url=bedrock.url,
            config=aws.config(read_timeout_seconds=read_timeout_seconds, attempts=1),
        )
        opened.append(built)
        return built

    yield build
    for each in opened:
        each.close()
