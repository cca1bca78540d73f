"""The boto3 clients of one cloud: made once for each service, closed together."""

import threading
from typing import Any

import boto3
from botocore.config import Config


class Clients:
    def __init__(self, endpoint_url: str) -> None:
        self._endpoint_url = endpoint_url
        self._session: Any = boto3.Session()  # one: the descriptions of services are read once for each
        self._made: dict[str, Any] = {}
        self._lock = threading.Lock()

    def __call__(self, service: str) -> Any:
        with self._lock:
            if service not in self._made:
                config = Config(max_pool_connections=50, retries={"total_max_attempts": 1})
                self._made[service] = self._session.client(service, endpoint_url=self._endpoint_url, config=config)
            return self._made[service]

    def close(self) -> None:
        for client in self._made.values():
            client.close()
