"""Check the Markdown files of a folder."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from commonplace.documents.content.judgement import judge_path
from commonplace_local.files import workspace_prefix
from commonplace_local.findings import finding_lines, findings_facts, judgement_lines, sentence, summary_lines
from commonplace_local.knowledge_folder import NOTHING_TO_READ, read_folder
from commonplace_local.terminal import annotation, commands

app = commands()

Root = Annotated[
    Path | None, typer.Option(help="Top folder of the knowledge base; default: the repository that the path is in.")
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", help="Path pattern to exclude, instead of the defaults.")
]


@app.command()
def validate(
    path: Annotated[Path, typer.Argument(exists=True, help="A folder of Markdown, or one file of it.")] = Path(),
    *,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    github: Annotated[bool, typer.Option("--github", help="Print annotations for a GitHub workflow.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail on warnings too.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List every finding, not only examples of many.")] = False,
    root: Root = None,
    exclude: Exclude = None,
) -> None:
    """Check Markdown before it is pushed: publishing, frontmatter, types, links, tags, attachments."""
    folder = read_folder(path, exclude, root)
    report = folder.findings.below(folder.only)
    judgement = judge_path(folder.findings, folder.only, *folder.facts(folder.only)) if path.is_file() else None
    if json:
        typer.echo(jsonlib.dumps(findings_facts(report), indent=2))
    elif github:
        prefix = workspace_prefix(folder.root)
        for finding in report.of("error", "warning", "hint"):
            problem, file = finding.problem, prefix + finding.path
            text, at = sentence(problem), problem.line or 1
            typer.echo(annotation(problem.severity, problem.code, text, file=file, line=at, col=problem.column))
    elif judgement:
        for line in judgement_lines(judgement):
            typer.echo(line)
    else:
        for line in (*finding_lines(report, every=every), *summary_lines(report)):
            typer.echo(line)
        if not folder.markdown:
            typer.echo(NOTHING_TO_READ.format(path))
    failed = report.of("error", "warning") if strict else report.of("error")
    raise typer.Exit(1 if failed or (judgement and not judgement.published) else 0)
