"""What documents have in common: groups, releases and tags, counted, each with the page that explains it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from commonplace.content.catalogue import INDEX_PAGE, Catalogue
from commonplace.content.manifest import Entry

GROUP_FOLDER = "docs/"
"""`docs/{group}/index.md` introduces a group that has no page of its own (notes of the real layout)."""


@dataclass(frozen=True, slots=True)
class Facet:
    """One value, how many documents bear it, and the published document about it, if there is one."""

    name: str
    count: int
    page: Entry | None = None


def groups(catalogue: Catalogue) -> list[Facet]:
    """Values of `group`, group pages and the folders of groups, by name."""
    counts = Counter(entry.group for entry in catalogue.entries if entry.group)
    pages = _named(entry for entry in catalogue.entries if entry.content_type == "group")
    folders = {name: entry for entry in catalogue.entries if (name := _folder_of(entry.path))}
    values = {_term(value): value for value in counts}
    extra = {entry.id for entry in catalogue.entries if entry.content_type == "group"} | set(folders)
    named_by_value = {page.id for term in values if (page := pages.get(term))}
    names = [*counts, *sorted(name for name in extra if _term(name) not in values and name not in named_by_value)]
    found = [Facet(name, counts[name], pages.get(_term(name)) or folders.get(name)) for name in names]
    return sorted(found, key=lambda facet: facet.name.casefold())


def releases(catalogue: Catalogue) -> list[Facet]:
    """Values of `release`, by name. None when no document has one."""
    counts = Counter(entry.release for entry in catalogue.entries if entry.release)
    return [Facet(name, counts[name]) for name in sorted(counts, key=str.casefold)]


def tags(catalogue: Catalogue) -> list[Facet]:
    """Tags, most used first, each with its lexicon document: matched by id, title or alias."""
    counts = Counter(tag for entry in catalogue.entries for tag in dict.fromkeys(entry.tags))
    lexicon = _named(entry for entry in catalogue.entries if entry.content_type == "tag")
    return [
        Facet(name, counts[name], lexicon.get(_term(name))) for name in sorted(counts, key=lambda t: (-counts[t], t))
    ]


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
            found.setdefault(_term(name), entry)
    return found


def _term(name: str) -> str:
    """`#Mutual Aid`, `mutual-aid` and `Mutual aid` are one term."""
    return "-".join(name.lstrip("#").replace("-", " ").replace("_", " ").casefold().split())


def _folder_of(path: str) -> str | None:
    """The group whose folder this page introduces."""
    inside = path.removeprefix(GROUP_FOLDER)
    name, _, page = inside.partition("/")
    return name if inside != path and page == INDEX_PAGE else None
