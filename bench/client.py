"""A client that costs as little as it can: one kept connection, nothing parsed that nobody asks for."""

import http.client
import json
import time
from contextlib import closing
from typing import Any, Self
from urllib.parse import urlsplit


class Refused(Exception):
    """The answer was not 200: its time would mean nothing."""


class Client(closing["Client"]):
    """Not for use from several threads."""

    def __init__(self, url: str) -> None:
        super().__init__(self)
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        self._connection.close()

    def get(self, path: str) -> bytes:
        self._connection.request("GET", path)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise Refused(f"{path} was answered with {response.status}")
        return body

    def json(self, path: str) -> Any:
        return json.loads(self.get(path))

    def timed(self, path: str) -> float:
        """Seconds until the whole answer was read."""
        began = time.perf_counter()
        self.get(path)
        return time.perf_counter() - began
