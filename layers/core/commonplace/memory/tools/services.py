"""The services that the tools of the memory use, and the author on whose behalf a call is made."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ConfigDict

from commonplace.identity.principals import author
from commonplace.kernel.audit import Author
from commonplace.memory.model import DEFAULT_LIMIT, DEFAULT_MIN_CONFIDENCE
from commonplace.web.mcp.declaration import Arguments, Call, Output, Part

if TYPE_CHECKING:
    from commonplace.memory.screening import Screening
    from commonplace.memory.service import Memory

WORK_SECONDS = 15.0
"""How long a call works at what may take longer; the rest goes on by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryServices:
    memory: Memory
    default_limit: int = DEFAULT_LIMIT
    """Entries that a search gives which asks for no number of them."""
    min_confidence: float = DEFAULT_MIN_CONFIDENCE
    """Of a search that asks for none."""
    screening: Screening | None = None
    """What takes personal data out of entries, where a deployment wants that."""
    monotonic: Callable[[], float] = time.monotonic
    """Seconds, from any moment on."""

    def enough(self) -> Callable[[], bool]:
        """A function that says whether a call has worked for as long as it may, or would with one more batch."""
        last = self.monotonic()
        until = last + WORK_SECONDS

        def enough() -> bool:
            nonlocal last
            before, last = last, self.monotonic()
            return last + (last - before) >= until

        return enough


class MemoryArguments(Arguments):
    """Names as seed 001 has them; others of the same words are understood too."""

    model_config = ConfigDict(alias_generator=None)


class MemoryPart(Part):
    """Names as seed 001 has them."""

    model_config = ConfigDict(alias_generator=None)


class MemoryOutput(Output):
    """Names as seed 001 has them."""

    model_config = ConfigDict(alias_generator=None)


def author_of(call: Call) -> Author:
    """Whose memory a call is about: that of the organisation of its verified principal. Raises Forbidden."""
    return author(call.caller.principal, call.caller.address)
