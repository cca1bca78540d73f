"""What answers the searches of a `commonplace dev`: the one-file engine, or a real OpenSearch node."""

import hashlib
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.dev.screen import Screen
from local.opensearch.configuration import Options
from local.opensearch.folders import VERSION, find_home
from local.opensearch.indexes import drop_indexes
from local.opensearch.node import find_node
from local.opensearch.owned import OwnedNode

STEM = "commonplace-dev"


@dataclass(frozen=True, slots=True)
class SearchEngine:
    """`environment` tells the functions of it; `label` the user.

    `elsewhere`: the index is not kept with the store, so the one may lack what the other has.
    """

    label: str
    environment: Mapping[str, str] = field(default_factory=dict)
    elsewhere: bool = False


EMBEDDED = SearchEngine("the embedded engine, one file beside the store")


@contextmanager
def search_engine(name: str, data: Path | None, screen: Screen, *, brief: bool = False) -> Iterator[SearchEngine]:
    """The engine of this name, ready; `data` keeps its index. What was started for it ends with the block.

    A node that `commonplace opensearch start` left running is used, and left running; what was indexed there is dropped
    unless `data` is given. Raises RequirementMissing, or CommandError when no node can be started.
    """
    if name == "embedded":
        yield EMBEDDED
        return
    running = find_node(find_home())
    if running is None:
        with _own_node(data, screen, brief=brief) as node:
            yield _opensearch(node.url, f"{STEM}-documents", "it ends with this")
        return
    own = f"{STEM}-{_token(data)}"
    try:
        yield _opensearch(running.url, f"{own}-documents", "it was running and stays")
    finally:
        if data is None:
            drop_indexes(running.url, own)


@contextmanager
def _own_node(data: Path | None, screen: Screen, *, brief: bool) -> Iterator[OwnedNode]:
    with screen.steps() as tell:
        node = OwnedNode(data, options=Options(fast=brief), tell=tell)
        node.start()
    try:
        yield node
    finally:
        node.stop()


def _opensearch(url: str, stem: str, note: str) -> SearchEngine:
    environment = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_ENDPOINT": url, "OPENSEARCH_INDEX": stem}
    return SearchEngine(f"OpenSearch {VERSION} at {url}, index {stem} ({note})", environment, elsewhere=True)


def _token(data: Path | None) -> str:
    """Two knowledge bases on one node have two indexes, and a data folder has the same one each time."""
    return secrets.token_hex(4) if data is None else hashlib.sha256(str(data).encode()).hexdigest()[:8]
