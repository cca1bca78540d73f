import pytest

from commonplace.reference.model import Catalogue
from tests.reference_files import helios as read_helios
from tests.unit.reference.tools.desks import Desk, desk


@pytest.fixture(scope="session")
def helios() -> Catalogue:
    """The product of the seed."""
    return read_helios()


@pytest.fixture
def here(helios: Catalogue) -> Desk:
    return desk(helios)
