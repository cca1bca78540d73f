"""CATALOGUES: what it may be, and what follows from it."""

import json
import string
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.capabilities import served_toolsets
from commonplace.kernel.environment import SettingsError
from commonplace.reference.settings import (
    CatalogueReaderSettings,
    CatalogueSource,
    catalogue_sources,
    parse_catalogues,
)
from commonplace.repository.sources import folders_within

KNOWLEDGE_BASE = {"GITHUB_REPOSITORY": "example/kb", "GITHUB_BRANCH": "main"}


def sources(*given: dict[str, Any]) -> tuple[CatalogueSource, ...]:
    return catalogue_sources(KNOWLEDGE_BASE | {"CATALOGUES": json.dumps(given)})


@pytest.mark.parametrize("text", ["", "  "])
def test_without_the_variable_there_is_no_catalogue_and_no_toolset(text: str) -> None:
    assert catalogue_sources({"CATALOGUES": text}) == ()
    assert served_toolsets({"CATALOGUES": text}) == ("knowledge", "memory", "hive")


def test_a_catalogue_is_in_the_repository_of_the_knowledge_base_unless_it_says_otherwise() -> None:
    assert sources({"name": "helios", "folder": "/docs/reference/"}, {"name": "api", "repository": "a/b"}) == (
        CatalogueSource("helios", "example/kb", "main", "docs/reference"),
        CatalogueSource("api", "a/b", "main", ""),
    )
    assert sources({"name": "here", "url": "file:///home/ada/"})[0].url == "file:///home/ada"
    assert served_toolsets({"CATALOGUES": "[]"}) == ("knowledge", "memory", "reference", "hive")


@pytest.mark.parametrize(
    "given",
    [
        "helios",
        "{}",
        "[]",
        "[1]",
        '[{"folder": "x"}]',
        '[{"name": "Helios"}]',
        '[{"name": "helios#"}]',
        '[{"name": "a"}, {"name": "a", "folder": "b"}]',
        '[{"name": "a", "branch": "x..y"}]',
        '[{"name": "a", "folder": "b/../../c"}]',
        '[{"name": "a", "repository": "https://example.org/a/b"}]',
        '[{"name": "a", "secret": "b"}]',
        '[{"name": "a", "folder": null}]',
        '[{"name": "a", "url": "javascript:alert(1)"}]',
        '[{"name": "a", "url": "https://a b"}]',
    ],
)
def test_what_is_no_list_of_catalogues_stops_the_start_with_the_name_of_the_variable(given: str) -> None:
    with pytest.raises(SettingsError, match=r"^CATALOGUES is malformed\. It must be a JSON list"):
        catalogue_sources(KNOWLEDGE_BASE | {"CATALOGUES": given})


@given(st.text(string.printable, max_size=60))
def test_no_text_makes_a_source_that_leaves_its_repository(folder: str) -> None:
    given = json.dumps([{"name": "a", "folder": folder}])
    for source in parse_catalogues(given, "example/kb", "main") or ():
        assert not {".", ".."} & set(source.folder.split("/"))
        assert not source.folder.startswith("/")


def test_reading_them_loads_no_client() -> None:
    code = "import sys, commonplace.reference.settings; print('httpx' in sys.modules, 'boto3' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["False", "False"]


def age(environ: dict[str, str]) -> float:
    return CatalogueReaderSettings.from_environ(environ).max_age_seconds


def test_catalogues_are_held_for_a_minute_unless_it_is_said_otherwise() -> None:
    assert age({}) == 60
    assert age({"REFERENCE_MAX_AGE_SECONDS": "1"}) == 1
    for wrong in ("0", "-1", "1.5", "3601", "soon"):
        with pytest.raises(SettingsError, match="REFERENCE_MAX_AGE_SECONDS is malformed"):
            age({"REFERENCE_MAX_AGE_SECONDS": wrong})


def test_only_folders_of_the_branch_itself_hold_no_documents() -> None:
    listed = [
        {"name": "here", "folder": "docs/reference"},
        {"name": "whole"},
        {"name": "other", "repository": "octo/other", "folder": "elsewhere"},
        {"name": "next", "branch": "v2", "folder": "later"},
    ]
    found = parse_catalogues(json.dumps(listed), "octo/notes", "main") or ()

    assert folders_within(found, "Octo/Notes", "main") == ("docs/reference/",)
