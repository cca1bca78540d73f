"""Every test runs in both eras of the protocol, over both engines: one beside moto, one beside DynamoDB Local."""

from collections.abc import Iterator

import boto3
import pytest
from moto import mock_aws

from commonplace_local.cloud import moto_patches
from tests.conformance.memory.worlds import Team, World, calling, embedded, opensearch
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.one_at_a_time import OneAtATime
from tests.unit.web.mcp.talking import ERAS

ENGINES = ("embedded", pytest.param("OpenSearch", marks=pytest.mark.opensearch))
"""The engine knows nothing of the store: each of both is met without every pair of them."""


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    model = FakeEmbeddings()
    if request.param == "OpenSearch":
        with opensearch(request.getfixturevalue("opensearch_url"), model) as engine:
            yield World(request.getfixturevalue("dynamodb_local"), engine, model)
        return
    moto_patches.patch_tables()
    with mock_aws():
        session = boto3.session.Session("123456789012", "x", region_name="us-east-1")
        client = OneAtATime(session.client("dynamodb"))
        yield World(client, embedded(tmp_path_factory.mktemp("index"), model), model)


@pytest.fixture(params=ERAS)
def team(request: pytest.FixtureRequest, world: World) -> Iterator[Team]:
    with calling(world, request.param) as team:
        yield team
