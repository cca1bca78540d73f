"""The reference of a product: what its tools do (seed 003, "MCP Tools")."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import EntryType, Method
from commonplace.reference.gaps import kept
from commonplace.reference.ports import GapStore, Meaning, Shelf
from commonplace.reference.results import (
    MAX_QUERY_CHARACTERS,
    Asked,
    Category,
    CommandAnswer,
    EndpointAnswer,
    Gap,
    Hit,
    Reported,
    SearchAnswer,
)
from commonplace.search.text import clean_query

if TYPE_CHECKING:
    from commonplace.reference.lookup import Lookup

EVERY_CATEGORY = "all"


@dataclass(frozen=True, slots=True)
class Prepared:
    """What is built of an edition, once."""

    version: str
    catalogues: tuple[Catalogue, ...]
    lookup: "Lookup"


class Reference:
    """Everything that can be asked of the reference. Methods raise Unavailable when nothing published can be had.

    Without `meaning` words alone are compared; without `gaps` none are kept. It may be asked by several at once.
    """

    def __init__(self, shelf: Shelf, meaning: Meaning | None = None, gaps: GapStore | None = None) -> None:
        self._shelf = shelf
        self._meaning = meaning
        self._gaps = gaps
        self._prepared: Prepared | None = None

    def search(self, asked: Asked) -> SearchAnswer:
        """By name what is shaped like a command or an endpoint, and nothing else; by words and meaning the rest."""
        asked = _cleaned(asked)
        prepared = self._prepare()
        if (named := prepared.lookup.shaped(asked)) is not None:
            hits = tuple(named[: asked.limit])
            return SearchAnswer(hits, () if hits else prepared.lookup.suggest(asked.query, asked), shaped=True)
        return SearchAnswer((), prepared.lookup.suggest(asked.query, asked))

    def command(self, name: str) -> CommandAnswer:
        """The command of this name, however it is spelt, or what may have been meant. Never a guess."""
        return self._prepare().lookup.command(_clean(name))

    def endpoint(self, path: str, method: Method | None = None) -> EndpointAnswer:
        """The endpoint of a path, concrete or with parameters: of one method, or of all."""
        return self._prepare().lookup.endpoint(_clean(path), method)

    def commands(self, category: str | None = None, module: str | None = None) -> tuple[Placed, ...]:
        """Commands in order of name; `category` is a category or a subcategory, and `all` is every one."""
        return self._prepare().lookup.commands(_category(category), module)

    def categories(self) -> tuple[Category, ...]:
        """Categories and subcategories in use, with how many entries and commands each has."""
        return self._prepare().lookup.categories()

    def catalogues(self) -> tuple[Catalogue, ...]:
        """Those that are published."""
        return self._prepare().catalogues

    @property
    def version(self) -> str:
        """Another one whenever anything else is published."""
        return self._prepare().version

    def entry(self, catalogue: str, id: str) -> Hit | None:
        """One entry by its id; None when there is none."""
        found = (
            (one, placed)
            for one in self._prepare().catalogues
            if one.name == catalogue
            for placed in one.entries
            if placed.entry.id == id
        )
        one = next(found, None)
        return Hit(*one, matched_by="name", score=1.0) if one else None

    def report_gap(
        self, organisation: str, query: str, type: EntryType | None = None, note: str | None = None
    ) -> Reported:
        """Counts a query that found nothing. What is kept is masked and cut. Raises Unavailable."""
        query = kept(query)
        if self._gaps is None or not query:
            return Reported(query, None)
        return Reported(query, self._gaps.count(organisation, query, type, (kept(note) if note else None) or None))

    def gaps(self, organisation: str, limit: int = 100) -> Sequence[Gap]:
        """What was missed, the most reported first."""
        return self._gaps.gaps(organisation, limit) if self._gaps else ()

    def prepare(self) -> None:
        """Builds what look-ups need, so that the first one does not wait for it."""
        self._prepare()

    def _prepare(self) -> Prepared:
        from commonplace.reference.lookup import Lookup

        edition = self._shelf.edition()
        prepared = self._prepared
        if prepared is None or prepared.version != edition.version:
            prepared = Prepared(edition.version, edition.catalogues, Lookup(edition.catalogues))
            self._prepared = prepared
        return prepared


def _cleaned(asked: Asked) -> Asked:
    return replace(asked, query=_clean(asked.query), category=_category(asked.category))


def _clean(text: str) -> str:
    return clean_query(text)[:MAX_QUERY_CHARACTERS].strip()


def _category(asked: str | None) -> str | None:
    folded = (asked or "").strip().lower()
    return None if folded in ("", EVERY_CATEGORY) else folded
