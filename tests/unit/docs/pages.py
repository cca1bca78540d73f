"""Reads the project's Markdown pages: code blocks, headings, links and tables."""

import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[3]
SAMPLE = ROOT / "samples" / "knowledge-base"
BUILT = (".venv", ".tools", ".data", "cdk.out", "node_modules", ".git")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language and its text."""

    page: Path
    line: int
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command of a shell block, taken apart."""

    page: Path
    line: int
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return Path(self.words[0]).name


def pages() -> list[Path]:
    """The README, what stands beside it, and everything under docs/."""
    beside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*beside, *sorted((ROOT / "docs").rglob("*.md"))]


def room_readmes() -> list[Path]:
    """The README of every folder of the project, the sample's own documents left out."""
    found = []
    for folder, inside, files in os.walk(ROOT):
        inside[:] = [name for name in inside if name not in BUILT]
        found += [Path(folder) / name for name in files if name == "README.md"]
    return sorted(path for path in found if path.parent != SAMPLE)


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    return tuple(MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")))


def blocks(page: Path, language: str | None = None) -> list[Block]:
    found = [
        Block(page, token.map[0] + 1 if token.map else 0, token.info.strip(), token.content)
        for token in tokens(page)
        if token.type == "fence"
    ]
    return [block for block in found if language is None or block.language == language]


def commands(page: Path) -> Iterator[Command]:
    """Every simple command of the page's `sh` blocks; pipes, `&&` and continued lines are taken apart."""
    for block in blocks(page, "sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;")
            lexer.whitespace_split = True
            words: list[str] = []
            for word in [*lexer, ";"]:
                if word and set(word) <= set("|&;"):
                    if words:
                        yield Command(page, block.line, tuple(words))
                    words = []
                else:
                    words.append(word)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the page's headings."""
    found: set[str] = set()
    stream = tokens(page)
    for opening, inline in pairwise(stream):
        if opening.type == "heading_open":
            text = "".join(part.content for part in inline.children or ())
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            number = 0
            while (candidate := f"{slug}-{number}" if number else slug) in found:
                number += 1
            found.add(candidate)
    return found


def links(page: Path) -> list[tuple[int, str]]:
    """(line, target) of every link and image that leads to a file or an anchor of this project."""
    found = []
    for token in tokens(page):
        for part in token.children or ():
            target = part.attrGet("href") or part.attrGet("src")
            if isinstance(target, str) and not urlsplit(target).scheme:
                found.append((token.map[0] + 1 if token.map else 0, target))
    return found


def dead_links(page: Path) -> list[str]:
    """Links that lead nowhere, as `page:line target`."""
    dead = []
    for line, target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / unquote(path)).resolve() if path else page
        misses_anchor = anchor and file.suffix == ".md" and file.exists() and anchor not in anchors(file)
        if not file.exists() or misses_anchor:
            dead.append(f"{label(page)}:{line} {target}")
    return dead


def section(page: Path, heading: str) -> tuple[Token, ...]:
    """The tokens below a heading, up to the next one of its level or above."""
    stream = tokens(page)
    start = next(
        index
        for index, token in enumerate(stream)
        if token.type == "heading_open" and stream[index + 1].content == heading
    )
    level = stream[start].tag
    rest = stream[start + 3 :]
    end = next((i for i, token in enumerate(rest) if token.type == "heading_open" and token.tag <= level), len(rest))
    return rest[:end]


def rows(stream: tuple[Token, ...]) -> list[list[str]]:
    """Body rows of every table in the stream, cells as written."""
    found: list[list[str]] = []
    in_body = False
    for token in stream:
        if token.type in {"tbody_open", "tbody_close"}:
            in_body = token.type == "tbody_open"
        elif in_body and token.type == "tr_open":
            found.append([])
        elif in_body and token.type == "inline":
            found[-1].append(token.content)
    return found


def first_cells(page: Path, heading: str | None = None) -> list[str]:
    """The code-marked names in the first column of a section's tables."""
    stream = section(page, heading) if heading else tokens(page)
    return [name for row in rows(stream) for name in re.findall(r"`([^`]+)`", row[0])]
