"""Acceptance on a small repository of our own: it passes when all is well, and says what is wrong when something is."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.model import RecordId, Tombstone
from commonplace.search.models.local import LocalEmbeddings
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import Source, clone
from commonplace_local.project import PROJECT
from tests.acceptance import served
from tests.acceptance.truth import Statement
from tests.integration.awkward import HIDDEN_TITLE, SECRET, awkward

pytestmark = pytest.mark.laptop


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return clone(awkward(tmp_path_factory.mktemp("awkward") / "garden").folder)


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.acceptance", *map(str, arguments)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=600, check=False)


def false(statements: list[Statement]) -> list[str]:
    return [item.text for item in statements if not item.holds]


def figures(printed: str, table: str, statement: str) -> list[str]:
    """What stands beside a statement."""
    (found,) = (part for part in printed.split("\n\n") if part.startswith(table + "\n"))
    (line,) = (line for line in found.splitlines() if line.startswith(statement + "  "))
    return line.removeprefix(statement).split()


def test_all_is_well(source: Source) -> None:
    done = run(source.folder, "--seed", "7")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FALSE" not in done.stdout
    assert "statements are true" in done.stdout
    served, in_order, out_of_order = (
        "What is served",
        "The history, pushed in order",
        "The history, pushed out of order",
    )
    assert figures(done.stdout, served, "published files listed by REST") == ["61", "61", "true"]
    assert figures(done.stdout, in_order, "pushes") == ["7"]
    # One more than is served by a first sync: the last good version of a file that nobody can read any more.
    assert figures(done.stdout, in_order, "documents") == ["62"]
    assert figures(done.stdout, out_of_order, "differences from what is published at the head") == ["0", "0", "true"]


def test_a_folder_that_is_no_clone_cannot_be_examined(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "is not a Git repository" in done.stderr


@pytest.fixture(scope="module")
def laptop(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    with Laptop(source, tmp_path_factory.mktemp("laptop"), retry_seconds=1) as laptop:
        assert false(served.sync(laptop)) == []
        assert false(served.examine(laptop)) == []
        yield laptop


def planted_text(laptop: Laptop) -> str:
    key = "content/article/planted.json"
    laptop.store.put(key, b'{"content": "It lists seventeen unpaid mooring fees beside the names of those."}')
    return key


def planted_title(laptop: Laptop) -> str:
    key = "metadata/planted.json"
    laptop.store.put(key, f'{{"title": "{HIDDEN_TITLE}"}}'.encode())
    return key


def planted_path(laptop: Laptop) -> str:
    key = "metadata/planted-path.json"
    laptop.store.put(key, b'{"near": "drafts/excluded.md"}')
    return key


def planted_report(laptop: Laptop) -> str:
    key = "operations/reports/planted.json"
    laptop.store.put(key, f'{{"skipped": ["docs/secret.md", "{SECRET}"]}}'.encode())
    return key


def planted_attachment(laptop: Laptop) -> str:
    key = "attachments/planted.png"
    laptop.store.put(key, b"planted")
    return key


PLANTS: list[tuple[Callable[[Laptop], str], set[str]]] = [
    (planted_text, {"document objects in the store", "no text of theirs in: store"}),
    (planted_title, {"no title or path of theirs in: store", "no text of theirs in: store"}),
    (planted_path, {"no title or path of theirs in: store"}),
    (planted_report, {"no text of theirs in: operators' objects"}),
    (planted_attachment, {"attachments in the store"}),
]


def test_all_that_does_not_belong_there_is_found_at_once(laptop: Laptop) -> None:
    keys = [plant(laptop) for plant, _ in PLANTS]
    try:
        assert set(false(served.examine(laptop))) == set().union(*(statements for _, statements in PLANTS))
    finally:
        laptop.store.delete(keys)


@pytest.mark.soak
@pytest.mark.parametrize(("plant", "statements"), PLANTS)
def test_what_does_not_belong_there_is_found(
    laptop: Laptop, plant: Callable[[Laptop], str], statements: set[str]
) -> None:
    key = plant(laptop)
    try:
        assert set(false(served.examine(laptop))) == statements
    finally:
        laptop.store.delete([key])


def test_a_raw_copy_of_other_bytes_is_found(laptop: Laptop) -> None:
    kept = laptop.store.get("raw/docs/tides.md")
    assert kept is not None
    laptop.store.put("raw/docs/tides.md", kept.body.replace(b"\n", b"\r\n"))
    try:
        assert false(served.examine(laptop)) == ["raw copies, every byte"]
    finally:
        laptop.store.put("raw/docs/tides.md", kept.body)


def test_a_document_that_the_index_lacks_is_found(laptop: Laptop) -> None:
    engine = EmbeddedEngine(laptop.index_file, LocalEmbeddings())
    try:
        engine.write((), [Tombstone(RecordId("study/tides"), 10_000)])
    finally:
        engine.close()
    assert set(false(served.examine(laptop))) == {
        "documents in the index",
        "index versions that are the store's",
        "(document, tag) pairs by the filter of the search",
        "searches by exact title that find it first",
    }
