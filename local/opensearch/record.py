"""What is written down about a node, so that another process finds it again."""

import json
import secrets
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from local.opensearch.asking import cluster_at
from local.opensearch.process import is_ours


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
            facts = json.loads(_file(state).read_text(encoding="utf-8"))
            return cls(int(facts["pid"]), str(facts["url"]), str(facts["cluster"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, state: Path) -> None:
        """Whole or not at all."""
        if self.url:
            (state / "port").write_text(str(self.port), encoding="utf-8")
        draft = state / "node.json.draft"
        draft.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")
        draft.replace(_file(state))

    def runs(self, state: Path) -> bool:
        return is_ours(self.pid, state)

    def answers(self, seconds: float = 5) -> bool:
        return bool(self.url) and cluster_at(self.url, seconds) == self.cluster


def forget(state: Path) -> None:
    with suppress(FileNotFoundError):
        _file(state).unlink()


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


def _file(state: Path) -> Path:
    return state / "node.json"
