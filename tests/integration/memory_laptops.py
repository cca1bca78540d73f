"""A laptop cloud whose memory asks a stand-in for OpenAI's embeddings, for the tests of outages and large imports."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commonplace.client import Patient, Server
from commonplace.memory.client.client import MemoryServer
from commonplace.search import providers
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.fakes.openai_server import KEY, Standin
from tests.integration.running_dev import garden

DIMENSION = 64
"""Short vectors: how many there are and when is what these tests are about."""


def environment(openai: Standin) -> dict[str, str]:
    """What the functions are told: of the model, and to take everybody for an administrator of the memory."""
    return {
        "EMBEDDING_PROVIDER": f"openai:text-embedding-3-small:{DIMENSION}",
        "OPENAI_BASE_URL": openai.url,
        "OPENAI_API_KEY": KEY,
        "MCP_ASSUMED_TIER": "vibecoder",
    }


@contextmanager
def serving(folder: Path, openai: Standin) -> Iterator[Laptop]:
    """A small knowledge base, and a memory with nothing in it."""
    user = garden(folder / "garden")
    with Laptop(clone(user.folder, None), folder / "data", environment=environment(openai)) as laptop:
        yield laptop


PATIENCE_SECONDS = 300
"""A machine with too much to do answers late, and what did not come to an answer is asked again."""


@contextmanager
def agent(laptop: Laptop) -> Iterator[MemoryServer]:
    """Calls the tools as a patient agent does."""
    server = Server(laptop.url, None, "memory")
    try:
        yield Patient(server, outage_seconds=PATIENCE_SECONDS)
    finally:
        server.close()


def without_vectors(laptop: Laptop) -> list[str]:
    """Entries in the index that are found by their words alone."""
    settings = laptop.deployment.retrieval().collection("memory")
    (model,) = providers.embedding_providers(settings)
    engine: Any = providers.search_engine(settings, None, model, read_only=True)
    try:
        return [str(record) for record in engine.incomplete()]
    finally:
        engine.close()
