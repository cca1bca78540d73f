"""The reference of a product: its commands, endpoints and guides."""

from commonplace.kernel.capability import Capability

REFERENCE = Capability(
    name="reference",
    toolset="commonplace.reference.tools.toolset:toolset",
    collection="commonplace.reference.collection:collection",
    sources="commonplace.reference.settings:sources",
    steps="commonplace.reference.sync.steps:steps",
)
