"""The checks of `commonplace smoke`, in the order in which a client would need what they check."""

from collections.abc import Sequence

from local.operations import smoke_reading as reading
from local.operations import smoke_signing_in as signing_in
from local.operations.smoke import Check

CHECKS: Sequence[tuple[str, Check]] = (
    ("tls", reading.tls),
    ("health", reading.health),
    ("llms.txt", reading.llms),
    ("search", reading.search),
    ("mcp", reading.discover),
    ("tools", reading.listing),
    ("challenge", signing_in.challenge),
    ("bad token", signing_in.bad_token),
    ("resource", signing_in.resource),
    ("server", signing_in.server),
    ("keys", signing_in.keys),
    ("authorize", signing_in.authorize),
    ("token", signing_in.token),
    ("headers", signing_in.headers),
    ("origin", signing_in.origin),
)
