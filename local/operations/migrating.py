"""Who takes the steps of a migration: the index function of a deployment, or this very process."""

import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from local.errors import CommandError
from local.operations.deployment import Deployment, find

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


def reach(place: Place) -> Ask:
    """Whom to ask. Raises CommandError when the options name nobody."""
    if place.endpoint is None and (place.bucket or place.index):
        raise CommandError("--bucket and --index go with --endpoint.", "Without it the index function does the work.")
    return ask_here(place) if place.endpoint else ask_function(find(place.data, place.outputs, place.stage))


def ask_function(deployment: Deployment) -> Ask:
    """The index function, which has the models, the credentials and the way to the index.

    On AWS one of the same code with more time builds, so that the queue's need not wait.
    """
    name = deployment.outputs.get("IndexBuildFunction") or deployment.outputs.get("IndexFunction")
    if name is None:
        raise CommandError("The deployment names no index function.", "Deploy this version and try again.")
    client = deployment.client("lambda", read_seconds=CALL_SECONDS)

    def ask(event: Mapping[str, Any], _told: Told) -> dict[str, Any]:
        payload = {"source": "commonplace.operator", "seconds": STRETCH_SECONDS, **event}
        answer = client.invoke(FunctionName=name, Payload=json.dumps(payload).encode())
        told: dict[str, Any] = json.loads(answer["Payload"].read() or b"{}") or {}
        if answer.get("FunctionError"):
            kind, message = told.get("errorType", "unknown error"), told.get("errorMessage", "")
            raise CommandError(f"The index function failed: {kind}. {message}".rstrip(), _again(event))
        return told

    return ask


def ask_here(place: Place) -> Ask:
    """This process, with the models of its own environment: for an index that its operator can reach."""
    from commonplace.adapters import wiring
    from commonplace.adapters.operations import document_operations
    from commonplace.errors import CommonplaceError
    from commonplace.settings import RetrievalSettings, SettingsError

    given = {"SEARCH_ENGINE": "opensearch", "OPENSEARCH_ENDPOINT": place.endpoint, "OPENSEARCH_INDEX": place.index}
    environment = {"STAGE": "dev"} | dict(os.environ) | {name: value for name, value in given.items() if value}
    try:
        settings = RetrievalSettings.from_environ(environment)
        models = wiring.indexed_models(settings)
        objects = _store(place)
        engine = wiring.search_engine(settings, objects, models[0], read_only=False)
        operations = document_operations(settings, objects, models, engine)
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


def _store(place: Place) -> Any:
    if place.bucket is None:
        return find(place.data, place.outputs, place.stage).store
    from commonplace.adapters.s3 import S3ObjectStore

    return S3ObjectStore(Deployment({}).client("s3"), place.bucket)


def _again(event: Mapping[str, Any]) -> str:
    return f"Nothing is lost: try again with commonplace index {event.get('step')}"
