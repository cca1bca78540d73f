"""Examples that show what no command of the catalogue is: the first thing that readers copy."""

import re
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.lookup import Lookup
from commonplace.reference.source.findings import Findings
from commonplace.reference.source.settings_file import CatalogueSettings
from commonplace.reference.source.written import Written
from commonplace.reference.spelling import unwrapped

_LINES = re.compile(r"\r\n|\r|\n")
_CONTINUED = re.compile(r"\\[ \t]*(?:\r\n|\r|\n)[ \t]*")
_NEXT = re.compile(r"(?<=\s)(?:&&|\|\||\||;)(?=\s)")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([\w-]*)[^\n]*\n(.*?)\n[ ]{0,3}\1", re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SHELLS = frozenset({"", "bash", "sh", "shell", "console", "zsh", "text", "powershell"})

MAX_SHOWN = 80


def check_examples(entries: Iterable[Written], settings: CatalogueSettings, findings: Findings) -> None:
    """Only lines whose first word is a root of the catalogue are looked at."""
    entries = list(entries)
    commands = [one for one in entries if one.entry.type == "command" and one.entry.name]
    lookup = Lookup([_catalogue(commands, settings)])
    roots = {root.casefold() for root in settings.roots}
    roots |= {(one.entry.name or "").split()[0].casefold() for one in commands}
    for one in entries:
        for field, line in _typed(one):
            if _begins(line, roots) and not lookup.names_command(line):
                message = f"An example shows `{line[:MAX_SHOWN]}`, which is no command of the catalogue."
                findings.warning("unknown-command", message, _HINT, one.at(field))


_HINT = "Mend the example, or add the command."


def _catalogue(commands: Iterable[Written], settings: CatalogueSettings) -> Catalogue:
    """As far as names go: nothing of it is published."""
    return Catalogue(
        name="examples",
        title=settings.title,
        roots=list(settings.roots),
        repository="",
        branch="",
        commit_sha="",
        generation=0,
        synced_at=datetime.fromtimestamp(0, UTC),
        entries=[Placed(entry=one.entry, path=one.path, generation=0) for one in commands],
    )


def _begins(line: str, roots: Collection[str]) -> bool:
    words = line.split(maxsplit=1)
    return len(words) == 2 and words[0].casefold() in roots


def _typed(one: Written) -> Iterator[tuple[str, str]]:
    """The field, and each line that is typed in it."""
    for example in one.entry.examples:
        for line in _lines(example.code):
            yield "examples", line
    for fence in _FENCE.finditer(one.entry.content):
        if fence[2].lower() in _SHELLS:
            for line in _lines(fence[3]):
                yield "content", line
    for span in _SPAN.finditer(_FENCE.sub("", one.entry.content)):
        yield "content", unwrapped(span[1])


def _lines(code: str) -> Iterator[str]:
    for line in _LINES.split(_CONTINUED.sub(" ", code)):
        for part in _NEXT.split(line):
            yield unwrapped(part)
