"""`commonplace validate PATH`: what is wrong in a folder of Markdown, where, and how to mend it."""

import json as jsonlib
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from commonplace.content.exclusions import DEFAULT_EXCLUDES, Exclusions
from commonplace.content.problems import Severity
from commonplace.content.reading import MAX_FILE_BYTES
from commonplace.content.validate import Finding, Report, validate_tree

_ANNOTATIONS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def validate_command(
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
        typer.echo(jsonlib.dumps(as_json(report), indent=2))
    elif github:
        _print_annotations(report, _workspace_prefix(root))
    else:
        _print_text(report, notes)
    failed = report.of("error", "warning") if strict else report.of("error")
    raise typer.Exit(1 if failed else 0)


def list_files(root: Path) -> list[str]:
    """Paths below the folder, `/` between segments, exactly as Git (or the disk) spells them.

    In a Git work tree: tracked files and new ones that are not ignored. Symbolic links are no content.
    """
    names = _git_files(root)
    if names is None:
        names = list(_walk(root))
    return [name for name in names if (root / name).is_file() and not (root / name).is_symlink()]


def _git_files(root: Path) -> list[str] | None:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    listed = _git(command)
    # An ignored folder inside a work tree lists nothing; what was asked for is still there to be read.
    return [os.fsdecode(name) for name in listed.split(b"\0") if name] if listed else None


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(files):
            yield (Path(folder) / name).relative_to(root).as_posix()


def _root_of(path: Path) -> tuple[Path, str | None]:
    """The folder to read, and the one file to report on when a file was named."""
    if path.is_dir():
        return path, None
    top = _git(["git", "-C", str(path.parent), "rev-parse", "--show-toplevel"])
    root = Path(os.fsdecode(top.rstrip(b"\n"))) if top else path.parent
    return root, path.resolve().relative_to(root.resolve()).as_posix()


def _workspace_prefix(root: Path) -> str:
    """Path of the folder inside its repository: GitHub wants annotations to name files from there."""
    prefix = _git(["git", "-C", str(root), "rev-parse", "--show-prefix"])
    return os.fsdecode(prefix.rstrip(b"\n")) if prefix else ""


def _git(command: list[str]) -> bytes | None:
    """What Git prints, or None: no Git, no repository."""
    try:
        return subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError):
        return None


def _read(root: Path, name: str) -> bytes:
    with (root / name).open("rb") as file:
        return file.read(MAX_FILE_BYTES + 1)


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain JSON: a summary, and findings in the order of the tree."""
    return {
        "summary": {
            "published": dict(sorted(report.published.items())),
            "unpublished": report.unpublished,
            "unreadable": report.unreadable,
            "counts": [
                {"severity": severity, "code": code, "count": count} for severity, code, count in report.counts()
            ],
        },
        "findings": [_finding_json(finding) for finding in report.findings],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    problem = finding.problem
    return {
        "path": finding.path,
        "line": problem.line,
        "column": problem.column,
        "severity": problem.severity,
        "code": problem.code,
        "field": problem.field,
        "message": problem.message,
        "hint": problem.hint,
    }


def _print_text(report: Report, notes: bool) -> None:
    shown: tuple[Severity, ...] = ("error", "warning", "note") if notes else ("error", "warning")
    for finding in report.of(*shown):
        problem = finding.problem
        place = f"{_printable(finding.path)}:{problem.line or 1}:{problem.column or 1}"
        typer.echo(f"{place}: {problem.severity}: {_sentence(finding)}")
    if report.findings:
        typer.echo("")
    for severity, code, count in report.counts():
        typer.echo(f"{count:>6}  {severity:<8} {code}")
    total = sum(report.published.values())
    types = ", ".join(f"{count} {name}" for name, count in sorted(report.published.items()))
    typer.echo(f"{total} published ({types or 'nothing'}), {report.unpublished} not, {report.unreadable} unreadable")


def _print_annotations(report: Report, prefix: str) -> None:
    for finding in report.of("error", "warning", "note"):
        problem = finding.problem
        properties = {
            "file": _printable(prefix + finding.path),
            "line": problem.line or 1,
            "col": problem.column,
            "title": problem.code,
        }
        listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items() if value is not None)
        typer.echo(f"::{_ANNOTATIONS[problem.severity]} {listed}::{_data(_sentence(finding))}")


def _sentence(finding: Finding) -> str:
    hint = f" ({finding.problem.hint})" if finding.problem.hint else ""
    return finding.problem.message + hint


def _printable(path: str) -> str:
    """The path with bytes that are no UTF-8 and control characters written out, so that one finding is one line."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _data(text: str) -> str:
    """Escapes a message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Escapes a property of a workflow command, where `:` and `,` mean something too."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
