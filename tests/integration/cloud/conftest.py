"""One synthetic stack for every test of the laptop cloud: small functions whose behaviour the events decide."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace_local.cloud.cloud import Cloud

STACK = Path(__file__).parent / "stack"


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    template: dict[str, Any] = json.loads((STACK / "template.json").read_text())
    return template


@pytest.fixture(scope="session")
def stack() -> Path:
    """The folder that holds the functions of the template."""
    return STACK


@pytest.fixture(scope="module")
def cloud(template: dict[str, Any], stack: Path) -> Iterator[Cloud]:
    with Cloud(template, stack, environment={"EXTRA": "given"}, retry_interval_seconds=1) as running:
        yield running
