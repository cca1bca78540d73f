"""Commands out of help texts (`--help`), which is what a program of any kind has.

The bytes are the pages that `local/cli/reference/programs.py` gathers, or one page as a text.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.kernel.errors import InvalidInput
from generators.commands import Command, CommandOptions, generated
from generators.console_usage import name_of
from generators.generated import Generated, Unread
from generators.help_pages import Below, Page, page, summary_of, words_of
from generators.program_text import examples_in

CATEGORY = "command-line"
MAX_PAGES = 2_000
Name = tuple[str, ...]


def generate(raw: bytes, *, source: str, options: Mapping[str, Any]) -> Generated:
    """Raises InvalidInput for options."""
    wanted = CommandOptions.read(options, CATEGORY)
    pages = _pages(raw, tuple(wanted.root.split()), source)
    root = min(pages, key=len, default=())
    unread: list[Unread] = []
    found = {one.name: one for one in _commands(pages, unread)}
    if not found:
        unread.append(Unread(source, "No command was found in its help.", "Say how to ask for it: `ask: -h`."))
    return generated(found.values(), unread, replace(wanted, root=wanted.root or " ".join(root[:1])))


def below(text: str, words: Sequence[str]) -> list[str]:
    """Names of the commands that a page lists below the command whose page it is."""
    return [one.name for one in page(text, words).commands if one.name not in {"help", words[-1]}]


def _pages(raw: bytes, root: Name, source: str) -> dict[Name, Page]:
    text = raw.decode("utf-8", "replace")
    try:
        told = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        told = None
    given = told.get("pages") if isinstance(told, dict) else None
    if isinstance(given, dict):
        said = {tuple(name.split()): body for name, body in given.items() if isinstance(body, str) and name.split()}
        return {words: page(body, words) for words, body in sorted(said.items())[:MAX_PAGES]}
    found = page(text, root)
    words = root or words_of(found)
    if not words:
        raise InvalidInput(f"{source} is no help text that names its program.", hint="Give `root:`.")
    return {words: page(text, words)}


def _commands(pages: Mapping[Name, Page], unread: list[Unread]) -> Iterator[Command]:
    listed = {(*words, one.name): one for words, found in pages.items() for one in found.commands}
    for words, one in listed.items():
        if words not in pages:
            yield _of_row(words, one, unread)
    known = {*pages, *listed}
    for words, found in pages.items():
        if not found.commands:
            yield _of_page(words, found, listed.get(words), unread)
        for usage in found.usages[1:]:
            name = name_of(usage)
            if len(name) > len(words) and name[: len(words)] == words and name not in known:
                known.add(name)
                unread.append(Unread(" ".join(name), "Its usage alone is known."))
                yield Command(name, syntax=usage, options=None)


def _of_row(words: Name, one: Below, unread: list[Unread]) -> Command:
    if not one.summary:
        unread.append(Unread(" ".join(words), "Nothing says what it does."))
    return Command(
        words=words,
        summary=summary_of(one.summary),
        description=one.summary,
        syntax=f"{' '.join(words)} {one.rest}".strip(),
        options=None,
        aliases=tuple(" ".join((*words[:-1], alias)) for alias in one.aliases),
    )


def _of_page(words: Name, found: Page, row: Below | None, unread: list[Unread]) -> Command:
    summary = summary_of(found.text) or (row.summary if row else "")
    if not summary and not found.usages and not found.options:
        unread.append(Unread(" ".join(words), "Its help could not be read."))
    elif not summary:
        unread.append(Unread(" ".join(words), "Nothing says what it does."))
    syntax = next((one for one in found.usages if name_of(one)[: len(words)] == words), None)
    return Command(
        words=words,
        summary=summary,
        description=found.text,
        syntax=syntax or (found.usages[0] if found.usages else None),
        arguments=found.arguments,
        options=found.options,
        examples=examples_in(f"{found.text}\nExamples:\n{found.examples}", words, summary),
        aliases=tuple(" ".join((*words[:-1], alias)) for alias in (row.aliases if row else ())),
    )
