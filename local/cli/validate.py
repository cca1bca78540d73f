"""Check the Markdown files of a folder."""

import json as jsonlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.documents.content.paths import DEFAULT_EXCLUDES, Exclusions
from commonplace.documents.content.validate import Finding, Report, validate_tree
from commonplace.repository.markdown import MAX_FILE_BYTES
from commonplace.repository.problems import Severity
from local.files import git, list_files, workspace_prefix
from local.terminal import annotation, commands, printable

app = commands()


@app.command()
def validate(
    path: Annotated[Path, typer.Argument(exists=True, help="A folder of Markdown, or one file of it.")] = Path(),
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    notes: Annotated[bool, typer.Option("--notes", help="List notes too, not only their number.")] = False,
    exclude: Annotated[
        list[str] | None, typer.Option("--exclude", help="Path pattern to leave out, instead of the usual ones.")
    ] = None,
) -> None:
    """Check Markdown before it is pushed: frontmatter, types, links, tags, attachments."""
    root, only = _root_of(path)
    exclusions = Exclusions(exclude or DEFAULT_EXCLUDES)
    report = validate_tree(list_files(root), lambda name: _read(root, name), exclusions)
    if only is not None:
        report = replace(report, findings=tuple(finding for finding in report.findings if finding.path == only))
    if json:
        typer.echo(jsonlib.dumps(_as_json(report), indent=2))
    elif github:
        prefix = workspace_prefix(root)
        for finding in report.of("error", "warning", "note"):
            typer.echo(_annotation(finding, prefix))
    else:
        _print_text(report, notes)
    failed = report.of("error", "warning") if strict else report.of("error")
    raise typer.Exit(1 if failed else 0)


def _root_of(path: Path) -> tuple[Path, str | None]:
    """The folder to read, and the one file to report on when a file was named."""
    if path.is_dir():
        return path, None
    top = git(["-C", str(path.parent), "rev-parse", "--show-toplevel"])
    root = Path(os.fsdecode(top.rstrip(b"\n"))) if top else path.parent
    return root, path.resolve().relative_to(root.resolve()).as_posix()


def _read(root: Path, name: str) -> bytes:
    with (root / name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def _as_json(report: Report) -> dict[str, Any]:
    """A summary, and findings in the order of the tree."""
    fields = ("line", "column", "severity", "code", "field", "message", "hint")
    return {
        "summary": {
            "published": dict(sorted(report.published.items())),
            "unpublished": report.unpublished,
            "unreadable": report.unreadable,
            "counts": [
                {"severity": severity, "code": code, "count": count} for severity, code, count in report.counts()
            ],
        },
        "findings": [
            {"path": finding.path} | {name: getattr(finding.problem, name) for name in fields}
            for finding in report.findings
        ],
    }


def _print_text(report: Report, notes: bool) -> None:
    shown: tuple[Severity, ...] = ("error", "warning", "note") if notes else ("error", "warning")
    for finding in report.of(*shown):
        problem = finding.problem
        place = f"{printable(finding.path)}:{problem.line or 1}:{problem.column or 1}"
        typer.echo(f"{place}: {problem.severity}: {_sentence(finding)}")
    if report.findings:
        typer.echo("")
    for severity, code, count in report.counts():
        typer.echo(f"{count:>6}  {severity:<8} {code}")
    total = sum(report.published.values())
    types = ", ".join(f"{count} {name}" for name, count in sorted(report.published.items()))
    typer.echo(f"{total} published ({types or 'nothing'}), {report.unpublished} not, {report.unreadable} unreadable")


def _annotation(finding: Finding, prefix: str) -> str:
    problem, file = finding.problem, prefix + finding.path
    return annotation(
        problem.severity, problem.code, _sentence(finding), file=file, line=problem.line or 1, col=problem.column
    )


def _sentence(finding: Finding) -> str:
    hint = f" ({finding.problem.hint})" if finding.problem.hint else ""
    return finding.problem.message + hint
