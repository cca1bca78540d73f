"""The connection to the memory of a running Commonplace, and options that the commands of `commonplace kb` share."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated

import typer

from commonplace.memory.client.client import MemoryClient
from commonplace.memory.client.learnings import Address
from commonplace_local.access import Grant, Place
from commonplace_local.connection import connected

MINT = (
    "Set COMMONPLACE_TOKEN. Create one: commonplace tokens mint --org ORGANISATION --agent NAME "
    '--scopes "memory:write" --path /mcp/memory'
)
GRANT = Grant(agent="commonplace-kb", scopes=("memory:write",), path="/mcp/memory")

RESTORING = replace(GRANT, scopes=("memory:admin",))
"""Bringing entries back with their ids and dates."""

LEARN_LIMITED_SECONDS = 90.0
"""The wait of a story's end for its turn: a window of calls, and half of the next."""
LEARN_SECONDS, QUERY_SECONDS, SEED_SECONDS = 3.0, 10.0, 120.0
"""The outage that is waited for: a story's end does not wait for a long one, an import of thousands does."""

DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be done; change nothing.")]


memory_server = partial(connected, what="the memory", hint=MINT, toolset="memory")
"""Yields the server of the memory, and how it is reached, as `connected` does."""


@contextmanager
def reached(
    place: Place,
    outage_seconds: float = QUERY_SECONDS,
    grant: Grant = GRANT,
    limited_seconds: float | None = None,
    seconds: float | None = None,
) -> Iterator[MemoryClient]:
    """Yield a client of the memory there. Where no token is given, one is made that lasts as long as the block.

    Raises CommandError when nothing runs there, or nobody may make a token, and what the memory answers.
    """
    with memory_server(
        place, grant, outage_seconds=outage_seconds, limited_seconds=limited_seconds, seconds=seconds
    ) as (server, access):
        yield MemoryClient(server, Address(access.url, access.organisation), sleep=time.sleep)
