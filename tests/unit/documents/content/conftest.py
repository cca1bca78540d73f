"""Files whose bytes matter, read as bytes."""

from collections.abc import Callable
from pathlib import Path

import pytest

HARD_CASES = Path(__file__).parents[3] / "fixtures" / "hard_cases"


@pytest.fixture
def hard_case() -> Callable[[str], bytes]:
    """Bytes of `tests/fixtures/hard_cases/{name}.md`."""
    return lambda name: (HARD_CASES / f"{name}.md").read_bytes()
