"""The memory over REST: its operations that have an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.memory.answers import ID
from commonplace.memory.operations import MemoryServices, operations_of
from commonplace.memory.services import services_of
from commonplace.web.operation_routes import routes_of
from commonplace.web.operations import Refusal

if TYPE_CHECKING:
    from commonplace.web.rest.declaration import RestContext, Routes

TAG = "Team memory"

DESCRIPTION = """\
* **Team memory** (`/memory`) is for accounts of an organisation: every address takes an access token, and no answer is
  stored by caches. An answer holds as much as one of a tool: `truncated` says that an entry of a list goes on, and
  `nextCursor` that a list, or a very long entry, does.
"""

REFUSALS = {
    400: Refusal("The body cannot be read.", "BAD_REQUEST", "The request is malformed."),
    403: Refusal(
        "The token lacks a scope, which `WWW-Authenticate` names, or the account a role.",
        "FORBIDDEN",
        "This requires the scope memory:write.",
        {"hint": "Ask for it, and come again."},
    ),
    404: Refusal(
        "There is no such entry, or it is another organisation's: the answer does not say which.",
        "NOT_FOUND",
        f"There is no entry {ID}.",
        {"hint": "Take ids from kb_search or kb_list; this one may be deleted."},
    ),
    409: Refusal(
        "Another version, or another entry's content, stands in the way.",
        "CONFLICT",
        "The entry is in version 3, not 2.",
        {"hint": "Read it with kb_get, and change it as it is now.", "version": 3},
    ),
    413: Refusal(
        "The request's body, or the entry, is too large.",
        "TOO_LARGE",
        "The request's body is too large.",
        {"maxBytes": 262_144},
    ),
    503: Refusal(
        "The store, the index or the redaction does not answer; nothing was stored.",
        "UNAVAILABLE",
        "A store that this needs does not answer just now.",
        {"retryAfterSeconds": 2},
    ),
}


def memory_routes(using: MemoryServices) -> Routes:
    """Return the routes over these services."""
    return routes_of(
        operations_of(using.default_limit, using.min_confidence),
        using,
        tag=TAG,
        about="What a team of agents remembers: facts, summaries, templates. For members alone.",
        description=DESCRIPTION,
        refusals=REFUSALS,
    )


def routes(context: RestContext) -> Routes | None:
    """Return the routes of a deployment; None without a table of records."""
    using = services_of(context.environ, context.settings, context.objects)
    return memory_routes(using) if using else None
