import pytest

from tests.unit.hive.rest.desks import Desk


@pytest.fixture
def here() -> Desk:
    return Desk()
