"""A real OpenSearch node for tests: one for the whole run, and one for the tests that kill it.

`COMMONPLACE_TEST_OPENSEARCH=http://127.0.0.1:PORT` has the tests use a node that runs already, which saves its start; a
test then finds other indexes there, so each test names its own with `unique_stem` and removes them.
"""

import os
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

import pytest

from commonplace.capabilities import CAPABILITIES
from tests.one_for_all import serving

if TYPE_CHECKING:
    from commonplace.search.opensearch.client import OpenSearchClient
    from commonplace.search.settings import RetrievalSettings
    from tests.opensearch_node.node import OwnedNode

T = TypeVar("T")
RUNNING = "COMMONPLACE_TEST_OPENSEARCH"


@pytest.fixture(scope="session")
def opensearch_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the run's node. It belongs to the test process, or to one of its workers, and ends with it."""
    if os.environ.get(RUNNING):
        yield os.environ[RUNNING].rstrip("/")
    else:
        yield from serving(tmp_path_factory.getbasetemp(), "opensearch", _started)


@pytest.fixture(scope="session")
def own_node() -> "Iterator[OwnedNode]":
    """A node for the modules of the group `own node`, which may `kill` it and must `restart` it."""
    node = _started()
    try:
        yield node
    finally:
        node.stop()


@pytest.fixture
def unique_stem() -> str:
    """A name for an alias that no other test uses."""
    return f"test-{secrets.token_hex(5)}-documents"


@pytest.fixture
def opensearch(opensearch_url: str) -> "Iterator[OpenSearchClient]":
    """A connection to the run's node."""
    from commonplace.search.opensearch.client import connect

    made = connect(opensearch_url, "none")
    yield made
    made.close()


@pytest.fixture
def opensearch_settings(
    opensearch: "OpenSearchClient", opensearch_url: str, unique_stem: str
) -> "Iterator[RetrievalSettings]":
    """Of a deployment whose indexes, of every collection, are removed when the test ends."""
    from commonplace.search.settings import RetrievalSettings

    made = RetrievalSettings(
        search_engine="opensearch", opensearch_endpoint=opensearch_url, opensearch_index=unique_stem
    )
    yield made
    names = [one.collection_name for one in CAPABILITIES if one.collection_name]
    remove_indexes(opensearch, *(made.collection(name).opensearch_index for name in names))


def remove_indexes(connection: "OpenSearchClient", *aliases: str) -> None:
    """Those that an alias has, or has had."""
    from commonplace.search.opensearch.indices import Aliases

    for alias in aliases:
        for index in Aliases(connection, alias).roles().every:
            connection.indices.delete(index=index, request_timeout=30)


def _started() -> "OwnedNode":
    from tests.opensearch_node.node import OwnedNode

    node = OwnedNode(fast=True)
    or_skipped(node.start)
    return node


def or_skipped(start: Callable[[], T]) -> T:
    """Without Java or Maven a test is skipped, and in CI it fails: there nobody reads what was skipped."""
    from tests.opensearch_node.java import RequirementMissing

    try:
        return start()
    except RequirementMissing as missing:
        told = f"Not on this machine: {missing.message} {missing.hint}"
    if os.environ.get("CI", "").lower() in ("", "0", "false"):
        pytest.skip(told)
    pytest.fail(told)
