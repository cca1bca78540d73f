"""Commands of programs for a catalogue: by their own parsers (click, argparse, Typer), or by their help pages.

Both run code that the operator named, without a shell or input, for a bounded time, to a bounded length: the first
imports the program, the second starts it with `--help`. A program that ignores `--help` behind a command would run that
command. So only what a help page names as a command is asked, down to `depth`, in an empty folder with an empty home.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from commonplace_local.cli.reference import introspection
from commonplace_local.errors import CommandError
from commonplace_local.files import top_of

IMPORT_TIMEOUT_SECONDS = 60
MAX_DESCRIPTION_BYTES = 12_000_000
PAGE_TIMEOUT_SECONDS = 30
TIMEOUT_SECONDS = 600
MAX_DEPTH = 5
MAX_PAGES = 400
MAX_WAYS = 6
"""Runs for the pages of one command."""
MAX_HEAD = 3_000
"""Characters of a manual page within which it names what it is about."""
ASKING = ("--help", "-h", "-help", "help", "--usage")
_ASKS = {
    "help",
    "--help",
    "-h",
    "-help",
    "--help-all",
    "--longhelp",
    "--list",
    "--list-commands",
    "commands",
    "options",
}
_HELPFUL = _ASKS | {"all", "full", "long", "more", "-a", "--all", "--full", "--long", "-v", "--verbose"}
"""Arguments that nothing is done for but to print help: asked for where the program's own help names them."""
_LISTS = {"-a", "--all", "commands", "options", "--list", "--list-commands"}
"""Those of which a list of commands, or of what every command takes, is expected."""
_REFUSED = re.compile(
    r"unknown|unrecogni[sz]ed|invalid|no such|\bnot? (?:an? )?.{0,60}(?:command|topic)", re.IGNORECASE
)
_SAYS_HOW = re.compile(r"^\W{0,4}(?:usage|syntax|synopsis)\b", re.IGNORECASE | re.MULTILINE)
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
    "MANOPT": "--no-hyphenation --no-justification",
    "MANWIDTH": "120",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONIOENCODING": "utf-8",
}
"""The environment that makes a program print the same on every terminal."""
_HOMES = {
    "RUSTUP_HOME": ".rustup",
    "PYENV_ROOT": ".pyenv",
    "RBENV_ROOT": ".rbenv",
    "ASDF_DATA_DIR": ".asdf",
    "VOLTA_HOME": ".volta",
}
"""Where the programs are that stand in for others, and would not find them in an empty home."""
_COLOURING = {"FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS", "TTY_COMPATIBLE"}


@dataclass(frozen=True, slots=True)
class Ran:
    status: int | None
    """None where it was ended: it took too long, or said too much."""
    said: bytes
    """Its output up to the bound; what it said of errors where that is all."""
    why: str = ""
    """It was ended."""


def ran(
    command: Sequence[str],
    *,
    folder: Path,
    timeout_seconds: float,
    home: Path | None = None,
    beside: Path | None = None,
) -> Ran:
    """Raises OSError where it cannot be started. Everything that it started ends with it. Modules may lie `beside`."""
    wanted = {name: value for name, value in os.environ.items() if name not in _COLOURING}
    if home:
        known = {name: str(Path.home() / at) for name, at in _HOMES.items() if (Path.home() / at).is_dir()}
        wanted = known | {name: value for name, value in wanted.items() if not name.startswith("XDG_")}
        wanted |= {"HOME": str(home), "USERPROFILE": str(home)}
    if beside and "-m" in command:
        wanted["PYTHONPATH"] = os.pathsep.join(filter(None, (str(beside.absolute()), wanted.get("PYTHONPATH"))))
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

    Options: `depth` (0), `ask` (unless given `--help`, then `help` and the manual where these are named or needed),
    `list`, `complete`. Each is run with an empty home in an empty folder; what will be run is printed before.
    """
    words, depth, ask = words_of(target), options.get("depth", 0), str(options.get("ask") or "")
    if isinstance(depth, bool) or not str(depth).isdigit() or int(depth) > MAX_DEPTH:
        raise CommandError(f"`depth` is {depth}.", f"A number from 0 to {MAX_DEPTH}.")
    completing = str(options.get("complete") or "")
    for name, given, known in (("ask", ask, ("", *ASKING)), ("complete", completing, ("", *COMPLETING))):
        if given not in known:
            raise CommandError(f"`{name}` is {given}.", f"One of {', '.join(filter(None, known))}.")
    program = shutil.which(str((folder / words[0]).absolute()) if "/" in words[0] else words[0])
    if not program:
        hint = "Name one that is installed, or a path from the folder."
        raise CommandError(f"There is no program {words[0]}.", hint)
    # It runs elsewhere: files of the folder that its command line names are named in full.
    start = [program, *(str((folder / one).absolute()) if (folder / one).is_file() else one for one in words[1:])]
    with tempfile.TemporaryDirectory(prefix="commonplace-") as place:
        asked = _Asked(start, called_by(words), Path(place), folder, ask, completing, tell)
        told = asked.all(int(depth), options)
    return (json.dumps(told, sort_keys=True, ensure_ascii=True, indent=1) + "\n").encode()


@dataclass(slots=True)
class _Asked:
    """What a program is asked for, and what it said."""

    start: list[str]
    called: list[str]
    place: Path
    """The empty home and working folder."""
    folder: Path
    ask: str
    completing: str
    tell: Tell
    pages: dict[str, str] = field(default_factory=dict)
    more: dict[str, list[str]] = field(default_factory=dict)
    """Further pages about the same command: its manual, and where its help points to."""
    refused: set[str] = field(default_factory=set)
    """What a list has, and the program says to be no command of it."""
    short: bool = False
    """Whether its help says that `-h` asks for it too: where `--help` opens the manual, that says more of options."""
    by_help: str = ""
    """How the help of a command is asked for where it has no `--help`: `help` before its words, or behind them."""

    def all(self, depth: int, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return all that was said, level by level. Raises CommandError if the program itself says nothing."""
        from commonplace_generators.helptext import below

        root = " ".join(self.called)
        ways = (
            [f"{root} {self.ask}"] if self.ask else [f"{root} --help", f"{root} help", f"man {'-'.join(self.called)}"]
        )
        self._say(f"{root} is asked for its help: {', '.join(f'`{one}`' for one in ways)}.")
        lists: dict[str, str] = {}
        denied: list[str] = []
        unasked: list[str] = []
        doubtful: set[str] = set()
        until = time.monotonic() + TIMEOUT_SECONDS
        level = [self.called]
        for step in range(depth + 1):
            following: list[list[str]] = []
            for at, one in enumerate(level):
                name = " ".join(one)
                if len(self.pages) >= MAX_PAGES or time.monotonic() > until:
                    unasked += [" ".join(each) for each in level[at:]]
                    break
                self.tell(f"{name}: {len(self.pages)} pages read, {len(level) - at - 1} pending")
                again = self._read(one, doubtful=name in doubtful)
                if again is None:
                    denied += [name] if name in self.refused else []  # it is no command, or another program's
                    continue
                names = list(dict.fromkeys(it for each in self._all_of(name) for it in below(each, one)))
                if step == 0 and (options.get("list") or depth):
                    lists = {f"{root} {' '.join(way)}": self._said(way) for way in self._lists(options)}
                    listed = (each for said in lists.values() for each in below(said, one, listing=True))
                    further = [each for each in dict.fromkeys(listed) if each not in names]
                    doubtful |= {" ".join([*one, each]) for each in further}
                    names += further
                following += [[*one, *each.split()] for each in names] if not again else []
            level = following if step < depth else []
            if level:
                shown = ", ".join(" ".join(one[len(self.called) :]) for one in level)
                those = (
                    "1 command is asked for its" if len(level) == 1 else f"{len(level)} commands are asked for their"
                )
                self._say(f"{root}: {those} help: {shown}.")
        if not self.pages:
            hint = "Save its help as a text and name that: --from help=FILE.txt"
            raise CommandError(f"{root} printed no help.", hint)
        told = {"pages": self.pages, "more": self.more, "lists": lists, "denied": denied, "unasked": unasked}
        return {"format": 3, "program": self.called, **told}

    def _read(self, one: list[str], *, doubtful: bool) -> bool | None:
        """Store the page of a command, and those that belong to it. None if it has none, True if another has it too."""
        from commonplace_generators.helptext import is_about, is_manual, is_poor, says_how

        name, sub, manual = " ".join(one), one[len(self.called) :], "-".join(one)
        above = [
            self.pages[key] for end in range(len(self.called), len(one)) if (key := " ".join(one[:end])) in self.pages
        ]
        tried: list[Sequence[str]] = []
        found: list[str] = []
        failed: list[str] = []

        def ask(way: Sequence[str]) -> None:
            if way in tried or len(tried) >= MAX_WAYS:
                return
            tried.append(way)
            status, page = self._page(way)
            named = re.search(rf"(?<![\w-]){self.called[0]} |{manual}", page) or says_how(page, one)
            foreign = doubtful and not named
            helps = status == 0 or _SAYS_HOW.search(page) is not None
            about = not sub or (not foreign and page not in above and is_about(page, one))
            if page.strip() and helps and about:
                found.append(page)
            elif page not in above:
                failed.append(page if status != 0 else "")

        ask([*sub, self.ask] if self.ask and self.ask != "help" else ["help", *sub] if self.ask else [*sub, "--help"])
        for way in () if self.ask else pointed("\n".join((*found, *failed)), one, self.called):
            if not _LISTS.intersection(way):
                ask(way)
        if sub and found and self.short and is_manual(found[0]):
            ask([*sub, "-h"])
        if not self.ask and not found:
            for way in [["help"]] if not sub else [self._by_help(sub)] if self.by_help else []:
                ask(way)
        if not self.ask and (not sub or all(is_poor(page, one) for page in found)):
            found += [said for said in (self._manual(manual),) if said and said not in found]
        if not sub and not self.ask:
            text = "\n".join(found)
            self.short = re.search(r"-h\s?[|,/]\s?--help\b", text) is not None
            behind = re.search(rf"{re.escape(self.called[0])} <?\w*command\w*>? help\b", text)
            before = re.search(rf"{re.escape(self.called[0])} help\b", text)
            self.by_help = "behind" if behind else "before" if before else ""
        if not found:
            if doubtful and (any(map(_REFUSED.search, failed)) or not any(failed)):
                self.refused.add(name)
            return None
        again = found[0] in self.pages.values()
        completed = self._completed(sub) if self.completing else ""
        self.pages[name] = found[0] + completed
        self.more |= {name: found[1:]} if found[1:] else {}
        return again

    def _by_help(self, sub: list[str]) -> list[str]:
        return [*sub, "help"] if self.by_help == "behind" else ["help", *sub]

    def _all_of(self, name: str) -> list[str]:
        return [self.pages[name], *self.more.get(name, ())]

    def _lists(self, options: Mapping[str, Any]) -> list[list[str]]:
        """Arguments that list more: those of `list`, else those that the program's own help names."""
        given = options.get("list")
        if given is not None:
            return [given.split()] if isinstance(given, str) and given else []
        text = "\n".join(self._all_of(" ".join(self.called)))
        rows = re.findall(r"^\s+(--list(?:-commands)?)\s\s+.*commands", text, re.MULTILINE)
        lists = re.search(
            rf"\blists?\b[^\n]{{0,30}}\bcommands\b[^\n]*\n\s*{' '.join(self.called)} list$", text, re.MULTILINE
        )
        ways = [*pointed(text, self.called, self.called), *([one] for one in rows), *([["list"]] if lists else [])]
        return [list(way) for way in dict.fromkeys(tuple(way) for way in ways if (_LISTS | {"list"}).intersection(way))]

    def _manual(self, name: str) -> str:
        """The manual page of a command; nothing where there is none, or man is not installed."""
        man = shutil.which("man")
        if not man or not re.fullmatch(r"[\w][\w.+-]*", name):
            return ""
        done = ran([man, name], folder=self.place, timeout_seconds=PAGE_TIMEOUT_SECONDS, home=self.place)
        said = done.said.decode("utf-8", "replace")
        about = re.search(rf"^NAME\s.*?(?<![\w-]){re.escape(name)}(?![\w-])", said, re.MULTILINE | re.DOTALL)
        return said if done.status == 0 and about and about.end() < MAX_HEAD else ""

    def _page(self, way: Sequence[str]) -> tuple[int | None, str]:
        """The status and what was printed."""
        asked = [*self.start, *way]
        try:
            done = ran(
                asked, folder=self.place, timeout_seconds=PAGE_TIMEOUT_SECONDS, home=self.place, beside=self.folder
            )
        except OSError as error:
            raise CommandError(f"{asked[0]} cannot be run: {error.strerror}.", "Check `source:`.") from error
        if done.status is None and not done.said and self.ask:
            raise CommandError(f"{' '.join(asked)}: {done.why}", "Try another `ask:`.")
        said = done.said.decode("utf-8", "replace")
        return done.status, said.replace(str(self.place.resolve()), "~").replace(str(self.place), "~")

    def _said(self, way: Sequence[str]) -> str:
        return self._page(way)[1]

    def _completed(self, sub: Sequence[str]) -> str:
        """The options that a program completes, where these are more than its help lists."""
        said = self._said([*sub, self.completing])
        words = [one.replace("=", "=<value>") for one in said.split() if re.fullmatch(r"--[a-z][\w-]*=?", one)]
        lines = "\n".join(f"    {one}" for one in words)
        return f"\n\nFurther options:\n{lines}" if words and "\n" not in said.strip() else ""

    def _say(self, text: str) -> None:
        typer.echo(f"  {text}", err=True)


def pointed(page: str, words: Sequence[str], called: Sequence[str]) -> list[list[str]]:
    """Arguments by which a page says, in quotes, that it or more of it can be had: `go help mod`, "--help all"."""
    found: list[list[str]] = []
    for quoted in re.findall(r"[`'\"‘“]([^`'\"‘’“”\n]{3,80})[`'\"’”]", page):
        first, *rest = quoted.split() or [""]
        if first.startswith("-"):
            way = [*words[len(called) :], first, *rest]
        elif first == called[0]:
            way = rest[len(called) - 1 :] if rest[: len(called) - 1] == list(called[1:]) else rest
        else:
            continue
        own = [one for one in way if one not in words]
        if own and _ASKS.issuperset(own[:1]) and _HELPFUL.issuperset(own):
            found.append(way)
    return [list(one) for one in dict.fromkeys(map(tuple, found))]


def called_by(words: Sequence[str]) -> list[str]:
    """Return the name of a program by its command line: `node bin/cli.js` is `cli`, `python -m tool` is `tool`."""
    rest = list(words)
    if re.fullmatch(r"node|deno|bun|ruby|perl|php|java|python[\d.]*", Path(rest[0]).name):
        rest = [one for one in rest[1:] if one not in ("-m", "-jar", "run")] or rest
    return [re.sub(r"\.(?:[cm]?[jt]s|py|rb|pl|php|sh|jar)$", "", Path(rest[0]).name), *rest[1:]]
