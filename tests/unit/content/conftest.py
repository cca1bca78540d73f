"""Files whose bytes matter, read as bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no reason for a property to fail.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

HARD_CASES = Path(__file__).parents[2] / "fixtures" / "hard_cases"


@pytest.fixture
def hard_case() -> Callable[[str], bytes]:
    """Bytes of `tests/fixtures/hard_cases/{name}.md`."""
    return lambda name: (HARD_CASES / f"{name}.md").read_bytes()
