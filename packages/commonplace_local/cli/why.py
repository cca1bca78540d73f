"""Explain why a page is published or not."""

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from commonplace.documents.content.judgement import is_path, judge_address, judge_path, paths_of, unknown
from commonplace.kernel.errors import NotFound
from commonplace_local.cli.validate import Exclude, Root
from commonplace_local.errors import CommandError
from commonplace_local.findings import judgement_facts, judgement_lines
from commonplace_local.knowledge_folder import read_folder
from commonplace_local.options import Target, grouped
from commonplace_local.terminal import AsJson, commands

WITH_EVERYTHING = "  It is shown by `commonplace dev --everything`, on this machine alone."

app = commands()


@app.command()
@grouped
def why(
    what: Annotated[str, typer.Argument(help="A file, or an address of it: of the site, of the API, of GitHub.")],
    *,
    root: Root = None,
    exclude: Exclude = None,
    target: Target,
    as_json: AsJson = False,
) -> None:
    """Explain whether a file is published; if not, show the line, what it contains, and the fix.

    The file on this machine is judged, as it is now. With --data, --outputs or --stage it is the last sync of that
    deployment, from its report. Exit code 1 if the file is not published.
    """
    shown: list[str] = []
    try:
        if target.data or target.outputs or target.stage:
            from commonplace_local.reports import last_findings

            judgements = judge_address(last_findings(target.find()), what)
        else:
            path = Path(what)
            if path.is_dir():
                hint = f"Name a file, or check all of them: commonplace validate {what}"
                raise CommandError(f"{what} is a folder.", hint)
            there = path.is_file() or path.is_symlink()
            folder = read_folder(path if there else root or Path(), exclude, root)
            if there:
                paths = [folder.only]
            elif what in folder.paths:
                paths = [what]
            elif is_path(what):
                raise unknown(what, what, folder.paths)
            else:
                paths = paths_of(folder.findings, what, folder.paths)
            judgements = [judge_path(folder.findings, one, *folder.facts(one)) for one in paths]
            shown = [one.path for one in judgements if not one.published and folder.shown_with_everything(one.path)]
    except NotFound as error:
        raise CommandError(f"{error}.", error.hint or "") from error
    if as_json:
        typer.echo(jsonlib.dumps([judgement_facts(one) for one in judgements], indent=2))
    else:
        for one in judgements:
            typer.echo("\n".join([*judgement_lines(one), *([WITH_EVERYTHING] if one.path in shown else [])]))
    raise typer.Exit(0 if all(one.published for one in judgements) else 1)
