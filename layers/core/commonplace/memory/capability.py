"""The memory of a team of agents."""

from commonplace.kernel.capability import Capability, Items, Metric, Scopes

ENTRIES, CARDS, HASHES, ONCE = (f"*#memory#{name}" for name in ("entries", "cards", "hashes", "once"))
VERSIONS, DELETED = "*#memory#versions#*", "*#memory#deleted"
FACETS, COUNTS = "*#memory#facet#*", "*#memory#counts"
JOBS, PIECES, QUERIES = "*#memory#jobs", "*#memory#pieces#*", "*#memory#queries"
ORGANISATIONS, VECTORS, AUDIT = "organisations", "*#vectors", "memory#*"
READ = (
    Items(("index", "index-build"), "records", ("GetItem", "BatchGetItem"), (ENTRIES,)),
    Items(("index", "index-build"), "records", ("Query",), (CARDS, ORGANISATIONS)),
    Items(("index", "index-build"), "cache", ("BatchGetItem", "BatchWriteItem"), (VECTORS,)),
)
"""What an index of entries is built from, and the vectors that are known already."""

CONTINUED = (
    Items(("index",), "records", ("PutItem", "UpdateItem"), (ENTRIES, CARDS)),
    Items(("index",), "records", ("PutItem", "DeleteItem", "Query"), (FACETS,)),
    Items(("index",), "records", ("UpdateItem", "Query"), (COUNTS,)),
    Items(("index",), "records", ("ConditionCheckItem",), (ENTRIES,)),
    Items(("index",), "records", ("BatchGetItem", "PutItem"), (HASHES,)),
    Items(("index",), "records", ("PutItem",), (ORGANISATIONS,)),
    Items(("index",), "records", ("GetItem", "PutItem", "Query"), (JOBS,)),
    Items(("index",), "records", ("GetItem",), (PIECES,)),
    Items(("index",), "activity", ("PutItem",), (AUDIT,)),
)
"""What goes on after a call has been answered: large imports, vectors made anew, children of what is gone. Entries are
added and changed, never taken out."""

CALLS = (
    Items(("mcp",), "records", ("GetItem", "BatchGetItem"), (ENTRIES,)),
    Items(("mcp",), "records", ("PutItem", "UpdateItem", "DeleteItem"), (ENTRIES, CARDS)),
    Items(("mcp",), "records", ("PutItem", "DeleteItem", "Query"), (FACETS,)),
    Items(("mcp",), "records", ("UpdateItem", "Query"), (COUNTS,)),
    Items(("mcp",), "records", ("ConditionCheckItem",), (ENTRIES,)),
    Items(("mcp",), "records", ("Query",), (CARDS, QUERIES)),
    Items(("mcp",), "records", ("BatchGetItem", "PutItem", "DeleteItem", "ConditionCheckItem"), (HASHES,)),
    Items(("mcp",), "records", ("GetItem", "PutItem"), (ONCE, PIECES)),
    Items(("mcp",), "records", ("GetItem", "PutItem", "Query"), (JOBS,)),
    Items(("mcp",), "records", ("PutItem", "UpdateItem", "DeleteItem", "Query"), (VERSIONS,)),
    Items(("mcp",), "records", ("GetItem", "PutItem", "DeleteItem"), (DELETED,)),
    Items(("mcp",), "records", ("PutItem",), (ORGANISATIONS,)),
    Items(("mcp",), "records", ("UpdateItem",), (QUERIES,)),
    Items(("mcp",), "cache", ("BatchGetItem", "BatchWriteItem", "Query"), (VECTORS,)),
    Items(("mcp",), "activity", ("PutItem",), (AUDIT,)),
)
"""Entries, their vectors, how often the memory was searched, and the record of who changed what."""

MEMORY = Capability(
    name="memory",
    scopes=Scopes(
        toolset="memory",
        words={
            "read": "Search and read the team's memory",
            "write": "Add to the team's memory, import into it, change and delete what is in it",
            "admin": "Look after the team's memory: compute anew what its searches compare",
        },
        tiers={"read": "member", "write": "member", "admin": "vibecoder"},
        kinds=("entries",),
    ),
    toolset="commonplace.memory.tools.toolset:toolset",
    collection="commonplace.memory.collection:collection",
    access=(*READ, *CONTINUED, *CALLS),
    indexed_records=("#memory#entries", "#memory#jobs"),
    metrics=(
        Metric(name="MemoryQueries", title="Searches of the memory, by phase and role", dimensions=("Phase", "Role")),
        Metric(name="MemoryFallbacks", title="Searches of the memory by words alone"),
    ),
    settings={
        "toolset": ["commonplace.memory.settings:MemoryToolSettings"],
        "collection": ["commonplace.memory.settings:MemorySettings"],
    },
)
