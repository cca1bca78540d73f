"""A bare client of an OpenSearch node: one kept connection, JSON in and out, nothing else."""

import http.client
import json
from typing import Any, Self
from urllib.parse import urlsplit


class Node:
    """One connection to one node on loopback."""

    def __init__(self, url: str, timeout_seconds: float = 120) -> None:
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.url = url
        self._connection = kind(parts.hostname or "127.0.0.1", parts.port, timeout=timeout_seconds)

    def send(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """The answer's bytes. Raises RuntimeError with what the node says when it refuses."""
        headers = {
            "Content-Type": "application/x-ndjson" if path.endswith(("_bulk", "_msearch")) else "application/json"
        }
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300].decode('utf-8', 'replace')}")
        return content

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """As `send`, with JSON on both ways."""
        return json.loads(self.send(method, path, None if body is None else json.dumps(body).encode()) or b"{}")

    def indices(self, stem: str) -> list[str]:
        """Names of the indexes that begin with the stem."""
        return [row["index"] for row in self.ask("GET", "/_cat/indices?format=json") if row["index"].startswith(stem)]

    def refresh(self, stem: str) -> None:
        """Makes what was written to indexes of the stem searchable."""
        for name in self.indices(stem):
            self.send("POST", f"/{name}/_refresh")

    def remove(self, stem: str) -> None:
        """Deletes the indexes of the stem, each by its own name."""
        for name in self.indices(stem):
            self.send("DELETE", f"/{name}")

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
