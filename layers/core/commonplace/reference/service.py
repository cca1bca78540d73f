"""The reference of a product: the operations of its tools (seed 003, "MCP Tools")."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from commonplace.kernel.errors import Unavailable
from commonplace.reference.lookup import Lookup
from commonplace.reference.model import (
    EVERYWHERE,
    MAX_QUERY_CHARACTERS,
    Asked,
    Catalogue,
    Category,
    CommandAnswer,
    EndpointAnswer,
    EntryType,
    Gap,
    Hit,
    Method,
    Placed,
    Reported,
    SearchAnswer,
    Within,
    kept,
)
from commonplace.reference.ports import Edition, Meaning, Shelf
from commonplace.reference.search import DEFAULT_TUNING, Tuning, Words
from commonplace.reference.shelf import EVERY
from commonplace.search.text import clean_query

if TYPE_CHECKING:
    from commonplace.reference.store import DynamoGaps


class Prepared:
    """The look-up structures of an edition, built once; those of words at the first search."""

    def __init__(self, edition: Edition, tuning: Tuning) -> None:
        self.version = edition.version
        self.catalogues = edition.catalogues
        self.missing = edition.missing
        self.lookup = Lookup(edition.catalogues, lambda: self.words.scorer)
        self._tuning = tuning

    @cached_property
    def words(self) -> Words:
        """The words of every entry."""
        return Words(self.lookup.entries, [catalogue.synonyms for catalogue in self.catalogues], self._tuning)


class Reference:
    """Every operation of the reference. Methods raise Unavailable when nothing published can be had.

    Without `meaning` words alone are compared; without `gaps` none are kept. Safe for threads.
    """

    def __init__(
        self,
        shelf: Shelf,
        meaning: Meaning | None = None,
        gaps: "DynamoGaps | None" = None,
        *,
        tuning: Tuning = DEFAULT_TUNING,
    ) -> None:
        self._shelf = shelf
        self._meaning = meaning
        self._gaps = gaps
        self._tuning = tuning
        self._prepared: Prepared | None = None

    def search(self, asked: Asked) -> SearchAnswer:
        """Find by name what is shaped like a command or an endpoint; by words and meaning the rest."""
        asked = replace(asked, query=_clean(asked.query), category=_category(asked.category))
        prepared = self._prepare()
        if (named := prepared.lookup.shaped(asked)) is not None:
            return self._answer(prepared, asked, tuple(named[: asked.limit]), shaped=True)
        if not asked.query:
            return SearchAnswer(())
        ranking = prepared.words.rank(asked, prepared.lookup.matching(asked), prepared.lookup.current, self._meaning)
        first = prepared.lookup.exact(asked)
        hits = ranking.hits
        if first:
            hits = (first, *(hit for hit in hits if hit.placed is not first.placed))[: asked.limit]
        return self._answer(prepared, asked, hits, fallback=ranking.fallback)

    def _answer(
        self, prepared: Prepared, asked: Asked, hits: tuple[Hit, ...], *, shaped: bool = False, fallback: bool = False
    ) -> SearchAnswer:
        if not hits:
            self.require_all()
        suggestions = () if hits else prepared.lookup.suggest(asked.query, asked)
        return SearchAnswer(hits, suggestions, shaped=shaped, fallback=fallback)

    def command(self, name: str, within: Within = EVERYWHERE) -> CommandAnswer:
        """The command of this name, however it is spelt, or what may have been meant. Never a guess."""
        return self._prepare().lookup.command(_clean(name), within)

    def endpoint(self, path: str, method: Method | None = None, within: Within = EVERYWHERE) -> EndpointAnswer:
        """The endpoint of a path, concrete or with parameters: of one method, or of all."""
        return self._prepare().lookup.endpoint(_clean(path), method, within)

    def commands(
        self, category: str | None = None, module: str | None = None, within: Within = EVERYWHERE
    ) -> tuple[Placed, ...]:
        """Commands in order of name; `category` is a category or a subcategory, and `all` is every one."""
        return self._prepare().lookup.commands(_category(category), module, within)

    def categories(self) -> tuple[Category, ...]:
        """Categories and subcategories in use, with how many entries and commands each has."""
        return self._prepare().lookup.categories

    def modules(self) -> tuple[str, ...]:
        """Optional modules in use, those with most entries first."""
        return self._prepare().lookup.modules

    def catalogues(self) -> tuple[Catalogue, ...]:
        """Those that are published."""
        return self._prepare().catalogues

    @property
    def version(self) -> str:
        """Another one whenever anything else is published."""
        return self._prepare().version

    def entry(self, catalogue: str, id: str) -> Hit | None:
        """One entry by its id; None when there is none."""
        found = self._prepare().lookup.entry(catalogue, id)
        return Hit(found.catalogue, found.placed, matched_by="name", score=1.0) if found else None

    def report_gap(
        self, organisation: str, query: str, type: EntryType | None = None, note: str | None = None
    ) -> Reported:
        """Counts a query that found nothing. What is kept is masked and cut. Raises Unavailable."""
        query = kept(query)
        if self._gaps is None or not query:
            return Reported(query, None)
        return Reported(query, self._gaps.count(organisation, query, type, (kept(note) if note else None) or None))

    def gaps(self, organisation: str, limit: int = 100) -> Sequence[Gap]:
        """Return what was missed, the most reported first."""
        return self._gaps.gaps(organisation, limit) if self._gaps else ()

    def require_all(self) -> None:
        """Raise Unavailable while a catalogue is not loaded: what was not found may stand in it."""
        if self._prepare().missing:
            raise _not_loaded()

    def prepare(self) -> None:
        """Builds what look-ups need, so that the first one does not wait for it."""
        self._prepare()

    def _prepare(self) -> Prepared:
        edition = self._shelf.edition()
        if not edition.catalogues:
            raise _not_loaded()
        prepared = self._prepared
        if prepared is None or prepared.version != edition.version:
            prepared = Prepared(edition, self._tuning)
            self._prepared = prepared
        return prepared


def _not_loaded() -> Unavailable:
    hint = "Whether something exists cannot be said before the first sync has ended."
    return Unavailable("The product reference is not loaded yet.", hint=hint)


def _clean(text: str) -> str:
    return clean_query(text)[:MAX_QUERY_CHARACTERS].strip()


def _category(asked: str | None) -> str | None:
    folded = (asked or "").strip().lower()
    return None if folded in ("", EVERY) else folded
