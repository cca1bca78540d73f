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
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from local.cli.reference.programs import PLAIN, raw_of

SECONDS = 20
DEEPEST = 4
_FLAG = re.compile(r"^[ \t]*(?:\[?-\w[,|/ ]\s*)?\[?(--[A-Za-z](?:[\w-]*\w)?)", re.MULTILINE)
_COMPLETED = re.compile(r"^\s+(\w+),([\w-]+)\)\s+cmd=\"(\w+)\"$", re.MULTILINE)
_GROUP = re.compile(r"(?:\[OPTIONS\] )?(?:<?(?:SUB)?COMMAND>?|\[command\])(?: \[options\])?", re.IGNORECASE)
_BRACKETED = re.compile(r"\[[^\[\]]*\]")
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


def program(asked: Asked, folder: Path) -> Program | None:
    """None where it is neither kept nor installed."""
    file = folder / "programs" / f"{asked.name}.json"
    if not file.is_file():
        if shutil.which(asked.name) is None:
            return None
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(_facts(asked), indent=1, sort_keys=True), encoding="utf-8")
    told: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    pages = {name: Page(tuple(name.split()), text) for name, text in told["pages"].items()}
    return Program(told["version"], told["raw"].encode(), pages)


def required(usage: str) -> list[str]:
    """Arguments that stand outside of brackets."""
    bare, before = usage, ""
    while bare != before:
        bare, before = _BRACKETED.sub(" ", bare), bare
    return [one for one in _ARGUMENT.findall(bare) if one.strip("<>").casefold() not in {"options", "flags"}]


def _facts(asked: Asked) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-") as made:
        place = Path(made)
        said = partial(_said, place)
        said(["git", "init", "--quiet"])  # parts of Git's help are told in a repository alone
        raw = raw_of("help", asked.name, folder=place, options={"depth": asked.depth, "ask": asked.ask})
        version = said([asked.name, "version" if asked.name == "kubectl" else "--version"]).strip().partition("\n")[0]
        names = dict.fromkeys([asked.name, *(" ".join(one) for one in _names(asked, said))])
        pages = {name: said([*name.split(), asked.ask]) for name in names}
    return {"version": version.partition(" from ")[0], "raw": raw.decode(), "pages": pages}


def _names(asked: Asked, said: Say) -> Iterator[Words]:
    name = asked.name
    match asked.names:
        case "cobra":
            yield from _cobra((name,), said)
        case "clap":
            known: dict[str, Words] = {name: (name,)}
            for above, word, state in _COMPLETED.findall(said([name, "generate-shell-completion", "bash"])):
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
    found = re.search(r"^[ \t]*usage:?[ \t]*\n?(.*?)(?=\n[ \t]*\n|\Z)", text, re.DOTALL | re.IGNORECASE | re.MULTILINE)
    said: list[str] = []
    for line in (found[1] if found else "").splitlines():
        plain = " ".join(line.split()).removeprefix("or: ").removeprefix("or ")
        if plain.split()[:1] == [root]:
            said.append(plain)
        elif plain and said:
            said[-1] += f" {plain}"
    yield from said
