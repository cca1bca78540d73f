"""The wheel as its user gets it: built from the sdist, installed into an empty environment, and served from there."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
import yaml

from commonplace_local.project import DISTRIBUTION
from commonplace_local.wheel_models import uv
from tests.integration.running_dev import START_SECONDS, STOP_SECONDS, wait
from tests.person import Person, wallet
from tests.unit.docs.pages import ROOT, commands

pytestmark = pytest.mark.real

MAX_MEGABYTES = 350
"""The size of an environment after its first use, with the hub's client that a package names and nobody imports."""
MAX_SYNCED_MEGABYTES = 255
"""The size of `.venv` before its first use, which adds 30 MB of bytecode. Whole blocks of a disk are 30 MB more."""
KEPT = ("HOME", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "TMPDIR")
PLACES = ("UV_", "PIP_")

WHERE = """
import commonplace, commonplace_local.project as project, json, sys
print(json.dumps({"path": sys.path, "library": commonplace.__file__, "project": str(project.PROJECT),
                  "checkout": project.CHECKOUT and str(project.CHECKOUT), "state": str(project.STATE)}))
"""
CONTRIBUTE = """
from commonplace.client import Client
from commonplace.kernel.errors import Unavailable
from commonplace_local.access import Grant, minted
from commonplace_local.deployment import laptop

here = laptop()
grant = Grant(agent="test", scopes=("hive:write", "hive:admin"), path="/api", tier="vibecoder")
with minted(here, here.outputs["Organisation"], grant) as token, Client(here.base_url, token) as client:
    try:
        client.hive.add_knowledge(content="Crabs walk sideways, says ada@example.org.", category="workaround")
    except Unavailable as error:
        print(error.message)
    print(client.hive.get_hive_stats()["contributed"])
"""


def environment(home: Path) -> dict[str, str]:
    """Where a user has neither a checkout nor uv, Java or Node on PATH; where packages come from stays."""
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith(PLACES)}
    tools = home / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    for name in ("git", "bash"):
        found = shutil.which(name)
        assert found, f"{name} is missing"
        if not (tools / name).exists():
            (tools / name).symlink_to(found)
    own = {"HOME": str(home), "XDG_DATA_HOME": str(home / "share"), "XDG_CACHE_HOME": str(home / "cache")}
    return {**kept, **own, "PATH": str(tools)}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """By way of the sdist, which must hold all that the wheel is made of."""
    out = tmp_path_factory.mktemp("dist")
    subprocess.run([uv(), "build", "--quiet", "--out-dir", str(out), str(ROOT)], check=True)
    (sdist,) = out.glob("*.tar.gz")
    assert sdist.stat().st_size < 4_000_000
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([uv(), "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    install = [uv(), "pip", "install", "--quiet", "--python", str(folder / "bin/python")]
    subprocess.run([*install, str(wheel)], check=True)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


class Installed:
    """The program in its environment, run outside of the checkout."""

    def __init__(self, venv: Path, home: Path) -> None:
        self.venv, self.home = venv, home

    def run(self, *arguments: str, program: str = "commonplace") -> subprocess.CompletedProcess[str]:
        command = [str(self.venv / "bin" / program), *arguments]
        return subprocess.run(
            command, cwd=self.home, env=environment(self.home), capture_output=True, text=True, timeout=300, check=False
        )


@pytest.fixture(scope="module")
def program(installed: Path, home: Path) -> Installed:
    return Installed(installed, home)


@pytest.fixture(scope="module")
def served(program: Installed) -> Iterator[tuple[str, list[str]]]:
    """The address of a new knowledge base, and the lines that its start printed."""
    assert program.run("init", "kb").returncode == 0
    with serving(program, "kb") as told:
        yield told


@contextmanager
def serving(program: Installed, *words: str) -> Iterator[tuple[str, list[str]]]:
    process = subprocess.Popen(
        [str(program.venv / "bin/commonplace"), "dev", *words, "--port", "0"],
        cwd=program.home,
        env=environment(program.home),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    lines: list[str] = []
    stream = process.stdout
    reader = threading.Thread(target=lambda: lines.extend(iter(stream.readline, "")), daemon=True)
    reader.start()
    try:
        wait(lambda: "ready: " in "".join(lines) or process.poll() is not None, START_SECONDS)
        found = re.search(r"^ready: (\S+)", "".join(lines), re.MULTILINE)
        assert found, "".join(lines)
        yield found[1], lines
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_SECONDS) == 0, "".join(lines)
    finally:
        process.kill()
        process.wait()
        reader.join(STOP_SECONDS)
        stream.close()


def test_at_the_top_of_the_wheel_are_our_packages_alone(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"commonplace", "commonplace_local", "commonplace_generators"}
    data = "commonplace_local/project"
    for part in ("functions/site/handler.py", "functions/sync/machine.asl.json", "layers/onnx/rampart.txt"):
        assert f"{data}/{part}" in names
    assert f"{data}/samples/hive/contributions.jsonl" in names
    assert not [name for name in names if name.endswith((".pyc", "/requirements.txt"))]


def test_nothing_of_the_checkout_is_on_the_path(program: Installed) -> None:
    facts = json.loads(program.run("-P", "-c", WHERE, program="python").stdout)
    assert facts["checkout"] is None
    assert facts["state"].startswith(str(program.home))
    assert Path(facts["project"]).is_relative_to(program.venv)
    assert [place for place in [*facts["path"], facts["library"]] if Path(place).is_relative_to(ROOT)] == []


def test_the_two_names_of_the_program_are_one(program: Installed) -> None:
    answers = [program.run("--version", program=name).stdout for name in ("commonplace", DISTRIBUTION)]
    assert answers[0]
    assert answers[0] == answers[1]


def test_a_new_knowledge_base_is_served_found_and_cited(served: tuple[str, list[str]], program: Installed) -> None:
    url, lines = served
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        assert "tool library" in client.get("/").text
        answer = client.get("/api/v1/search", params={"q": "who has the saw"}).json()
        first = answer["results"][0]
        assert (first["contentType"], first["id"]) == ("pattern", "a-name-on-every-hook")
        assert client.get(first["documentUrl"], follow_redirects=True).status_code == 200
        call: dict[str, Any] = {"name": "search_knowledge", "arguments": {"query": "how long may I keep a tool?"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        said = client.post("/mcp", json=message).json()["result"]
        assert f"{url}/d/question/how-long-is-a-loan" in json.dumps(said)
        assert "As an account of this laptop" in client.get("/account", follow_redirects=True).text
    found = program.run("search", "saw")
    assert found.returncode == 0, found.stderr
    assert "a-name-on-every-hook" in found.stdout
    assert "Traceback" not in "".join(lines)


def test_notes_as_obsidian_writes_them_come_to_a_page_and_to_a_cited_answer(program: Installed) -> None:
    shutil.copytree(ROOT / "tests/fixtures/vault", program.home / "Allotment")
    with (
        serving(program, "Allotment", "--everything") as (url, lines),
        httpx.Client(timeout=60, trust_env=False) as web,
    ):
        assert "Shows 12 of 12 files" in "".join(lines)
        assert "Plot 14" in web.get(url).text
        call = {"name": "search_knowledge", "arguments": {"query": "how much does the water barrel hold?"}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        first = web.post(f"{url}/mcp", json=message).json()["result"]["structuredContent"]["results"][0]
        assert (first["title"], first["documentUrl"]) == ("Watering", f"{url}/d/file/watering")
        assert "two hundred litres" in web.get(first["documentUrl"]).text


def test_an_account_of_the_laptop_signs_in_to_the_console_and_teaches_the_memory(
    served: tuple[str, list[str]], program: Installed
) -> None:
    url, _ = served
    ada = Person(wallet(1))
    asked = f"{url}/console/sync"
    page = ada.open(urljoin(url, ada.get(asked).headers["location"]))
    signed = ada.post(f"{url}/account/local", form=[*page.fields, ("account", "ada")])
    assert signed.status_code == 303, signed.text
    assert ada.get(asked).status_code == 200
    (program.home / "story.yaml").write_text("story_id: T-9\nsummary: It works.\nrecommendations: [Oil the hinges.]\n")
    learned = program.run("kb", "learn", "story.yaml")
    assert learned.returncode == 0, learned.stderr
    found = program.run("kb", "search", "hinges")
    assert "Oil the hinges." in found.stdout, found.stderr


def test_what_is_missing_is_named_and_what_needs_it_stores_nothing(
    served: tuple[str, list[str]], program: Installed
) -> None:
    url, lines = served
    for extra in ("redaction", "wallets"):
        assert f"[{extra}]" in "".join(lines)
    answer = httpx.get(f"{url}/siwe/nonce", timeout=60, trust_env=False)
    assert (answer.status_code, answer.json()["error"]["message"]) == (404, "Sign-in with a wallet is disabled here.")
    refused = program.run("-P", "-c", CONTRIBUTE, program="python")
    message = "The detector of personal data is not installed here, so nothing was stored."
    assert refused.stdout.splitlines() == [message, "0"], refused.stderr


def test_the_command_that_is_named_installs_what_is_missing(program: Installed) -> None:
    arguments = ("dev", "kb", "--once", "--engine", "opensearch", "--opensearch-url", "http://127.0.0.1:9")
    missing = program.run(*arguments)
    named = re.search(r"^Install it: (uv pip install .*)$", missing.stderr, re.MULTILINE)
    assert named, missing.stderr
    subprocess.run([uv(), *shlex.split(named[1])[1:], "--quiet"], check=True)
    assert "No OpenSearch answers" in program.run(*arguments).stderr


def megabytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink()) / 1e6


def test_environments_have_a_size_that_people_put_up_with(
    served: tuple[str, list[str]], program: Installed, tmp_path: Path
) -> None:
    assert served
    assert megabytes(program.venv) < MAX_MEGABYTES
    sync = [uv(), "sync", "--locked", "--quiet", "--project", str(ROOT)]  # as `make setup` does
    subprocess.run(sync, env=os.environ | {"UV_PROJECT_ENVIRONMENT": str(tmp_path / "venv")}, check=True)
    assert megabytes(tmp_path / "venv") < MAX_SYNCED_MEGABYTES


def test_the_steps_of_the_action_annotate_what_is_wrong(installed: Path, tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    validate = next(step for step in steps if step.get("name") == "Validate")
    assert set(validate["env"]) == {"KB_PATH", "KB_STRICT"}
    (tmp_path / "commonplace").symlink_to(installed)
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb/index.md").write_text("---\ntitle: Home\npublish: true\n---\nSee [gone](gone.md).\n")
    outcomes = {}
    for strict in ("false", "true"):
        own = {"RUNNER_TEMP": str(tmp_path), "KB_PATH": "kb", "KB_STRICT": strict}
        outcomes[strict] = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", validate["run"]],  # as a runner's `shell: bash`
            cwd=tmp_path,
            env=environment(tmp_path) | own,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (outcomes["false"].returncode, outcomes["true"].returncode) == (0, 1), outcomes["false"].stderr
    assert re.search(r"^::warning file=index\.md,line=5.*gone", outcomes["false"].stdout, re.MULTILINE)


def test_the_page_s_commands_for_uvx_and_pipx_run(wheel: Path, tmp_path: Path) -> None:
    """As a user has uv and pipx, whose caches stay where they are."""
    shown = [one.words for one in commands(ROOT / "docs/start/install.md") if one.name in ("uvx", "pipx")]
    assert [words[0] for words in shown] == ["uvx", "pipx", "pipx"]
    (tmp_path / "dist").mkdir()
    shutil.copy(wheel, tmp_path / "dist")
    (tmp_path / "my-notes").mkdir()
    (tmp_path / "my-notes/index.md").write_text("---\ntitle: Home\npublish: true\n---\nHello.\n")
    places = {"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin", "PIPX_MAN_DIR": "man", "XDG_DATA_HOME": "share"}
    own = {name: str(tmp_path / folder) for name, folder in places.items()}
    for words in shown:
        told = shlex.join(words).replace("'dist/*.whl'", f"dist/{wheel.name}").replace("../my-notes", "my-notes --once")
        runner = [uv(), "tool", "run", *(["pipx"] if words[0] == "pipx" else [])]
        done = subprocess.run(
            [*runner, *shlex.split(told)[1:]],
            cwd=tmp_path,
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        if words[0] == "uvx":
            assert "Shows 1 of 1 file\n" in done.stdout, done.stdout
    program = str(tmp_path / "bin/commonplace")
    version = subprocess.run([program, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert f"-{version.strip()}-" in wheel.name
    assert list(tmp_path.glob("pipx/venvs/*/lib/python*/site-packages/siwe")), "the extra"


def test_the_action_installs_the_program(tmp_path: Path) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["runs"]["steps"]
    install = next(step for step in steps if step.get("name") == "Install Commonplace")
    own = {"RUNNER_TEMP": str(tmp_path), "PYTHON": sys.executable, "GITHUB_ACTION_PATH": str(ROOT)}
    subprocess.run(["bash", "-eo", "pipefail", "-c", install["run"]], env=os.environ | own, check=True)
    program = Installed(tmp_path / "commonplace", tmp_path)
    assert program.run("validate", str(ROOT / "samples/knowledge-base")).returncode == 0
