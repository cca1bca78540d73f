"""A team at work on one data folder while `kill -9` ends the server, or a command, at random moments.

What was acknowledged is there with its exact content, nothing is there by halves, and whoever was interrupted completes
his work by running it again.
"""

import json
import random
import signal
import socket
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from boto3.dynamodb.types import TypeDeserializer

from commonplace.client import Patient, Server
from commonplace.kernel.audit import Author
from commonplace.kernel.errors import Unavailable
from commonplace.memory import validation
from commonplace.memory.job_store import DynamoJobs
from commonplace.memory.jobs import LargeImports
from commonplace.memory.parts import Parts
from commonplace.memory.store import DynamoEntries
from commonplace.memory.usage import DynamoUsage
from commonplace.search import providers
from commonplace.search.store import DynamoVectorCaches
from commonplace_local.deployment import Deployment, find
from tests.examples import examples
from tests.integration.cloud.waiting import until
from tests.integration.running_dev import COMMAND, START_SECONDS, Dev, garden, wait
from tests.processes import ended

pytestmark = pytest.mark.laptop

MOMENTS = examples(1, soak=200)
SEED = 22
FILES, ENTRIES = 4, 30
"""Files of a seed, and entries in each: a summary, and facts that name it as their parent."""
IMPORTED = 300
STORIES = 3
UPDATED = 3
MANY = 5_000
"""Entries with which the next test begins anew: what each costs should not grow."""
SECONDS = 120
ORGANISATION = "default"
WORDS = ("tide", "pool", "crab", "route", "cache", "retry", "token", "schema", "queue", "index", "story", "review")

LEARNER = """
import sys
from commonplace_local.cli import app
print("ready", flush=True)
sys.stdin.readline()
url, *stories = sys.argv[1:]
for story in stories:
    try:
        app(["kb", "learn", story, "--url", url, "--json"], standalone_mode=False)
    except SystemExit:
        pass
"""
"""The command for one story after the other: most of the time of a process of its own would be its imports."""


class Team:
    """One server after the other, on the same port and the same data."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.data = folder, folder / "data"
        self._user = garden(folder / "garden")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self._port}"
        self.expected: Counter[str] = Counter()
        """What is to be in the memory, from every test so far: each content once."""
        self.start()

    def start(self) -> None:
        self._dev = Dev(self._user, self.data, "--tier", "vibecoder", "--port", str(self._port))
        self._dev.wait_for("ready:")

    def move(self) -> None:
        """To an empty data folder."""
        self.kill()
        self.data = self.folder / f"data-{uuid4()}"
        self.expected.clear()

    def kill(self) -> None:
        self._dev.end(signal.SIGKILL)

    @property
    def deployment(self) -> Deployment:
        return find(self.data, None, None)

    def command(self, *words: str) -> "subprocess.Popen[str]":
        command = [*COMMAND, "kb", *words, "--url", self.url]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def done(self, *words: str) -> str:
        with ended(self.command(*words)) as process:
            out, err = process.communicate(timeout=START_SECONDS)
        assert process.returncode == 0, out + err
        return out

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """As an agent that asks again while nobody answers."""
        with closing(Server(self.url, None, "memory")) as server:
            return Patient(server, outage_seconds=SECONDS).call(tool, arguments)

    def rooms(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Items of the memory in the file, by the name of their partition and their sort key."""
        found: dict[str, dict[str, dict[str, Any]]] = {"entries": {}, "cards": {}, "hashes": {}, "jobs": {}}
        with closing(sqlite3.connect(self.data / "cloud" / "state.sqlite")) as database:
            for (text,) in database.execute("select item from items where role = 'StateRecords'"):
                item = {name: TypeDeserializer().deserialize(value) for name, value in json.loads(text).items()}
                _, _, room = item["pk"].partition("#memory#")
                found.setdefault(room, {})[item["sk"]] = item
        return found

    def wait_for(self, entries: int) -> None:
        """Until the file has so many of them."""
        query = "select count(*) from items where role = 'StateRecords' and key like ?"
        entry = f'[{{"S": "{ORGANISATION}#memory#entries"}}%'
        with closing(sqlite3.connect(self.data / "cloud" / "state.sqlite")) as database:
            until(lambda: database.execute(query, (entry,)).fetchone()[0] >= entries, SECONDS)

    def indexed(self) -> set[str]:
        engine: Any = providers.search_engine(
            self.deployment.retrieval().collection("memory"), None, None, read_only=True
        )
        with closing(engine):
            return {str(record).rpartition("/")[2] for record, _ in engine.versions()}

    def check(self, chance: random.Random, *contents: str) -> None:
        """That the memory holds what it should, each once and whole, and finds it."""
        rooms = self.rooms()
        assert_whole(rooms)
        assert Counter(one["content"] for one in rooms["entries"].values()) == self.expected
        assert self.call("kb_stats")["total_entries"] == self.expected.total()
        wait(lambda: self.indexed() == rooms["entries"].keys(), SECONDS)
        assert self.indexed() == rooms["entries"].keys()
        for content in chance.sample(contents, 5):
            assert content in [one["content"] for one in self.call("kb_search", query=content, limit=3)["entries"]]


def assert_whole(rooms: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Every entry has its card and its hash, which name no other, and its parent."""
    entries = rooms["entries"]
    assert rooms["cards"].keys() == entries.keys()
    assert {hash: one["id"] for hash, one in rooms["hashes"].items()} == {
        one["contentHash"]: id for id, one in entries.items()
    }
    assert {one["parentId"] for one in entries.values() if "parentId" in one} <= entries.keys()


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    team = Team(tmp_path_factory.mktemp("team"))
    try:
        yield team
    finally:
        team.kill()


class Seed:
    """Files for `kb seed`."""

    def __init__(self, folder: Path, name: str, chance: random.Random, files: int = FILES) -> None:
        self.contents: list[str] = []
        self.words = ["seed", "--json"]
        for number in range(files):
            texts = [f"Seed {name}-{number}-{one}: {sentence(chance)}" for one in range(ENTRIES)]
            entries = [
                {"content": text, "roles": ["dev"]}
                | ({"entry_type": "fact", "parent_ref": "top"} if one else {"entry_type": "summary", "ref": "top"})
                for one, text in enumerate(texts)
            ]
            file = folder / f"seed-{name}-{number}.yaml"
            file.write_text(yaml.safe_dump(entries[1:] + entries[:1]), encoding="utf-8")
            self.contents += texts
            self.words += ["--file", str(file)]

    def tally(self, told: str) -> tuple[int, int, int]:
        """Entries in all files, imported and skipped, as the command says."""
        files = json.loads(told)["files"]
        assert not any(one["errors"] for one in files)
        total, imported, skipped = (sum(one[name] for one in files) for name in ("total", "imported", "skipped"))
        return total, imported, skipped


class Stories:
    """Stories in folders of their own, for `kb learn`."""

    def __init__(self, folder: Path, name: str, number: int = STORIES) -> None:
        self.folder = folder / f"stories-{name}"
        self.files = [self.folder / str(place) / "story.yaml" for place in range(number)]
        for place, file in enumerate(self.files):
            told = {"story_id": f"KILL-{name}-{place}", "title": "Kept", "summary": f"Story {name}-{place} is over."}
            facts = {kind: [f"Story {name}-{place} has {kind}."] for kind in ("reuse", "blockers")}
            file.parent.mkdir(parents=True)
            file.write_text(yaml.safe_dump(told | facts), encoding="utf-8")

    def records(self) -> list[dict[str, Any]]:
        files = [file.parent / "_implementation" / "LEARNINGS.yaml" for file in self.files]
        return [yaml.safe_load(file.read_text(encoding="utf-8")) for file in files if file.exists()]

    def delivered(self) -> list[str]:
        """Contents that a record claims to be in the memory."""
        records = [record for record in self.records() if not record.get("pending_sync")]
        return [entry["content"] for record in records for entry in record["entries"]]


class Updates:
    """Entries that are changed one after the other until nobody answers."""

    def __init__(self, team: Team, name: str) -> None:
        self._team, self._name = team, name
        self.acknowledged: dict[str, str] = {}
        self.attempted: dict[str, str] = {}
        for place in range(UPDATED):
            content = f"Tally {name}-{place} is new."
            entry = {"content": content, "entry_type": "fact", "roles": ["dev"]}
            self.acknowledged[team.call("kb_add", **entry)["id"]] = content
        self.count = 0

    def run(self) -> None:
        with closing(Server(self._team.url, None, "memory")) as server:
            while True:
                place = self.count % UPDATED
                id = list(self.acknowledged)[place]
                content = f"Tally {self._name}-{place} was changed {self.count} times."
                self.attempted[id] = content
                try:
                    server.call("kb_update", {"id": id, "content": content})
                except Unavailable:
                    return
                self.acknowledged[id] = content
                self.count += 1


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=8)) + "."


def large_import(deployment: Deployment, entries: list[dict[str, Any]]) -> str:
    """What `kb_bulk_import` does when its time is over after a first batch; the handle of the rest."""
    client, outputs = deployment.client("dynamodb"), deployment.outputs
    tables = outputs["RecordsTable"], outputs["ActivityTable"]
    parts = Parts(
        store=DynamoEntries(client, *tables),
        jobs=DynamoJobs(client, *tables),
        caches=DynamoVectorCaches(client, outputs["CacheTable"]),
        usage=DynamoUsage(client, *tables),
        embedder=None,
        clock=lambda: datetime.now(UTC),
        new_id=lambda: str(uuid4()),
    )
    author = Author(organisation=ORGANISATION, account="tests")
    started = LargeImports(parts).start(author, validation.imports(entries), skip_existing=True, enough=lambda: True)
    assert started.handle
    return started.handle


@pytest.mark.parametrize("number", range(MOMENTS))
def test_a_server_that_is_killed_at_work_keeps_what_it_acknowledged_and_completes_the_rest(
    team: Team, number: int
) -> None:
    chance = random.Random(f"{SEED}-{number}")
    name, moment = f"s{number}", chance.randint(1, FILES * ENTRIES + IMPORTED)
    seed, stories, updates = Seed(team.folder, name, chance), Stories(team.folder, name), Updates(team, name)
    imports = [
        {"content": f"Import {name}-{one}: {sentence(chance)}", "entry_type": "fact", "roles": ["qa"]}
        for one in range(IMPORTED)
    ]
    imported = [str(one["content"]) for one in imports]
    before = team.expected.total() + UPDATED
    command = [sys.executable, "-c", LEARNER, team.url, *map(str, stories.files)]
    with (
        ended(
            subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        ) as learner,
        ended(team.command(*seed.words)) as seeder,
        ThreadPoolExecutor() as threads,
    ):
        assert learner.stdout is not None
        assert learner.stdout.readline() == "ready\n"
        importing: Future[str] = threads.submit(large_import, team.deployment, imports)
        updating: Future[None] = threads.submit(updates.run)
        learning: Future[tuple[str, str]] = threads.submit(learner.communicate, "go\n")
        team.wait_for(before + moment)
        team.kill()

        updating.result(SECONDS)
        rooms = team.rooms()
        there = {one["content"] for one in rooms["entries"].values()}
        print(
            f"moment {number} of seed {SEED}: killed after {updates.count} updates, with "
            f"{len(there & {*seed.contents})} of {len(seed.contents)} seeded, "
            f"{len(there & {*imported})} of {IMPORTED} imported, {len(stories.delivered())} of {3 * STORIES} learned"
        )
        assert_whole(rooms)
        assert there.issuperset(stories.delivered())
        handle = None if importing.exception(SECONDS) else importing.result()
        assert handle is None or rooms["jobs"][handle]["processed"] <= len(there & {*imported})
        for id, content in updates.acknowledged.items():
            assert rooms["entries"][id]["content"] in (content, updates.attempted.get(id))

        team.start()
        told, complaints = seeder.communicate(timeout=SECONDS)
        assert seeder.returncode == 0, complaints
        learning.result(SECONDS)
    assert seed.tally(told) == (len(seed.contents), *seed.tally(told)[1:])
    assert seed.tally(team.done(*seed.words)) == (len(seed.contents), 0, len(seed.contents))
    team.done("sync-pending", str(stories.folder))
    assert len(stories.delivered()) == 3 * STORIES
    if handle is not None:
        wait(lambda: team.call("kb_bulk_import", handle=handle)["status"] != "in_progress", SECONDS)
        progress = team.call("kb_bulk_import", handle=handle)
        assert (progress["status"], progress["imported"] + progress["skipped"]) == ("complete", IMPORTED)
    again = team.call("kb_bulk_import", entries=imports)
    if rest := again.get("handle"):  # on a busy machine the call hands over what it had no time for
        wait(lambda: team.call("kb_bulk_import", handle=rest)["status"] != "in_progress", SECONDS)
        again = team.call("kb_bulk_import", handle=rest)
    assert again["imported"] + again["skipped"] == IMPORTED
    assert handle is None or again["imported"] == 0
    for id, content in updates.attempted.items():
        team.call("kb_update", id=id, content=content)
        assert team.call("kb_get", id=id)["content"] == content

    contents = [*seed.contents, *imported, *stories.delivered(), *updates.attempted.values()]
    untouched = [content for id, content in updates.acknowledged.items() if id not in updates.attempted]
    team.expected.update([*contents, *untouched])
    team.check(chance, *contents)


@pytest.mark.parametrize("number", range(max(MOMENTS, 2)))
def test_a_command_that_is_killed_is_completed_by_running_it_again(team: Team, number: int) -> None:
    chance = random.Random(f"{SEED}-command-{number}")
    name = f"c{number}"
    seed, stories = Seed(team.folder, name, chance), Stories(team.folder, name, 1)
    learn = ["learn", str(stories.files[0]), "--json"]
    before, recorded, moment = team.expected.total(), chance.random() < 0.5, chance.randint(1, len(seed.contents))
    with ended(team.command(*learn)) as learner:
        if recorded:
            until(stories.records, SECONDS)
        else:
            team.wait_for(before + 1)
        learner.kill()
    with ended(team.command(*seed.words)) as seeder:
        team.wait_for(before + moment)
        seeder.kill()
    there = {one["content"] for one in team.rooms()["entries"].values()}
    print(
        f"moment {number} of seed {SEED}: commands killed with {len(there & {*seed.contents})} entries seeded, "
        f"and one story {'recorded' if recorded else 'delivered'}"
    )
    assert there.issuperset(stories.delivered())
    total, imported, skipped = seed.tally(team.done(*seed.words))
    assert imported + skipped == total == len(seed.contents)
    team.done(*learn)
    contents = [*seed.contents, *stories.delivered()]
    assert len(contents) == total + 3
    team.expected.update(contents)
    team.check(chance, *contents)
