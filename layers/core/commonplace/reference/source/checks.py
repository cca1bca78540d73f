"""Checks between entries: ids, names and relations that do not fit, broken links, and examples that match no command.

Examples are checked because readers copy them first.
"""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath

from commonplace.reference.forms import form_of
from commonplace.reference.lookup import Lookup
from commonplace.reference.model import Catalogue, Entry, Placed
from commonplace.reference.source.bounds import MAX_PROBLEMS
from commonplace.reference.source.findings import Findings, Written, nearest
from commonplace.reference.source.settings_file import CatalogueSettings
from commonplace.reference.spelling import spelling, unwrapped
from commonplace.repository.markdown import ParsedFile

_LINES = re.compile(r"\r\n|\r|\n")
_CONTINUED = re.compile(r"\\[ \t]*(?:\r\n|\r|\n)[ \t]*")
_NEXT = re.compile(r"(?<=\s)(?:&&|\|\||\||;)(?=\s)")
_WITHIN = re.compile(r"\$\(([^()]*)\)")
_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([\w-]*)[^\n]*\n(.*?)\n[ ]{0,3}\1", re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_SHELLS = frozenset({"", "bash", "sh", "shell", "console", "zsh", "text", "powershell"})

MAX_SHOWN = 80

_HINT = "Mend the example, or add the command."
EMPTY = "Nothing but its name is known: no parameter, no content, and no summary of its own."
EMPTY_HINT = "Say what it does; of a generated one, mend its source, or the reference that leads to it."
NOT_DESCRIBED = ": not described where it was read."
"""Ends the summary of what a generator found without any."""
_SIGNS = re.compile(r"[*`#.:_-]+")


def check(entries: Sequence[Written], settings: CatalogueSettings, also: Collection[str], findings: Findings) -> None:
    """`also`: ids of entries that are there, and invalid; what relates to them is not at fault."""
    first: dict[str, Written] = {}
    for one in entries:
        there = first.setdefault(one.entry.id, one)
        if there is not one:
            message = f"The id is that of another entry: {_place(there)}."
            made = one.entry.source_hash is not None and there.entry.source_hash is not None
            hint = "Give an item of `generate` another `id_prefix`." if made else "Give one of them another id."
            findings.error("duplicate-id", message, hint, one.at("id"))
    by_id = {one.entry.id: one for one in entries}
    _duplicate_names(by_id.values(), findings)
    _Relations(by_id, also, findings).check()
    _aliases(by_id, findings)
    _titles(by_id.values(), settings, findings)
    for one in entries:
        if says_nothing(one.entry):
            findings.error("empty-entry", EMPTY, EMPTY_HINT, one.at("summary"))


def says_nothing(entry: Entry) -> bool:
    """Return whether a command or an endpoint repeats its name, and that is all: its source was not read as it is
    meant.
    """
    if entry.type not in ("command", "api") or entry.parameters or entry.usages:
        return False
    known_to_take_nothing = entry.parameters is not None or entry.syntax not in (None, entry.name)
    if entry.type == "command" and (known_to_take_nothing or entry.examples):
        return False
    names = {_plain(entry.called), _plain(entry.id), ""}
    if _plain(entry.summary.removesuffix(NOT_DESCRIBED)) not in names:
        return False
    names |= {_plain(entry.summary), "syntax"}
    lines = map(_plain, entry.content.splitlines())
    return all(line in names or line.startswith("authentication") for line in lines)


def _plain(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text).casefold().split())


def _duplicate_names(entries: Iterable[Written], findings: Findings) -> None:
    first: dict[str, Written] = {}
    for one in entries:
        form = form_of(one.entry)
        if form is None or one.entry.deprecated:
            continue
        there = first.setdefault(form, one)
        if there is not one:
            what = "The command's name" if one.entry.type == "command" else "The endpoint"
            message = f"{what} is that of `{there.entry.id}`: {_place(there)}."
            hint = "Keep one of them, mark one as deprecated and replaced, or make a catalogue for each product."
            findings.error("duplicate-name", message, hint, one.at("name" if one.entry.name else "path_template"))


def _place(one: Written) -> str:
    return f"{one.path}, line {one.line}" if one.line else one.path


class _Relations:
    def __init__(self, by_id: dict[str, Written], also: Collection[str], findings: Findings) -> None:
        self._by_id = by_id
        self._also = also
        self._findings = findings
        self._ids = list(by_id)
        self._dangling = 0

    def check(self) -> None:
        for one in self._by_id.values():
            for id in one.entry.related_ids:
                if id == one.entry.id:
                    message, hint = "The entry is related to itself.", "Leave it out of `relatedIds`."
                    self._findings.warning("odd-relation", message, hint, one.at("related_ids"))
                elif not self._known(id):
                    message = f"`relatedIds` names `{id}`, which is not an entry."
                    self._findings.error("dangling-relation", message, self._proposal(id), one.at("related_ids"))
            if (newer := one.entry.replaced_by) is not None and not self._known(newer):
                message = f"`replacedBy` names `{newer}`, which is not an entry."
                self._findings.error("dangling-relation", message, self._proposal(newer), one.at("replaced_by"))
        self._cycles()

    def _known(self, id: str) -> bool:
        return id in self._by_id or id in self._also

    def _proposal(self, id: str) -> str:
        self._dangling += 1
        near = nearest(id, self._ids) if self._dangling <= MAX_PROBLEMS else None
        return f"Did you mean `{near}`?" if near else "Name the id of an entry of this catalogue."

    def _cycles(self) -> None:
        """Each cycle is reported once, at its first entry."""
        done: set[str] = set()
        for start in sorted(self._by_id):
            chain: dict[str, None] = {}
            id: str | None = start
            while id is not None and id in self._by_id and id not in done and id not in chain:
                chain[id] = None
                id = self._by_id[id].entry.replaced_by
            done |= chain.keys()
            if id is not None and id in chain:
                ring = list(chain)[list(chain).index(id) :]
                shown = " -> ".join(f"`{one}`" for one in [*ring[:10], id])
                message = f"The entries replace each other: {shown}."
                hint = "One of them has to be the one that is used: take away its `replacedBy`."
                self._findings.error("replacement-cycle", message, hint, self._by_id[id].at("replaced_by"))


def _aliases(by_id: dict[str, Written], findings: Findings) -> None:
    names: dict[str, str] = {}
    for one in by_id.values():
        if not one.entry.deprecated:
            names.setdefault(form_of(one.entry) or spelling(one.entry.title), one.entry.id)
    taken: dict[str, str] = {}
    for one in by_id.values():
        for alias in one.entry.aliases:
            form = spelling(alias)
            owner = names.get(form) or taken.setdefault(form, one.entry.id)
            if owner not in (one.entry.id, one.entry.replaced_by):
                message = f"The alias `{alias}` is also how `{owner}` is called."
                hint = "Keep it where it is meant; a name is found before an alias."
                findings.warning("alias-of-another", message, hint, one.at("aliases"))


def _titles(entries: Iterable[Written], settings: CatalogueSettings, findings: Findings) -> None:
    """Return where `catalogue.yaml` names its categories or modules, others are likely misspelt."""
    for one in entries:
        for name, slug in (("category", one.entry.category), ("subcategory", one.entry.subcategory)):
            if slug and settings.categories and slug not in settings.categories:
                message = f"`{slug}` is not a category of `catalogue.yaml`."
                hint = f"Write one of {_listed(settings.categories)}, or name it there."
                findings.warning("odd-category", message, hint, one.at(name))
        if one.entry.module and settings.modules and one.entry.module not in settings.modules:
            message = f"`{one.entry.module}` is not a module of `catalogue.yaml`."
            hint = f"Write one of {_listed(settings.modules)}, or name it there."
            findings.warning("odd-module", message, hint, one.at("module"))


def _listed(slugs: Iterable[str]) -> str:
    known = sorted(slugs)
    return ", ".join(known[:12]) + (" ..." if len(known) > 12 else "")


def check_links(entries: Iterable[Written], paths: Collection[str], findings: Findings) -> None:
    """`paths`: every file that is there, those that are left out as well. Links to the web are not followed."""
    folders = {str(folder) for path in paths for folder in PurePosixPath(path).parents}
    known = sorted(paths)
    broken = 0
    for one in entries:
        if "](" not in one.entry.content:
            continue
        for target, line in _targets(one):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(one.path), target))
            # Beyond the folder nothing is known: there the rest of the repository begins.
            if path in paths or path in folders or path.startswith(("..", "/")) or path == ".":
                continue
            broken += 1
            near = nearest(path, known) if broken <= MAX_PROBLEMS else None
            hint = f"Did you mean `{near}`?" if near else "Mend the path, or take the link away."
            message = f"A link leads to `{target[:200]}`, which is not a file of the catalogue."
            findings.warning("broken-link", message, hint, one.at("content").on(line))


def _targets(one: Written) -> Iterable[tuple[str, int | None]]:
    from commonplace.repository.links import read_contents

    file = ParsedFile({}, one.entry.content, one.content_line or 1)
    for link in read_contents(file).links:
        if link.kind in ("link", "image") and not link.target.startswith("/"):
            yield link.target, link.line if one.content_line else None


def check_examples(entries: Iterable[Written], settings: CatalogueSettings, findings: Findings) -> None:
    """Only lines whose first word is a root of the catalogue are looked at."""
    entries = list(entries)
    commands = [one for one in entries if one.entry.type == "command" and one.entry.name]
    # A catalogue as far as names go: nothing of it is published.
    names = Catalogue(
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
    lookup = Lookup([names])
    roots = {root.casefold() for root in settings.roots}
    roots |= {(one.entry.name or "").split()[0].casefold() for one in commands}
    for one in entries:
        for field, line in _typed(one):
            words = line.split(maxsplit=1)
            if not (len(words) == 2 and words[0].casefold() in roots):
                continue
            if not lookup.names_command(line):
                message = f"An example shows `{line[:MAX_SHOWN]}`, which is not a command of the catalogue."
                findings.warning("unknown-command", message, _HINT, one.at(field))
            elif " -" in line and (hit := lookup.command(line).hit):
                for option in hit.unknown_options:
                    near = f"Did you mean `{option.nearest[0]}`?" if option.nearest else "Mend the example."
                    message = f"An example shows `{option.name[:MAX_SHOWN]}`, which `{hit.entry.called}` does not take."
                    findings.warning("unknown-option", message, near, one.at(field))


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
        for outer in (*_WITHIN.findall(line), _WITHIN.sub("", line)):
            for part in _NEXT.split(outer):
                yield unwrapped(part)
