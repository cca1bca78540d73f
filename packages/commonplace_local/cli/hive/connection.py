"""The connection to the hive of a running Commonplace, over REST."""

import getpass
import re
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.client import Toolset
from commonplace.hive.operations import OPERATIONS
from commonplace_local.access import Grant, Place
from commonplace_local.connection import connected

OUTAGE_SECONDS, LIMITED_SECONDS = 10.0, 60.0
"""The waits of a command for a server that is away, and for its turn where calls are limited."""
MAX_LISTED = 100
MINT = (
    "Set COMMONPLACE_TOKEN. An operator creates a token: commonplace tokens mint --org ORGANISATION "
    '--agent NAME --scopes "hive:read hive:write hive:admin" --tier vibecoder --path /api'
)


@contextmanager
def opened(place: Place, *scopes: str) -> Iterator[Toolset]:
    """Yield the operations of the hive there. Where no token is given one is made, which ends with the block.

    What was done already when a call is repeated is then a duplicate, or decided.
    """
    reviewer = "hive:admin" in scopes
    grant = Grant(agent=_agent(), scopes=scopes, path="/api", tier="vibecoder" if reviewer else "member")
    with connected(
        place,
        grant,
        what="the hive",
        hint=MINT,
        outage_seconds=OUTAGE_SECONDS,
        limited_seconds=LIMITED_SECONDS,
    ) as (server, _):
        yield Toolset(server, OPERATIONS)


def _agent() -> str:
    """Return the name by which decisions are on record."""
    try:
        user = re.sub(r"[^a-z0-9-]+", "-", getpass.getuser().lower()).strip("-")
    except (OSError, KeyError):
        user = ""
    return f"cli-{user}"[:40].rstrip("-")
