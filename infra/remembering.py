"""What functions are told of the memory, and what each may do with it.

The keys are those of `commonplace.adapters.dynamodb_entries`, `dynamodb_jobs` and `dynamodb_query_counts`.
"""

from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.models import VECTORS
from infra.state import State

ENTRIES = ("*#memory#entries", "*#memory#cards")
KEPT = (*ENTRIES, "*#memory#hashes", "*#memory#once", "*#memory#jobs", "*#memory#pieces#*")
ORGANISATIONS = "organisations"
QUERIES = "*#memory#queries"
"""Partitions of the table of records. No function is for one organisation alone: whose items a call reaches is decided
by its verified token."""

WHO_DID_WHAT = "memory#*"
"""Partition of the activity table, apart from the records of identity."""

UNFINISHED = "index#memory"
"""Partition of the activity table: whether entries wait for their vectors."""

READ = ("GetItem", "BatchGetItem", "Query")
WRITE = ("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")


def memory_environment(configuration: Configuration, state: State) -> dict[str, str]:
    """Where entries, jobs and vectors are, and whose documents this deployment keeps."""
    return {
        "RECORDS_TABLE": state.records.table_name,
        "CACHE_TABLE": state.cache.table_name,
        "ORGANISATION": configuration.organisation,
    }


def let_read_entries(function: PythonFunction, state: State) -> None:
    """What an index of entries is built from, and the vectors that are known already."""
    function.allow_items(state.records, READ, *ENTRIES, ORGANISATIONS)
    function.allow_items(state.cache, ["BatchGetItem", "BatchWriteItem"], VECTORS)


def let_carry_on(function: PythonFunction, state: State) -> None:
    """What goes on after a call has been answered: large imports, vectors made anew, children of what is gone."""
    function.allow_items(state.records, [*READ, *WRITE], *KEPT, ORGANISATIONS)
    function.allow_items(state.activity, ["PutItem"], WHO_DID_WHAT)
    function.allow_items(state.activity, ["GetItem", "PutItem", "DeleteItem"], UNFINISHED)


def let_remember(function: PythonFunction, state: State) -> None:
    """What calls do: entries, their vectors, how often the memory was asked, and the record of who changed what."""
    function.allow_items(state.records, [*READ, *WRITE], *KEPT, ORGANISATIONS)
    function.allow_items(state.records, ["Query", "UpdateItem"], QUERIES)
    function.allow_items(state.cache, ["BatchGetItem", "BatchWriteItem", "Query"], VECTORS)
    function.allow_items(state.activity, ["PutItem"], WHO_DID_WHAT)
