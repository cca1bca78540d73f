"""A program folder is whole or not there."""

import hashlib
import stat
import zipfile
from pathlib import Path

import pytest

from local.opensearch.folders import PROGRAM
from local.opensearch.program import TRIMMED, Part, assemble


def archive(folder: Path, name: str, files: dict[str, str], place: str = "") -> Part:
    part = Part("org.example", name, "1.0", "", place)
    with zipfile.ZipFile(folder / part.file, "w") as made:
        for path, text in files.items():
            made.writestr(path, text)
    return Part("org.example", name, "1.0", hashlib.sha256((folder / part.file).read_bytes()).hexdigest(), place)


@pytest.fixture
def parts(tmp_path: Path) -> list[Part]:
    base = {f"{PROGRAM}/bin/opensearch": "#!/bin/sh\n", f"{PROGRAM}/config/jvm.options": "-Xms1g\n"}
    unneeded = {f"{PROGRAM}/{folder}/module.jar": "" for folder in TRIMMED}
    return [
        archive(tmp_path, "base", base | unneeded),
        archive(tmp_path, "plugin", {"plugin.jar": "jar"}, f"{PROGRAM}/plugins/plugin"),
    ]


def test_plugins_are_put_into_the_distribution(parts: list[Part], tmp_path: Path) -> None:
    assemble(parts, tmp_path, tmp_path / "home" / PROGRAM)
    assert (tmp_path / "home" / PROGRAM / "plugins" / "plugin" / "plugin.jar").read_text() == "jar"


def test_scripts_can_be_run_and_all_can_be_read_by_every_user(
    parts: list[Part], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "home" / PROGRAM
    assemble(parts, tmp_path, program)
    assert stat.S_IMODE((program / "bin" / "opensearch").stat().st_mode) == 0o755
    assert stat.S_IMODE((program / "config").stat().st_mode) == 0o755
    assert stat.S_IMODE((program / "config" / "jvm.options").stat().st_mode) == 0o644


def test_what_nothing_needs_is_left_out(parts: list[Part], tmp_path: Path) -> None:
    program = tmp_path / "home" / PROGRAM
    assemble(parts, tmp_path, program)
    assert [folder for folder in TRIMMED if (program / folder).exists()] == []


def test_an_archive_that_cannot_be_read_leaves_no_program(parts: list[Part], tmp_path: Path) -> None:
    program = tmp_path / "home" / PROGRAM
    (tmp_path / parts[1].file).write_bytes(b"no archive")
    with pytest.raises(zipfile.BadZipFile):
        assemble(parts, tmp_path, program)
    assert not program.exists()


def test_what_a_broken_attempt_left_is_cleared_away(parts: list[Part], tmp_path: Path) -> None:
    program = tmp_path / "home" / PROGRAM
    left = program.with_name("staging") / PROGRAM / "old.txt"
    left.parent.mkdir(parents=True)
    left.write_text("half")
    assemble(parts, tmp_path, program)
    assert not (program / "old.txt").exists()
    assert [path.name for path in program.parent.iterdir()] == [PROGRAM]
