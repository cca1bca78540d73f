"""The tool `sync_status`: the public summary of the last sync."""

import json
import logging
from functools import partial
from typing import Any, Literal

from pydantic import Field

from commonplace.documents.content.document import SHOWS_EVERYTHING
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.views import moment
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.declaration import Answer, Call, NoArguments, Output, Tool

logger = logging.getLogger(__name__)


class SyncStatus(Output):
    status: Literal["ok", "degraded"] = Field(description="degraded: documents answer, search does not")
    commit: str | None = None
    synced_at: str | None = None
    lag_seconds: int | None = None
    """Since something was last published."""
    documents: int
    everything: bool | None = None
    """True on a laptop that shows files that say nothing about publishing, too."""
    last_run: str | None = None
    """`succeeded` or `failed`."""
    checked_at: str | None = None
    problems: int | None = None
    broken_links: int | None = None


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="sync_status",
            title="Sync status",
            description="How fresh the knowledge base is: commit, times, documents, problems, whether search answers.",
            arguments=NoArguments,
            output=SyncStatus,
            run=partial(sync_status, using),
        ),
    )


def sync_status(using: KnowledgeServices, call: Call, asked: NoArguments) -> Answer:  # noqa: ARG001 - a tool's shape
    """Raises Unavailable when the store does not answer."""
    edition = using.library.edition()
    manifest = edition.manifest
    summary = using.library.sync_summary()
    run: dict[str, Any] = json.loads(summary) if summary else {}
    counts = run.get("counts") or {}
    synced = manifest.synced_at if edition.etag else None
    status: Literal["ok", "degraded"] = "ok"
    try:
        using.search.check()
    except Exception as error:
        status = "degraded"
        if not isinstance(error, Unavailable):
            logger.exception("the index cannot be checked", extra={"error": type(error).__name__})
    data = SyncStatus(
        status=status,
        commit=manifest.commit_sha or None,
        synced_at=moment(synced),
        lag_seconds=max(0, int((using.clock() - synced).total_seconds())) if synced else None,
        documents=len(manifest.documents),
        everything=manifest.everything or None,
        last_run=run.get("status"),
        checked_at=run.get("checkedAt"),
        problems=counts.get("problems"),
        broken_links=counts.get("brokenLinks"),
    )
    if data.commit is None:
        return Answer("Nothing is published yet: no sync has finished.", data)
    published = f"published {data.synced_at} ({data.lag_seconds} s ago)"
    lines = [SHOWS_EVERYTHING] if manifest.everything else []
    lines += [f"{data.documents} documents at commit {data.commit}, {published}."]
    if data.last_run:
        looked = f"; it looked at {data.checked_at}" if data.checked_at else ""
        lines.append(f"The last run {data.last_run}{looked}.")
    if data.problems is not None:
        lines.append(f"Found {data.problems} problems, {data.broken_links or 0} of them broken links.")
    lines.append("Search answers." if data.status == "ok" else "Search does not answer now; documents do.")
    return Answer("\n".join(lines), data)
