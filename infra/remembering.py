"""What functions are told of the memory."""

from infra.configuration import Configuration
from infra.store import State


def memory_environment(configuration: Configuration, state: State) -> dict[str, str]:
    """Where entries, jobs and vectors are, how many are worked on together, and whose the documents are."""
    return {
        "RECORDS_TABLE": state.records.table_name,
        "CACHE_TABLE": state.cache.table_name,
        "KB_BATCH_SIZE": str(configuration.kb_batch_size),
        "ORGANISATION": configuration.organisation,
    }
