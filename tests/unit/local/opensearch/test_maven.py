"""Fetching the parts, with a made-up Maven."""

import hashlib
import os
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from local.errors import CommandError
from local.opensearch.java import Java, RequirementMissing
from local.opensearch.program import PARTS, Part, check, fetch, find_maven, is_whole, pom
from local.opensearch.progress import silently

GOOD = b"what was published"
PART = Part("org.example", "thing", "1.0", hashlib.sha256(GOOD).hexdigest())
JAVA = Java(Path("/nowhere"), 25)
NAMESPACE = "{http://maven.apache.org/POM/4.0.0}"

COPIES = """#!/bin/sh
for last; do file="$previous"; previous="$last"; done
folder=$(sed -n 's:.*<outputDirectory>\\(.*\\)</outputDirectory>.*:\\1:p' "$file")
printf '%s' "$CONTENT" > "$folder/thing-1.0.zip"
"""


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is found as Maven. It puts $CONTENT where the project wants the part."""
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(COPIES)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return program


def test_every_part_is_pinned_to_one_version_and_one_checksum() -> None:
    for part in PARTS:
        assert len(bytes.fromhex(part.sha256)) == 32
        assert part.version[0].isdigit()
    assert len({part.file for part in PARTS}) == len(PARTS) == 3


def test_the_project_asks_for_each_part_by_its_coordinates(tmp_path: Path) -> None:
    project = ET.fromstring(pom(PARTS, tmp_path / "a & b"))
    items = [[child.text for child in item] for item in project.iter(f"{NAMESPACE}artifactItem")]
    assert items == [[part.group, part.artifact, part.version, "zip"] for part in PARTS]
    assert [folder.text for folder in project.iter(f"{NAMESPACE}outputDirectory")] == [str(tmp_path / "a & b")]


def test_a_part_that_is_the_pinned_one_is_taken(maven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENT", GOOD.decode())
    fetch([PART], tmp_path / "downloads", JAVA, silently)
    assert (tmp_path / "downloads" / PART.file).read_bytes() == GOOD


def test_a_part_with_another_checksum_is_refused_and_removed(
    maven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTENT", "something else")
    with pytest.raises(CommandError, match=r"thing-1\.0\.zip is not the file that is expected") as caught:
        fetch([PART], tmp_path / "downloads", JAVA, silently)
    assert PART.sha256 in caught.value.message
    assert "org/example/thing/1.0/thing-1.0.zip" in caught.value.hint
    assert list((tmp_path / "downloads").iterdir()) == []


def test_what_is_there_and_whole_is_not_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / PART.file).write_bytes(GOOD)
    fetch([PART], tmp_path, JAVA, silently)
    assert is_whole(PART, tmp_path / PART.file)


def test_what_is_there_and_spoilt_is_fetched_anew(maven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTENT", GOOD.decode())
    (tmp_path / PART.file).write_bytes(GOOD[:5])
    fetch([PART], tmp_path, JAVA, silently)
    assert (tmp_path / PART.file).read_bytes() == GOOD


def test_a_missing_maven_is_said_with_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(RequirementMissing, match="no `mvn` on the PATH") as caught:
        find_maven({"PATH": str(tmp_path)})
    assert "apt install maven" in caught.value.hint


def test_maven_is_found_below_its_own_variable(maven: Path, tmp_path: Path) -> None:
    assert find_maven({"PATH": "", "MAVEN_HOME": str(tmp_path)}) == str(maven)


def test_what_maven_complains_of_is_passed_on(maven: Path, tmp_path: Path) -> None:
    maven.write_text("#!/bin/sh\necho '[ERROR] No route to host'\nexit 1\n")
    with pytest.raises(CommandError, match="exit status 1") as caught:
        fetch([PART], tmp_path / "downloads", JAVA, silently)
    assert caught.value.hint == "[ERROR] No route to host"


def test_a_maven_that_fetched_nothing_is_no_success(maven: Path, tmp_path: Path) -> None:
    maven.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(CommandError, match=r"thing-1\.0\.zip is not there"):
        fetch([PART], tmp_path / "downloads", JAVA, silently)


def test_a_maven_on_a_machine_without_java_is_given_ours(
    maven: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    maven.write_text("#!/bin/sh\necho $JAVA_HOME\nexit 1\n")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name, path=None: str(maven) if name == "mvn" else None)
    with pytest.raises(CommandError) as caught:
        fetch([PART], tmp_path / "downloads", replace(JAVA, home=Path("/opt/jdk")), silently)
    assert caught.value.hint == "/opt/jdk"


def test_checking_leaves_a_good_file_alone(tmp_path: Path) -> None:
    file = tmp_path / PART.file
    file.write_bytes(GOOD)
    check(PART, file)
    assert file.read_bytes() == GOOD
