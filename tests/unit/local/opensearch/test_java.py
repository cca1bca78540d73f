"""Which Java is found, and what is said when none will do."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.opensearch.java import MODULES, PLACES, Java, RequirementMissing, find_java, look, parse_major, parse_spoken

ALL = f"java.base {' '.join(MODULES)}"


def home(folder: Path, version: str, *, modules: str | None = ALL, says: str = "") -> Path:
    """A made-up Java: a program that says its version, and, unless `modules` is None, a release file."""
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)
    if modules is not None:
        (folder / "release").write_text(f'IMPLEMENTOR="Nobody"\nJAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


@pytest.mark.parametrize(
    ("version", "major"),
    [("17.0.15", 17), ("25", 25), ("25-ea", 25), ("1.8.0_292", 8), ("21.0.8+9", 21), ("", None), ("unknown", None)],
)
def test_the_major_version_is_read_from_every_way_of_writing_it(version: str, major: int | None) -> None:
    assert parse_major(version) == major


@given(st.integers(9, 999), st.from_regex(r"(\.[0-9]+){0,3}(-ea|\+[0-9]+)?", fullmatch=True))
def test_any_version_since_nine_begins_with_its_major(major: int, rest: str) -> None:
    assert parse_major(f"{major}{rest}") == major


@given(st.text())
def test_no_text_breaks_the_reading_of_a_version(text: str) -> None:
    assert (parse_major(text) or 0) >= 0
    assert (parse_spoken(text) or 0) >= 0


def test_a_java_without_a_release_file_is_asked(tmp_path: Path) -> None:
    spoken = 'openjdk version "22.0.1" 2024-04-16'
    found = look(home(tmp_path / "jdk", "", modules=None, says=spoken))
    assert found == Java(tmp_path / "jdk", 22)


def test_a_folder_without_java_is_none(tmp_path: Path) -> None:
    assert look(tmp_path) is None


def test_a_program_that_is_no_java_is_none(tmp_path: Path) -> None:
    assert look(home(tmp_path / "jdk", "", modules=None, says="What do you want?")) is None


def test_the_variable_made_for_it_goes_before_java_home_and_the_path(tmp_path: Path) -> None:
    own, usual = home(tmp_path / "own", "21.0.1"), home(tmp_path / "usual", "25.0.1")
    environ = {"OPENSEARCH_JAVA_HOME": str(own), "JAVA_HOME": str(usual), "PATH": str(usual / "bin")}
    assert find_java(environ, places=()).home == own


def test_an_old_java_on_the_path_does_not_hide_a_new_one_beside_it(tmp_path: Path) -> None:
    old, new = home(tmp_path / "jvm" / "java-17", "17.0.15"), home(tmp_path / "jvm" / "java-25", "25.0.3")
    environ = {"PATH": str(old / "bin"), "JAVA_HOME": str(old)}
    assert find_java(environ, places=(f"{tmp_path}/jvm/*",)).home == new


def test_of_several_the_newest_that_was_tried_is_taken(tmp_path: Path) -> None:
    for version in ("21.0.8", "25.0.3", "31.0.0"):
        home(tmp_path / version, version)
    assert find_java({"PATH": ""}, places=(f"{tmp_path}/*",)).major == 25


def test_the_home_folder_of_the_user_is_looked_through(tmp_path: Path) -> None:
    made = home(tmp_path / ".sdkman" / "candidates" / "java" / "25.0.1-tem", "25.0.1")
    places = tuple(place for place in PLACES if place.startswith("~"))
    assert find_java({"PATH": "", "HOME": str(tmp_path)}, places=places).home == made


def test_what_was_found_instead_is_told_once_with_where_and_why(tmp_path: Path) -> None:
    old = home(tmp_path / "jvm" / "java-17", "17.0.15")
    bare = home(tmp_path / "jvm" / "reduced", "25.0.2", modules="java.base jdk.localedata")
    with pytest.raises(RequirementMissing) as caught:
        find_java({"PATH": str(old / "bin")}, places=(f"{tmp_path}/jvm/*",))
    assert caught.value.message == (
        f"OpenSearch needs Java 21 or newer. Found: Java 17 in {old}; "
        f"Java 25 (a reduced runtime without jdk.incubator.vector) in {bare}."
    )
    assert "OPENSEARCH_JAVA_HOME" in caught.value.hint


def test_where_there_is_no_java_at_all_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequirementMissing, match="Found: none at all"):
        find_java({"PATH": str(tmp_path)}, places=())


def test_a_java_that_the_node_s_user_cannot_reach_is_no_use(tmp_path: Path) -> None:
    made = home(tmp_path / "jdk", "25.0.1")
    with pytest.raises(RequirementMissing, match="out of reach of the unprivileged user"):
        find_java({"JAVA_HOME": str(made), "PATH": ""}, places=(), enters=lambda _: False)
