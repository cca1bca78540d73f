"""What functions are told of the memory, and what each may do with it.

The keys are those of `commonplace.memory.store`, `dynamodb_jobs`, `dynamodb_query_counts` and
`dynamodb_vectors`. No function is for one organisation alone: whose items a call reaches is decided by its verified
token, so partitions are named by their ends.
"""

from infra.configuration import Configuration
from infra.functions import PythonFunction
from infra.models import VECTORS
from infra.state import State

ENTRIES, CARDS, HASHES, ONCE = (f"*#memory#{name}" for name in ("entries", "cards", "hashes", "once"))
JOBS, PIECES, QUERIES = "*#memory#jobs", "*#memory#pieces#*", "*#memory#queries"
ORGANISATIONS = "organisations"
"""Partitions of the table of records."""

WHO_DID_WHAT = "memory#*"
"""Partition of the activity table, apart from the records of identity."""

UNFINISHED = ("index#documents", "index#memory")
"""Partitions of the activity table: whether records wait for their vectors."""


def memory_environment(configuration: Configuration, state: State) -> dict[str, str]:
    """Where entries, jobs and vectors are, how many are worked on together, and whose the documents are."""
    return {
        "RECORDS_TABLE": state.records.table_name,
        "CACHE_TABLE": state.cache.table_name,
        "KB_BATCH_SIZE": str(configuration.kb_batch_size),
        "ORGANISATION": configuration.organisation,
    }


def let_read_entries(function: PythonFunction, state: State) -> None:
    """What an index of entries is built from, the vectors that are known already, and a note of those to come."""
    function.allow_items(state.records, ["GetItem", "BatchGetItem"], ENTRIES)
    function.allow_items(state.records, ["Query"], CARDS, ORGANISATIONS)
    function.allow_items(state.cache, ["BatchGetItem", "BatchWriteItem"], VECTORS)
    function.allow_items(state.activity, ["PutItem"], *UNFINISHED)


def let_carry_on(function: PythonFunction, state: State) -> None:
    """What goes on after a call has been answered: large imports, vectors made anew, children of what is gone.

    Entries are added and changed, never taken out.
    """
    function.allow_items(state.records, ["PutItem", "UpdateItem"], ENTRIES, CARDS)
    function.allow_items(state.records, ["BatchGetItem", "PutItem"], HASHES)
    function.allow_items(state.records, ["PutItem"], ORGANISATIONS)
    function.allow_items(state.records, ["GetItem", "PutItem", "Query"], JOBS)
    function.allow_items(state.records, ["GetItem"], PIECES)
    function.allow_items(state.activity, ["PutItem"], WHO_DID_WHAT)
    function.allow_items(state.activity, ["GetItem", "DeleteItem"], *UNFINISHED)


def let_remember(function: PythonFunction, state: State) -> None:
    """What calls do: entries, their vectors, how often the memory was asked, and the record of who changed what."""
    function.allow_items(state.records, ["GetItem", "BatchGetItem"], ENTRIES)
    function.allow_items(state.records, ["PutItem", "UpdateItem", "DeleteItem"], ENTRIES, CARDS)
    function.allow_items(state.records, ["Query"], CARDS, QUERIES)
    function.allow_items(state.records, ["BatchGetItem", "PutItem", "DeleteItem", "ConditionCheckItem"], HASHES)
    function.allow_items(state.records, ["GetItem", "PutItem"], ONCE, PIECES)
    function.allow_items(state.records, ["GetItem", "PutItem", "Query"], JOBS)
    function.allow_items(state.records, ["PutItem"], ORGANISATIONS)
    function.allow_items(state.records, ["UpdateItem"], QUERIES)
    function.allow_items(state.cache, ["BatchGetItem", "BatchWriteItem", "Query"], VECTORS)
    function.allow_items(state.activity, ["PutItem"], WHO_DID_WHAT)
