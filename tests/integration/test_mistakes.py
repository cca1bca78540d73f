"""Typical mistakes of editors: every surface of a laptop names each with file, line and cure, and counts alike."""

import json
import shlex
from collections.abc import Iterator

import pytest

from tests import mistakes
from tests.integration.repositories import Clone
from tests.integration.running_dev import EDIT_SECONDS, Dev, commonplace

Said = dict[str, tuple[int, str, str]]


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    user = Clone(tmp_path_factory.mktemp("kb"))
    mistakes.write(user.folder)
    user.commit("Start")
    running = Dev(user, tmp_path_factory.mktemp("data"))
    try:
        running.wait_for("ready:")
        yield running
    finally:
        if running.process.poll() is None:
            running.end()


def said(text: str) -> Said:
    return {one["path"]: (one["line"], one["code"], one["hint"]) for one in json.loads(text)["findings"]}


def test_every_surface_names_each_mistake_and_counts_alike(dev: Dev) -> None:
    data = ("--data", str(dev.data))
    report = commonplace("sync", "report", "--json", *data)
    before = commonplace("validate", "--json", str(dev.user.folder))
    assert said(report.stdout) == said(before.stdout) == mistakes.MISTAKES
    for shown in (
        dev.output,
        commonplace("validate", str(dev.user.folder)).stdout,
        commonplace("sync", "report", *data).stdout,
    ):
        assert f"Found {mistakes.COUNT}" in shown
        lines = shown.splitlines()
        for path, (line, _, cure) in mistakes.MISTAKES.items():
            assert any(one.startswith(f"{path}:{line}") and one.endswith(f"({cure})") for one in lines), (path, shown)
    assert f"Found {mistakes.COUNT}" in commonplace("sync", "status", *data).stdout


@pytest.mark.parametrize("where", ["folder", "deployment"])
def test_why_names_each_mistake_on_disk_and_in_the_last_sync(dev: Dev, where: str) -> None:
    for path in ("notes/publish-in-typographic-quotes.md", "drafts/excluded-folder.md", "notes/another-suffix.txt"):
        asked = [str(dev.user.folder / path)] if where == "folder" else [path, "--data", str(dev.data)]
        done = commonplace("why", "--json", *asked)
        assert done.returncode == 1, shlex.join(asked) + done.stderr
        (judged,) = json.loads(done.stdout)
        (reason,) = judged["reasons"]
        assert (reason["line"], reason["code"], reason["hint"]) == mistakes.MISTAKES[path]


def test_a_mistake_made_a_moment_ago_is_told_and_its_cure_too(dev: Dev) -> None:
    file = dev.user.folder / "index.md"
    good = file.read_text(encoding="utf-8")
    file.write_text(good.replace("publish: true", "publish: True!"), encoding="utf-8")
    dev.wait_for("  index.md:5: not published, `publish` is not the value `true`", EDIT_SECONDS)
    file.write_text(good, encoding="utf-8")
    dev.wait_for("1 stored, 0 removed", EDIT_SECONDS)
