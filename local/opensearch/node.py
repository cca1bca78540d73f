"""The node of this machine: started once, found again by every command, stopped by `stop`."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from local.errors import CommandError
from local.opensearch.configuration import ANY_PORT, Options
from local.opensearch.folders import Home, find_home
from local.opensearch.locks import held
from local.opensearch.record import NodeRecord
from local.opensearch.starting import bring_up, end_former, ensure_engine
from local.opensearch.telling import Tell, silently

PATIENCE_SECONDS = 30
"""So long a node that is busy may take to say its name, before it is ended and started anew."""


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
