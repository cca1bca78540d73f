"""The part of `commonplace sync` that is about catalogues."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from local.errors import CommandError
from local.operations.deployment import Deployment

if TYPE_CHECKING:
    from commonplace.reference.settings import CatalogueSource


def chosen(deployment: Deployment, name: str | None) -> "CatalogueSource | None":
    """The catalogue of this name; None for None. Raises CommandError."""
    if name is None:
        return None
    catalogues = {one.name: one for one in deployment.catalogues()}
    if name not in catalogues:
        known = (
            ", ".join(catalogues) or "none; the key `catalogues` of cdk.json, or commonplace dev --catalogue, adds one"
        )
        raise CommandError(f"There is no catalogue {name}.", f"Catalogues: {known}.")
    return catalogues[name]


def facts(deployment: Deployment) -> list[dict[str, Any]]:
    """Of every catalogue, for programs."""
    return [_facts(deployment, one) for one in deployment.catalogues()]


def lines(deployment: Deployment) -> Iterator[str]:
    """Of every catalogue, for people."""
    from local.operations.catalogues import catalogue_line, report_of

    for one in deployment.catalogues():
        state, report = deployment.state_of(one), report_of(deployment.store, one.name)
        yield catalogue_line(one.name, report)
        told = state.read()
        if told.running:
            yield f"  running: {told.running}"
        elif told.pokes > told.done:
            yield f"  open: {told.pokes - told.done} hints that no finished run covers"
        if report and report.status == "refused":
            yield f"  why: commonplace sync report --source {one.name}"


def report_text(deployment: Deployment, name: str, *, as_json: bool) -> str:
    """The report of a catalogue's last run. Raises CommandError."""
    from local.operations.catalogues import catalogue_text, report_of

    source = chosen(deployment, name)
    report = report_of(deployment.store, source.name) if source else None
    if report is None:
        raise CommandError(
            "No run of this catalogue has finished yet.", f"Ask for one: commonplace sync run --source {name}"
        )
    return (
        json.dumps(report.model_dump(mode="json", by_alias=True), indent=2) + "\n"
        if as_json
        else catalogue_text(report)
    )


def ended(deployment: Deployment, source: "CatalogueSource") -> str:
    """How a run that was waited for ended. Raises CommandError unless the head is published."""
    from local.operations.catalogues import catalogue_line, problem_line, report_of

    report = report_of(deployment.store, source.name)
    line = catalogue_line(source.name, report)
    if report is None or report.status in ("failed", "pending"):
        raise CommandError(f"{line}.", "Its execution and the functions' logs say why; the next run heals.")
    if report.status == "refused":
        first = problem_line(report.errors[0])
        raise CommandError(f"{line}. First: {first}", f"All of it: commonplace sync report --source {source.name}")
    return line


def _facts(deployment: Deployment, source: "CatalogueSource") -> dict[str, Any]:
    from local.operations.catalogues import report_of

    state, report = deployment.state_of(source).read(), report_of(deployment.store, source.name)
    return {
        "name": source.name,
        "repository": source.repository,
        "branch": source.branch,
        "folder": source.folder,
        "running": state.running,
        "openHints": max(0, state.pokes - state.done),
        "lastRun": report.model_dump(mode="json", by_alias=True, exclude={"added", "changed", "removed"})
        if report
        else None,
    }
