"""A node that a test may break."""

from collections.abc import Iterator

import pytest

from tests.fakes.ethereum_node import StandInNode, standing_in


@pytest.fixture
def node() -> Iterator[StandInNode]:
    with standing_in() as node:
        yield node
