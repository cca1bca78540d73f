"""Entries out of files that a team already has, as YAML to look through."""

from collections import Counter
from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from commonplace.memory.entry_files import Parsed, combined, write
from commonplace.memory.lesson_words import CATEGORIES
from commonplace.memory.model import Role
from commonplace_local.cli.kb.files import read_text, relative
from commonplace_local.errors import CommandError
from commonplace_local.files import write_whole
from commonplace_local.memory import claude as rules
from commonplace_local.memory import lessons as stories
from commonplace_local.memory import templates as texts
from commonplace_local.memory.markdown import MAX_CHARACTERS
from commonplace_local.terminal import commands, counted

MARK = "# Made by `commonplace kb parse`; edited since if this is not the hash of the rest: "
KINDS = tuple(one.tags[0] for one in CATEGORIES)
BESIDE = {
    "field": ("field of a story", "fields of stories"),
    "told": ("part is only in a summary", "parts are only in a summary"),
    "nothing": ("part says “none”", "parts say “none”"),
}
DATA = {".yaml": "YAML", ".yml": "YAML", ".json": "JSON", ".jsonl": "JSON"}
"""Files that no parser here reads, by how their names end."""
MANY = {"summary": "summaries", "fact": "facts", "template": "templates"}

Files = Annotated[list[Path], typer.Argument(metavar="FILE...", help="Markdown files.", exists=True, dir_okay=False)]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Output file; default: stdout.")]

Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that was edited by hand.")]
Strict = Annotated[bool, typer.Option("--strict", help="Write nothing if a part is left out.")]
Parse = Callable[[str, str, tuple[Role, ...]], Parsed]

app = commands("Convert a team's Markdown files to entries, as YAML.")


class RoleName(StrEnum):
    """Typer knows no lists of literals."""

    PM = "pm"
    DEV = "dev"
    QA = "qa"
    ALL = "all"


Roles = Annotated[list[RoleName] | None, typer.Option("--role", help="Role of all entries; repeatable.")]


def _add(name: str, text: str, parse: Parse, usual: tuple[Role, ...]) -> None:
    """Add the command of one parser, whose entries are for the `usual` roles where none is given."""

    @app.command(name, help=text)
    def command(
        files: Files, *, output: Output = None, role: Roles = None, strict: Strict = False, force: Force = False
    ) -> None:
        roles: tuple[Role, ...] = tuple(dict.fromkeys(one.value for one in role or ()))
        _write(_parsed(files, parse, roles or usual, strict), output, force)


_add("lessons", "Convert each story to a summary, each lesson to a fact.", stories.parse, stories.ROLES)
_add("templates", "Convert each file to a template. Tags come from its path, roles from its kind.", texts.parse, ())
_add("claude", "Convert each rule to a fact. The headings above it become its tags.", rules.parse, rules.ROLES)


def _parsed(files: list[Path], parse: Parse, roles: tuple[Role, ...], strict: bool) -> list[Parsed]:
    """Return what is made of each file, and report it on standard error with each line that nothing was made of.

    Raises CommandError for such lines with `strict`.
    """
    parts = []
    for file in files:
        if file.suffix.casefold() in DATA:
            raise CommandError(
                f"{file} is {DATA[file.suffix.casefold()]}, and not Markdown.",
                "Entries of this project: commonplace kb seed --file. Of another tool: commonplace kb import --help.",
            )
        text = read_text(file)
        if len(text) > MAX_CHARACTERS:
            raise CommandError(f"{file} has more than {MAX_CHARACTERS:,} characters.", "Split it into several files.")
        found = parse(text, relative(file), roles)
        report(file, found)
        parts.append(found)
    if strict and (left := sum(len(one.unread) for one in parts)):
        hint = "Fix them, or omit --strict to continue without them."
        raise CommandError(
            f"{counted(left, 'place was', 'places were')} not read: see above. Nothing was written.", hint
        )
    return parts


def report(file: Path, found: Parsed) -> None:
    """Print counts, what was recognised, and each place that was not read."""
    kinds = {kind: sum(one.entry_type == kind for one in found.seeds) for kind in MANY}
    told = ", ".join(counted(count, kind, MANY[kind]) for kind, count in kinds.items() if count)
    lines = [f"{file}: {told or 'nothing'}"]
    facts = [one for one in found.seeds if one.entry_type == "fact"]
    tagged = Counter(next((kind for kind in KINDS if kind in one.tags), "other") for one in facts)
    if kinds["summary"]:
        loose = counted(sum(one.source_story is None for one in facts), "fact", "facts")
        lines.append(f"  {', '.join(f'{kind} {many}' for kind, many in tagged.most_common())}; {loose} of no story")
    begun = [one for one in found.read if one.kind in ("story", "template")]
    parts = begun or [one for one in found.read if one.kind in ("section", "group")]
    lines += [f"  line {one.line}: {one.what}" for one in parts]
    beside = Counter(one.kind for one in found.read if one.kind in BESIDE)
    lines += [f"  {counted(count, *BESIDE[kind])}" for kind, count in beside.items()]
    lines += [f"  {remark}" for remark in found.remarks]
    for reason, group in groupby(found.unread, attrgetter("reason")):
        lines.append(f"  line {_ranges([one.line for one in group])}: not read: {reason}")
    typer.echo("\n".join(lines), err=True)


def _ranges(lines: Sequence[int]) -> str:
    """Return `3, 5-7` for 3, 5, 6 and 7."""
    runs: list[list[int]] = []
    for line in dict.fromkeys(lines):
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _write(parts: Sequence[Parsed], output: Path | None, force: bool) -> None:
    seeds = combined(parts).seeds
    if not seeds:
        raise CommandError("No entries were found in it.", "Is this the right parser? See: commonplace kb parse --help")
    text = write([one.as_import() for one in seeds])
    if output is None:
        typer.echo(text, nl=False)
        return
    first, _, rest = read_text(output).partition("\n") if output.exists() and not force else ("", "", "")
    if (first or rest) and first != f"{MARK}{_hash(rest)}":
        hint = "Choose another -o to keep your changes, or use --force."
        raise CommandError(f"{output} exists and was edited since this command wrote it.", hint)
    write_whole(output, f"{MARK}{_hash(text)}\n{text}")
    typer.echo(f"{output}: {counted(len(seeds))}. Review it, then: commonplace kb seed --file {output}", err=True)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
