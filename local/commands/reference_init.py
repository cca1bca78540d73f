"""`commonplace reference init`: the beginning of a catalogue."""

from pathlib import Path
from typing import Annotated

import typer

from local.errors import CommandError

SETTINGS = """\
# What this catalogue is called, and what is generated. Every setting may be left out.
title: {title}
description: What the product does, in a sentence.
# First words of commands, besides those of the commands' own names.
roots: []
# Slug -> title. Once some are named, `commonplace reference validate` warns of others.
categories: {{}}
# Optional parts of the product: slug -> title.
modules: {{}}
# Words that mean the same to people who ask, beyond the usual ones.
synonyms: {{}}
# URLs of the API: they may stand before the path of an endpoint.
servers: []
# Made by `commonplace reference generate`, checked by `--check`. Sources lie in `sources/`, which is not published.
generate: []
#  - kind: openapi
#    source: sources/openapi.yaml
#    into: api.json
#  - kind: typer
#    source: package.module:app
#    into: commands.json
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
    title: Annotated[str | None, typer.Option(help="What the product is called; default: the folder's name.")] = None,
) -> None:
    """Begin a catalogue: catalogue.yaml and a first guide. Nothing that is there is written over."""
    from commonplace.reference.model import SETTINGS_FILE
    from local.operations.memory_files import now, write_whole

    settings, guide = folder / SETTINGS_FILE, folder / "guides" / "first-steps.md"
    for file in (settings, guide):
        if file.exists():
            raise CommandError(f"{file} is there already.", "Name another folder, or go on with this one.")
    write_whole(settings, SETTINGS.format(title=_quoted(title or folder.resolve().name)))
    write_whole(guide, GUIDE.format(day=now()[:10]))
    typer.echo(f"{settings}\n{guide}\nNext: commonplace reference validate {folder}")


def _quoted(title: str) -> str:
    """As a YAML text, whatever is in it."""
    import json

    return json.dumps(" ".join(title.split()), ensure_ascii=False)
