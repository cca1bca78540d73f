"""`commonplace dev --catalogue` as its user meets it: what is said of catalogues at the start and after each save."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

from tests.integration.repositories import Clone
from tests.integration.running_dev import EDIT_SECONDS, Dev, commonplace, garden, separately, started
from tests.unit.reference.sync.catalogue_drive import command, entries, guide

pytestmark = pytest.mark.laptop


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    user = garden(tmp_path_factory.mktemp("clone") / "garden")
    user.write("reference/commands.json", entries(command("list")))
    user.commit()
    return user


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("loose") / "tools"
    (folder / "guides").mkdir(parents=True)
    (folder / "guides" / "start.md").write_bytes(guide("Start"))
    return folder


@pytest.fixture(scope="module")
def dev(user: Clone, tools: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    options = ("--catalogue", str(user.folder / "reference"), "--catalogue", f"kit={tools}")
    with started(user, tmp_path_factory.mktemp("data"), *options) as dev:
        yield dev


def test_once_says_what_was_read_and_fails_for_a_catalogue_that_is_refused(user: Clone, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / "commands.json").write_bytes(entries(command("list"), command("list")))

    done = separately("dev", "--once", str(user.folder), "--catalogue", str(bad))

    assert done.returncode == 1, done.stdout + done.stderr
    assert "Catalogue bad: refused" in done.stdout
    assert re.search(r"^  commands.json:\d+: The id is that of another entry", done.stdout, re.MULTILINE)
    assert "Error: The catalogue bad is refused: 1 error." in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_the_start_says_what_was_read_of_each(dev: Dev, user: Clone, tools: Path) -> None:
    assert "Catalogue garden: published; 1 entry (1 command)" in dev.output
    assert "Catalogue kit: published; 1 entry (1 guide)" in dev.output
    assert "/mcp/reference, from\n" in dev.output
    assert f"\n  garden: {user.folder}/reference\n  kit: {tools}\n" in dev.output


def test_sources_are_files_that_open(dev: Dev, user: Clone) -> None:
    async def look_up() -> dict[str, Any]:
        async with Client(f"{dev.url}/mcp/reference") as client:
            called = await client.call_tool("get_command", {"command": "helios list"})
            return called.structured_content or {}

    url = anyio.run(look_up)["sourceUrl"]
    assert url == (user.folder / "reference" / "commands.json").as_uri()


def test_catalogues_of_ones_own_are_served_without_the_sample(tools: Path) -> None:
    done = separately("dev", "--once", "--catalogue", f"kit={tools}")

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^Catalogue (\w+):", done.stdout, re.MULTILINE) == ["kit"]


def test_what_is_saved_is_synced_and_told(dev: Dev, user: Clone, tools: Path) -> None:
    (tools / "more.json").write_bytes(entries(command("sharpen")))
    dev.wait_for("Catalogue kit: published; 2 entries (1 command, 1 guide)", EDIT_SECONDS)
    dev.wait_for("1 added, 0 changed, 0 removed, indexed in", EDIT_SECONDS)
    user.write("reference/commands.json", entries(command("list", relatedIds=["nowhere"])))
    dev.wait_for("Catalogue garden: refused, ", EDIT_SECONDS)
    assert "nowhere" in dev.output


def test_sync_commands_show_and_run_catalogues(dev: Dev, user: Clone) -> None:
    data = ("--data", str(dev.data))
    status = json.loads(commonplace("sync", "status", "--json", *data).stdout)
    assert [one["name"] for one in status["catalogues"]] == ["garden", "kit"]
    assert status["catalogues"][1]["lastRun"]["status"] == "published"
    assert "Catalogue kit: published" in commonplace("sync", "status", *data).stdout
    ran = commonplace("sync", "run", "--source", "kit", *data)
    assert ran.returncode == 0, ran.stderr
    assert "Started: kit-reconcile-" in ran.stdout
    assert commonplace("sync", "backfill", "--source", "kit", *data).returncode == 0
    report = json.loads(commonplace("sync", "report", "--source", "kit", "--json", *data).stdout)
    assert (report["catalogue"], report["run"].split("-")[0]) == ("kit", "kit")
    assert "## " in commonplace("sync", "report", "--source", "kit", *data).stdout
    unknown = commonplace("sync", "run", "--source", "nowhere", *data)
    assert unknown.returncode == 1
    assert "Catalogues: garden, kit." in unknown.stderr


def test_a_run_that_ends_with_a_refused_catalogue_is_no_success(dev: Dev, user: Clone) -> None:
    user.write("reference/commands.json", b"[")
    dev.wait_for("is not valid JSON", EDIT_SECONDS)
    done = commonplace("sync", "run", "--data", str(dev.data))

    assert done.returncode == 1
    assert "Last run: succeeded" in done.stdout
    assert "Catalogue garden: refused" in done.stderr
