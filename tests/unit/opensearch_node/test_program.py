"""The pinned archives of the node of tests, with a made-up Maven, and the Java that it takes."""

import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from commonplace_local.errors import CommandError
from tests.opensearch_node.java import MODULES, Java, RequirementMissing, find_java, look
from tests.opensearch_node.program import PROGRAM, Part, assemble, fetch

COPIES = """#!/bin/sh
cp "$ARCHIVE" "$(sed -n 's:.*<outputDirectory>\\(.*\\)</outputDirectory>.*:\\1:p' "$5")"
"""


def java(folder: Path, version: str, modules: str = " ".join(MODULES)) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


@pytest.fixture
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Part:
    """An archive, and a program that is found as Maven and copies it where the project wants it."""
    file = tmp_path / "archive" / "thing-1.0.zip"
    file.parent.mkdir()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{PROGRAM}/bin/opensearch", "#!/bin/sh\n")
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text(COPIES)
    maven.chmod(0o755)
    monkeypatch.setenv("ARCHIVE", str(file))
    monkeypatch.setenv("PATH", f"{maven.parent}{os.pathsep}{os.environ['PATH']}")
    return Part("org.example", "thing", "1.0", hashlib.sha256(file.read_bytes()).hexdigest())


def test_a_pinned_archive_is_fetched_and_unpacked(part: Part, tmp_path: Path) -> None:
    downloads, program = tmp_path / "downloads", tmp_path / "home" / PROGRAM
    downloads.mkdir()
    fetch([part], downloads, Java(Path("/nowhere"), 25))
    assemble([part], downloads, program)
    assert (program / "bin" / "opensearch").stat().st_mode & 0o777 == 0o755
    assert [path.name for path in program.parent.iterdir()] == [PROGRAM]


def test_an_archive_with_another_checksum_is_refused(part: Part, tmp_path: Path) -> None:
    other = Part(part.group, part.artifact, part.version, "0" * 64)
    with pytest.raises(CommandError, match=r"thing-1\.0\.zip is not the file that is expected"):
        fetch([other], tmp_path, Java(Path("/nowhere"), 25))


def test_an_archive_that_cannot_be_read_leaves_no_program(part: Part, tmp_path: Path) -> None:
    (tmp_path / part.file).write_bytes(b"no archive")
    with pytest.raises(zipfile.BadZipFile):
        assemble([part], tmp_path, tmp_path / "home" / PROGRAM)
    assert not (tmp_path / "home" / PROGRAM).exists()


def test_the_variable_made_for_it_goes_before_java_home_and_the_best_place_last(tmp_path: Path) -> None:
    own, usual, best = (
        java(tmp_path / name, version) for name, version in (("own", "21"), ("usual", "26"), ("b", "25"))
    )
    environ = {"OPENSEARCH_JAVA_HOME": str(own), "JAVA_HOME": str(usual), "PATH": ""}
    assert find_java(environ).home == own
    assert find_java({"PATH": ""}, (str(usual), str(best))).home == best


def test_a_java_that_will_not_do_is_named(tmp_path: Path) -> None:
    old, small = java(tmp_path / "old", "1.8.0_292"), java(tmp_path / "small", "25-ea", "java.base")
    with pytest.raises(RequirementMissing) as caught:
        find_java({"PATH": ""}, (str(old), str(small), str(tmp_path / "none")))
    assert caught.value.message == (
        f"OpenSearch needs Java 21 or newer. Found: Java 8 in {old}; "
        f"Java 25 (a reduced runtime without {' and '.join(MODULES)}) in {small}."
    )
    assert look(tmp_path / "none") is None
