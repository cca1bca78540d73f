"""A laptop whose searches a real OpenSearch answers: pushed, edited, its node killed and brought back."""

import re
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from commonplace_local.cli.dev import SAMPLE_NAME
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.screen import judge
from commonplace_local.dev.source import plain_folder
from commonplace_local.knowledge_folder import SAMPLE
from tests.integration.repositories import document
from tests.integration.running_dev import EDIT_SECONDS, found, garden, running, separately, wait
from tests.opensearch_node.node import OwnedNode, ask

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


def test_dev_uses_the_node_at_an_address_and_drops_its_indexes(opensearch_url: str, tmp_path: Path) -> None:
    user = garden(tmp_path / "garden")
    done = separately("dev", "--once", str(user.folder), "--engine", "opensearch", "--opensearch-url", opensearch_url)
    assert done.returncode == 0, done.stdout + done.stderr
    said = re.search(r"Searches are answered by OpenSearch 3\.6\.0 at (\S+), index (\S+)-documents$", done.stdout, re.M)
    assert said, done.stdout
    assert said[1] == opensearch_url
    assert ask(opensearch_url, f"/{said[2]}-*/_settings?expand_wildcards=all") == {}


@pytest.mark.soak
def test_dev_serves_edits_and_finds_its_index_again(opensearch_url: str, tmp_path: Path) -> None:
    node = ("--engine", "opensearch", "--opensearch-url", opensearch_url)
    with running(tmp_path, *node) as dev:
        assert found(dev.url, "crabs walk sideways") == ["Crabs"]
        dev.user.write("docs/whelks.md", document("Whelks", "Whelks bore through shells.\n", type="article"))
        wait(lambda: found(dev.url, "bore through shells")[:1] == ["Whelks"], EDIT_SECONDS)
        assert found(dev.url, "bore through shells")[:1] == ["Whelks"], dev.output
        assert dev.end(signal.SIGINT) == 0, dev.output
    again = separately("dev", "--once", *node, str(tmp_path / "garden"), "--data", str(dev.data))
    assert again.returncode == 0, again.stdout + again.stderr
    assert "3 documents" in again.stdout
