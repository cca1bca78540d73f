"""A transport that answers by a script and remembers what it was asked."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from commonplace.adapters.opensearch.connection import Connection

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

    def perform_request(self, method: str, url: str, *, params: Any, body: Any, **_: Any) -> tuple[int, Any, str]:
        self.asked.append(Asked(method, url, dict(params or {}), body))
        answer = self.answers.pop(0) if self.answers else self.otherwise(self.asked[-1])
        if isinstance(answer, Exception):
            raise answer
        status, told = answer
        return status, {}, json.dumps(told)

    def close(self) -> None:
        self.asked.clear()


def connection(transport: Scripted, **told: Any) -> Connection:
    """A connection over the script that never sleeps."""
    waits: list[float] = told.pop("waits", [])
    return Connection(transport, sleep=waits.append, **told)  # type: ignore[arg-type]


def lost() -> Exception:
    """What the client raises when nobody answers."""
    from opensearchpy.exceptions import ConnectionError

    return ConnectionError("N/A", "refused", Exception("refused"))


def late() -> Exception:
    """What the client raises when the answer takes too long."""
    from opensearchpy.exceptions import ConnectionTimeout

    return ConnectionTimeout("TIMEOUT", "read", Exception("read"))
