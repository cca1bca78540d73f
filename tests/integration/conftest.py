"""Deployments that several files of tests share; `tests/workers.py` puts these files on one worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.running_dev import Dev, Serving, running, serving
from tests.person import wallet

WALLETS = {"public": wallet(21), "member": wallet(22), "vibecoder": wallet(23)}
"""People of the team by their tier: a member and a vibecoder are on the operator's list."""


@pytest.fixture(scope="session")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """A small knowledge base that takes nobody for anybody; each test has an organisation of its own."""
    allowed = [("--allow", f"{WALLETS[tier].address}={tier}") for tier in ("member", "vibecoder")]
    with running(tmp_path_factory.mktemp("team"), *(word for pair in allowed for word in pair)) as dev:
        yield dev


@pytest.fixture(scope="session")
def sample_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of `sample`."""
    return tmp_path_factory.mktemp("sample")


@pytest.fixture(scope="session")
def sample(sample_data: Path) -> Iterator[Serving]:
    """The sample as `commonplace dev` serves it, which no test changes."""
    with serving("--data", str(sample_data)) as dev:
        yield dev
