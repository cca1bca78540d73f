import subprocess
import sys

import pytest

from commonplace.reference.lookup import Lookup
from commonplace.reference.model import SUGGESTIONS, Asked
from tests.fakes.catalogues import entry
from tests.reference_files import helios
from tests.unit.reference.products import command, endpoint, lookup, lookup_of, product

HELIOS = lookup_of(helios())


def test_the_seed_s_own_made_up_command_has_the_seed_s_suggestions() -> None:
    suggestions = HELIOS.suggest("helios get-users", Asked("helios get-users"))

    assert suggestions[0] == "helios gw users list"
    assert "helios users list" in suggestions
    assert len(suggestions) == SUGGESTIONS


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("helios gw usres list", "helios gw users list"),
        ("helios gw users lits", "helios gw users list"),
        ("helios gwusers list", "helios gw users list"),
        ("hleios gw users list", "helios gw users list"),
        ("gw users list", "helios gw users list"),
        ("helios gw users get john", "helios gw users get"),
        ("helios gw usrs get john@example.com --json", "helios gw users get"),
        ("helios google users list", "helios gw users list"),
        ("helios groups members add", "helios gw groups add-member"),
        ("lst google users", "helios gw users list"),
        ("conect google workspace", "Connect Google Workspace"),
    ],
)
def test_what_was_meant_is_suggested_first(asked: str, meant: str) -> None:
    assert HELIOS.suggest(asked, Asked(asked))[0] == meant


@pytest.mark.parametrize("asked", ["helios frobnicate", "xyzzy", "", "<>", "--", "/", "…", "a"])
def test_nothing_is_suggested_where_nothing_is_near(asked: str) -> None:
    assert HELIOS.suggest(asked, Asked(asked)) == ()


def test_conditions_hold_for_suggestions() -> None:
    found = lookup(
        command("tool users list", category="users"),
        command("tool users lift", category="other", module="extra"),
        entry("guide", title="Tool users list"),
        endpoint("GET", "/tool/users/list"),
    )

    assert found.suggest("tool users lisst", Asked("", type="command", category="users")) == ("tool users list",)
    assert found.suggest("tool users lisst", Asked("", module="extra")) == ("tool users lift",)
    assert found.suggest("tool users lisst", Asked("", type="guide")) == ("Tool users list",)
    assert set(found.command("tool users lisst").suggestions) == {"tool users list", "tool users lift"}


def test_what_is_replaced_is_not_suggested() -> None:
    found = lookup(command("tool show", deprecated=True, replaced_by="cmd-tool-list"), command("tool list"))

    assert "tool show" not in found.suggest("tool shw", Asked(""))


def test_synonyms_of_a_catalogue_count() -> None:
    found = lookup(command("tool berths list"), command("tool tides list"), synonyms={"berths": ["moorings"]})

    assert found.suggest("tool list moorings", Asked(""))[0] == "tool berths list"


def test_a_name_of_two_catalogues_is_suggested_once() -> None:
    found = Lookup([product(command("tool list"), name="one"), product(command("tool list"), name="two")])

    assert found.suggest("tool lst", Asked("")) == ("tool list",)


def test_the_library_for_edits_is_loaded_with_the_first_miss() -> None:
    script = """
import sys
from commonplace.reference.lookup import Lookup
from tests.reference_catalogue import catalogue
found = Lookup([catalogue(50)])
assert found.command("orchard gw users list").hit
assert found.endpoint("/api/v1/orchard/gw/users/42").hits
heavy = {"rapidfuzz", "yaml", "numpy", "markdown_it", "tree_sitter", "boto3"} & set(sys.modules)
assert not heavy, heavy
assert found.command("orchard gw users lst").suggestions
assert "rapidfuzz" in sys.modules
"""
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env={"PYTHONPATH": "layers/core:."}, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


PROGRAMS = lookup(
    command("dock container rm", "CONTAINER...", summary="Remove one or more containers"),
    command("dock container rename", "CONTAINER NEW_NAME", summary="Rename a container"),
    command("dock run", "IMAGE", summary="Create and run a new container"),
    command("vcs cherry-pick", "<commit>...", summary="Apply the changes of existing commits"),
    command("pm install", "[<package>...]", aliases=["pm add"], summary="Install packages"),
    command("pm update", "[<package>...]", aliases=["pm upgrade"], summary="Update packages"),
    command("kube rollout", "SUBCOMMAND", summary="Manage rollouts"),
    command("kube rollout restart", "RESOURCE", summary="Restart a resource"),
    command("kube create deployment", "NAME", summary="Create a deployment"),
    command("kube apply", "-f FILE", summary="Apply a configuration"),
    endpoint("GET", "/repos/{owner}/{repo}/pulls"),
    endpoint("PATCH", "/repos/{owner}/{repo}/issues/{number}"),
    endpoint("GET", "/octocat"),
    endpoint("POST", "/api/v10/channels/{id}/messages", aliases=["POST /channels/{id}/messages"]),
)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("vcs cherrypick abc123", "vcs cherry-pick"),
        ("pm instal requests", "pm install"),
        ("pm upgrade-all", "pm update"),
        ("kube aply -f x.yaml", "kube apply"),
        ("kube restart deployment web", "kube rollout restart"),
        ("dock container delete web", "dock container rm"),
        ("GET /repo/octocat/hello-world/pulls", "GET /repos/{owner}/{repo}/pulls"),
        ("POST /repos/octocat/hello-world/issues/42/close", "PATCH /repos/{owner}/{repo}/issues/{number}"),
        ("POST /channel/42/messages", "POST /api/v10/channels/{id}/messages"),
        ("GETx/octocat", "GET /octocat"),
        ("GET/ octocat", "GET /octocat"),
    ],
)
def test_arguments_and_what_exists_of_a_line_do_not_hide_what_was_meant(asked: str, meant: str) -> None:
    assert PROGRAMS.suggest(asked, Asked(asked))[0] == meant


def test_commands_of_the_same_root_are_suggested_first() -> None:
    found = lookup(command("pack fetch"), command("pick fetchh"), command("pick fetcher"))

    assert found.suggest("pick fetch", Asked(""))[:2] == ("pick fetchh", "pick fetcher")
