"""`commonplace reference init`: a catalogue's first files, and what can be generated of what its product has."""

import os
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from commonplace.kernel.errors import CommonplaceError
from commonplace.reference.model import METHODS, SETTINGS_FILE
from commonplace.reference.source.drafts import SOURCES
from commonplace.reference.source.settings_file import KINDS
from commonplace.repository.slugs import slug
from commonplace_local.cli.reference.generation import generate_all, items_of, tell_one
from commonplace_local.cli.reference.programs import words_of
from commonplace_local.errors import CommandError
from commonplace_local.files import product_of, top_of, write_whole

FILES = ("openapi", "console")
"""Kinds that read a file, and run nothing."""
MAX_TOGETHER = 500
"""Operations of an API document that become one file; of more, each tag becomes one."""
MAX_SPLIT = 30
"""Files of one API document; tags that are neighbours share one where there are more."""
DEPTH = 3
"""The depth of subcommands in the first catalogue."""

SETTINGS = """\
# Every setting may be left out: docs/agents/reference.md says what each does.
{title}
# description: What the product does, in a sentence.
# version: "1.0"
# categories: {{users: Users}}
# modules: {{billing: Billing}}
# synonyms: {{pool: [rockpool, site]}}
# servers: [https://api.example.com/v1]
#
# Made by `commonplace reference generate`, checked by `--check`. Sources are in this folder's `sources/`, which is not
# published, or elsewhere in its repository. Or: kind: help, source: git, into: git.json, depth: 1
{generate}
"""

GUIDE = """\
---
title: First steps
category: start
summary: What to do first.
keywords: [start, begin, first]
lastUpdated: {day}
---
# First steps

Say here what people ask first. The folder says that this is a guide.
"""


def init(
    folder: Annotated[Path, typer.Argument(help="The folder of the new catalogue.")] = Path("reference"),
    *,
    title: Annotated[
        str | None, typer.Option(help="Name of the product; default: from its API document or folder.")
    ] = None,
    sources: Annotated[
        list[str] | None,
        typer.Option(
            "--from",
            metavar="KIND=SOURCE",
            help=f"Generate entries from it: {', '.join(KINDS)}; repeatable. Programs are run.",
        ),
    ] = None,
) -> None:
    """Create a catalogue: catalogue.yaml with a first guide, or with entries generated --from sources. No file is over
    over."""
    settings, guide = folder / SETTINGS_FILE, folder / "guides" / "first-steps.md"
    for file in (settings, guide):
        if file.exists():
            raise CommandError(f"{file} already exists.", "Choose another folder, or edit this one.")
    named = []
    for text in sources or ():
        kind, _, source = text.partition("=")
        if kind not in KINDS or not source:
            known = ", ".join(KINDS)
            hint = f"Write KIND=SOURCE with one of {known}: openapi=openapi.yaml, help=git, typer=app/cli.py:app"
            raise CommandError(f"--from {text} does not name a source.", hint)
        named.append((kind, source))
    with _all_or_nothing(folder):
        items: list[dict[str, Any]] = []
        for kind, source in named:
            item = _item(folder, kind, source)
            if any(item["into"] == one["into"] for one in items):
                item["into"] = f"{slug(PurePosixPath(source).name)}.json"
            items += _by_tags(folder, item) if kind == "openapi" else [item]
        said = " ".join((title or _title(folder, items)).split())
        write_whole(settings, SETTINGS.format(title=_yaml(title=said), generate=_yaml(generate=items)))
        if not items:
            write_whole(guide, GUIDE.format(day=datetime.now(UTC).date().isoformat()))
            typer.echo(f"{settings}\n{guide}")
        else:
            done = generate_all(folder, items_of(folder), tell=tell_one)
            if bad := [one.item.source for one in done if not one.good]:
                said = "Nothing" if len(bad) == len(done) else "Not everything"
                hint = f"Fix {', '.join(dict.fromkeys(bad))}, or name another source; nothing was written."
                raise CommandError(f"{said} could be read.", hint)
    typer.echo(f"Next: commonplace reference validate {folder}")
    typer.echo(f"      commonplace reference search QUESTION {folder}")
    typer.echo(f"      commonplace dev --catalogue {folder}")


@contextmanager
def _all_or_nothing(folder: Path) -> Iterator[None]:
    """What fails, or is interrupted, leaves no file and no folder that was not there before."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    before = set(folder.rglob("*"))
    try:
        yield
    except BaseException:
        for one in sorted(set(folder.rglob("*")) - before, reverse=True):
            if one.is_dir() and not one.is_symlink():
                one.rmdir()
            else:
                one.unlink()
        for one in made:
            with suppress(OSError):
                one.rmdir()
        raise


def _by_tags(folder: Path, item: dict[str, Any]) -> list[dict[str, Any]]:
    """A large API document as several files, by the tags of its operations; those that share operations are one."""
    from commonplace_generators.openapi.documents import parsed

    try:
        paths = parsed((folder / item["source"]).read_bytes())["paths"].values()
    except (OSError, CommonplaceError, LookupError, TypeError, AttributeError):
        return [item]  # what is wrong with it is reported when it is read
    every = [
        one[method.lower()] for one in paths if isinstance(one, dict) for method in METHODS if method.lower() in one
    ]
    groups: list[set[str]] = []
    for operation in every:
        given = operation.get("tags") if isinstance(operation, dict) else None
        tags = {one for one in given if isinstance(one, str)} if isinstance(given, list) else set()
        tags = tags or {""}
        groups = [one for one in groups if not one & tags] + [tags.union(*(one for one in groups if one & tags))]
    if len(every) <= MAX_TOGETHER or len(groups) < 2:
        return [item]
    items: list[dict[str, Any]] = []
    named = sorted(map(sorted, groups))
    size = -(-len(named) // MAX_SPLIT)
    for at in range(0, len(named), size):
        one = [tag for group in named[at : at + size] for tag in group]
        name = slug(one[0]) or "other"
        taken = {each["into"] for each in items}
        into = next(
            path for n in range(len(items) + 1) if (path := f"api/{name}{f'-{n}' if n else ''}.json") not in taken
        )
        items.append({**item, "into": into, "tags": one})
    return items


def _item(folder: Path, kind: str, source: str) -> dict[str, Any]:
    """An item of `generate:`. A file that is not in the folder's repository is copied into it. Raises CommandError."""
    if kind == "help":
        if source.endswith(".txt"):
            return {"kind": kind, "source": source, "into": f"{slug(Path(source).stem)}.json"}
        program, *words = words_of(source)
        into = slug("-".join((Path(program).name, *words)))
        here = Path(os.path.relpath(program, folder)).as_posix() if "/" in program else program
        return {"kind": kind, "source": shlex.join((here, *words)), "into": f"{into}.json", "depth": DEPTH}
    into = "api.json" if kind == "openapi" else "commands.json"
    path, sign, name = (source, "", "") if kind in FILES else source.partition(":")
    file, home = Path(path).resolve(), folder.resolve()
    root = {"root": script} if sign and (script := _script(top_of(home), path, name)) else {}
    if kind not in FILES and not path.endswith(".py"):
        return {"kind": kind, "source": source, "into": into} | root
    if not file.is_file():
        raise CommandError(f"There is no file {path}.", f"Name the file to read: --from {kind}=PATH{sign}{name}")
    if kind in FILES and not file.is_relative_to(top_of(home)):
        from commonplace_generators.openapi.documents import files_of, gathered

        sources = home / SOURCES
        try:  # with the files that it refers to, as they stand beside it or below
            raw = file.read_bytes()
            for beside, each in {file.name: raw, **gathered(raw, files_of(file.parent))}.items():
                copy = sources / beside
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(each)
        except (OSError, CommonplaceError) as error:
            hint = f"Put it into {sources} and name it there."
            raise CommandError(f"{file} cannot be copied: {error}.", hint) from error
        file = sources / file.name
    inside = Path(os.path.relpath(file, home)).as_posix()
    return {"kind": kind, "source": f"{inside}{sign}{name}", "into": into} | root


def _title(folder: Path, items: Sequence[Mapping[str, Any]]) -> str:
    """Return the title of the first API document that has one, else the folder's name."""
    from commonplace_generators.openapi.documents import parsed

    for one in items:
        with suppress(OSError, CommonplaceError, LookupError, TypeError, AttributeError):
            if one["kind"] == "openapi" and (
                told := str(parsed((folder / one["source"]).read_bytes())["info"]["title"])
            ):
                return told
    return product_of(folder)


def _script(top: Path, path: str, name: str) -> str | None:
    """Return the name that a program is installed under: its object's name says nothing."""
    try:
        told = tomllib.loads((top / "pyproject.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    file = Path(path).resolve().with_suffix("")
    modules = {".".join(file.relative_to(one).parts) for one in (top, top / "src") if file.is_relative_to(one)}
    scripts: dict[str, str] = told.get("project", {}).get("scripts", {})
    named = [one for one, it in scripts.items() if it in {f"{module}:{name}" for module in {path, *modules}}]
    return next(iter(named or (scripts if len(scripts) == 1 else ())), None)


def _yaml(**given: Any) -> str:
    import yaml

    return str(yaml.safe_dump(given, sort_keys=False, allow_unicode=True, width=1_000)).rstrip()
