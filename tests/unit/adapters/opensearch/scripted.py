"""A transport that answers by a script and remembers what it was asked."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from commonplace.search.opensearch.connection import Connection
from commonplace.search.opensearch.transport import Lost

Answer = tuple[int, dict[str, Any]] | Exception


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    params: dict[str, str]
    body: bytes | None

    @property
    def lines(self) -> list[Any]:
        """The body of a bulk or multi-search request."""
        return [json.loads(line) for line in (self.body or b"").splitlines()]


@dataclass
class Scripted:
    """Answers with `answers` in order, then with what `otherwise` says to each request."""

    answers: list[Answer] = field(default_factory=list)
    otherwise: Callable[[Asked], Answer] = lambda asked: (200, {})
    asked: list[Asked] = field(default_factory=list)

    def request(
        self, method: str, path: str, *, params: Mapping[str, str] | None, body: bytes | None, timeout: float
    ) -> tuple[int, bytes]:
        self.asked.append(Asked(method, path, dict(params or {}), body))
        answer = self.answers.pop(0) if self.answers else self.otherwise(self.asked[-1])
        if isinstance(answer, Exception):
            raise answer
        status, told = answer
        return status, json.dumps(told).encode()

    def close(self) -> None:
        self.asked.clear()


def connection(transport: Scripted, **told: Any) -> Connection:
    """A connection over the script that never sleeps."""
    waits: list[float] = told.pop("waits", [])
    return Connection(transport, sleep=waits.append, **told)


def lost() -> Exception:
    """What is raised when nobody answers."""
    return Lost()


def late() -> Exception:
    """What is raised when the answer takes too long."""
    return Lost(timed_out=True)
