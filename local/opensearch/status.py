"""What is known of the node of this machine."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from local.opensearch.asking import NoAnswer, ask
from local.opensearch.folders import Home, find_home
from local.opensearch.record import NodeRecord

State = Literal["running", "stopped", "silent"]
"""`silent`: its process lives and does not answer; it may still be starting."""


@dataclass(frozen=True, slots=True)
class Index:
    """`records` are documents as they were written, marks of removed ones included, their chunks not counted."""

    name: str
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Status:
    """What `commonplace opensearch status` tells."""

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
    return _asked(home, record)


def _asked(home: Home, record: NodeRecord) -> Status:
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
