"""The declaration of the capability: a product's commands, endpoints and guides."""

from commonplace.kernel.capability import Alarm, Capability, Items, Metric, ObjectKeys, Objects, Scopes

CATALOGUES = "reference/"

SETTINGS = ("commonplace.reference.settings:CatalogueSettings", "commonplace.repository.settings:KnowledgeBase")

REFERENCE = Capability(
    name="reference",
    scopes=Scopes(
        toolset="reference",
        words={
            "read": "Look up commands and endpoints of the product reference",
            "write": "Report gaps in the product reference",
            "admin": "Look after the product reference",
        },
        tiers={"read": "public", "write": "member"},
        kinds=("commands",),
    ),
    toolset="commonplace.reference.tools.toolset:toolset",
    collection="commonplace.reference.collection:collection",
    sources="commonplace.reference.settings:sources",
    steps="commonplace.reference.sync.steps:steps",
    settings={
        "toolset": ["commonplace.reference.settings:CatalogueReaderSettings", *SETTINGS],
        "collection": SETTINGS,
        "sources": SETTINGS,
        "steps": SETTINGS,
    },
    requires="catalogues",
    access=(
        Objects(("sync-run",), ("GetObject", "PutObject", "DeleteObject"), (CATALOGUES,)),
        Objects(("index", "index-build", "mcp"), ("GetObject",), (CATALOGUES,)),
        Items(("mcp",), "records", ("UpdateItem", "Query"), ("*#reference#gaps",)),
    ),
    indexed_objects=(ObjectKeys(CATALOGUES, "/manifest.json"),),
    metrics=(Metric(name="CataloguesRefused", title="Catalogues that were refused", minutes=15),),
    alarms=(
        Alarm(
            name="catalogue-refused",
            description="A catalogue of the product reference has errors; the last good one goes on answering.",
            metric="CataloguesRefused",
            minutes=15,
            runbook="catalogue-refused.md",
        ),
    ),
)
