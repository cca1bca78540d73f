"""What is read of programs for a catalogue: their own parsers (click, argparse, Typer), or their help.

Both run code that the operator named: the first imports the program, the second starts it with `--help`.
"""

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.errors import CommandError
from local.operations import introspection
from local.operations.reference_processes import ran

IMPORT_TIMEOUT_SECONDS = 60
MAX_DESCRIPTION_BYTES = 12_000_000


def raw_of(kind: str, target: str, *, folder: Path, options: Mapping[str, Any]) -> bytes:
    """The bytes that a generator of a kind reads. Raises CommandError."""
    if kind == "help":
        page = saved_page(target, folder)
        if page is not None:
            return page
        from local.operations.reference_help import help_pages

        return help_pages(target, folder=folder, options=options)
    return described(kind, target, folder=folder, options=options)


def described(kind: str, target: str, *, folder: Path, options: Mapping[str, Any]) -> bytes:
    """A program's commands as its own parser has them, in canonical JSON.

    `python` is the interpreter to import it with, from the folder; the one that runs this command unless given.
    Raises CommandError.
    """
    python = _interpreter(options.get("python"), folder)
    with tempfile.TemporaryDirectory(prefix="commonplace-") as place:
        result = Path(place) / "result.json"
        command = [python, "-B", introspection.__file__, kind, target, str(result)]
        try:
            done = ran(command, folder=folder, timeout_seconds=IMPORT_TIMEOUT_SECONDS)
        except OSError as error:
            raise CommandError(f"{python} cannot be run: {error.strerror}.", "Check `python:`.") from error
        raw = _written(result)
    if raw is None:
        last = done.said.decode("utf-8", "replace").strip().splitlines()[-1:] or [done.why or "It said nothing."]
        raise CommandError(f"{target} could not be imported: {last[0][:300]}", "Check that it can be imported there.")
    refused = json.loads(raw).get("error")
    if refused:
        raise CommandError(f"{target} is not read: {refused}", "Give package.module:object, and `python:` if needed.")
    return raw


def saved_page(target: str, folder: Path) -> bytes | None:
    """A file of the folder that holds what `--help` said: nothing has to be run then."""
    file = folder / target
    if not target.endswith(".txt") or not file.is_file() or not file.resolve().is_relative_to(folder.resolve()):
        return None
    with file.open("rb") as opened:
        return opened.read(MAX_DESCRIPTION_BYTES)


def _written(result: Path) -> bytes | None:
    if not result.is_file():
        return None
    if result.stat().st_size > MAX_DESCRIPTION_BYTES:
        raise CommandError(
            f"The program says more than {MAX_DESCRIPTION_BYTES:,} bytes of itself.", "Take a part of it."
        )
    return result.read_bytes()


def _interpreter(given: Any, folder: Path) -> str:
    if given is None:
        return sys.executable
    if not isinstance(given, str) or not given.strip():
        raise CommandError("`python` has to be a path.", "Such as ../.venv/bin/python.")
    beside = folder / Path(given).expanduser()
    found = str(beside.absolute()) if beside.is_file() else shutil.which(given)
    if not found:
        raise CommandError(f"There is no interpreter {given}.", "Give a path from the catalogue's folder.")
    return found


def words_of(target: str) -> list[str]:
    """A command line as words; nothing in it is a shell's. Raises CommandError."""
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise CommandError(f"{target} is no command line: {error}.", "Such as `git remote`.") from error
    if not words:
        raise CommandError("`source` names no program.", "Such as `git remote`.")
    return words
