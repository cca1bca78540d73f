"""The two catalogues of this repository: sound, complete, and what their sources make of them."""

from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commonplace.reference.model import ENTRY_TYPES
from commonplace.reference.source.reader import read_catalogue
from commonplace_local.cli.reference import app as reference_app
from tests.reference_files import HELIOS, SAMPLE, files_of, helios, sample


@pytest.mark.parametrize("folder", [HELIOS, SAMPLE])
def test_nothing_is_wrong_with_them(folder: Path) -> None:
    assert read_catalogue(files_of(folder), "here").problems == ()


@pytest.mark.parametrize("folder", [HELIOS, SAMPLE])
def test_what_is_generated_is_what_the_sources_say(folder: Path) -> None:
    result = CliRunner().invoke(reference_app, ["generate", str(folder), "--check"])
    assert result.exit_code == 0, result.output


def test_the_sample_has_entries_of_every_type_and_of_a_module() -> None:
    entries = [placed.entry for placed in sample().entries]
    counted = Counter(entry.type for entry in entries)
    assert set(counted) == set(ENTRY_TYPES)
    assert 35 <= len(entries) <= 60
    assert {entry.module for entry in entries} == {None, "pool-desk"}
    assert any(entry.deprecated for entry in entries)


def test_the_product_of_the_seed_has_its_ids_names_and_aliases() -> None:
    entries = {placed.entry.id: placed.entry for placed in helios().entries}
    users = entries["cmd-gw-users-list"]
    assert (users.name, users.category, users.subcategory) == (
        "helios gw users list",
        "developer-console",
        "google-workspace",
    )
    assert users.syntax == "helios gw users list [--ou=<path>] [--json]"
    assert {"list google users", "show all users", "get users", "display users"} <= set(users.aliases)
    assert {"cmd-gw-users-get", "cmd-gw-users-create"} <= set(users.related_ids)
    assert {entry.subcategory for entry in entries.values() if entry.type == "command"} == {
        *("google-workspace", "microsoft-365", "helios", "api"),
    }
    assert entries["cmd-ms-users-list"].module == "microsoft-365"
    assert entries["cmd-gw-list-users"].replaced_by == "cmd-gw-users-list"
