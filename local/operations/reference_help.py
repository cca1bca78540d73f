"""Help that a program prints, page after page: the one of the command that was named, and of those below it if asked.

A program that does not know `--help` behind a command would run that command. So nothing but the named command is
asked unless `depth` says how far to go.
"""

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from local.errors import CommandError
from local.operations.reference_processes import ran

PAGE_TIMEOUT_SECONDS = 30
TIMEOUT_SECONDS = 600
MAX_DEPTH = 5
MAX_PAGES = 400
ASKING = ("--help", "-h", "-help", "help", "--usage")


def help_pages(target: str, *, folder: Path, options: Mapping[str, Any]) -> bytes:
    """Command -> what it prints, in canonical JSON. Options: `depth` (0), `ask` (`--help`). Raises CommandError."""
    from generators.helptext import below
    from local.operations.reference_programs import words_of

    words, depth, asking = words_of(target), _depth(options), _asking(options)
    program = _program(words[0], folder)
    called = [Path(words[0]).name, *words[1:]]
    pages: dict[str, str] = {}
    waiting = [called]
    until = time.monotonic() + TIMEOUT_SECONDS
    while waiting:
        if len(pages) >= MAX_PAGES or time.monotonic() > until:
            said = f"{MAX_PAGES} pages, or {TIMEOUT_SECONDS} seconds, were not enough for the help of {target}."
            raise CommandError(said, "Go less deep (`depth:`), or generate a part at a time (`source: git remote`).")
        one = waiting.pop(0)
        status, page = _page([program, *one[1:]], asking, folder)
        refused = status != 0 and "usage" not in page.casefold()
        if one is not called and (refused or page in pages.values()):
            continue  # it does not know the command, or says what it says without it
        pages[" ".join(one)] = page
        if len(one) - len(called) < depth:
            waiting += [[*one, name] for name in below(page, one)]
    told = {"format": 1, "program": called, "pages": pages}
    return (json.dumps(told, sort_keys=True, ensure_ascii=True, indent=1) + "\n").encode()


def _page(command: list[str], asking: str, folder: Path) -> tuple[int | None, str]:
    asked = [*command[:1], "help", *command[1:]] if asking == "help" else [*command, asking]
    try:
        done = ran(asked, folder=folder, timeout_seconds=PAGE_TIMEOUT_SECONDS)
    except OSError as error:
        raise CommandError(f"{command[0]} cannot be run: {error.strerror}.", "Check `source:`.") from error
    if done.status is None and not done.said:
        raise CommandError(f"{' '.join(asked)}: {done.why}", "Try another `ask:`.")
    return done.status, done.said.decode("utf-8", "replace")


def _program(name: str, folder: Path) -> str:
    beside = folder / name
    found = str(beside.absolute()) if "/" in name and beside.is_file() else shutil.which(name)
    if not found:
        raise CommandError(f"There is no program {name}.", "Name one that is installed, or a path from the folder.")
    return found


def _depth(options: Mapping[str, Any]) -> int:
    given = options.get("depth", 0)
    if isinstance(given, bool) or not str(given).isdigit() or int(given) > MAX_DEPTH:
        raise CommandError(f"`depth` is {given}.", f"A number from 0 to {MAX_DEPTH}.")
    return int(given)


def _asking(options: Mapping[str, Any]) -> str:
    given = str(options.get("ask", ASKING[0]))
    if given not in ASKING:
        raise CommandError(f"`ask` is {given}.", f"One of {', '.join(ASKING)}.")
    return given
