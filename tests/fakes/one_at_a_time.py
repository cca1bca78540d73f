"""moto's backends have no locks: races between threads are between whole calls, as they are on AWS."""

import threading
from typing import Any


class OneAtATime:
    """A client whose calls wait for each other."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.Lock()

    def get_paginator(self, name: str) -> Any:
        paginator = self._client.get_paginator(name)
        paginator._method = getattr(self, name)
        return paginator

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._client, name)

        def locked(**arguments: Any) -> Any:
            with self._lock:
                return call(**arguments)

        return locked
