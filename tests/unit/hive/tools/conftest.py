import pytest

from tests.unit.hive.tools.agents import Agent
from tests.unit.web.mcp.talking import ERAS


@pytest.fixture(params=ERAS)
def here(request: pytest.FixtureRequest) -> Agent:
    return Agent(mode=request.param)
