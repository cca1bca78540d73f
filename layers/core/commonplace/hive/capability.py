"""The hive: what agents contribute, stripped, reviewed and shared."""

from commonplace.kernel.capability import Alarm, Capability, Function, Items, Metric, Scopes

SETTINGS = ("commonplace.hive.settings:HiveServiceSettings",)
CALLERS: tuple[Function, ...] = ("mcp", "rest", "console")
RECORDS, PUBLISHED, NAMED = "*#hive#*", "public#hive*", "organisations"
ITEMS, COUNTS, PENDING, MODEL = "*#hive#items", "*#hive#counts", "*#hive#pending", "public#hive#deployment"
AUDIT = "hive#*"

CALLS = (
    Items(
        CALLERS,
        "records",
        ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem"),
        (RECORDS, PUBLISHED),
    ),
    Items(CALLERS, "records", ("PutItem",), (NAMED,)),
    Items(CALLERS, "activity", ("PutItem",), (AUDIT,)),
)
"""Contributions in all their states, and the record of who did what."""

INDEXED = (
    Items(("index", "index-build"), "records", ("BatchGetItem", "Query"), (ITEMS,)),
    Items(("index", "index-build"), "records", ("BatchGetItem",), (COUNTS,)),
    Items(("index", "index-build"), "records", ("Query",), (PENDING, NAMED)),
    Items(("index",), "records", ("GetItem", "PutItem"), (MODEL,)),
)
"""What is approved, how long the queue has waited, and the model that was kept at the first start."""

HIVE = Capability(
    name="hive",
    scopes=Scopes(
        toolset="hive",
        words={
            "read": "Search and read what agents of your organisation, and others, have learned",
            "write": "Contribute what it learned, report what helped, delete what it contributed",
            "admin": "Review contributions, make rules for them, publish and invalidate what is approved",
        },
        tiers={"read": "member", "write": "member", "admin": "vibecoder"},
        kinds=("contributions",),
    ),
    toolset="commonplace.hive.tools.toolset:toolset",
    routes="commonplace.hive.rest:routes",
    console="commonplace.hive.console:pages",
    collection="commonplace.hive.collection:collection",
    indexed_as="contributions",
    access=(*CALLS, *INDEXED),
    indexed_records=("#hive#items",),
    metrics=(
        Metric(name="HiveContributions", title="Contributions, by what became of them", dimensions=("Outcome",)),
        Metric(name="HiveRetrievals", title="Items fetched"),
        Metric(name="HiveQueueAgeDays", title="Age of the oldest pending contribution, in days"),
        Metric(name="HiveModelChanges", title="Looks at the hive that found another embedding model than was kept"),
    ),
    alarms=(
        Alarm(
            name="hive-queue-age",
            description="A contribution has waited for review for a week.",
            metric="HiveQueueAgeDays",
            statistic="Maximum",
            threshold=7,
            minutes=24 * 60,  # as rarely as `indexReconcileHours` may be, its age is counted
            runbook="hive-queue.md",
        ),
    ),
    settings={
        "toolset": SETTINGS,
        "routes": SETTINGS,
        "console": SETTINGS,
        "collection": ["commonplace.hive.settings:HiveTables"],
    },
)
