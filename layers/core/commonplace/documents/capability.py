"""Documents: an organisation's published pages, synced from its repository."""

from commonplace.kernel.capability import Capability

DOCUMENTS = Capability(
    name="documents",
    toolset="commonplace.documents.tools.toolset:toolset",
    routes="commonplace.documents.rest.routes:routes",
    collection="commonplace.documents.collection:collection",
    sources="commonplace.documents.source:sources",
    steps="commonplace.documents.sync.steps:steps",
)
