"""Every test runs in both eras of the protocol, over both engines: one with gaps on moto, one on DynamoDB Local."""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import boto3
import pytest
from moto import mock_aws

from commonplace.search.models.local import LocalEmbeddings
from commonplace_local.cloud import moto_patches
from tests.conformance.memory.worlds import embedded, opensearch
from tests.conformance.reference.worlds import Guest, World, calling
from tests.fakes.one_at_a_time import OneAtATime
from tests.unit.web.mcp.talking import ERAS

PLACES = (
    "embedded",
    pytest.param("OpenSearch", marks=pytest.mark.opensearch),
)


@pytest.fixture(scope="session")
def model() -> LocalEmbeddings:
    return LocalEmbeddings()


@pytest.fixture(scope="module", params=PLACES)
def world(request: pytest.FixtureRequest, model: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    if request.param == "OpenSearch":
        with opensearch(request.getfixturevalue("opensearch_url"), model) as index:
            yield World(request.getfixturevalue("dynamodb_local"), index, model)
        return
    with served_by_moto() as client:
        yield World(client, embedded(tmp_path_factory.mktemp("index"), model), model)


@pytest.fixture(params=ERAS)
def guest(request: pytest.FixtureRequest, world: World) -> Iterator[Guest]:
    """Somebody unknown."""
    with calling(world, request.param, organisation()) as guest:
        yield guest


@pytest.fixture(params=ERAS)
def member(request: pytest.FixtureRequest, world: World) -> Iterator[Guest]:
    with calling(world, request.param, organisation(), token="member") as guest:
        yield guest


def organisation() -> str:
    return f"team-{uuid4().hex[:12]}"


class served_by_moto:
    """One process's DynamoDB."""

    def __enter__(self) -> object:
        moto_patches.patch_tables()
        self._mock = mock_aws()
        self._mock.start()
        session = boto3.session.Session("123456789012", "x", region_name="us-east-1")
        return OneAtATime(session.client("dynamodb"))

    def __exit__(self, *_: object) -> None:
        self._mock.stop()
