"""Catalogues on a whole deployment of this machine: pushed, judged, published, indexed, answered; or refused whole."""

import asyncio
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from commonplace.reference.sync.plan import CatalogueReport
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.screen import judge
from commonplace_local.dev.source import CatalogueFolder, clone
from tests.examples import examples
from tests.integration.repositories import Clone, document
from tests.integration.running_dev import wait
from tests.integration.test_faults import kill_functions_after
from tests.unit.reference.sync.catalogue_drive import command, entries, guide

pytestmark = pytest.mark.laptop

WAIT_SECONDS = 180
ANSWER_SECONDS = 90
KILLS = examples(1, soak=20)
GARDEN, TOOLS = "garden", "tools"


class Shore:
    """A knowledge base with the catalogue `garden` in its folder `reference`, and a repository with two: `tools`,
    `pumps`."""

    def __init__(self, here: Clone, there: Clone, laptop: Laptop) -> None:
        self.here, self.there, self.laptop = here, there, laptop

    def push(self, files: Mapping[str, str | bytes | None], *, there: bool = False) -> str:
        """Writes (or, with None, removes) files, commits, pushes, waits. Returns the commit."""
        user = self.there if there else self.here
        for path, raw in files.items():
            if raw is None:
                (user.folder / path).unlink()
            else:
                user.write(path, raw)
        commit = user.commit()
        self.laptop.push()
        self.laptop.wait(WAIT_SECONDS)
        return commit

    def report(self, name: str) -> CatalogueReport:
        found = self.laptop.catalogue_report(name)
        assert found is not None
        return found

    def objects(self, name: str) -> dict[str, str]:
        """What readers can see of a catalogue."""
        return {item.key: item.etag for item in self.laptop.store.list(f"reference/{name}/")}

    def ids(self, name: str) -> set[str]:
        """What the index holds of it."""
        return {key.partition("/")[2] for key in self.laptop.indexed("reference") if key.startswith(f"{name}/")}

    def statuses(self, commit: str, *, there: bool = False) -> dict[str, tuple[str, str]]:
        """Context -> the newest state and its sentence."""
        api = self.laptop.repositories[1 if there else 0].api
        return {one.context: (one.state, one.description) for one in api.statuses if one.sha == commit}

    def exact(self, name: str) -> str | None:
        """The id of the command of this name, as agents are told it."""

        async def main() -> Any:
            async with (
                httpx2.AsyncClient(timeout=60, trust_env=False) as http,
                Client(streamable_http_client(self.laptop.url + "/mcp/reference", http_client=http)) as client,
            ):
                return await client.call_tool("get_command", {"command": name})

        result = asyncio.run(main())
        return None if result.is_error else str(result.structured_content["id"])


@pytest.fixture(scope="module")
def shore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shore]:
    folder = tmp_path_factory.mktemp("shore")
    here, there = Clone(folder / "here"), Clone(folder / "there")
    here.write("index.md", document("Home", "Hello.\n", type="index"))
    here.write("reference/catalogue.yaml", "title: The garden\n")
    here.write("reference/commands.json", entries(command("list"), command("get")))
    here.write("reference/guides/start.md", guide("Start"))
    here.commit("Start")
    there.write("cli/commands.json", entries(command("run", "Runs a tool")))
    there.write("pumps/commands.json", entries(command("pump", "Pumps")))
    there.write("README.md", "# Tools\n")
    there.commit("Start")
    one, other = clone(here.folder), clone(there.folder)
    catalogues = [
        CatalogueFolder(GARDEN, one, "reference"),
        CatalogueFolder(TOOLS, other, "cli"),
        CatalogueFolder("pumps", other, "pumps"),
    ]
    with Laptop(one, folder / "data", retry_seconds=1, catalogues=catalogues) as laptop:
        laptop.push()
        laptop.wait(WAIT_SECONDS)
        yield Shore(here, there, laptop)


def test_every_catalogue_is_published_and_indexed_and_is_no_document(shore: Shore) -> None:
    outcome = judge(shore.laptop)

    assert outcome.faults == ()
    assert [name for name, _ in outcome.catalogues] == [GARDEN, TOOLS, "pumps"]
    assert (shore.ids(TOOLS), shore.ids("pumps")) == ({"run"}, {"pump"})
    assert {"list", "get", "guides-start"} <= shore.ids(GARDEN)
    assert {key for key in shore.laptop.indexed() if "start" in key} == set()
    contexts = shore.statuses(shore.there.git("rev-parse", "HEAD"), there=True)
    assert contexts["commonplace/reference/tools"] == ("success", "1 entry: 1 added, 0 changed, 0 removed")


def test_a_push_ends_in_the_answer_of_a_tool(shore: Shore) -> None:
    assert shore.exact("helios run") == "run"
    shore.push({"reference/more.json": entries(command("prune", "Prunes roses"))})

    assert "prune" in shore.ids(GARDEN)
    eventually(lambda: shore.exact("helios prune") == "prune")
    shore.push({"reference/more.json": None})
    assert "prune" not in shore.ids(GARDEN)
    eventually(lambda: shore.exact("helios prune") is None)


@pytest.mark.parametrize(
    ("code", "path", "raw"),
    [
        ("malformed-file", "cli/commands.json", b'{"entries": [{"id": "run",'),
        ("duplicate-id", "cli/more.json", entries(command("run", name="helios more", syntax="helios more"))),
        ("dangling-relation", "cli/more.json", entries(command("more", relatedIds=["nowhere"]))),
    ],
)
def test_a_bad_catalogue_is_refused_whole_with_a_clear_report_and_its_neighbours_go_on(
    shore: Shore, code: str, path: str, raw: bytes
) -> None:
    before = shore.objects(TOOLS)
    good = {"cli/commands.json": entries(command("run", "Runs a tool")), "cli/more.json": None}
    neighbour = {"cli/other.json": entries(command("other")), "pumps/more.json": entries(command(f"pump-{code}"))}

    commit = shore.push({path: raw} | neighbour, there=True)

    assert shore.objects(TOOLS) == before
    assert shore.ids(TOOLS) == {"run"}
    report = shore.report(TOOLS)
    assert (report.status, report.commit_sha) == ("refused", commit)
    first = report.errors[0]
    assert (first.code, f"cli/{first.path}") == (code, path)
    assert first.line is not None and first.hint
    state, sentence = shore.statuses(commit, there=True)["commonplace/reference/tools"]
    assert state == "failure" and path in sentence
    assert shore.statuses(commit, there=True)["commonplace/reference/pumps"][0] == "success"
    assert f"pump-{code}" in shore.ids("pumps")
    assert [fault for fault in judge(shore.laptop).faults if "refused" in fault]
    assert "catalogue refused" in shore.laptop.logs()

    present = {name: raw for name, raw in good.items() if raw or (shore.there.folder / name).exists()}
    mended = shore.push(present | {"cli/other.json": None}, there=True)
    assert shore.statuses(mended, there=True)["commonplace/reference/tools"][0] == "success"
    assert judge(shore.laptop).faults == ()


def test_a_push_of_documents_leaves_the_catalogue_beside_them_alone(shore: Shore) -> None:
    before = shore.objects(GARDEN)
    commit = shore.push({"docs/crabs.md": document("Crabs", "Crabs walk sideways.\n", type="article")})

    assert shore.objects(GARDEN) == before
    assert shore.report(GARDEN).commit_sha == commit
    assert judge(shore.laptop).faults == ()


def test_a_run_of_one_catalogue_can_be_asked_for_and_a_backfill_changes_every_entry(shore: Shore) -> None:
    before = shore.laptop.catalogue_manifest(TOOLS)
    assert before is not None
    answer = shore.laptop.deployment.poke(only=TOOLS)
    shore.laptop.wait(WAIT_SECONDS)
    assert answer["run"].startswith("tools-reconcile-")
    assert shore.laptop.catalogue_manifest(TOOLS) == before

    shore.laptop.deployment.poke(only=TOOLS, full=True)
    shore.laptop.wait(WAIT_SECONDS)
    after = shore.laptop.catalogue_manifest(TOOLS)
    assert after is not None and set(after.versions.values()) == {after.generation} != {before.generation}
    assert judge(shore.laptop).faults == ()


def test_reports_are_for_operators_alone(shore: Shore) -> None:
    keys = [item.key for item in shore.laptop.store.list("operations/reference/")]

    assert f"operations/reference/{TOOLS}/report.json" in keys
    assert json.loads(shore.report(TOOLS).to_json())["catalogue"] == TOOLS
    assert all(key.endswith(".json") for name in (GARDEN, TOOLS) for key in shore.objects(name))


def test_nothing_of_a_page_that_is_not_published_is_anywhere(shore: Shore) -> None:
    canary = "narwhal-in-the-reference"
    shore.push({"reference/guides/secret.md": guide(canary, publish="false")})

    assert shore.report(GARDEN).status == "published"
    store = shore.laptop.store
    places = [item.key for item in store.list("") if (held := store.get(item.key)) and canary.encode() in held.body]
    assert places == []
    assert canary not in shore.laptop.logs()


@pytest.mark.parametrize("seed", range(KILLS))
def test_killed_functions_leave_nothing_that_the_next_run_does_not_mend(shore: Shore, seed: int) -> None:
    chance = random.Random(seed)
    wanted = {f"kept-{seed}-{number}" for number in range(chance.randrange(1, 9))}
    shore.there.write("cli/commands.json", entries(*(command(id) for id in wanted)))
    shore.there.commit()
    shore.laptop.push()
    kill_functions_after(shore.laptop, chance.randrange(1, 40))
    shore.laptop.wait(WAIT_SECONDS)
    shore.laptop.poke()
    shore.laptop.wait(WAIT_SECONDS)
    shore.laptop.reconcile()

    assert judge(shore.laptop).faults == ()
    assert shore.ids(TOOLS) == wanted
    manifest = shore.laptop.catalogue_manifest(TOOLS)
    assert manifest is not None and manifest.versions.keys() == wanted
    assert shore.report(TOOLS).status == "published"


def test_the_folder_of_a_clone_is_only_read(shore: Shore) -> None:
    before = shore.there.fingerprint()
    shore.laptop.push()

    assert shore.there.fingerprint() == before


def eventually(condition: Callable[[], bool]) -> None:
    """A function that answers agents looks for a new edition once in a while."""
    wait(condition, ANSWER_SECONDS)
    assert condition()
