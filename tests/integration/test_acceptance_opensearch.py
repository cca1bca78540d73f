"""Acceptance on OpenSearch: its node is killed under a sync and under pushes, and what is wrong on it is found."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from commonplace.documents.content.paths import DEFAULT_EXCLUDES
from commonplace_local.dev.laptop import Laptop, committed_template
from commonplace_local.dev.source import Source, clone
from tests.acceptance import history, interrupted, served
from tests.acceptance.__main__ import main
from tests.acceptance.history import settled
from tests.acceptance.indexes import OpenSearchIndex
from tests.acceptance.interrupted import Tap
from tests.acceptance.machine import Machine
from tests.acceptance.truth import Statement, truth_at
from tests.integration.awkward import HIDDEN_TITLE, awkward
from tests.opensearch_node.node import OwnedNode, ask

pytestmark = [pytest.mark.laptop, pytest.mark.opensearch]

STEM = "acceptance-test-documents"
AGAIN_SECONDS = 30


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return clone(awkward(tmp_path_factory.mktemp("awkward") / "garden").folder)


@pytest.fixture(scope="module")
def tap(own_node: OwnedNode) -> Iterator[Tap]:
    with Tap(own_node, random.Random(7)) as tap:
        yield tap


@pytest.fixture(scope="module")
def index(own_node: OwnedNode, tap: Tap) -> OpenSearchIndex:
    return OpenSearchIndex(own_node.url, STEM, endpoint=tap.url)


@pytest.fixture(scope="module")
def laptop(
    source: Source, index: OpenSearchIndex, tap: Tap, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Laptop]:
    """One that has lost its node once, and had it back."""
    template = interrupted.impatient(committed_template(), AGAIN_SECONDS)
    data = tmp_path_factory.mktemp("laptop")
    with Laptop(source, data, retry_seconds=1, environment=index.environment, template=template) as laptop:
        statements = [*interrupted.sync(laptop, index, tap)]
        assert false(statements) == []
        assert found(statements, "documents in the index, by the queue alone") == 61
        yield laptop


def false(statements: list[Statement]) -> list[str]:
    return [item.text for item in statements if not item.holds]


def found(statements: list[Statement], text: str) -> Any:
    (item,) = (item for item in statements if item.text == text)
    return item.found


def on_the_node(laptop: Laptop, index: OpenSearchIndex) -> list[Statement]:
    manifest = laptop.manifest()
    assert manifest is not None
    truth = truth_at(laptop.workspace.git_dir, laptop.workspace.head or "", DEFAULT_EXCLUDES)
    return [*index.statements(truth, {str(entry.ref): entry.generation for entry in manifest.documents})]


def test_what_a_node_that_was_killed_in_mid_bulk_serves_is_what_is_published(
    laptop: Laptop, index: OpenSearchIndex
) -> None:
    statements = served.examine(laptop, index)
    assert false(statements) == []
    assert found(statements, "on the node: live documents") == 61


@pytest.mark.parametrize(
    ("planted", "expected"),
    [
        (
            {"id": "article/planted", "version": 1, "deleted": True, "buried": 1, "title": HIDDEN_TITLE},
            {"on the node: tombstones that hold more than id and version"},
        ),
        (
            {"id": "article/planted", "version": 1, "deleted": False, "path": "docs/tides.md", "spelling": "ledger"},
            {
                "on the node: live documents",
                "on the node: of the store's version, and with vectors",
                "on the node: published documents that are found by such a word",
            },
        ),
    ],
)
def test_what_does_not_belong_on_the_node_is_found(
    laptop: Laptop, index: OpenSearchIndex, planted: dict[str, Any], expected: set[str]
) -> None:
    (name,) = index.names()
    address = f"/{name}/_doc/planted"
    ask(index.url, address, planted, method="PUT")
    try:
        assert set(false(on_the_node(laptop, index))) == expected
    finally:
        ask(index.url, address, method="DELETE")


def test_an_unpublished_title_on_the_node_is_seen(laptop: Laptop, index: OpenSearchIndex) -> None:
    (name,) = index.names()
    planted = {"id": "article/planted", "version": 1, "deleted": False, "path": "x", "named": [f"t{HIDDEN_TITLE}"]}
    ask(index.url, f"/{name}/_doc/planted", planted, method="PUT")
    try:
        assert HIDDEN_TITLE in [text for _, texts in index.texts() for text in texts]
    finally:
        ask(index.url, f"/{name}/_doc/planted", method="DELETE")


@pytest.mark.soak
def test_a_node_that_is_killed_under_pushes_loses_nothing(
    source: Source, own_node: OwnedNode, unique_stem: str, tmp_path: Path
) -> None:
    with Tap(own_node, random.Random(7)) as tap:
        index = OpenSearchIndex(own_node.url, unique_stem, endpoint=tap.url)
        with Machine(source, tmp_path / "data", index) as machine:
            commits = history.chosen(machine, 1)
            replayed = [*interrupted.replay(tap)(machine, commits, random.Random(7), lambda line: None)]
            assert false([*replayed, *settled(machine)]) == []
        assert found(replayed, "times the node was killed in the middle of a bulk") == 2


def test_without_a_node_there_is_nothing_to_kill(source: Source, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refusal:
        main([str(source.folder), "--only", "crash"])
    assert refusal.value.code == 2
    assert "goes with --engine opensearch" in capsys.readouterr().err
