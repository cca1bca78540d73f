"""What is wrong between entries: ids, names and relations that do not fit together."""

from collections.abc import Collection, Iterable, Sequence

from commonplace.reference.forms import form_of
from commonplace.reference.source.bounds import MAX_PROBLEMS
from commonplace.reference.source.findings import Findings
from commonplace.reference.source.nearest import nearest
from commonplace.reference.source.settings_file import CatalogueSettings
from commonplace.reference.source.written import Written
from commonplace.reference.spelling import spelling


def check(entries: Sequence[Written], settings: CatalogueSettings, also: Collection[str], findings: Findings) -> None:
    """`also`: ids of entries that are there, and invalid; what relates to them is not at fault."""
    _duplicate_ids(entries, findings)
    by_id = {one.entry.id: one for one in entries}
    _duplicate_names(by_id.values(), findings)
    _Relations(by_id, also, findings).check()
    _aliases(by_id, findings)
    _titles(by_id.values(), settings, findings)


def _duplicate_ids(entries: Sequence[Written], findings: Findings) -> None:
    first: dict[str, Written] = {}
    for one in entries:
        there = first.setdefault(one.entry.id, one)
        if there is not one:
            message = f"The id is that of another entry: {_place(there)}."
            findings.error("duplicate-id", message, "Give one of them another id.", one.at("id"))


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
            hint = "Keep one of them, or mark one as deprecated and say what replaces it."
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
                self._related(one, id)
            if one.entry.replaced_by is not None:
                self._replaced(one, one.entry.replaced_by)
        self._cycles()

    def _related(self, one: Written, id: str) -> None:
        if id == one.entry.id:
            message, hint = "The entry is related to itself.", "Leave it out of `relatedIds`."
            self._findings.warning("odd-relation", message, hint, one.at("related_ids"))
        elif not self._known(id):
            message = f"`relatedIds` names `{id}`, which is no entry."
            self._findings.error("dangling-relation", message, self._proposal(id), one.at("related_ids"))

    def _replaced(self, one: Written, id: str) -> None:
        if not self._known(id):
            message = f"`replacedBy` names `{id}`, which is no entry."
            self._findings.error("dangling-relation", message, self._proposal(id), one.at("replaced_by"))

    def _known(self, id: str) -> bool:
        return id in self._by_id or id in self._also

    def _proposal(self, id: str) -> str:
        self._dangling += 1
        near = nearest(id, self._ids) if self._dangling <= MAX_PROBLEMS else None
        return f"Did you mean `{near}`?" if near else "Name the id of an entry of this catalogue."

    def _cycles(self) -> None:
        """Each cycle is told once, at its first entry."""
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
    """Where `catalogue.yaml` names its categories or modules, others are likely misspelt."""
    for one in entries:
        for name, slug in (("category", one.entry.category), ("subcategory", one.entry.subcategory)):
            if slug and settings.categories and slug not in settings.categories:
                message = f"`{slug}` is no category of `catalogue.yaml`."
                hint = f"Write one of {_listed(settings.categories)}, or name it there."
                findings.warning("odd-category", message, hint, one.at(name))
        if one.entry.module and settings.modules and one.entry.module not in settings.modules:
            message = f"`{one.entry.module}` is no module of `catalogue.yaml`."
            hint = f"Write one of {_listed(settings.modules)}, or name it there."
            findings.warning("odd-module", message, hint, one.at("module"))


def _listed(slugs: Iterable[str]) -> str:
    known = sorted(slugs)
    return ", ".join(known[:12]) + (" ..." if len(known) > 12 else "")
