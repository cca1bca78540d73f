"""`commonplace opensearch` and the node under it: started once, found again, stopped, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from local.cli.opensearch import NOT_RUNNING
from local.cli.opensearch import app as opensearch_app
from local.opensearch import java
from local.opensearch.client import ask
from local.opensearch.folders import HOME_VARIABLE, Home
from local.opensearch.java import RequirementMissing
from local.opensearch.node import NodeRecord, find_node
from local.opensearch.process import is_ours
from tests.integration.opensearch_homes import lent_home
from tests.integration.running_dev import COMMAND, alive, commonplace, descendants, wait
from tests.opensearch_fixture import or_skipped
from tests.processes import ended

pytestmark = pytest.mark.opensearch

START_SECONDS = 300
STOP_SECONDS = 60

OWNER = """
import signal, sys
from pathlib import Path
from local.opensearch.process import Options
from local.opensearch.folders import Home
from local.opensearch.node import OwnedNode
node = OwnedNode(home=Home(Path(sys.argv[1])), options=Options(fast=True))
node.start()
print(node.folder, node.pid, flush=True)
signal.pause()
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with lent_home() as folder:
        yield folder
        command(folder, "stop")


def command(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    whole = [*COMMAND, "opensearch", *words, "--folder", str(folder)]
    return subprocess.run(whole, capture_output=True, text=True, timeout=START_SECONDS, check=False)


def status(folder: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads(command(folder, "status", "--json").stdout)
    return told


@pytest.fixture(scope="module")
def started(home: Path) -> list[subprocess.CompletedProcess[str]]:
    """What two starts at the same moment said."""
    done: list[subprocess.CompletedProcess[str]] = []
    threads = [threading.Thread(target=lambda: done.append(command(home, "start", "--fast"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


@pytest.fixture
def url(home: Path, started: list[subprocess.CompletedProcess[str]]) -> str:
    """The node's address; started again when a test before this one has stopped it."""
    done = command(home, "start", "--fast")
    assert done.returncode == 0, done.stderr
    return str(status(home)["url"])


def test_two_starts_at_once_make_one_node(home: Path, started: list[subprocess.CompletedProcess[str]]) -> None:
    assert [done.returncode for done in started] == [0, 0], [done.stderr for done in started]
    first, second = sorted(done.stdout.splitlines()[0].rpartition(": ")[0] for done in started)
    assert (first, second) == ("OpenSearch is ready", "OpenSearch runs already")
    assert len({done.stdout.splitlines()[0].rpartition(": ")[2] for done in started}) == 1


def test_a_start_says_that_the_node_runs_already_and_where(home: Path, url: str) -> None:
    assert command(home, "start").stdout == f"OpenSearch runs already: {url}\n"


def test_a_running_node_is_not_moved_to_another_port(home: Path, url: str) -> None:
    other = command(home, "start", "--port", "1")
    assert other.returncode == 1
    assert other.stderr.startswith(f"commonplace opensearch: OpenSearch runs already, and at {url}.")


def test_status_says_what_the_node_holds(home: Path, url: str) -> None:
    ask(url, "/status-test", {"mappings": {"properties": {"parts": {"type": "nested"}}}}, method="PUT")
    ask(url, "/status-test/_doc/1?refresh=true", {"parts": [{"a": 1}, {"a": 2}]}, method="PUT")
    shown = command(home, "status")
    ask(url, "/status-test", method="DELETE")
    assert shown.returncode == 0
    assert f"OpenSearch 3.6.0: {url}" in shown.stdout
    assert f"Folder: {home}" in shown.stdout
    assert "Index status-test: 1 records" in shown.stdout
    assert "Health: green" in shown.stdout or "Health: yellow" in shown.stdout


@pytest.mark.parametrize("origin", ["https://elsewhere.test", "http://localhost:3000", "null"])
def test_a_page_of_another_origin_can_have_nothing_done(url: str, origin: str) -> None:
    """Not even what needs no body and no answer, such as emptying an index."""
    given = {"origin": origin, "content-type": "text/plain"}
    for method, path in (("GET", "/"), ("OPTIONS", "/"), ("POST", "/_cache/clear"), ("POST", "/_all/_close")):
        answer = httpx.request(method, url + path, headers=given, trust_env=False)
        assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False)


def test_the_node_runs_as_nobody_in_particular(home: Path, url: str) -> None:
    pid = int(str(status(home)["pid"]))
    shown = subprocess.run(["ps", "-o", "uid=", "-p", str(pid)], capture_output=True, text=True, check=True).stdout
    assert int(shown) == (os.geteuid() or 10900)


def test_a_node_is_found_by_its_cluster_not_by_its_port(home: Path, url: str) -> None:
    """Another program at the address that was written down is not taken for ours."""
    state = home / "node"
    record = NodeRecord.read(state)
    assert record is not None
    try:
        NodeRecord(record.pid, record.url, "commonplace-another").write(state)
        assert find_node(Home(home)) is None
        assert status(home)["state"] == "silent"
    finally:
        record.write(state)
    assert find_node(Home(home)) is not None


def test_dev_uses_a_node_that_runs_and_leaves_it_running_and_empty(
    home: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(home))
    done = commonplace("dev", "--once", "--engine", "opensearch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(it was running and stays)" in done.stdout
    shown = status(home)
    assert (shown["state"], shown["url"], shown["indexes"]) == ("running", url, [])


def test_what_is_stored_outlives_a_stop_and_the_address_stays(home: Path, url: str) -> None:
    ask(url, "/kept", {"settings": {"number_of_replicas": 0}}, method="PUT")
    ask(url, "/kept/_doc/1", {"said": "once"}, method="PUT")
    pid = int(str(status(home)["pid"]))
    assert command(home, "stop").stdout == "OpenSearch has ended.\n"
    assert not is_ours(pid, home / "node")
    assert command(home, "status").returncode == NOT_RUNNING
    assert command(home, "start", "--fast").returncode == 0
    assert status(home)["url"] == url
    assert ask(url, "/kept/_doc/1")["_source"] == {"said": "once"}


def test_a_wipe_removes_what_is_stored_and_leaves_the_program(home: Path, url: str) -> None:
    stopped = command(home, "stop", "--wipe")
    assert stopped.stdout == "OpenSearch has ended. Its data is removed.\n"
    assert not (home / "node").exists()
    assert status(home) | {"folder": ""} == {
        "state": "stopped",
        "folder": "",
        "assembled": True,
        "url": None,
        "pid": None,
        "version": None,
        "health": None,
        "indexes": [],
    }
    assert command(home, "stop").stdout == "No node runs.\n"


def test_a_process_that_has_the_number_of_a_dead_node_is_not_ended(home: Path) -> None:
    command(home, "stop")
    stranger = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    try:
        (home / "node").mkdir(exist_ok=True)
        NodeRecord(stranger.pid, "http://127.0.0.1:9", "commonplace-dead").write(home / "node")
        assert command(home, "status").returncode == NOT_RUNNING
        assert command(home, "stop").stdout == "No node runs.\n"
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_ctrl_c_during_a_start_leaves_nothing_running(home: Path) -> None:
    command(home, "stop")
    console = home / "node" / "console.log"
    console.unlink(missing_ok=True)
    command_line = [*COMMAND, "opensearch", "start", "--fast", "--folder", str(home)]
    starting = subprocess.Popen(command_line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with ended(starting):
        wait(lambda: NodeRecord.read(home / "node") is not None, STOP_SECONDS)
        record = NodeRecord.read(home / "node")
        starting.send_signal(signal.SIGINT)
        assert starting.wait(STOP_SECONDS) == 130
    assert record is not None
    assert not is_ours(record.pid, home / "node")


def test_a_node_ends_with_its_owner_even_if_that_is_killed(home: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(home)], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        with owner.stdout:
            folder, pid = owner.stdout.readline().split()
        below = descendants(owner.pid)
    finally:
        owner.kill()
        owner.wait()
    assert int(pid) in below
    wait(lambda: not alive(below) and not Path(folder).exists(), STOP_SECONDS)
    assert alive(below) == set()
    assert not Path(folder).exists()


def test_without_java_it_is_said_what_is_needed_and_what_was_found(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command(home, "stop")
    monkeypatch.setattr(java, "PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in java.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(opensearch_app, ["start", "--folder", str(home)])
    assert isinstance(done.exception, RequirementMissing)
    assert done.exception.message == "OpenSearch needs Java 21 or newer. Found: none at all."


def test_a_missing_requirement_leaves_a_test_out_aloud_and_fails_it_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> None:
        raise RequirementMissing("There is no Java.", "Install one.")

    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match=r"There is no Java\. Install one\."):
        or_skipped(start)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"There is no Java\. Install one\."):
        or_skipped(start)
