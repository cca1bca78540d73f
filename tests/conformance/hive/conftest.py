"""Every test runs in both eras of the protocol, over both engines."""

from collections.abc import Iterator
from dataclasses import dataclass

import boto3
import pytest
from moto import mock_aws

from commonplace.kernel.audit import Author
from commonplace.redaction.pipeline import Pipeline
from commonplace_local.cloud import moto_patches
from tests.conformance.hive.worlds import Agent, calling
from tests.conformance.memory.worlds import opensearch
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.one_at_a_time import OneAtATime
from tests.hive_world import Names, World, embedded
from tests.unit.web.mcp.talking import ERAS

ENGINES = ("embedded", pytest.param("OpenSearch", marks=pytest.mark.opensearch))


@dataclass(frozen=True)
class Pair:
    """Agents of two organisations of one deployment."""

    world: World
    era: str
    one: Agent
    two: Agent


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    moto_patches.patch_tables()
    with mock_aws():
        session = boto3.session.Session("123456789012", "x", region_name="us-east-1")
        yield OneAtATime(session.client("dynamodb"))


@pytest.fixture(scope="module", params=ENGINES)
def world(request: pytest.FixtureRequest, client: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    model, redactor = FakeEmbeddings(), Pipeline(Names())
    if request.param == "embedded":
        yield World(client, embedded(tmp_path_factory.mktemp("index"), model), model, redactor)
        return
    with opensearch(request.getfixturevalue("opensearch_url"), model) as engine:
        yield World(client, engine, model, redactor)


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def agent(world: World, era: str) -> Iterator[Agent]:
    with calling(world, era) as agent:
        yield agent
    withdraw_everything(world)


@pytest.fixture
def pair(world: World, era: str) -> Iterator[Pair]:
    with calling(world, era) as one, calling(world, era) as two:
        yield Pair(world, era, one, two)
    withdraw_everything(world)


def withdraw_everything(world: World) -> None:
    """The next test finds no public knowledge of this one's."""
    for one in list(world.store.published()):
        world.hive().publish(Author(organisation=one.organisation), one.id, is_public=False)
        world.take(one.organisation, [one.id])
