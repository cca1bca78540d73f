"""What programs say of themselves, beside what the generator reads: names by their shell completion, usages by asking.

Kept in `FOLDER/programs/NAME.json` when a program is asked first, so that another run measures the same program.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from local.cli.reference.programs import PLAIN, raw_of

SECONDS = 20
DEEPEST = 4
_FLAG = re.compile(r"^[ \t]{0,11}(?:\[?-\w[,|/ ]\s*)?\[?(--[A-Za-z](?:[\w-]*\w)?)", re.MULTILINE)
_COMPLETED = re.compile(r"^\s+(\w+),([\w-]+)\)\s+cmd=\"(\w+)\"$", re.MULTILINE)
_GROUP = re.compile(
    r"(?:\[OPTIONS\] )?(?:<?(?:SUB)?COMMAND>?|\[command\])(?: \[options\]| \[ARGS\]\.\.\.)?"
    r"|(?:\[[^\[\]]*\] )*\{[^{}]*\} \.\.\.",
    re.IGNORECASE,
)
_ROWS = re.compile(r"^[\w ]*commands:\n((?:[ \t]+\S.*\n|\n)+)", re.IGNORECASE | re.MULTILINE)
_ROW = re.compile(r"^ {1,4}([a-z][\w-]*)", re.MULTILINE)
_BRACKETED = re.compile(r"\[[^\[\]]*\]")
_EITHER = re.compile(r"<\w+(?:\|--[\w-]+ <\w+>)+>|\([^()]*\|[^()]*\)|\S+(?: \| \S+)+|\S+=\S+")
"""One of several, none of which is required; pairs, whose name is anybody's."""
_ARGUMENT = re.compile(r"<[^<>]+>|\b[A-Z][A-Z_-]+\b")

Words = tuple[str, ...]
Say = Callable[..., str]
"""A command line, and what is added to the environment -> what is printed."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A program as the bench was told of it: `ask` prints a command's help, `names` says how names are completed."""

    name: str
    names: str
    ask: str = "--help"
    depth: int = 2
    complete: str = ""
    """How the generator asks for options that the help does not list."""
    pinned: bool = False
    """It is installed in FOLDER, at the version that the README says, or not measured."""
    completion: str = "generate-shell-completion bash"
    """What clap's program is asked for its completion with."""


@dataclass(frozen=True)
class Page:
    """The help of one command, read with patterns of its own."""

    words: tuple[str, ...]
    text: str

    @cached_property
    def usages(self) -> tuple[str, ...]:
        """Each as it is written, in one line."""
        return tuple(_usages(self.text, self.words[0]))

    @property
    def own(self) -> tuple[str, ...]:
        """The usages of this very command: a program answers an alias with the page of the command it stands for."""
        name = " ".join(self.words)
        return tuple(one for one in self.usages if one == name or one.startswith(f"{name} "))

    @property
    def is_group(self) -> bool:
        """Whether nothing can be typed but a command below it."""
        name = " ".join(self.words)
        return bool(self.own) and all(_GROUP.fullmatch(one.removeprefix(name).strip()) for one in self.own)

    @property
    def flags(self) -> frozenset[str]:
        return frozenset(_FLAG.findall(self.text)) - {"--help", "--version"}


@dataclass(frozen=True, slots=True)
class Program:
    version: str
    raw: bytes
    """What the generator `help` reads."""
    pages: Mapping[str, Page]
    """The program itself and every name that it completes -> what it prints for it."""
    others: tuple[Page, ...]
    """What else it printed for the generator: of further commands, and its own lists of all."""


def program(asked: Asked, folder: Path) -> Program | None:
    """None where it is neither kept nor installed, in FOLDER or on the machine."""
    file = folder / "programs" / f"{asked.name}.json"
    if not file.is_file():
        with _installed(folder):
            found = shutil.which(asked.name)
            if found is None or (asked.pinned and not Path(found).is_relative_to(folder.resolve())):
                return None
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(_facts(asked), indent=1, sort_keys=True), encoding="utf-8")
    told: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    pages = {name: Page(tuple(name.split()), text) for name, text in told["pages"].items()}
    raw = json.loads(told["raw"])
    further = (*(Page(tuple(name.split()), text) for name, text in raw["pages"].items()),)
    further += (*(Page((asked.name,), text) for text in raw.get("lists", {}).values()),)
    return Program(told["version"], told["raw"].encode(), pages, further)


def unbracketed(usage: str) -> str:
    """Without what may be left out."""
    bare, before = usage, ""
    while bare != before:
        bare, before = _BRACKETED.sub(" ", bare), bare
    return bare


@contextmanager
def _installed(folder: Path) -> Iterator[None]:
    """Programs of FOLDER's own environments before those of the machine."""
    path = os.environ["PATH"]
    own = [str(folder.resolve() / one) for one in ("python/bin", "node_modules/.bin")]
    os.environ["PATH"] = os.pathsep.join([*own, path])
    try:
        yield
    finally:
        os.environ["PATH"] = path


def required(usage: str, name: str = "") -> list[str]:
    """Arguments outside of brackets and alternatives; behind `name`, as argparse has them, those in lower case too."""
    bare = unbracketed(usage)
    if name and "[-h]" in usage:
        plain = re.sub(r"--?[\w-]+ \S+|\{[^{}]*\}", " ", bare.removeprefix(name))
        return [one for one in plain.split() if re.fullmatch(r"[a-z][\w-]*", one)]
    named = _ARGUMENT.findall(_EITHER.sub(" ", bare))
    return [one for one in named if one.strip("<>").casefold() not in {"options", "flags"}]


def _facts(asked: Asked) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        place = Path(made)
        asked_before: dict[str, str] = {}

        def said(command: Sequence[str], more: Mapping[str, str] | None = None) -> str:
            key = json.dumps([command, more])
            if key not in asked_before:
                asked_before[key] = _said(place, command, more)
            return asked_before[key]

        said(["git", "init", "--quiet"])  # parts of Git's help are told in a repository alone
        options = {"depth": asked.depth, "ask": asked.ask, "complete": asked.complete}
        raw = raw_of("help", asked.name, folder=place, options=options)
        lines = said([asked.name, "version" if asked.name in ("kubectl", "hugo") else "--version"]).splitlines()
        version = next((line.strip() for line in lines if line.strip() and "\x1b" not in line), "")
        names = dict.fromkeys([asked.name, *(" ".join(one) for one in _names(asked, said))])
        pages = {name: said([*name.split(), asked.ask]) for name in names}
    return {"version": version.partition(" from ")[0], "raw": raw.decode(), "pages": pages}


def _names(asked: Asked, said: Say) -> Iterator[Words]:
    name = asked.name
    if walk := _WALKS.get(asked.names):
        yield from walk((name,), said)
        return
    match asked.names:
        case "clap":
            known: dict[str, Words] = {name: (name,)}
            for above, word, state in _COMPLETED.findall(said([name, *asked.completion.split()])):
                if above in known and word != "help":
                    known[state] = (*known[above], word)
            yield from (words for words in known.values() if len(words) > 1)
        case "git":
            built_in = set(said([name, "--list-cmds=builtins"]).split())
            for one in said([name, _GIT]).split():
                yield name, one
                # A script would take the question for an argument; what does not know it answers in several lines.
                helped = said([name, one, "--git-completion-helper"]).strip() if one in built_in else ""
                below = helped.split() if "\n" not in helped and "--" in helped else []
                yield from ((name, one, each) for each in below if re.fullmatch(r"[a-z][a-z-]+", each))
        case "npm":
            completed = {"COMP_CWORD": "1", "COMP_LINE": "npm ", "COMP_POINT": "4"}
            yield from ((name, one) for one in said([name, "completion", "--", name, ""], completed).split())
        case "pip":
            completed = {"PIP_AUTO_COMPLETE": "1", "COMP_WORDS": "pip ", "COMP_CWORD": "1"}
            yield from ((name, one) for one in said([name], completed).split())
        case "yargs":
            yield from ((name, one) for one in said([name, "--get-yargs-completions", name, ""]).split())
        case "list":
            rows = said([name, "--list"]).splitlines()[1:]
            yield from ((name, row.split()[0]) for row in rows if row.strip())


_GIT = "--list-cmds=list-mainporcelain,list-ancillarymanipulators,list-ancillaryinterrogators"


def _cobra(words: Words, said: Say) -> Iterator[Words]:
    """By its completion; a name is a command where its own page is about it and not about the one above."""
    above = said([*words, "--help"])
    for line in said([words[0], "__complete", *words[1:], ""]).splitlines():
        name, tab, _ = line.partition("\t")
        if not tab or not re.fullmatch(r"[a-z0-9][\w-]*", name) or name == "help":
            continue
        below = (*words, name)
        page = said([*below, "--help"])
        if page != above and " ".join(below) in " ".join(page.split()):
            yield below
            if len(below) < DEEPEST and re.search(r"^.*\bCommands\b.*:", page, re.MULTILINE):
                yield from _cobra(below, said)


def _click(words: Words, said: Say) -> Iterator[Words]:
    variable = f"_{words[0].upper()}_COMPLETE"
    asking = {variable: "bash_complete", "COMP_WORDS": f"{' '.join(words)} ", "COMP_CWORD": str(len(words))}
    for one in re.findall(r"^plain,([a-z][\w-]*)$", said([words[0]], asking), re.MULTILINE):
        yield (*words, one)
        if len(words) < DEEPEST and " COMMAND" in said([*words, one, "--help"]):
            yield from _click((*words, one), said)


def _argcomplete(words: Words, said: Say) -> Iterator[Words]:
    line = f"{' '.join(words)} "
    asking = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": " ", "_ARGCOMPLETE_SUPPRESS_SPACE": "1"}
    asking |= {"COMP_LINE": line, "COMP_POINT": str(len(line)), "COMP_TYPE": "9"}
    # What completes is written to the file descriptor 8; what is printed otherwise belongs to the command.
    completed = said(["bash", "-c", '"$0" 8>&1 9>/dev/null >/dev/null 2>&1', words[0]], asking)
    page = said([*words, "--help"])
    for one in completed.split():
        if re.fullmatch(r"[a-z][\w-]*", one) and re.search(rf"[{{,]{re.escape(one)}[,}}]", page):
            yield (*words, one)
            if len(words) < DEEPEST:
                yield from _argcomplete((*words, one), said)


def _rows(words: Words, said: Say) -> Iterator[Words]:
    """By the rows below `Commands:`, of a program that completes nothing."""
    for block in _ROWS.findall(f"{said([*words, '--help'])}\n"):
        for one in _ROW.findall(block):
            if one != "help":
                yield (*words, one)
                yield from _rows((*words, one), said)


_WALKS: Mapping[str, Callable[[Words, Say], Iterator[Words]]] = {
    "argcomplete": _argcomplete,
    "click": _click,
    "cobra": _cobra,
    "rows": _rows,
}


def _said(place: Path, command: Sequence[str], more: Mapping[str, str] | None = None) -> str:
    """What a program prints; nothing where it cannot be run, or takes too long."""
    try:
        done = subprocess.run(
            command,
            cwd=place,
            env={**os.environ, **PLAIN, **(more or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace")


def _usages(text: str, root: str) -> Iterator[str]:
    """From the word `Usage` to the next empty line; one begins wherever a line begins with the program's name."""
    end = rf"(?=\n[ \t]*\n(?![ \t]*{re.escape(root)} )|\Z)"  # pip leaves lines empty between usages
    found = re.search(rf"^[ \t]*usage:?[ \t]*\n?(.*?){end}", text, re.DOTALL | re.IGNORECASE | re.MULTILINE)
    said: list[str] = []
    for line in (found[1] if found else "").splitlines():
        plain = " ".join(line.split()).removeprefix("or: ").removeprefix("or ")
        if plain.split()[:1] == [root]:
            said.append(plain)
        elif plain and said:
            said[-1] += f" {plain}"
    if not found:  # yargs begins with the usage
        first = next((line for line in text.splitlines() if line.split()[:1] == [root]), "")
        said = [" ".join(first.split())] if first else []
    # `package|pack` is a name and another one; whoever types both has made a pipe.
    yield from (re.sub(r"(?<= )([a-z][\w-]*)\|[a-z][\w-]*", r"\1", one) for one in said)
