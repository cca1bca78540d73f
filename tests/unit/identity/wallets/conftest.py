"""A world for each test."""

from collections.abc import Iterator

import pytest

from tests.unit.identity.wallets.world import Wallets, wallets


@pytest.fixture
def world() -> Iterator[Wallets]:
    with wallets() as world:
        yield world
