"""The memory of a team of agents."""

from commonplace.kernel.capability import Capability

MEMORY = Capability(
    name="memory",
    toolset="commonplace.memory.tools.toolset:toolset",
    collection="commonplace.memory.collection:collection",
)
