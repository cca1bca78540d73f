"""The memory of a team of agents."""

from commonplace.kernel.capability import Capability, Function, Items, Metric, Scopes

ENTRIES, CARDS, FACETS = "*#memory#entries", "*#memory#cards", "*#memory#facet#*"
RECURRING = "*#memory#recurring"
RECORDS, ORGANISATIONS, VECTORS, AUDIT = "*#memory#*", "organisations", "*#vectors", "memory#*"
SETTINGS = ("commonplace.memory.settings:MemoryToolSettings",)
CALLERS: tuple[Function, ...] = ("mcp", "rest", "console")
READ = (
    Items(("index-build",), "records", ("GetItem", "BatchGetItem"), (ENTRIES,)),
    Items(("index-build",), "records", ("Query",), (CARDS,)),
    Items(("index", "index-build"), "records", ("Query",), (ORGANISATIONS,)),
    Items(("index", "index-build"), "cache", ("BatchGetItem", "BatchWriteItem", "UpdateItem"), (VECTORS,)),
)
"""What an index of entries is built from, and the vectors that are known already."""

CHANGED = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem")
CONTINUED = (
    Items(("index",), "records", CHANGED, (RECORDS,)),
    Items(("index",), "records", ("DeleteItem",), (FACETS, RECURRING)),
    Items(("index",), "records", ("PutItem",), (ORGANISATIONS,)),
    Items(("index",), "activity", ("PutItem",), (AUDIT,)),
)
"""What goes on after a call has been answered: large imports, vectors made anew, children of what is gone, facets and
counts that are repaired. Entries are added and changed, never taken out."""

CALLS = (
    Items(CALLERS, "records", (*CHANGED, "DeleteItem"), (RECORDS,)),
    Items(CALLERS, "records", ("PutItem",), (ORGANISATIONS,)),
    Items(CALLERS, "cache", ("BatchGetItem", "BatchWriteItem", "Query", "UpdateItem"), (VECTORS,)),
    Items(CALLERS, "activity", ("PutItem",), (AUDIT,)),
)
"""Everything that is remembered, in one statement: a policy for each kind of record is too long for its role."""

MEMORY = Capability(
    name="memory",
    scopes=Scopes(
        toolset="memory",
        words={
            "read": "Search and read the team's memory",
            "write": "Add to the team's memory, import into it, change and delete what is in it",
            "admin": "Look after the team's memory: rebuild what its searches compare",
        },
        tiers={"read": "member", "write": "member", "admin": "vibecoder"},
        kinds=("entries",),
    ),
    toolset="commonplace.memory.tools.toolset:toolset",
    routes="commonplace.memory.rest:routes",
    console="commonplace.memory.console:pages",
    collection="commonplace.memory.collection:collection",
    access=(*READ, *CONTINUED, *CALLS),
    indexed_records=("#memory#entries", "#memory#jobs"),
    metrics=(
        Metric(name="MemoryQueries", title="Searches of the memory, by phase and role", dimensions=("Phase", "Role")),
        Metric(name="MemoryFallbacks", title="Searches of the memory by words alone"),
    ),
    settings={
        "toolset": SETTINGS,
        "routes": SETTINGS,
        "console": SETTINGS,
        "collection": ["commonplace.memory.settings:MemorySettings"],
    },
)
