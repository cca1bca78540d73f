"""Commands of programs for a catalogue: by their own parsers (click, argparse, Typer), or by their help pages.

Both run code that the operator named, without a shell, for a bounded time, to a bounded length: the first imports the
program, the second starts it with `--help`. A program that ignores `--help` behind a command would run that command. So
only the named command is started unless `depth` says how far to go.
"""

import contextlib
import json
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonplace_local.cli.reference import introspection
from commonplace_local.errors import CommandError
from commonplace_local.files import top_of

IMPORT_TIMEOUT_SECONDS = 60
MAX_DESCRIPTION_BYTES = 12_000_000
PAGE_TIMEOUT_SECONDS = 30
TIMEOUT_SECONDS = 600
MAX_DEPTH = 5
MAX_PAGES = 400
ASKING = ("--help", "-h", "-help", "help", "--usage")
LISTING = ("help -a", "help --all", "help commands", "help", "--list", "--list-commands", "commands", "options")
"""Arguments behind which a program lists all commands, or what every command takes: where its own help names them."""
COMPLETING = ("--git-completion-helper",)
MAX_OUTPUT_BYTES = 1_000_000
PLAIN = {
    "COLUMNS": "120",
    "LINES": "50",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_PAGER": "cat",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
}
"""The environment that makes a program print the same on every terminal."""
_COLOURING = {"FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE"}


@dataclass(frozen=True, slots=True)
class Ran:
    status: int | None
    """None where it was ended: it took too long, or said too much."""
    said: bytes
    """Its output up to the bound; what it said of errors where that is all."""
    why: str = ""
    """It was ended."""


def ran(command: Sequence[str], *, folder: Path, timeout_seconds: float) -> Ran:
    """Raises OSError where it cannot be started. Everything that it started ends with it."""
    wanted = {name: value for name, value in os.environ.items() if name not in _COLOURING}
    process = subprocess.Popen(
        list(command),
        cwd=folder,
        env=wanted | PLAIN,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        said, why = _read(process, time.monotonic() + timeout_seconds)
        if why:
            return Ran(None, said, why)
        return Ran(process.wait(timeout=timeout_seconds), said)
    except subprocess.TimeoutExpired:
        return Ran(None, b"", f"It was still running after {timeout_seconds:g} seconds.")
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _read(process: "subprocess.Popen[bytes]", until: float) -> tuple[bytes, str]:
    """A warning on the error output is no part of what a program says; help may be all that stands there."""
    said, errors, why = bytearray(), bytearray(), ""
    with selectors.DefaultSelector() as selector:
        for stream, kept in ((process.stdout, said), (process.stderr, errors)):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, kept)
        while selector.get_map() and not why:
            ready = selector.select(max(0.0, until - time.monotonic()))
            why = "" if ready else "It exceeded the time limit."
            for key, _ in ready:
                part = os.read(key.fd, 65_536)
                key.data.extend(part)
                if not part:
                    selector.unregister(key.fileobj)
                elif len(said) + len(errors) > MAX_OUTPUT_BYTES:
                    why = f"Its output exceeds {MAX_OUTPUT_BYTES:,} bytes."
    return bytes(said if said.strip() else errors)[:MAX_OUTPUT_BYTES], why


Tell = Callable[[str], None]


def raw_of(kind: str, target: str, *, folder: Path, options: Mapping[str, Any], tell: Tell = lambda _: None) -> bytes:
    """The bytes that a generator of a kind reads. `tell` hears how far it has come. Raises CommandError."""
    if kind == "help":
        page = saved_page(target, folder)
        if page is not None:
            return page
        return help_pages(target, folder=folder, options=options, tell=tell)
    return described(kind, target, folder=folder, options=options)


def described(kind: str, target: str, *, folder: Path, options: Mapping[str, Any]) -> bytes:
    """A program's commands as its own parser has them, in canonical JSON.

    `python` is the interpreter to import it with, from the folder; unless given that of the repository's `.venv`, else
    the one that runs this command. Modules of the repository, at its top or in `src`, need not be installed. Raises
    CommandError.
    """
    top = top_of(folder.resolve())
    given, own = options.get("python"), top / ".venv" / "bin" / "python"
    if given is not None and not (isinstance(given, str) and given.strip()):
        raise CommandError("`python` has to be a path.", "Such as ../.venv/bin/python.")
    if given is None:
        python = str(own) if own.is_file() else sys.executable
    else:
        beside = folder / Path(given).expanduser()
        python = str(beside.absolute()) if beside.is_file() else shutil.which(given) or ""
    if not python:
        raise CommandError(f"There is no interpreter {given}.", "Give a path from the catalogue's folder.")
    with tempfile.TemporaryDirectory(prefix="commonplace-") as place:
        result = Path(place) / "result.json"
        command = [python, "-B", introspection.__file__, kind, target, str(result), str(top), str(top / "src")]
        try:
            done = ran(command, folder=folder, timeout_seconds=IMPORT_TIMEOUT_SECONDS)
        except OSError as error:
            raise CommandError(f"{python} cannot be run: {error.strerror}.", "Check `python:`.") from error
        raw = None
        if result.is_file():
            if result.stat().st_size > MAX_DESCRIPTION_BYTES:
                said = f"The description of the program exceeds {MAX_DESCRIPTION_BYTES:,} bytes."
                raise CommandError(said, "Take a part of it.")
            raw = result.read_bytes()
    if raw is None:
        last = done.said.decode("utf-8", "replace").strip().splitlines()[-1:] or [done.why or "It printed nothing."]
        raise CommandError(f"{target} could not be imported: {last[0][:300]}", "Check that it can be imported there.")
    refused = json.loads(raw).get("error")
    if refused:
        hint = (
            "Give file.py:object from the catalogue's folder, or package.module:object; `python:` is its interpreter."
        )
        raise CommandError(f"{target} cannot be read: {refused}", hint)
    return raw


def saved_page(target: str, folder: Path) -> bytes | None:
    """A file of the folder that holds what `--help` said: nothing has to be run then."""
    file = folder / target
    if not target.endswith(".txt") or not file.is_file() or not file.resolve().is_relative_to(folder.resolve()):
        return None
    with file.open("rb") as opened:
        return opened.read(MAX_DESCRIPTION_BYTES)


def words_of(target: str) -> list[str]:
    """A command line as words; nothing in it is a shell's. Raises CommandError."""
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise CommandError(f"{target} is not a command line: {error}.", "Such as `git remote`.") from error
    if not words:
        raise CommandError("`source` names no program.", "Such as `git remote`.")
    return words


def help_pages(target: str, *, folder: Path, options: Mapping[str, Any], tell: Tell = lambda _: None) -> bytes:
    """Command -> what it prints, in canonical JSON, and lists of further commands and options. Raises CommandError.

    Options: `depth` (0), `ask` (`--help`), `list`, `complete`.
    """
    from commonplace_generators.helptext import below

    words, depth, asking = words_of(target), options.get("depth", 0), str(options.get("ask", ASKING[0]))
    if isinstance(depth, bool) or not str(depth).isdigit() or int(depth) > MAX_DEPTH:
        raise CommandError(f"`depth` is {depth}.", f"A number from 0 to {MAX_DEPTH}.")
    completing = str(options.get("complete") or "")
    for name, given, known in (("ask", asking, ASKING), ("complete", completing, ("", *COMPLETING))):
        if given not in known:
            raise CommandError(f"`{name}` is {given}.", f"One of {', '.join(filter(None, known))}.")
    program = shutil.which(str((folder / words[0]).absolute()) if "/" in words[0] else words[0])
    if not program:
        hint = "Name one that is installed, or a path from the folder."
        raise CommandError(f"There is no program {words[0]}.", hint)
    start = [program, *words[1:]]
    called = called_by(words)
    pages: dict[str, str] = {}
    lists: dict[str, str] = {}
    denied: list[str] = []
    doubtful: set[str] = set()
    waiting = [called]
    until = time.monotonic() + TIMEOUT_SECONDS
    while waiting:
        if len(pages) >= MAX_PAGES or time.monotonic() > until:
            said = f"{MAX_PAGES} pages, or {TIMEOUT_SECONDS} seconds, were not enough for the help of {target}."
            raise CommandError(said, "Reduce `depth:`, or generate a part at a time (`source: git remote`).")
        one = waiting.pop(0)
        name, command = " ".join(one), [*start, *one[len(called) :]]
        tell(f"{name}: {len(pages)} pages read, {len(waiting)} pending")
        status, page = _page(command, asking, folder)
        foreign = name in doubtful and not re.search(rf"(?<![\w-]){called[0]} |{'-'.join(one)}", page)
        if one is not called and (foreign or (status != 0 and "usage" not in page.casefold())):
            denied += [name] if name in doubtful else []  # it is no command, or another program's
            continue
        if page in (pages.get(" ".join(one[:end])) for end in range(len(called), len(one))):
            continue  # it says what it says without it
        again = page in pages.values()
        pages[name] = page + (_completed(command, completing, folder) if completing else "")
        names = below(page, one)
        if one is called and (options.get("list") or int(depth)):
            lists = {
                " ".join([*called, way]): _said([*start, *way.split()], folder) for way in _ways(page, one, options)
            }
            further = [each for said in lists.values() for each in below(said, one, listing=True) if each not in names]
            doubtful |= {" ".join([*one, each]) for each in further}
            names += list(dict.fromkeys(further))
        if not again and len(one) - len(called) < int(depth):
            waiting += [[*one, each] for each in names]
    told = {"format": 2, "program": called, "pages": pages, "lists": lists, "denied": denied}
    return (json.dumps(told, sort_keys=True, ensure_ascii=True, indent=1) + "\n").encode()


def called_by(words: Sequence[str]) -> list[str]:
    """Return the name of a program by its command line: `node bin/cli.js` is `cli`, `python -m tool` is `tool`."""
    rest = list(words)
    if re.fullmatch(r"node|deno|bun|ruby|perl|php|java|python[\d.]*", Path(rest[0]).name):
        rest = [one for one in rest[1:] if one not in ("-m", "-jar", "run")] or rest
    return [re.sub(r"\.(?:[cm]?[jt]s|py|rb|pl|php|sh|jar)$", "", Path(rest[0]).name), *rest[1:]]


def _ways(page: str, called: Sequence[str], options: Mapping[str, Any]) -> list[str]:
    """Arguments that list more: those of `list`, else those that the program's own help names."""
    given = options.get("list")
    if given is not None:
        return [given] if isinstance(given, str) and given else []
    quoted = {way for way in LISTING if re.search(rf"[`'\"]{re.escape(' '.join([*called, way]))}[`'\"]", page)}
    option = {
        way for way in LISTING if way.startswith("-") and re.search(rf"^\s+{way}\s\s+.*commands", page, re.MULTILINE)
    }
    return sorted(quoted | option)


def _completed(command: list[str], completing: str, folder: Path) -> str:
    """The options that a program completes, where these are more than its help lists."""
    said = _said([*command, completing], folder)
    words = [one.replace("=", "=<value>") for one in said.split() if re.fullmatch(r"--[a-z][\w-]*=?", one)]
    return (
        "\n\nFurther options:\n" + "\n".join(f"    {one}" for one in words)
        if words and "\n" not in said.strip()
        else ""
    )


def _page(command: list[str], asking: str, folder: Path) -> tuple[int | None, str]:
    """The status and the help page of a command."""
    asked = [*command[:1], "help", *command[1:]] if asking == "help" else [*command, asking]
    try:
        done = ran(asked, folder=folder, timeout_seconds=PAGE_TIMEOUT_SECONDS)
    except OSError as error:
        raise CommandError(f"{command[0]} cannot be run: {error.strerror}.", "Check `source:`.") from error
    if done.status is None and not done.said:
        raise CommandError(f"{' '.join(asked)}: {done.why}", "Try another `ask:`.")
    return done.status, done.said.decode("utf-8", "replace")


def _said(command: Sequence[str], folder: Path) -> str:
    return ran(command, folder=folder, timeout_seconds=PAGE_TIMEOUT_SECONDS).said.decode("utf-8", "replace")
