"""What tests of all kinds share."""

import gc
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader
from httpx._config import DEFAULT_TIMEOUT_CONFIG
from hypothesis import settings

from commonplace.kernel import telemetry
from tests.chain_fixture import chain, own_chain, running_chain
from tests.dynamodb_fixture import dynamodb_local, dynamodb_local_url
from tests.examples import SOAKING, examples
from tests.model_fixture import rampart_folder
from tests.opensearch_fixture import opensearch, opensearch_settings, opensearch_url, own_node, unique_stem
from tests.processes import heed_signals
from tests.workers import GroupScheduling, start_order

__all__ = [
    "chain",
    "dynamodb_local",
    "dynamodb_local_url",
    "opensearch",
    "opensearch_settings",
    "opensearch_url",
    "own_chain",
    "own_node",
    "rampart_folder",
    "running_chain",
    "unique_stem",
]

# How long an example takes says how busy the machine is, and nothing about the code.
settings.register_profile("any machine", deadline=None, max_examples=examples(25, 1_000))
settings.load_profile("any machine")


heed_signals()

# What a test asks of a server by `httpx` may wait for a function that a busy machine starts: unless told, five seconds.
for part in ("connect", "read", "write", "pool"):
    setattr(DEFAULT_TIMEOUT_CONFIG, part, 60.0)

if os.environ.get("COMMONPLACE_TEST_SHARED"):
    # `make integration-shared`: the functions of every laptop share processes, as those of `commonplace dev` do.
    from commonplace_local.dev.laptop import Laptop

    Laptop.__init__.__kwdefaults__["faithful"] = False  # type: ignore[index]


@pytest.fixture(autouse=True)
def no_function(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that loads a function's handler leaves no process behind that counts."""
    monkeypatch.setattr(telemetry, "_namespaces", [])


TESTS = Path(__file__).parent
PARTS = {"opensearch_url", "own_node", "dynamodb_local_url", "running_chain", "own_chain"}
"""Fixtures that start Java or a chain."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collects without looking for garbage: modules and tests stay to the end, and are never looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@cache
def _relative(file: Path) -> Path:
    return file.relative_to(TESTS)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks what needs a part of its own as `real`, and refuses it among the unit tests."""
    file = _relative(item.path)
    folder = file.parts[0]
    needs = PARTS.intersection(getattr(item, "fixturenames", ()))
    if folder == "unit" and needs:
        raise pytest.UsageError(f"{item.nodeid} starts {', '.join(sorted(needs))}: it is no unit test")
    if needs or folder in ("integration", "conformance", "infra"):
        item.add_marker("real")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the tests that `make soak` alone runs to it, and begins with those that take longest."""
    long = [item for item in items if not SOAKING and item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=long)
    items[:] = sorted((item for item in items if item not in long), key=lambda item: start_order(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> GroupScheduling | None:
    """For `--dist loadfile`; called where pytest-xdist hands tests to its workers."""
    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return GroupScheduling(config, log)


def _share_descriptions() -> None:
    """Lets every session of botocore use the descriptions of services that another one has read.

    They never change, and reading them takes most of the time of a test that makes clients of its own.
    """
    shared: dict[Any, Any] = {}
    plain = Loader.__init__

    def made(self: Loader, *positional: Any, **named: Any) -> None:
        plain(self, *positional, **named)
        self._cache = shared  # type: ignore[attr-defined]

    Loader.__init__ = made  # type: ignore[method-assign]


_share_descriptions()
