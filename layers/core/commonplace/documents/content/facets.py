"""Groups, releases and tags of documents with their counts, and the page that explains each.

Each list is made once per catalogue.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, per_catalogue
from commonplace.documents.content.lexicon import TERM, lexicon_of
from commonplace.kernel.terms import key

GROUP_FOLDER = "docs/"
"""`docs/{group}/index.md` introduces a group that has no page of its own (notes of the real layout)."""

RELEASE = "release"
"""The content type of pages about releases, where an ontology has one."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One value, how many documents bear it, and the published document about it, if there is one."""

    name: str
    count: int
    page: Entry | None = None


@per_catalogue
def groups(catalogue: Catalogue) -> tuple[Facet, ...]:
    """Values of `group`, group pages and the folders of groups, by name."""
    counts = Counter(entry.group for entry in catalogue.entries if entry.group)
    pages = _named(entry for entry in catalogue.entries if entry.content_type == "group")
    folders = {name: entry for entry in catalogue.entries if (name := _folder_of(entry.path))}
    values = {key(value): value for value in counts}
    extra = {entry.id for entry in catalogue.entries if entry.content_type == "group"} | set(folders)
    named_by_value = {page.id for term in values if (page := pages.get(term))}
    names = [*counts, *sorted(name for name in extra if key(name) not in values and name not in named_by_value)]
    found = [Facet(name, counts[name], pages.get(key(name)) or folders.get(name)) for name in names]
    return tuple(sorted(found, key=lambda facet: facet.name.casefold()))


@per_catalogue
def releases(catalogue: Catalogue) -> tuple[Facet, ...]:
    """Values of `release`, each with the document named after it, and release documents that none bears; by name.

    The ontology that ships has no type for releases; an operator's may have.
    """
    counts = Counter(entry.release for entry in catalogue.entries if entry.release)
    values = {key(value) for value in counts}
    pages = _release_pages(catalogue, values)
    unborne = [
        Facet(entry.id, 0, entry)
        for entry in catalogue.entries
        if entry.content_type == RELEASE and values.isdisjoint({key(entry.id), key(entry.title)})
    ]
    found = [*(Facet(name, count, pages.get(key(name))) for name, count in counts.items()), *unborne]
    return tuple(sorted(found, key=lambda facet: facet.name.casefold()))


@per_catalogue
def tags(catalogue: Catalogue) -> tuple[Facet, ...]:
    """Tags, most used first, each with its lexicon document."""
    counts = Counter(tag for entry in catalogue.entries for tag in dict.fromkeys(entry.tags))
    page = lexicon_of(catalogue).page
    return tuple(Facet(name, counts[name], page(name)) for name in sorted(counts, key=lambda t: (-counts[t], t)))


def tag_branches(catalogue: Catalogue) -> tuple[Facet, ...]:
    """Return the tags, then those that no document bears and that others lie in."""
    found = tags(catalogue)
    counts = Counter(tag for entry in catalogue.entries for tag in entry.tag_branches)
    above = sorted(counts.keys() - {facet.name for facet in found})
    return (*found, *(Facet(name, counts[name], lexicon_of(catalogue).page(name)) for name in above))


def _release_pages(catalogue: Catalogue, values: Collection[str]) -> dict[str, Entry]:
    """Documents whose id or title is the name of a release: a release document, else an index page, else any other.

    Lexicon entries are none: a term may be called like a release and mean something else.
    """
    told = [
        ((entry.content_type != RELEASE, entry.content_type != "index", entry.path), name, entry)
        for entry in catalogue.entries
        if entry.content_type != TERM
        for name in {key(entry.id), key(entry.title)} & set(values)
    ]
    best_last = sorted(told, key=lambda one: one[0], reverse=True)
    return {name: entry for _, name, entry in best_last}


def _named(entries: Iterable[Entry]) -> dict[str, Entry]:
    """Documents by every name they go by; an id wins over a title, a title over an alias."""
    found: dict[str, Entry] = {}
    known = list(entries)
    for names in (
        [(entry.id, entry) for entry in known],
        [(entry.title, entry) for entry in known],
        [(alias, entry) for entry in known for alias in entry.aliases],
    ):
        for name, entry in names:
            found.setdefault(key(name), entry)
    return found


def _folder_of(path: str) -> str | None:
    """The group whose folder this page introduces."""
    inside = path.removeprefix(GROUP_FOLDER)
    name, _, page = inside.partition("/")
    return name if inside != path and page == "index.md" else None
