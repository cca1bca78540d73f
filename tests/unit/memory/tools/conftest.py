from pathlib import Path

import pytest

from tests.unit.memory.tools.teams import Team, team


@pytest.fixture
def here(tmp_path: Path) -> Team:
    return team(tmp_path)
