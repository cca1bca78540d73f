"""Who takes the steps of a migration: the index function of a deployment, or this very process."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from local.errors import CommandError
from local.operations.deployment import Deployment, find
from local.operations.migration_text import NOUNS

if TYPE_CHECKING:
    from commonplace.kernel.settings import RetrievalSettings
    from commonplace.search.index_wiring import Models
    from commonplace.search.operations import Operations
    from commonplace.search.source import Collection

STRETCH_SECONDS = 20
"""So long a stretch of building is. Each one begins with a look at all documents, which takes a second or two of it."""

CALL_SECONDS = 900
"""The longest that a function runs."""

Told = Callable[[int, int], None]
Ask = Callable[[Mapping[str, Any], Told], dict[str, Any]]
"""Takes a step, and is told of records done and left where that can be known meanwhile."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the options say: a deployment or, with an endpoint, an index and a store reached from here."""

    data: Path | None = None
    outputs: Path | None = None
    stage: str | None = None
    endpoint: str | None = None
    bucket: str | None = None
    index: str | None = None
    collection: str = "documents"


def reach(place: Place) -> Ask:
    """Whom to ask. Raises CommandError when the options name nobody."""
    if place.endpoint is None and (place.bucket or place.index):
        raise CommandError("--bucket and --index go with --endpoint.", "Without it the index function does the work.")
    if place.collection not in NOUNS:
        raise CommandError(f"There is no collection {place.collection}.", f"Collections: {', '.join(NOUNS)}.")
    if place.endpoint:
        return ask_here(place)
    return ask_function(find(place.data, place.outputs, place.stage), place.collection)


def ask_function(deployment: Deployment, collection: str = "documents") -> Ask:
    """The index function, which has the models, the credentials and the way to the index.

    On AWS one of the same code with more time builds, so that the queue's need not wait.
    """
    name = deployment.outputs.get("IndexBuildFunction") or deployment.outputs.get("IndexFunction")
    if name is None:
        raise CommandError("The deployment names no index function.", "Deploy this version and try again.")
    client = deployment.client("lambda", read_seconds=CALL_SECONDS)
    known: list[str] = []

    def ask(event: Mapping[str, Any], _told: Told) -> dict[str, Any]:
        if collection != "documents" and not known:
            # An older version would take the step for one of the documents.
            if "collection" not in sent({"step": "status"}):
                raise CommandError("The index function has no collections.", "Deploy this version and try again.")
            known.append(collection)
        return sent(event)

    def sent(event: Mapping[str, Any]) -> dict[str, Any]:
        chosen = {} if collection == "documents" else {"collection": collection}
        payload = {"source": "commonplace.operator", "seconds": STRETCH_SECONDS, **chosen, **event}
        answer = client.invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        told: dict[str, Any] = json.loads(answer["Payload"].read() or b"{}") or {}
        if answer.get("FunctionError"):
            kind, message = told.get("errorType", "unknown error"), told.get("errorMessage", "")
            raise CommandError(f"The index function failed: {kind}. {message}".rstrip(), _again(event))
        return told

    return ask


def ask_here(place: Place) -> Ask:
    """This process, with the models of its own environment: for an index that its operator can reach."""
    from commonplace.kernel.environment import SettingsError
    from commonplace.kernel.errors import CommonplaceError
    from commonplace.kernel.settings import RetrievalSettings

    given = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_ENDPOINT": place.endpoint, "OPENSEARCH_INDEX": place.index}
    environment = {"STAGE": "dev"} | dict(os.environ) | {name: value for name, value in given.items() if value}
    try:
        settings = RetrievalSettings.from_environ(environment)
        operations = _operations(place, settings)
    except (SettingsError, ValueError) as error:
        raise CommandError(
            str(error), "The settings come from this shell's environment: docs/configuration.md."
        ) from error

    def ask(event: Mapping[str, Any], told: Told) -> dict[str, Any]:
        end = time.monotonic() + STRETCH_SECONDS
        try:
            return operations.step(event, lambda: time.monotonic() >= end and event.get("step") == "build", told)
        except CommonplaceError as error:
            raise CommandError(error.message, error.hint or _again(event)) from error

    return ask


def _operations(place: Place, settings: "RetrievalSettings") -> "Operations":
    from commonplace.search import providers
    from commonplace.search.index_wiring import document_operations, reference_operations

    models = providers.indexed_models(settings)
    if place.collection == "memory":
        return _memory_operations(place, settings, models)
    settings = settings.collection(cast("Collection", place.collection))
    engine = providers.search_engine(settings, None, models[0], read_only=False)
    if place.collection == "documents":
        return document_operations(settings, _store(place), models, engine)
    from commonplace.reference.index_source import StoredCatalogues

    return reference_operations(settings, StoredCatalogues(_store(place), _catalogues(place)), models, engine)


def _catalogues(place: Place) -> list[str]:
    """Names of those that the shell's environment configures, else of those of the deployment."""
    from commonplace.reference.settings import catalogue_sources

    # Repository and branch do not matter here, but a source without them is none.
    found = catalogue_sources({"GITHUB_REPOSITORY": "any/any", "GITHUB_BRANCH": "any"} | dict(os.environ))
    found = found or find(place.data, place.outputs, place.stage).catalogues()
    if not found:
        raise CommandError("There is no catalogue.", "Set CATALOGUES as the deployment has it: docs/configuration.md.")
    return [catalogue.name for catalogue in found]


def _memory_operations(place: Place, settings: "RetrievalSettings", models: "Models") -> "Operations":
    from commonplace.memory.index_source import StoredEntries
    from commonplace.memory.store import DynamoEntries
    from commonplace.search import providers
    from commonplace.search.index_wiring import memory_operations
    from commonplace.search.store import DynamoVectorCaches

    if place.bucket:
        raise CommandError("Entries are in a table, not in a bucket.", "Name the deployment: --stage or --outputs.")
    deployment = find(place.data, place.outputs, place.stage)
    names = [deployment.outputs.get(output) for output in ("RecordsTable", "ActivityTable", "CacheTable")]
    records, activity, cache = (name or "" for name in names)
    if not all(names):
        raise CommandError("The deployment names no table of entries.", "Deploy this version and try again.")
    client = deployment.client("dynamodb")
    settings = settings.collection("memory")
    source = StoredEntries(DynamoEntries(client, records, activity))
    engine = providers.search_engine(settings, None, models[0], read_only=False)
    return memory_operations(settings, source, DynamoVectorCaches(client, cache), models, engine)


def _store(place: Place) -> Any:
    if place.bucket is None:
        return find(place.data, place.outputs, place.stage).store
    from commonplace.kernel.s3 import S3ObjectStore

    return S3ObjectStore(Deployment({}).client("s3"), place.bucket)


def commands_for(collection: str, text: str) -> str:
    """The text with the commands it names as they are for this collection."""
    from commonplace.search import operations

    return str(operations.commands_for(cast("Collection", collection), text))


def _again(event: Mapping[str, Any]) -> str:
    return f"Nothing is lost: try again with commonplace index {event.get('step')}"
