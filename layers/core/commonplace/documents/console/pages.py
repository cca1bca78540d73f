"""The console's pages for editors: what the sync has done, what there is to mend, and why a page is not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.composition import deferred_search
from commonplace.documents.content.document import MANIFEST_KEY, Manifest
from commonplace.documents.content.findings import Findings
from commonplace.documents.content.judgement import Judgement, judge_address
from commonplace.documents.content.library import Library
from commonplace.documents.settings import ConsoleSettings
from commonplace.documents.sync.keys import HISTORY_KEY, SUMMARY_KEY, report_key
from commonplace.documents.sync.report import History, Report, Summary
from commonplace.identity.authorization import Need
from commonplace.kernel.errors import NotFound
from commonplace.kernel.objects import ObjectReader
from commonplace.search.model import Explanation, RecordId, SearchRequest, SearchResults, Verdict
from commonplace.web.pages.declaration import Action, ConsolePage, ConsolePages, Done, View, Visit
from commonplace.web.pages.frame import PageContext

EDITOR = Need("member", "knowledge:write")
"""Paths of files that are not published are for people who may propose pages."""

LISTED = 50  # Findings of one kind, or paths of one reason, that a page has; the page of that kind has them all
SHOWN = 10  # Results of a search that is explained: as many as a reader sees at first
STARTED, QUEUED = "started", "queued"
MESSAGES = {
    STARTED: "A run has started. Reload this page in a few seconds.",
    QUEUED: "A run is in progress, and will check again before it ends. Reload this page in a few seconds.",
}
VERDICTS: dict[Verdict, str] = {
    "shown": "It is found.",
    "collapsed": "It is found, grouped under a near duplicate.",
    "below-limit": "It is found, further down.",
    "below-candidates": "It matches, but too many others match better.",
    "not-matched": "It does not match the query.",
    "filtered-out": "A filter excludes it.",
    "not-indexed": "It is published, but not indexed yet.",
    "not-published": "It is not published.",
}

Ask = Callable[[], dict[str, Any]]


def pages(context: PageContext) -> ConsolePages:
    """As the capability declares them."""
    settings = ConsoleSettings.from_environ(context.environ)

    def ask() -> dict[str, Any]:
        from commonplace.kernel import aws
        from commonplace.repository.run_request import request_run

        return request_run(aws.lambda_functions(), settings.webhook_function, only="")

    addresses = DocumentAddresses(context.settings.document_url, context.frame.base_url)
    search = deferred_search(context.settings, context.objects, Library(context.objects))
    return editors_pages(Editors(context.objects, ask, addresses, search.search))


def editors_pages(editors: Editors) -> ConsolePages:
    return ConsolePages(
        pages=[
            ConsolePage(
                path="sync",
                title="Sync",
                show=editors.show_sync,
                need=EDITOR,
                actions={"run": Action(editors.run_again)},
                messages=MESSAGES,
            ),
            ConsolePage(path="why", title="Why is it not there?", show=editors.show_why, need=EDITOR),
        ],
        templates=Path(__file__).parent / "templates",
    )


@dataclass(frozen=True, slots=True)
class Last:
    """What the last sync has left."""

    summary: Summary
    history: History
    manifest: Manifest | None
    report: Report | None  # Of the commit that is served; None before the first, or when it has expired

    @property
    def findings(self) -> Findings | None:
        return self.report.judged(self.manifest) if self.report else None


@dataclass(frozen=True, slots=True)
class Editors:
    objects: ObjectReader
    ask: Ask  # Asks for a run
    addresses: DocumentAddresses
    search: Callable[[SearchRequest], SearchResults]

    async def show_sync(self, visit: Visit) -> View:
        last = await run_in_threadpool(self._last)
        kind, reason = (visit.request.query_params.get(name, "") for name in ("kind", "reason"))
        findings = last.findings
        groups = [one for one in findings.groups() if kind in ("", one.code)] if findings else []
        skipped: dict[str, list[str]] = {}
        for path, skip in findings.skipped.items() if findings else ():
            if reason in ("", skip.reason):
                skipped.setdefault(skip.reason, []).append(path)
        return View(
            "sync.html",
            {
                "last": last,
                "tally": findings.tally if findings else None,
                "problems": [one for one in groups if one.severity != "hint"],
                "hints": [one for one in groups if one.severity == "hint"],
                "skipped": sorted(skipped.items(), key=lambda pair: (-len(pair[1]), pair[0])),
                "most": None if kind or reason else LISTED,
                "chosen": kind or reason,
            },
        )

    async def run_again(self, visit: Visit) -> Done:  # noqa: ARG002 - an action's shape
        told = await run_in_threadpool(self.ask)
        return Done(QUEUED if told.get("status") in ("queued", "duplicate") else STARTED)

    async def show_why(self, visit: Visit) -> View:
        asked = visit.request.query_params.get("q", "").strip()
        last = await run_in_threadpool(self._last)
        findings = last.findings
        judgements: Sequence[Judgement] = ()
        unknown: NotFound | None = None
        if asked and findings:
            try:
                judgements = judge_address(findings, asked)
            except NotFound as error:
                unknown = error
        by_path = last.manifest.by_path if last.manifest else {}
        told = [(one, self.addresses.of(by_path[one.path]) if one.path in by_path else None) for one in judgements]
        words = visit.request.query_params.get("search", "").strip()
        expected = next((one.ref for one in judgements if one.ref), None)
        trace: Explanation | None = None
        if words and expected:
            # The search as readers have it.
            request = SearchRequest(words, limit=SHOWN, explain=True, expect=RecordId(expected))
            trace = (await run_in_threadpool(self.search, request)).explanation
        values = {"asked": asked, "judgements": told, "unknown": unknown, "last": last}
        return View("why.html", {**values, "words": words, "trace": trace, "expected": expected, "verdicts": VERDICTS})

    def _last(self) -> Last:
        summary, history, manifest = (self.objects.get(key) for key in (SUMMARY_KEY, HISTORY_KEY, MANIFEST_KEY))
        served = Manifest.model_validate_json(manifest.body) if manifest else None
        report = self.objects.get(report_key(served.commit_sha)) if served else None
        return Last(
            summary=Summary.model_validate_json(summary.body) if summary else Summary(status="succeeded"),
            history=History.model_validate_json(history.body) if history else History(),
            manifest=served,
            report=Report.model_validate_json(report.body) if report else None,
        )
