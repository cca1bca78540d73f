"""Nodes: one that `commonplace opensearch start` leaves running and every command finds, and ones that end with us."""

import json
import os
import secrets
import shutil
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Literal, Self

from local.errors import CommandError
from local.locks import held
from local.opensearch.client import NoAnswer, ask, cluster_at, wait_until_ready
from local.opensearch.folders import Home, can_enter, find_home, give, make_passable, state_for, temporary_state
from local.opensearch.java import Java, find_java
from local.opensearch.process import ANY_PORT, Options, Started, end, is_ours, kill, launch, prepare, release
from local.opensearch.program import ensure_program
from local.opensearch.progress import Tell, silently

PATIENCE_SECONDS = 30
"""So long a node that is busy may take to say its name, before it is ended and started anew."""

State = Literal["running", "stopped", "silent"]
"""`silent`: its process lives and does not answer; it may still be starting."""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """`cluster` is a name that no other node has, so that another program at the port is not taken for ours."""

    pid: int
    url: str
    cluster: str

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    @classmethod
    def read(cls, state: Path) -> Self | None:
        """None when there is none, or none that can be read."""
        try:
            facts = json.loads((state / "node.json").read_text(encoding="utf-8"))
            return cls(int(facts["pid"]), str(facts["url"]), str(facts["cluster"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, state: Path) -> None:
        """Whole or not at all."""
        if self.url:
            (state / "port").write_text(str(self.port), encoding="utf-8")
        draft = state / "node.json.draft"
        draft.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")
        draft.replace(state / "node.json")

    def runs(self, state: Path) -> bool:
        return is_ours(self.pid, state)

    def answers(self, seconds: float = 5) -> bool:
        return bool(self.url) and cluster_at(self.url, seconds) == self.cluster


def forget(state: Path) -> None:
    (state / "node.json").unlink(missing_ok=True)


def cluster_of(state: Path) -> str:
    """The name of this state's cluster, made up once: what is stored belongs to it."""
    file = state / "cluster"
    if not file.exists():
        file.write_text(f"commonplace-{secrets.token_hex(6)}", encoding="utf-8")
    return file.read_text(encoding="utf-8")


def last_port(state: Path) -> int | None:
    """Where the node of this state listened last, so that those who know the address find it there again."""
    with suppress(OSError, ValueError):
        return int((state / "port").read_text(encoding="utf-8"))
    return None


def choose_port(asked: int, state: Path) -> int:
    """The requested port, else the last one if it is free, else any. Raises CommandError when it is taken."""
    if asked != ANY_PORT:
        if not is_free(asked):
            raise CommandError(f"Port {asked} is in use.", "Choose another, or leave --port out: a free one is taken.")
        return asked
    last = last_port(state)
    return last if last is not None and is_free(last) else ANY_PORT


def is_free(port: int) -> bool:
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@dataclass(frozen=True, slots=True)
class Engine:
    """What a node runs on: the assembled program and a Java."""

    program: Path
    java: Java


def ensure_engine(home: Home, tell: Tell) -> Engine:
    """Raises RequirementMissing when Java is not there, or Maven where it is needed."""
    java = find_java(os.environ, enters=can_enter)
    return Engine(ensure_program(home, java, tell), java)


def bring_up(
    state: Path, engine: Engine, options: Options, tell: Tell, *, detached: bool, wipe: Path | None = None
) -> tuple[NodeRecord, Started]:
    """A node that is ready. The caller sees to it that nobody else does this to the same state."""
    end_former(state)
    make_passable(state.parent)
    state.mkdir(exist_ok=True, mode=0o700)
    cluster, port = cluster_of(state), choose_port(options.port, state)
    prepare(state, engine.program, cluster, port)
    give(state)
    started = launch(state, engine.program, engine.java, options, detached=detached, wipe=wipe)
    try:
        NodeRecord(started.pid, "", cluster).write(state)  # so that the next start finds it, should this one be killed
        url = wait_until_ready(state, cluster, port=port, alive=lambda: is_ours(started.pid, state), tell=tell)
    except BaseException:
        take_down(state, started)
        raise
    record = NodeRecord(started.pid, url, cluster)
    record.write(state)
    return record, started


def take_down(state: Path, started: Started) -> None:
    end(started.pid, state)
    if started.owner is not None:
        release(started.owner)
    forget(state)


def end_former(state: Path) -> bool:
    """Ends a node that an earlier start left behind without an owner, or that no longer answers."""
    record = NodeRecord.read(state)
    ended = record is not None and end(record.pid, state)
    forget(state)
    return ended


@dataclass(frozen=True, slots=True)
class RunningNode:
    """A node that answers. `fresh` says that this very call started it."""

    url: str
    pid: int
    home: Home
    fresh: bool


def ensure_node(folder: Path | None = None, options: Options | None = None, tell: Tell = silently) -> RunningNode:
    """The node that runs already, else a new one that is ready to be written; it outlives this process.

    `folder` is where program and data are kept. Raises RequirementMissing, or CommandError with nothing left running.
    """
    home, wanted = find_home(folder), options or Options()
    running = find_node(home)
    if running is None:
        engine = ensure_engine(home, tell)
        with held(home.node_lock, lambda: tell("Waiting for another start")):
            running = find_node(home, PATIENCE_SECONDS)
            if running is None:
                record, _ = bring_up(home.node, engine, wanted, tell, detached=True)
                return RunningNode(record.url, record.pid, home, fresh=True)
    if wanted.port not in (ANY_PORT, int(running.url.rpartition(":")[2])):
        hint = "Stop it first (commonplace opensearch stop), or leave --port out."
        raise CommandError(f"OpenSearch runs already, and at {running.url}.", hint)
    return running


def find_node(home: Home, seconds: float = 5) -> RunningNode | None:
    """The node that runs and answers within so many seconds; None when there is none."""
    record = NodeRecord.read(home.node)
    if record is None or not record.runs(home.node) or not record.answers(seconds):
        return None
    return RunningNode(record.url, record.pid, home, fresh=False)


def stop_node(folder: Path | None = None, *, wipe: bool = False) -> bool:
    """Ends the node that `ensure_node` started, and no other process. False when none ran. `wipe` removes its data."""
    home = find_home(folder)
    if not home.node.exists():
        return False
    with held(home.node_lock):
        ended = end_former(home.node)
        if wipe:
            shutil.rmtree(home.node)
    return ended


class OwnedNode:
    """`data` keeps what is stored for the next start; without it, it goes with the node.

    The folder may lie elsewhere when root asks: the node's user must be able to enter it.
    """

    def __init__(
        self,
        data: Path | None = None,
        *,
        home: Home | None = None,
        options: Options | None = None,
        tell: Tell = silently,
    ) -> None:
        self._home, self._options, self._tell = home or find_home(), options or Options(), tell
        self._data = data
        self._running: tuple[NodeRecord, Started] | None = None
        self._state: Path | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Returns when an index can be written. Raises RequirementMissing, or CommandError with nothing running."""
        engine = ensure_engine(self._home, self._tell)
        if self._state is None:
            self._state = state_for(self._data, self._home) if self._data else temporary_state()
        wipe = None if self._data else self._state
        try:
            self._running = bring_up(self._state, engine, self._options, self._tell, detached=False, wipe=wipe)
        except BaseException:
            self.stop()
            raise
        self._options = replace(self._options, port=self._running[0].port)

    def stop(self) -> None:
        """Ends the node, and waits until it is gone."""
        if self._running and self._state:
            take_down(self._state, self._running[1])
        self._running = None
        if self._state and self._data is None:
            shutil.rmtree(self._state, ignore_errors=True)
            self._state = None

    def kill(self) -> None:
        """Ends the node as a power cut does; `restart` brings it back with what it had stored."""
        record, started = self._node
        if self._state:
            kill(record.pid, self._state)
            if started.owner is not None:
                started.owner.wait()  # released before it sees the crash, it would clear the data away
            take_down(self._state, started)
        self._running = None

    restart = start
    """Starts the node again, at the same address."""

    @property
    def _node(self) -> tuple[NodeRecord, Started]:
        if self._running is None:
            raise RuntimeError("The node does not run.")
        return self._running

    @property
    def url(self) -> str:
        return self._node[0].url

    @property
    def pid(self) -> int:
        return self._node[0].pid

    @property
    def folder(self) -> Path | None:
        """Where its data is; None before the first start."""
        return self._state


@dataclass(frozen=True, slots=True)
class Index:
    """`records` are documents as they were written, marks of removed ones included, their chunks not counted."""

    name: str
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """What `commonplace opensearch status` prints."""

    state: State
    folder: Path
    assembled: bool
    url: str | None = None
    pid: int | None = None
    version: str | None = None
    health: str | None = None
    indexes: tuple[Index, ...] = field(default=())


def status(folder: Path | None = None) -> Status:
    """Never starts anything."""
    home = find_home(folder)
    record = NodeRecord.read(home.node)
    if record is None or not record.runs(home.node):
        return Status("stopped", home.folder, home.program.exists())
    if not record.answers():
        return Status("silent", home.folder, assembled=True, url=record.url or None, pid=record.pid)
    try:
        version = str(ask(record.url, "/")["version"]["number"])
        health = str(ask(record.url, "/_cluster/health")["status"])
        sizes = ask(record.url, "/_stats/store")["indices"]
        indexes = tuple(
            Index(
                name,
                records=int(ask(record.url, f"/{name}/_count")["count"]),
                bytes=int(sizes[name]["primaries"]["store"]["size_in_bytes"]),
            )
            for name in sorted(sizes)
        )
    except (NoAnswer, KeyError):  # it ends just now
        return Status("silent", home.folder, assembled=True, url=record.url, pid=record.pid)
    return Status("running", home.folder, True, record.url, record.pid, version, health, indexes)
