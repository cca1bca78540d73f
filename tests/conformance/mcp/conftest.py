"""Servers and clients that the conformance tests share."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from local.knowledge_folder import SAMPLE
from tests.conformance.mcp import clients as node
from tests.conformance.mcp.serving import served
from tests.integration.repositories import Clone
from tests.integration.running_dev import Dev, started


@pytest.fixture(scope="session")
def clients(tmp_path_factory: pytest.TempPathFactory) -> node.Clients:
    """Programs on Node.js; the tests that need them are skipped where they cannot be had, and fail in CI."""
    return node.or_skipped(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def fixture_profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the suite's own tools behind our frame, edge and gateway."""
    with served("tests.conformance.mcp.profile.handler.handler", tmp_path_factory.mktemp("profile")) as url:
        yield f"{url}/mcp"


@pytest.fixture(scope="session")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """`commonplace dev --tier member` over the sample knowledge base."""
    folder = tmp_path_factory.mktemp("dev")
    user = Clone(folder / "knowledge-base")
    shutil.copytree(SAMPLE, user.folder, dirs_exist_ok=True)
    user.commit("The sample")
    with started(user, Path(folder / "data"), "--tier", "member") as dev:
        yield dev
