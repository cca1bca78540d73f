import pytest

from tests.unit.hive.tools.agents import Agent


@pytest.fixture
def here() -> Agent:
    return Agent()
