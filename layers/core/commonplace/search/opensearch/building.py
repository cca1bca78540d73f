"""Making indexes: what a cluster cannot hold is refused before anything is made."""

import logging
import secrets
from typing import Any

from commonplace.kernel.errors import Unavailable
from commonplace.search.model import EmbeddingProvider
from commonplace.search.opensearch import mapping, names, wire
from commonplace.search.opensearch.connection import WRITE_SECONDS, Connection, Refused
from commonplace.search.opensearch.parameters import IndexParameters
from commonplace.search.opensearch.writing import outcome_of

logger = logging.getLogger(__name__)

MOST_GENERATIONS = 99


def check(connection: Connection, provider: EmbeddingProvider | None, parameters: IndexParameters) -> None:
    """Raises ValueError for parameters that this cluster cannot have."""
    if connection.local and connection.serverless:
        raise ValueError("OPENSEARCH_SERVICE aoss is a collection of AWS, not a node of this machine.")
    if provider is None:
        return
    if connection.local and parameters.engine != "lucene":
        raise ValueError(
            f"The k-NN engine {parameters.engine} cannot be used on this machine: a local node lacks its native library"
            " and would exit at the first vector. Leave `engine` in OPENSEARCH_PARAMETERS out, or set it to lucene."
        )
    if connection.serverless and parameters.engine != "faiss":
        raise ValueError('A serverless collection has no lucene: set `{"engine": "faiss"}` in OPENSEARCH_PARAMETERS.')


def create_first(
    connection: Connection, stem: str, provider: EmbeddingProvider | None, parameters: IndexParameters
) -> None:
    """Makes the first index of a collection and its alias in one step. Another writer may have been faster."""
    facts = mapping.facts(provider, parameters, serverless=connection.serverless)
    name = names.index_name(stem, facts)
    if connection.serverless:
        probe(connection, stem)
    body = mapping.index_body(provider, parameters, serverless=connection.serverless)
    create(connection, name, body, names.current(stem))


def create_next(
    connection: Connection,
    stem: str,
    provider: EmbeddingProvider | None,
    parameters: IndexParameters,
    taken: tuple[str, ...],
) -> str:
    """Makes an empty index with the alias of the one to come, under a name that is not taken, and answers the name."""
    facts = mapping.facts(provider, parameters, serverless=connection.serverless)
    if connection.serverless:
        probe(connection, stem)
    body = mapping.index_body(provider, parameters, serverless=connection.serverless, building=True)
    for number in range(1, MOST_GENERATIONS + 1):
        name = names.index_name(stem, facts, number)
        if name not in taken and create(connection, name, body, names.upcoming(stem)):
            return name
    raise Unavailable("There are too many indexes of this collection.", hint="Run `commonplace index plan`.")


def create(connection: Connection, name: str, body: dict[str, Any], role: str) -> bool:
    """Makes an index that holds the alias of a role; False when there is one of this name already."""
    if connection.local:
        _check_field(body)
    aliases: dict[str, Any] = {names.write_alias(name): {}, role: {}}
    try:
        connection.call("PUT", f"/{name}", body | {"aliases": aliases}, timeout=WRITE_SECONDS)
    except Refused as refused:
        if refused.kind != "resource_already_exists_exception":
            raise Unavailable(f"The index could not be made ({refused}).") from refused
        return False
    logger.info("an index was made", extra={"index": name, "alias": role})
    return True


def probe(connection: Connection, stem: str) -> None:
    """Raises Unavailable for a collection that takes no ids or no versions of ours: a classic vector collection."""
    name = f"{stem}-probe-{secrets.token_hex(4)}"
    connection.call("PUT", f"/{name}", {"mappings": {"properties": {"id": {"type": "keyword"}}}}, timeout=WRITE_SECONDS)
    try:
        action = {"index": {"_index": name, "_id": "probe", "version": 1, "version_type": "external"}}
        answer = connection.call("POST", "/_bulk", wire.lines([action, {"id": "probe"}]), timeout=WRITE_SECONDS)
        refusal = next(iter(outcome_of(answer).refused), None)
    except Refused as refused:
        refusal = refused
    finally:
        connection.call("DELETE", f"/{name}", timeout=WRITE_SECONDS)
    if refusal:
        raise Unavailable(
            f"This serverless collection takes no document ids or no external versions ({refusal}): without them late"
            " writes would undo newer ones.",
            hint="Use a managed domain, or a collection of the next generation (experimental).",
            retry_after_seconds=3_600,
        )


def _check_field(body: dict[str, Any]) -> None:
    """A vector field without the engine lucene makes a local node exit: none is ever created there."""
    vector = body["mappings"]["properties"]["chunks"]["properties"].get("vector")
    if vector is not None and vector.get("method", {}).get("engine") != "lucene":
        raise ValueError("A vector field without the engine lucene would make the local node exit.")
