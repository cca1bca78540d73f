"""A cluster that answers by a script and remembers what it was asked, in the place of the client's connection."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from opensearchpy import Connection
from opensearchpy.exceptions import ConnectionError, ConnectionTimeout

from commonplace.search.opensearch.client import OpenSearchClient

Answer = tuple[int, Any] | Exception


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
    """Answers with `answers` in order, then with what `otherwise` says to each request: a status and its JSON."""

    answers: list[Answer] = field(default_factory=list)
    otherwise: Callable[[Asked], Answer] = lambda asked: (200, {})
    asked: list[Asked] = field(default_factory=list)

    def answer(self, asked: Asked) -> tuple[int, str]:
        self.asked.append(asked)
        answer = self.answers.pop(0) if self.answers else self.otherwise(asked)
        if isinstance(answer, Exception):
            raise answer
        status, told = answer
        return status, told if isinstance(told, str) else json.dumps(told)


class ScriptedConnection(Connection):
    """Refuses as the client's own connections do."""

    def __init__(self, script: Scripted) -> None:
        super().__init__()
        self._script = script

    def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: bytes | None = None,
        *_: Any,
        **__: Any,
    ) -> Any:
        told = {name: value.decode() if isinstance(value, bytes) else value for name, value in (params or {}).items()}
        status, text = self._script.answer(Asked(method, url, told, body))
        kind = "text/html" if text.startswith("<") else "application/json"
        if not 200 <= status < 300:
            self._raise_error(status, text, kind)
        return status, {"content-type": kind}, text

    def close(self) -> None:
        self._script.asked.clear()


def scripted(script: Scripted, **told: Any) -> OpenSearchClient:
    """A client over the script that never sleeps."""
    waits: list[float] = told.pop("waits", [])
    made: Callable[..., ScriptedConnection] = lambda **_: ScriptedConnection(script)  # noqa: E731
    return OpenSearchClient({"host": "script"}, connection_class=made, sleep=waits.append, **told)


def lost() -> Exception:
    """What is raised when nobody answers."""
    return ConnectionError("N/A", "nobody answers", OSError())


def late() -> Exception:
    """What is raised when the answer takes too long."""
    return ConnectionTimeout("TIMEOUT", "no answer in time", TimeoutError())
