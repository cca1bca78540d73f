"""Brings one node up in a state folder, or leaves nothing running."""

import os
from dataclasses import dataclass
from pathlib import Path

from local.opensearch.assembling import ensure_program
from local.opensearch.configuration import Options, prepare
from local.opensearch.folders import Home
from local.opensearch.java import Java, find_java
from local.opensearch.ports import choose_port
from local.opensearch.process import Started, end, is_ours, launch, release
from local.opensearch.readiness import wait_until_ready
from local.opensearch.record import NodeRecord, cluster_of, forget
from local.opensearch.telling import Tell
from local.opensearch.user import can_enter, give, make_passable


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
