"""One event loop for the requests of all test clients: each would otherwise start a thread and a loop of its own."""

from collections.abc import Iterator

import pytest
from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient


@pytest.fixture(scope="session", autouse=True)
def one_loop() -> Iterator[None]:
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        yield
