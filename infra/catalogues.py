"""What functions are told of the catalogues of the product reference, and what each may do with them.

A deployment without catalogues grants nothing of this. The keys are those of `commonplace.reference.library`,
`commonplace.repository.run_state`, `dynamodb_gaps` and `dynamodb_waiting`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace.reference.library import REFERENCE_PREFIX
from commonplace.reference.settings import CATALOGUES, CatalogueSource, parse_catalogues
from infra.readers import ConfigurationError, Reader, checked

if TYPE_CHECKING:
    from infra.configuration import Configuration
    from infra.functions import PythonFunction
    from infra.state import State
    from infra.store import Store

MAX_CATALOGUES_BYTES = 1_000
"""All that a function is told has to fit into 4 KB; see `infra.identity_keys.MAX_TOLD` as well."""

GAPS = "*#reference#gaps"
"""Partitions of the table of records: whose they are is decided by the verified token of a call."""

UNFINISHED = "index#reference"
"""Partition of the activity table: whether entries wait for the index, or for their vectors."""

_ANYWHERE = ("example/knowledge-base", "main")
"""Stands in for repository and branch of the knowledge base, which are checked for themselves."""


def catalogues(key: str, value: Any) -> str:
    """A JSON list or its text, without needless spaces."""
    given = str(checked(lambda text: parse_catalogues(text, *_ANYWHERE), CATALOGUES)(key, value))
    found = json.dumps(json.loads(given), separators=(",", ":"), ensure_ascii=False)
    if (size := len(found.encode())) > MAX_CATALOGUES_BYTES:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_CATALOGUES_BYTES}")
    return found


CATALOGUE_KEYS: Mapping[str, Reader] = {"catalogues": catalogues}


def sources(configuration: Configuration) -> tuple[CatalogueSource, ...]:
    if not configuration.catalogues:
        return ()
    return parse_catalogues(configuration.catalogues, configuration.repository, configuration.branch) or ()


def catalogues_environment(configuration: Configuration) -> dict[str, str]:
    """For every function that syncs or indexes, and for those that take tokens: a catalogue is what makes a toolset."""
    return {"CATALOGUES": configuration.catalogues} if configuration.catalogues else {}


def run_state_keys(configuration: Configuration) -> tuple[str, ...]:
    """The partitions of the activity table that hold the run state of each catalogue."""
    return tuple(f"sync#reference#{source.name}" for source in sources(configuration))


def let_publish_catalogues(function: PythonFunction, configuration: Configuration, store: Store) -> None:
    if configuration.catalogues:
        function.allow_objects(store.bucket, ["s3:GetObject", "s3:PutObject", "s3:DeleteObject"], [REFERENCE_PREFIX])
        function.allow_listing(store.bucket, [REFERENCE_PREFIX])


def let_read_catalogues(function: PythonFunction, configuration: Configuration, store: Store) -> None:
    if configuration.catalogues:
        function.allow_objects(store.bucket, ["s3:GetObject"], [REFERENCE_PREFIX])
        function.allow_listing(store.bucket, [REFERENCE_PREFIX])


def let_note_entries(function: PythonFunction, configuration: Configuration, state: State) -> None:
    """That some wait; for whoever writes the index."""
    if configuration.catalogues:
        function.allow_items(state.activity, ["PutItem"], UNFINISHED)


def let_finish_entries(function: PythonFunction, configuration: Configuration, state: State) -> None:
    """Whether some wait, and that none does any more."""
    if configuration.catalogues:
        function.allow_items(state.activity, ["GetItem", "DeleteItem"], UNFINISHED)


def let_report_gaps(function: PythonFunction, configuration: Configuration, state: State) -> None:
    if configuration.catalogues:
        function.allow_items(state.records, ["UpdateItem", "Query"], GAPS)
