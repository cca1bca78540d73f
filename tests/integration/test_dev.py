"""`commonplace dev` as its user meets it: a process, its output, its exit code, and what it leaves behind."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace_local.deployment import laptop
from commonplace_local.dev.screen import Screen
from commonplace_local.dev.session import ended_by_signals, serve
from commonplace_local.project import PROJECT
from tests.integration.repositories import Clone, document
from tests.integration.running_dev import (
    EDIT_SECONDS,
    STOP_SECONDS,
    Dev,
    alive,
    commonplace,
    descendants,
    found,
    garden,
    running,
    separately,
    wait,
)

pytestmark = pytest.mark.laptop


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    return garden(tmp_path / "garden")


@pytest.fixture
def dev(tmp_path: Path) -> Iterator[Dev]:
    with running(tmp_path) as dev:
        yield dev


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """One for the tests that leave it running, and for the last, which ends it."""
    with running(tmp_path_factory.mktemp("shared")) as dev:
        yield dev


def test_once_syncs_a_clone_and_says_what_came_of_it(user: Clone) -> None:
    before = user.fingerprint()
    done = separately("dev", "--once", str(user.folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^article +1$", done.stdout, re.MULTILINE)
    assert "Shows 2 of 3 files: 1 says `publish: false`; `commonplace why FILE` says more" in done.stdout
    assert "2 documents" in done.stdout
    assert "docs/hidden.md" not in done.stdout
    assert user.fingerprint() == before


def test_sync_commands_speak_to_the_running_dev(shared: Dev) -> None:
    data = ("--data", str(shared.data))
    status = json.loads(commonplace("sync", "status", "--json", *data).stdout)
    assert (status["head"], status["upToDate"]) == (shared.user.git("rev-parse", "HEAD"), True)
    ran = commonplace("sync", "run", *data)
    assert ran.returncode == 0, ran.stderr
    assert "Last run: succeeded" in ran.stdout
    report = commonplace("sync", "report", *data).stdout
    assert f"# Sync of commit {status['head']}" in report
    as_json = json.loads(commonplace("sync", "report", status["head"][:8], "--json", *data).stdout)
    assert as_json["counts"]["documents"] == 2
    assert commonplace("sync", "report", "0000000", *data).returncode == 1


def test_a_saved_file_is_searchable_within_seconds(shared: Dev) -> None:
    user, dev = shared.user, shared
    user.write("docs/whelks.md", document("Whelks", "Whelks bore through shells.\n", type="article"))
    wait(lambda: "Whelks" in found(dev.url, "bore through shells"), EDIT_SECONDS)
    assert found(dev.url, "bore through shells")[0] == "Whelks", dev.output
    dev.wait_for("1 stored, 0 removed, indexed in", EDIT_SECONDS)
    assert user.git("status", "--porcelain").strip() == "?? docs/whelks.md"


def test_ctrl_c_while_it_is_loaded_ends_it_without_a_traceback() -> None:
    code = (
        "import sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from commonplace_local.entry import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=PROJECT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_the_moment_it_has_started_stops_what_was_started() -> None:
    class Started:
        stopped = False

        def start(self) -> None:
            raise KeyboardInterrupt

        def stop(self) -> None:
            self.stopped = True

    laptop: Any = Started()
    with ended_by_signals(), pytest.raises(KeyboardInterrupt):
        serve(laptop, Screen(), once=True, verbose=False)
    assert laptop.stopped


def test_a_killed_dev_takes_its_functions_with_it(dev: Dev) -> None:
    below = descendants(dev.process.pid)
    dev.end(signal.SIGKILL)
    wait(lambda: not alive(below), STOP_SECONDS)
    assert alive(below) == set()


def test_two_cannot_share_a_data_folder(shared: Dev) -> None:
    second = commonplace("dev", "--once", str(shared.user.folder), "--data", str(shared.data))
    assert second.returncode == 1
    assert "Another `commonplace dev` uses" in second.stderr


def test_a_search_is_asked_of_the_running_dev_and_explained(shared: Dev) -> None:
    asked = ("search", "sideways", "--data", str(shared.data))
    told = json.loads(commonplace(*asked, "--expect", "file/hidden", "--json").stdout)
    assert told["results"][0]["title"] == "Crabs"
    assert told["explanation"]["expectation"]["verdict"] == "not-published"
    assert "Hidden" not in json.dumps(told)
    shown = commonplace(*asked, "--documents", "--mode", "lexical")
    assert shown.returncode == 0, shown.stderr
    assert "1 found" in shown.stdout
    assert "Crabs walk sideways." in shown.stdout.partition("article/crabs")[2].split("\n\n")[1]


def test_agents_are_answered_at_the_address_that_it_names(shared: Dev) -> None:
    address = re.search(r"^MCP: (\S+);", shared.output, re.MULTILINE)
    assert address, shared.output
    assert "No chain is used: roles come from --allow alone" in shared.output

    def call(tool: str, **arguments: str) -> httpx.Response:
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return httpx.post(address[1], json=message, timeout=60, trust_env=False)

    found = call("search_knowledge", query="which animal walks sideways").json()["result"]
    assert found["structuredContent"]["results"][0]["id"] == "crabs"
    refused = call("create_draft", title="Limpets", contentType="article", body="Limpets come home.")
    assert refused.status_code == 401
    shown = re.search(r'resource_metadata="([^"]+)"', refused.headers["WWW-Authenticate"])
    assert shown
    metadata = httpx.get(shown[1], timeout=60, trust_env=False).json()
    assert metadata["resource"] == address[1]
    (server,) = metadata["authorization_servers"]
    keys = httpx.get(f"{server}/.well-known/jwks.json", timeout=60, trust_env=False).json()["keys"]
    assert [key["alg"] for key in keys] == ["ES256"]


def test_a_rehearsed_backfill_tells_everything_and_writes_nothing(shared: Dev) -> None:
    data = shared.data

    def kept() -> list[Any]:
        return sorted((item.key, item.etag) for item in laptop(data).store.list(""))

    before = kept()
    told = json.loads(commonplace("sync", "backfill", "--dry-run", "--json", "--data", str(data)).stdout)
    assert kept() == before
    assert (told["new"], told["changed"], told["removed"]) == ([], [], [])
    assert {"article/crabs", "index/index"} <= set(told["same"])
    done = commonplace("sync", "backfill", "--data", str(data))
    assert done.returncode == 0, done.stderr
    assert f"{len(told['same'])} stored" in done.stdout


def test_a_taken_port_is_said_so(user: Clone) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        done = separately("dev", str(user.folder), "--port", port)
    assert done.returncode == 1
    assert f"Port {port} is in use." in done.stderr
    assert "Traceback" not in done.stderr


def test_a_data_folder_that_cannot_be_one_is_refused_in_two_sentences(user: Clone) -> None:
    data = user.folder / "index.md"
    done = commonplace("dev", "--once", str(user.folder), "--data", str(data))
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"commonplace dev: The data folder {data} cannot be written: File exists.",
        "Choose a writable folder with --data.",
    ]


def test_an_empty_branch_is_said_in_words(tmp_path: Path) -> None:
    done = separately("dev", "--once", str(Clone(tmp_path / "empty").folder))
    assert done.returncode == 1
    assert "contains no files, and the repository has no commits yet: add a Markdown file" in done.stdout


def test_a_broken_edit_is_told_beside_what_is_still_served(shared: Dev) -> None:
    user = shared.user
    good = (user.folder / "docs/crabs.md").read_text(encoding="utf-8")
    user.write("docs/crabs.md", "---\ntitle: Crabs: a study\npublish: true\n---\nLost.\n")
    shared.wait_for("  docs/crabs.md:2:13: previous version is served", EDIT_SECONDS)
    user.write("docs/crabs.md", good)
    assert found(shared.url, "sideways") == ["Crabs"]


def test_wrong_folders_are_refused_in_two_sentences(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for words, sentence in (
        (("plain", "--branch", "main"), "is not a Git repository"),
        (("plain", "--data", "plain/data"), "inside the folder that is served"),
        (("nowhere",), "is not a folder"),
    ):
        done = commonplace("dev", "--once", *words, at=tmp_path)
        assert done.returncode == 1
        assert sentence in done.stderr
        assert len(done.stderr.splitlines()) == 2


def test_sync_without_a_running_dev_says_what_to_do(tmp_path: Path) -> None:
    done = commonplace("sync", "status", "--data", str(tmp_path))
    assert done.returncode == 1
    assert "commonplace dev" in done.stderr


def test_help_imports_nothing_heavy() -> None:
    heavy = "boto3,botocore,moto,httpx,pydantic,numpy,werkzeug"
    code = f"import sys, commonplace_local.cli; print([name for name in '{heavy}'.split(',') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT)
    assert done.stdout.strip() == "[]"
    assert separately("--help").returncode == 0


def test_ctrl_c_leaves_nothing_running_and_kept_data_is_served_again_which_nobody_else_may_read(shared: Dev) -> None:
    dev = shared
    wait((dev.data / "cloud" / "state.sqlite").exists, EDIT_SECONDS)  # which a save in the background writes
    assert readable_by_others(dev.data) == []
    port = int(dev.url.rpartition(":")[2])
    below = descendants(dev.process.pid)
    assert below, "functions run in processes of their own"
    assert dev.end(signal.SIGINT) == 0, dev.output
    wait(lambda: not alive(below), STOP_SECONDS)
    assert alive(below) == set()
    with socket.socket() as listener:
        assert listener.connect_ex(("127.0.0.1", port)) != 0
    assert not (dev.data / "endpoint.json").exists()
    assert "Traceback" not in dev.output

    for path in (dev.data, dev.data / "index", dev.data / "index" / "documents.sqlite", dev.data / "cloud"):
        path.chmod(0o777)  # as a former version left it
    done = separately("dev", "--once", "--verbose", str(dev.user.folder), "--data", str(dev.data))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 documents" in done.stdout
    assert "docs/hidden.md" in done.stdout, "--verbose names the skipped files"
    assert readable_by_others(dev.data) == []


def readable_by_others(data: Path) -> list[Path]:
    """What somebody else of this machine may read, write or enter, of a data folder with all that belongs in one."""
    below = list(data.rglob("*"))
    assert {"index", "cloud", "repository.git", "documents.sqlite", "state.sqlite"} <= {path.name for path in below}
    return [path for path in (data, *below) if path.stat().st_mode & 0o077]
