"""What a capability declares of itself, once: the names of its parts, by which functions load what they serve.

A part is named `module:attribute`. A declaration imports nothing but this module, so that reading all of them costs
nothing; a function loads the parts it has a use for and no others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, get_args

Part = Literal["toolset", "routes", "pages", "collection", "sources", "steps"]
PARTS: tuple[Part, ...] = get_args(Part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One room: what of it is served, indexed and kept up."""

    name: str
    """Of the room, and of its collection in the index."""
    toolset: str | None = None
    """Takes a `web.mcp.context.ToolsetContext`; returns a `Toolset`, or None where a deployment has none of it."""
    routes: str | None = None
    """Takes a `web.rest.declaration.RestContext`; returns the `Routes` it answers over REST, or None as above."""
    pages: str | None = None
    """Takes the same; returns a router of what it serves to people at the root of the host, or None as above."""
    collection: str | None = None
    """Takes a `search.collections.IndexContext`; returns an `IndexedCollection`, or None as above."""
    sources: str | None = None
    """Takes the environment; returns the `repository.sources.BranchSource`s to follow. Standard library only."""
    steps: str | None = None
    """Takes a `repository.sources.StepContext`; returns the `RunSteps` of one of those sources."""


def load(part: str) -> Any:
    """The attribute that `module:attribute` names. Raises ImportError or AttributeError for a name that is none."""
    module, _, attribute = part.partition(":")
    return getattr(import_module(module), attribute)


def built(capabilities: Sequence[Capability], part: Part, context: Any) -> Iterator[Any]:
    """What this part of each capability makes of the context, in their order; those that make nothing are left out."""
    for capability in capabilities:
        name: str | None = getattr(capability, part)
        if name is not None and (made := load(name)(context)) is not None:
            yield made
