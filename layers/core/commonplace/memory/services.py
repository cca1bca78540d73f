"""The services of a deployment's tools, routes and pages. The first call loads stores, index and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commonplace.kernel.deferred import deferred
from commonplace.memory.operations import MemoryServices
from commonplace.memory.settings import MemoryToolSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from commonplace.kernel.objects import ObjectStore
    from commonplace.memory.entries import Memory
    from commonplace.memory.personal_data import EntryRedaction
    from commonplace.search.settings import RetrievalSettings


def services_of(environ: Mapping[str, str], settings: RetrievalSettings, objects: ObjectStore) -> MemoryServices | None:
    """None without a table of records."""
    own = MemoryToolSettings.where_remembered(environ)
    if own is None:
        return None

    def memory() -> Memory:
        from commonplace.memory import composition

        return composition.memory(own, settings, objects)

    def entry_redaction() -> EntryRedaction:
        from commonplace.memory import composition

        return composition.entry_redaction(own, environ)

    return MemoryServices(
        memory=deferred(memory),
        default_limit=own.default_limit,
        min_confidence=own.min_confidence,
        entry_redaction=None if own.redaction == "off" else deferred(entry_redaction),
    )
