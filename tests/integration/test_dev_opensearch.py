"""A laptop whose searches a real OpenSearch answers: pushed, edited, its node killed and brought back."""

import json
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from local.cli.dev import SAMPLE_NAME
from local.dev.laptop import Laptop
from local.dev.screen import judge
from local.dev.source import plain_folder
from local.knowledge_folder import SAMPLE
from local.opensearch.folders import HOME_VARIABLE
from local.opensearch.node import OwnedNode
from tests.integration.opensearch_homes import lent_home, passable_folder
from tests.integration.repositories import document
from tests.integration.running_dev import (
    EDIT_SECONDS,
    STOP_SECONDS,
    alive,
    commonplace,
    descendants,
    found,
    running,
    wait,
)

pytestmark = [pytest.mark.laptop, pytest.mark.opensearch]

WAIT_SECONDS = 180
STEM = "dev-test-documents"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sample, to write in."""
    copy = tmp_path_factory.mktemp("sample") / "knowledge-base"
    shutil.copytree(SAMPLE, copy)
    return copy


@pytest.fixture(scope="module")
def laptop(folder: Path, own_node: OwnedNode, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    environment = {
        "SEARCH_ENGINE": "opensearch",
        "OPENSEARCH_ENDPOINT": own_node.url,
        "OPENSEARCH_INDEX": STEM,
    }
    source = plain_folder(folder, SAMPLE_NAME)
    with Laptop(source, tmp_path_factory.mktemp("data"), retry_seconds=1, environment=environment) as laptop:
        push(laptop)
        yield laptop


def push(laptop: Laptop) -> None:
    laptop.push()
    laptop.wait(WAIT_SECONDS)


def search(laptop: Laptop, text: str) -> httpx.Response:
    return laptop.get(f"/api/v1/search?{httpx.QueryParams(q=text)}")


def titles(laptop: Laptop, text: str) -> list[str]:
    return [hit["title"] for hit in search(laptop, text).json().get("results", [])]


def eventually(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + EDIT_SECONDS
    while not (holds := condition()) and time.monotonic() < deadline:
        threading.Event().wait(0.1)
    return holds


def test_everything_that_is_published_is_searchable(laptop: Laptop) -> None:
    assert judge(laptop).faults == ()
    manifest = laptop.manifest()
    assert manifest is not None
    assert len(manifest.documents) >= 40


def test_a_document_is_found_by_its_name_and_by_what_it_means(laptop: Laptop) -> None:
    assert titles(laptop, "Reading the tide table")[0] == "Reading the tide table"
    answer = search(laptop, "when do I have to turn around").json()
    assert "Reading the tide table" in [hit["title"] for hit in answer["results"]]
    assert answer["fallback"] is False


def test_what_is_written_down_leads_another_program_to_the_index(laptop: Laptop, own_node: OwnedNode) -> None:
    told = laptop.outputs()
    assert (told["SearchEngine"], told["OpenSearchEndpoint"], told["OpenSearchIndex"]) == (
        "opensearch",
        own_node.url,
        STEM,
    )
    settings = laptop.deployment.retrieval()
    assert (settings.search_engine, settings.opensearch_endpoint) == ("opensearch", own_node.url)
    assert (settings.opensearch_index, settings.opensearch_service) == (STEM, "none")


def test_an_edit_is_found_and_a_removal_no_longer(laptop: Laptop, folder: Path) -> None:
    file = folder / "docs" / "limpets.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(document("Limpets", "Limpets return to their home scar.\n", type="article"), encoding="utf-8")
    push(laptop)
    assert eventually(lambda: titles(laptop, "limpets home scar")[:1] == ["Limpets"]), titles(laptop, "limpets")
    file.unlink()
    push(laptop)
    assert eventually(lambda: "Limpets" not in titles(laptop, "limpets home scar"))
    assert judge(laptop).faults == ()


def test_a_lost_node_stops_searches_only_and_its_return_is_noticed(
    laptop: Laptop, folder: Path, own_node: OwnedNode
) -> None:
    processes = set(laptop.cloud.pids)
    own_node.kill()
    gone = search(laptop, "tide")
    assert gone.status_code == 503
    assert int(gone.headers["Retry-After"]) >= 1
    assert gone.json()["error"]["code"] == "UNAVAILABLE"
    assert laptop.get("/api/v1/entries?contentType=practice").json()["total"] >= 1
    assert laptop.get("/api/v1/entries/practice/reading-the-tide-table").status_code == 200

    file = folder / "docs" / "dog-whelks.md"
    file.write_text(document("Dog whelks", "Dog whelks drill barnacles.\n", type="article"), encoding="utf-8")
    laptop.push()
    stored = "/api/v1/entries/article/dog-whelks"
    assert eventually(lambda: laptop.get(stored).status_code == 200), "a document is stored without an index"

    own_node.restart()
    assert eventually(lambda: search(laptop, "tide").status_code == 200), search(laptop, "tide").text
    assert titles(laptop, "Reading the tide table")[0] == "Reading the tide table"
    laptop.reconcile()  # as the schedule does
    assert eventually(lambda: titles(laptop, "whelks drill barnacles")[:1] == ["Dog whelks"])
    assert judge(laptop).faults == ()
    assert processes <= set(laptop.cloud.pids), "no function was started anew for that"


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where `commonplace` looks for a node, so that none of the developer's is used."""
    with lent_home() as folder:
        monkeypatch.setenv(HOME_VARIABLE, str(folder))
        yield folder
        commonplace("opensearch", "stop", "--folder", str(folder))


def test_dev_starts_a_node_of_its_own_keeps_its_index_and_leaves_nothing_running(home: Path) -> None:
    with passable_folder() as folder:
        in_dev(folder)


@pytest.mark.soak
def test_dev_serves_from_the_index_that_its_node_kept(home: Path) -> None:
    with passable_folder() as folder:
        repository, data = in_dev(folder)
        again = commonplace("dev", "--once", "--engine", "opensearch", repository, "--data", data)
        assert again.returncode == 0, again.stdout + again.stderr
        assert "3 documents" in again.stdout


def in_dev(folder: Path) -> tuple[str, str]:
    """A `dev` with a node of its own, from its start to its end: the repository and the data folder that it leaves."""
    with running(folder, "--engine", "opensearch") as dev:
        assert "Searches are answered by OpenSearch 3.6.0 at http://127.0.0.1:" in dev.output
        assert found(dev.url, "crabs walk sideways") == ["Crabs"]
        dev.user.write("docs/whelks.md", document("Whelks", "Whelks bore through shells.\n", type="article"))
        wait(lambda: found(dev.url, "bore through shells")[:1] == ["Whelks"], EDIT_SECONDS)
        assert found(dev.url, "bore through shells")[:1] == ["Whelks"], dev.output
        facts = json.loads((dev.data / "endpoint.json").read_text())["outputs"]
        below = descendants(dev.process.pid)
        assert dev.end(signal.SIGINT) == 0, dev.output
    wait(lambda: not alive(below), STOP_SECONDS)
    assert alive(below) == set()
    assert facts["SearchEngine"] == "opensearch"
    assert any((dev.data / "opensearch" / "data").rglob("*.si")), "the index is kept with the store"
    return str(folder / "garden"), str(dev.data)
