"""Output of `commonplace dev`: steps, progress, the checked outcome of a sync, tables at the end.

Plain lines where the output is no terminal.
"""

import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import quote

from rich.console import Console
from rich.table import Table

from commonplace.documents.content.document import SHOWS_EVERYTHING, Manifest
from commonplace.documents.sync.report import Report, SkippedFile
from commonplace.reference.sync.plan import CatalogueReport
from commonplace_local.dev.laptop import Laptop, Progress
from commonplace_local.dev.source import Source, has_commits
from commonplace_local.findings import EXAMPLES, finding_lines, sentence, tally_line
from commonplace_local.knowledge_folder import SAMPLE
from commonplace_local.reports import catalogue_line, failure_of, problem_line
from commonplace_local.terminal import counted, printable

ADD_A_PAGE = "add a Markdown file with `publish: true` in its frontmatter"
PLAIN_WIDTH = 120
PLAIN_INTERVAL_SECONDS = 2.0
PATHS_SHOWN = 1000
PROBLEMS_SHOWN = 20
NO_TEXT = ("invalid-utf8", "too-large", "unreadable")
SILENT = ("no-frontmatter", "no-publish", "empty-file")
"""Codes of errors that are not of frontmatter, and of files that say nothing about publishing."""
MALFORMED = ("has malformed frontmatter", "have malformed frontmatter")
NO_PUBLISH = ("has no `publish: true`", "have no `publish: true`")
NOT_TRUE = ("says something else than `publish: true`", "say something else than `publish: true`")
SAYS_NO = ("says `publish: false`", "say `publish: false`")
SAYS_PRIVATE = ("says that it is private", "say that they are private")
WHY = {
    "empty file": ("is empty", "are empty"),
    "draft": ("is a draft", "are drafts"),
}
"""Reasons of the publish gate behind a number of files: one, many."""
LEFT_OUT = ("is in an excluded folder", "are in excluded folders")
SUFFIX = ("does not end in `.md`", "do not end in `.md`")
TOO_LARGE = ("is over 5 MB", "are over 5 MB")


@dataclass(frozen=True, slots=True)
class Outcome:
    manifest: Manifest | None
    report: Report | None
    faults: tuple[str, ...]
    """Why the work is not done; empty when it is."""
    catalogues: tuple[tuple[str, CatalogueReport | None], ...] = ()
    """Each by its name, and what its last run came to."""

    @property
    def by_type(self) -> list[tuple[str, int]]:
        """Most frequent first."""
        types = Counter(entry.content_type for entry in self.manifest.documents) if self.manifest else Counter()
        return sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))

    files: tuple[str, ...] = ()
    """Paths of the branch's head."""
    large: tuple[str, ...] = ()
    """Paths of a folder without Git that are too large to be served."""
    why: str = ""
    """The command that says more of a file."""
    place: str = ""
    """What `dev` was called with."""

    @property
    def everything(self) -> bool:
        return self.manifest is not None and self.manifest.everything

    @property
    def not_shown(self) -> list[SkippedFile]:
        """Files that would be shown, were it not for what they say or how they say it."""
        content = self.report.judged().exclusions.is_content if self.report else None
        skipped = self.report.skipped if self.report else ()
        return [one for one in skipped if content and content(one.path) and not one.kept_last_good]

    @property
    def shown(self) -> str:
        """The number of Markdown files that are served, and why the others are not."""
        if self.report is None:
            return "Shows nothing"
        exclusions = self.report.judged().exclusions
        reasons = Counter(_why(one, everything=self.everything) for one in self.not_shown)
        for path in filter(exclusions.is_misplaced, self.files):
            reasons[LEFT_OUT if exclusions.by(path) else SUFFIX] += 1
        reasons[TOO_LARGE] += sum(map(exclusions.is_content, self.large))
        told = ", ".join(f"{count:,} {why[count > 1]}" for why, count in reasons.most_common() if count)
        shown = self.report.counts.documents
        silent = [one for one in self.not_shown if _is_malformed(one) or _says_nothing(one)]
        if silent and silent == self.not_shown and not shown and not self.everything:
            told = "none says `publish: true`" if (+reasons).keys() == {NO_PUBLISH} else told
            offer = f"To read all of them here: commonplace dev {shlex.quote(self.place)} --everything"
            return f"Shows 0 of {counted(reasons.total(), 'file', 'files')}: {told}. {offer}"
        of = f"Shows {shown:,} of {counted(shown + reasons.total(), 'file', 'files')}"
        return f"{of}: {told}; `{self.why}` says more" if told else of

    def shown_lines(self, *, files: bool) -> Iterator[str]:
        """Yield that, and with --everything, why each of the other `files` is not, unless a finding says it."""
        yield self.shown
        if self.everything:
            yield SHOWS_EVERYTHING
            apart = [one for one in self.not_shown if one.problem is None or one.problem.severity == "hint"]
            for one in apart[:PROBLEMS_SHOWN] if files else ():
                told = sentence(one.problem) if one.problem and one.problem.code not in SILENT else ""
                yield f"  {printable(one.path)}: {told or _why(one, everything=True)[0]}"


def judge(laptop: Laptop) -> Outcome:
    """Compares head, store and index. Call it when the laptop is idle."""
    manifest = laptop.manifest()
    catalogues = tuple((one.name, laptop.catalogue_report(one.name)) for one in laptop.catalogues)
    faults = [*_faults(laptop, manifest), *_catalogue_faults(laptop, dict(catalogues))]
    head, large = laptop.workspace.head, laptop.workspace.large
    files = tuple(one.path for one in laptop.api.repository.tree(head, recursive=True)) if head else ()
    plain = laptop.source.git_dir is None and laptop.source.folder != SAMPLE
    place = laptop.source.origin or str(laptop.source.folder)
    why = "commonplace why FILE" + (f" --root {shlex.quote(place)}" if plain else "")
    why = "commonplace sync report" if laptop.source.origin else why
    return Outcome(manifest, laptop.report(), tuple(faults), catalogues, files, large, why, place)


def _faults(laptop: Laptop, manifest: Manifest | None) -> list[str]:
    if laptop.workspace.is_empty:
        return [f"{nothing_there(laptop.source)}: {ADD_A_PAGE}"]
    summary = laptop.summary()
    if summary is None or manifest is None:
        return ["No run has finished." if summary is None else f"The run failed: {failure_of(laptop.store, summary)}."]
    faults = []
    if summary.status == "failed":
        faults.append(f"The last run failed: {failure_of(laptop.store, summary)}.")
    if manifest.commit_sha != laptop.workspace.head:
        faults.append(f"The store is at commit {manifest.commit_sha[:12]}, the branch is not.")
    if manifest.pending:
        faults.append(f"{manifest.pending} files could not be fetched.")
    indexed = laptop.indexed()
    missing = sum(indexed.get(entry.ref, -1) < entry.generation for entry in manifest.documents)
    extra = len(indexed.keys() - manifest.by_ref.keys())
    if missing:
        faults.append(f"{missing} documents are not searchable.")
    if extra:
        faults.append(f"{extra} documents are searchable and not published.")
    return faults


def nothing_there(source: Source) -> str:
    commits = source.git_dir is not None and source.revision == "HEAD" and not has_commits(source.folder)
    return f"{source.folder} contains no files" + (", and the repository has no commits yet" if commits else "")


def _catalogue_faults(laptop: Laptop, reports: Mapping[str, CatalogueReport | None]) -> Iterator[str]:
    """Errors themselves are shown beside the catalogue (`Screen.outcome`)."""
    heads = {one.source.name: one.workspace.head for one in laptop.repositories}
    indexed = laptop.indexed("reference") if laptop.catalogues else {}
    for one in laptop.catalogues:
        report = reports[one.name]
        if report is None:
            yield f"No run of the catalogue {one.name} has finished."
        elif report.status == "refused":
            yield f"The catalogue {one.name} is refused: {counted(len(report.errors), 'error', 'errors')}."
        elif report.status != "published":
            yield f"The catalogue {one.name} is not at the head of its branch: {catalogue_line(one.name, report)}"
        elif report.commit_sha != heads[one.source.name]:
            yield f"The catalogue {one.name} is at commit {(report.commit_sha or '-')[:12]}, the branch is not."
        manifest = laptop.catalogue_manifest(one.name)
        versions = manifest.versions if manifest else {}
        missing = sum(indexed.get(f"{one.name}/{id}", -1) < version for id, version in versions.items())
        extra = sum(key.startswith(f"{one.name}/") and key.partition("/")[2] not in versions for key in indexed)
        if missing or extra:
            yield f"The index of the catalogue {one.name} lacks {missing} entries, and has {extra} that are gone."


def _why(one: SkippedFile, *, everything: bool) -> tuple[str, str]:
    """Return the reason behind a number of files: of one, of many."""
    code = one.problem.code if one.problem else ""
    if _is_malformed(one) or code == "unreadable-and-private":
        return MALFORMED
    if one.reason in WHY:
        return WHY[one.reason]
    if code in SILENT:
        return SAYS_PRIVATE if everything else NO_PUBLISH
    if code.startswith(("publish-", "frontmatter-")):
        return SAYS_NO if code == "publish-false" else NOT_TRUE
    return (f"skipped: {one.reason}",) * 2


def _is_malformed(one: SkippedFile) -> bool:
    return one.problem is not None and one.problem.severity == "error" and one.problem.code not in NO_TEXT


def _says_nothing(one: SkippedFile) -> bool:
    return one.reason != "draft" and one.problem is not None and one.problem.code in SILENT


Teller = Callable[[Progress], None]


class Screen:
    """Writes to the terminal, or line by line to a file or pipe."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False)
        if not self._console.is_terminal:
            self._console.width = PLAIN_WIDTH

    def say(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)

    @contextmanager
    def working(self, what: str) -> Iterator[Teller]:
        """Shows counts while something runs."""
        if not self._console.is_terminal:
            self.say(f"{what} ...")
            reported: Progress | None = None
            last = time.monotonic()

            def tell(progress: Progress) -> None:
                nonlocal last, reported
                if time.monotonic() - last >= PLAIN_INTERVAL_SECONDS and progress != reported:
                    last, reported = time.monotonic(), progress
                    self.say(f"  {_counts(progress)}")

            yield tell
            return
        with self._console.status(what) as status:
            yield lambda progress: status.update(f"{what}: {_counts(progress)}")

    def outcome(self, outcome: Outcome, *, verbose: bool) -> None:
        """Documents by type, what to mend, how many files are shown and why not all."""
        table = Table(title="Documents", title_justify="left", box=None, pad_edge=False, header_style="dim")
        table.add_column("type", no_wrap=True)
        table.add_column("documents", justify="right")
        for label, count in outcome.by_type:
            table.add_row(label, str(count))
        table.add_row("total", str(sum(count for _, count in outcome.by_type)), style="bold")
        self._console.print(table)
        if outcome.large:
            names = ", ".join(map(printable, outcome.large[:EXAMPLES]))
            self.say(f"Over 5 MB and never served: {counted(len(outcome.large), 'file', 'files')} ({names})")
        if outcome.report:
            counts = outcome.report.counts
            for line in finding_lines(outcome.report.judged(), every=verbose):
                self.say(line)
            for line in outcome.shown_lines(files=not verbose):
                self.say(line)
            documents = counted(counts.documents, "document", "documents")
            self.say(f"{documents}, {counted(counts.attachments, 'attachment', 'attachments')}")
            self.say(tally_line(outcome.report.tally))
        if verbose and outcome.report:
            skipped = outcome.report.skipped
            for item in skipped[:PATHS_SHOWN]:
                where = f":{item.problem.line}" if item.problem and item.problem.line else ""
                self.say(f"  {printable(item.path)}{where}  {item.problem.message if item.problem else item.reason}")
            if len(skipped) > PATHS_SHOWN:
                self.say(f"  ... and {len(skipped) - PATHS_SHOWN} more: commonplace sync report --all")
        for name, report in outcome.catalogues:
            for line in catalogue_lines(name, report, verbose=verbose):
                self.say(line)
        for fault in outcome.faults:
            self.say(f"Error: {fault}")

    def addresses(self, laptop: Laptop, outcome: Outcome) -> None:
        """Print where to look and where agents connect, as lines to copy."""
        url, mcp_url = laptop.url, laptop.mcp_url
        title = outcome.manifest.documents[0].title if outcome.manifest and outcome.manifest.documents else "hello"
        self.say(f"Site: {url}/")
        self.say(f"Chat: {url}/console/chat (as Ada, or as Vi, who may propose)")
        self.say(f"API: {url}/docs, for example:")
        for path in ("/health", "/api/v1/entries?limit=3", f"/api/v1/search?q={quote(title)}", "/llms.txt"):
            self.say(f"  curl -s {shlex.quote(url + path)}")
        self.say(f"MCP: {mcp_url}; clients: commonplace connect --url {url}")
        if laptop.catalogues:
            self.say(f"Product reference: {mcp_url}/reference, from")
        for one in laptop.catalogues:
            self.say(f"  {one.name}: {printable(str(one.source.folder / one.folder))}")


def catalogue_lines(name: str, report: CatalogueReport | None, *, verbose: bool = False) -> Iterator[str]:
    """Yield what was read of a catalogue, with its errors; its warnings only where `verbose`."""
    yield catalogue_line(name, report)
    problems = (report.problems if verbose else report.errors) if report else []
    for problem in problems[:PROBLEMS_SHOWN]:
        yield f"  {problem_line(problem)}"
    if len(problems) > PROBLEMS_SHOWN:
        yield f"  ... and {len(problems) - PROBLEMS_SHOWN} more: commonplace sync report --source {name}"


def _counts(progress: Progress) -> str:
    indexed = max(0, progress.stored - progress.waiting)
    embedding = f", embedding {progress.embedded:,} of {progress.passages:,} passages"
    return f"{progress.stored} stored, {indexed} indexed" + (embedding if progress.passages > progress.embedded else "")
