"""Permissions of functions on tables and bucket: those of every deployment, and those that capabilities declare.

What goes with identity, the search engine or a model is granted by their constructs.
"""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_dynamodb as dynamodb

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import Capability, Items, Objects, built
from commonplace.kernel.limit_store import LISTENS
from commonplace.kernel.objects import OPERATIONS_PREFIX
from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.store import Store

COUNTERS = "counter#*"
"""Partitions of the rate limits' counters (`commonplace.kernel.limit_store`)."""

FRAMES: tuple[Items | Objects, ...] = (
    Objects(("sync-run",), ("GetObject", "PutObject", "DeleteObject"), (OPERATIONS_PREFIX,)),
    Objects(("sync-store",), ("GetObject", "PutObject"), (OPERATIONS_PREFIX,)),
    Items(("rest", "mcp", "site", "console"), "activity", ("UpdateItem",), (COUNTERS,)),
    Items(("mcp",), "activity", ("GetItem", "PutItem"), (LISTENS,)),
    Items(("index", "index-build"), "activity", ("PutItem",), ("change#*",)),
)


def present(configuration: Configuration) -> list[Capability]:
    """Those of which the deployment has something."""
    return [each for each in CAPABILITIES if not each.requires or getattr(configuration, each.requires)]


def run_states(environment: Mapping[str, str]) -> list[str]:
    """The partitions that hold the state of the runs of each source that a function with this environment follows."""
    return [source.state_partition for sources in built(CAPABILITIES, "sources", environment) for source in sources]


def grant(
    functions: Sequence[PythonFunction],
    configuration: Configuration,
    store: Store,
    tables: Mapping[str, dynamodb.TableV2],
) -> None:
    """Allows each function what the frames and the capabilities that are present need of it."""
    capabilities = present(configuration)
    collections = tuple(f"index#{each.collection_name}" for each in capabilities if each.collection)
    unfinished = (
        Items(("index", "index-build"), "activity", ("PutItem",), collections),
        Items(("index",), "activity", ("GetItem", "DeleteItem"), collections),
    )
    access = [*FRAMES, *unfinished, *(one for each in capabilities for one in each.access)]
    for function in functions:
        own = [one for one in access if function.name in one.functions]
        granted = [one for one in own if isinstance(one, Objects)]
        for objects in granted:
            function.allow_objects(store.bucket, [f"s3:{action}" for action in objects.actions], objects.prefixes)
        if prefixes := [prefix for objects in granted for prefix in objects.prefixes]:
            function.allow_listing(store.bucket, prefixes)
        for items in (one for one in own if isinstance(one, Items)):
            function.allow_items(tables[items.table], items.actions, *items.partitions, attributes=items.attributes)
