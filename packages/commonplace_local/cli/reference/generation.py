"""`commonplace reference generate`: entries made from API documents, consoles and programs."""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace.reference.model import SETTINGS_FILE
from commonplace.reference.source.bounds import MAX_FILE_BYTES
from commonplace.reference.source.drafts import SOURCES
from commonplace.reference.source.settings_file import read_settings, writable
from commonplace.repository.slugs import slug
from commonplace_local.cli.reference.programs import Tell, raw_of
from commonplace_local.errors import CommandError
from commonplace_local.extras import require
from commonplace_local.files import top_of, write_whole
from commonplace_local.terminal import AsJson, print_json

if TYPE_CHECKING:
    from commonplace_generators.generated import Generated, Unread

EXAMPLE = "generate: [{kind: openapi, source: sources/openapi.yaml, into: api.json}]"
MAX_SOURCE_BYTES = 40_000_000
SHOWN = 20
"""Parts that could not be read, of one item, unless all are wanted."""

State = Literal["written", "unchanged", "stale", "failed"]


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to generate: `source` is a path from the folder, or the program that a kind runs."""

    kind: str
    source: str
    into: str
    options: Mapping[str, Any] = field(default_factory=dict)
    anywhere: bool = False
    """True where the command line named the source: then it need not lie in the catalogue's repository."""


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of an item. A failed one wrote nothing."""

    item: Item
    state: State
    entries: int = 0
    added: int = 0
    changed: int = 0
    removed: int = 0
    unread: "tuple[Unread, ...]" = ()
    error: str | None = None
    hint: str | None = None

    @property
    def good(self) -> bool:
        return self.state in ("written", "unchanged") and not any(one.severity == "error" for one in self.unread)

    def facts(self) -> dict[str, Any]:
        """Return what `--json` prints of it."""
        facts = {"kind": self.item.kind, "source": self.item.source, "into": self.item.into}
        facts |= {one.name: getattr(self, one.name) for one in fields(self) if one.name not in ("item", "unread")}
        return {name: value for name, value in facts.items() if value is not None} | {
            "unread": [asdict(one) for one in self.unread]
        }


def generate(
    what: Annotated[str, typer.Argument(metavar="[FOLDER|KIND]", help="A catalogue's folder, or a generator.")] = ".",
    source: Annotated[str | None, typer.Argument(help="With a generator: the file, or the program.")] = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="With a generator: the JSON file.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="With a generator: NAME=VALUE; repeatable.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only what goes into this file; repeatable.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit code 1 if a file is stale.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit code 1 if a part could not be read.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List every part that could not be read.")] = False,
    as_json: AsJson = False,
) -> None:
    """Generate entries from the sources in catalogue.yaml, or from one: openapi, console, click, argparse,
    typer, help. The last four run the program."""
    if source:
        folder, items = _adhoc(what, source, output, option)
    else:
        folder = Path(what)
        found = items_of(folder)
        known = [one.into for one in found]
        if unknown := sorted(set(only or ()) - set(known)):
            raise CommandError(
                f"catalogue.yaml generates no {', '.join(unknown)}.", f"It generates: {', '.join(known)}."
            )
        items = [one for one in found if not only or one.into in only]
    done = generate_all(folder, items, check=check, tell=None if as_json else partial(tell_one, every=every))
    if as_json:
        print_json({"check": check, "items": [one.facts() for one in done]})
    if any(one.state == "stale" for one in done):
        typer.echo(f"Bring them up to date: commonplace reference generate {what}", err=True)
    if not all(one.good for one in done) or (strict and any(one.unread for one in done)):
        raise typer.Exit(1)


def generate_all(
    folder: Path, items: Iterable[Item], *, check: bool = False, tell: Callable[[Done], None] | None = None
) -> list[Done]:
    """Report each as soon as it is done. Whatever keeps one from being made, the others are.

    With `check` nothing is written: what would be is `stale`.
    """
    from commonplace_generators.plan import KINDS

    done: list[Done] = []
    for item in items:
        kind = KINDS.get(item.kind)
        runs = kind is not None and kind.runs and not item.source.endswith(".txt")
        how = {"help": " (runs it, to ask for its help)"}.get(item.kind, " (imports the program: its code runs)")
        typer.echo(f"{item.kind} {item.source}{how if runs else ''} …", err=True)
        try:
            done.append(_made(folder, item, check=check))
        except CommonplaceError as error:
            done.append(Done(item, "failed", error=error.message, hint=error.hint))
        except CommandError as error:
            done.append(Done(item, "failed", error=error.message, hint=error.hint or None))
        if tell:
            tell(done[-1])
    return done


def _adhoc(kind: str, source: str, output: Path | None, option: list[str] | None) -> tuple[Path, Sequence[Item]]:
    from commonplace_generators.plan import kind_of

    runs = kind_of(kind).runs
    if output is None:
        raise CommandError("No output file is given.", "Give a JSON file with -o.")
    name = source if runs else str(Path(source).resolve())
    options: dict[str, Any] = {}
    for text in option or []:
        key, sign, value = text.partition("=")
        if not key or not sign:
            raise CommandError(f"“{text}” is not an option.", "Write --option NAME=VALUE.")
        try:
            options[key.strip()] = json.loads(value)  # so that lists and numbers can be given
        except ValueError:
            options[key.strip()] = value
    return output.parent, [Item(kind, name, output.name, options, anywhere=True)]


def tell_one(done: Done, *, every: bool = False) -> None:
    item = done.item
    if done.state == "failed":
        typer.echo(f"{item.into}: failed. {done.error}", err=True)
        if done.hint:
            typer.echo(f"  {done.hint}", err=True)
        return
    counts = f"{done.added:,} new, {done.changed:,} changed, {done.removed:,} removed"
    said = {"written": f"written ({counts})", "unchanged": "unchanged", "stale": f"stale ({counts})"}[done.state]
    typer.echo(f"{item.into}: {done.entries:,} entries from {item.source}, {said}.")
    unread = sorted(done.unread, key=lambda one: one.severity)
    shown = unread if every else unread[:SHOWN]
    hints: set[str | None] = {None}
    for one in shown:
        said = "error" if one.severity == "error" else "not read"
        typer.echo(f"  {said}: {one.where}: {one.what}" + (f" {one.hint}" if one.hint not in hints else ""), err=True)
        hints |= {one.hint}
    if len(shown) < len(done.unread):
        typer.echo(f"  and {len(done.unread) - len(shown):,} more; --all lists them.", err=True)


def items_of(folder: Path) -> list[Item]:
    """Return the items of the folder's catalogue.yaml. Raises CommandError."""
    if not folder.is_dir():
        raise CommandError(f"There is no folder {folder}.", "Give a catalogue's folder, or KIND and SOURCE.")
    file = folder / SETTINGS_FILE
    try:
        raw = file.read_bytes() if file.is_file() else None
    except OSError as error:
        raise CommandError(f"{file} cannot be read: {error.strerror}.", "Check the file.") from error
    settings, problems = read_settings(raw, folder.resolve().name)
    broken = next((one for one in problems if one.severity == "error"), None)
    if broken:
        line = f", line {broken.line}" if broken.line else ""
        raise CommandError(f"{file}{line}: {broken.message}", broken.hint or "")
    if not settings.generate:
        raise CommandError(f"{file} generates nothing.", "List what to generate: " + EXAMPLE)
    # Ids of the first item of its type are short, those of a later one begin with its file's name: `cmd-git-add`.
    taken: set[str] = set()
    items = []
    for one in settings.generate:
        path, first = PurePosixPath(one.into).with_suffix(""), "api" if one.kind == "openapi" else "cmd"
        prefixes = (first, f"{first}-{slug(path.stem)}", f"{first}-{slug(str(path))}")
        options = {"id_prefix": next((it for it in prefixes if it not in taken), first), **one.options}
        taken.add(str(options["id_prefix"]))
        items.append(Item(one.kind, one.source, one.into, options))
    return items


def _made(folder: Path, item: Item, *, check: bool) -> Done:
    from commonplace_generators import catalogue_file

    into = target(folder, item.into)
    from rich.console import Console

    # Asking a program for two hundred pages takes a minute. Nothing of it is written where nobody looks on.
    with Console(stderr=True).status("") as status:
        made = generated(folder, item, status.update)
    before = into.read_bytes() if into.is_file() else None
    counts = catalogue_file.changes(made.entries, before)
    if not catalogue_file.stale(made.entries, before):
        return Done(item, "unchanged", len(made.entries), *counts, made.unread)
    if check:
        return Done(item, "stale", len(made.entries), *counts, made.unread)
    raw = catalogue_file.written(catalogue_file.dated(made.entries, before, today(os.environ)))
    if len(raw) > MAX_FILE_BYTES:
        hint = "Select fewer tags for one file: several items of `generate` may read one source."
        raise CommandError(f"{item.into} would be larger than {MAX_FILE_BYTES:,} bytes.", hint)
    write_whole(into, raw.decode())
    return Done(item, "written", len(made.entries), *counts, made.unread)


def generated(folder: Path, item: Item, tell: Tell = lambda _: None) -> "Generated":
    """Raises CommonplaceError and CommandError."""
    from commonplace_generators.openapi.documents import files_of
    from commonplace_generators.plan import generate, kind_of

    if item.kind == "console":
        require("reference", "The generator of consoles")
    if kind_of(item.kind).runs:
        raw = raw_of(item.kind, item.source, folder=folder, options=item.options, tell=tell)
    else:
        raw = source_bytes(folder, item)
    file, sources = folder / item.source, folder / SOURCES
    read = files_of(file.parent, sources if file.is_relative_to(sources) else None)
    return generate(item.kind, raw, source=name_of(item.source), options=item.options, read=read)


def name_of(source: str) -> str:
    """Return the source as entries name it: without its folder, which differs from machine to machine."""
    return PurePosixPath(source).name if "/" in source and " " not in source else source


def source_bytes(folder: Path, item: Item) -> bytes:
    """A file of the folder, or of the repository that the folder is in. Raises CommandError."""
    source, file = item.source, (folder / item.source).resolve()
    top = top_of(folder.resolve())
    if "://" in source or not (item.anywhere or file.is_relative_to(top)):
        raise CommandError(f"{source} is not in {top.name}/.", "A source is a file of the catalogue or its repository.")
    try:
        with file.open("rb") as opened:
            raw = opened.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{source} cannot be read: {error.strerror}.", "Check `source:`.") from error
    if len(raw) > MAX_SOURCE_BYTES:
        raise CommandError(f"{source} is larger than {MAX_SOURCE_BYTES:,} bytes.", "Split it into several documents.")
    return raw


def target(folder: Path, into: str) -> Path:
    """Return the file of an item: a JSON file that the catalogue reads. Raises CommandError."""
    file = (folder / into).resolve()
    if not writable(into) or not file.is_relative_to(folder.resolve()):
        raise CommandError(f"The catalogue does not read {into}.", "`into:` is a path in it, such as api.json.")
    return file


def today(environ: Mapping[str, str]) -> str:
    """Return the date of new entries: SOURCE_DATE_EPOCH if a build sets it, else today. Raises CommandError."""
    told = environ.get("SOURCE_DATE_EPOCH", "").strip()
    if told and not (told.isascii() and told.isdigit() and len(told) <= 11):
        raise CommandError("SOURCE_DATE_EPOCH is not a number of seconds.", "Unset it, or give seconds since 1970.")
    moment = datetime.fromtimestamp(int(told), UTC) if told else datetime.now(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ" if told else "%Y-%m-%dT00:00:00Z")
