"""Exact look-up, in the process: what is named, however it is spelt, and nothing else."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from commonplace.reference.commands import Commands
from commonplace.reference.endpoints import Endpoints, Request
from commonplace.reference.model import (
    EVERYWHERE,
    Asked,
    Catalogue,
    Category,
    CommandAnswer,
    EndpointAnswer,
    Hit,
    MatchedBy,
    Method,
    Placed,
    Within,
)
from commonplace.reference.names import Names
from commonplace.reference.query_shapes import Shapes, without_kind
from commonplace.reference.shelf import Conditions, Kept, Match, Shelved, categories_of, modules_of
from commonplace.reference.spelling import spelling, unwrapped
from commonplace.reference.suggestions import Suggesting

if TYPE_CHECKING:
    from commonplace.reference.scorer import Scorer

MOST_BEGINNING = 100
"""Commands of a group that are named at once."""

SCORES: dict[MatchedBy, float] = {"name": 1.0, "alias": 0.95, "spelling": 0.95, "arguments": 0.9, "prefix": 0.6}


class Lookup:
    """Built of the catalogues of an edition, once; it never changes, and is safe for threads."""

    def __init__(self, catalogues: Sequence[Catalogue], scorer: Callable[[], "Scorer"] | None = None) -> None:
        """`scorer`, of all entries, suggests by words what is not near by letters."""
        self._scorer = scorer
        self._shelved = Shelved(catalogues)
        self._names = Names(self._shelved)
        self._commands = Commands(self._names)
        self._endpoints = Endpoints(self._shelved)
        self._shapes = Shapes(self._names, self._endpoints, [root for one in catalogues for root in one.roots])

    @property
    def entries(self) -> tuple[Kept, ...]:
        """Every entry, deprecated ones as well, in the order of the catalogues and of their ids."""
        return self._shelved.all

    def command(self, text: str, within: Within = EVERYWHERE) -> CommandAnswer:
        """The command of this name, or the group that it begins, or what may have been meant."""
        conditions = Conditions(type="command", within=within)
        ways = chain(self._commands.ways(text), [self._commands.without_root(text)])
        hits = self._first(ways, conditions.let)
        if not hits:
            return CommandAnswer(None, suggestions=self._suggesting.suggest(text, conditions))
        several = len(hits) > 1 and hits[0].matched_by in ("alias", "prefix")
        if several:
            return CommandAnswer(None, beginning=hits[:MOST_BEGINNING])
        return CommandAnswer(hits[0], others=tuple(hit for hit in hits if hit.catalogue is not hits[0].catalogue))

    def endpoint(self, path: str, method: Method | None = None, within: Within = EVERYWHERE) -> EndpointAnswer:
        """The endpoints of a path: of one method, or of all. The path may come with a method, or be an alias."""
        request = self._shapes.request(path) or Request(unwrapped(path))
        request = replace(request, method=method or request.method)
        there = self._endpoints.at(request.path, within)
        conditions = Conditions(type="api", within=within)
        hits = self._first((_of(request, there), *self._names.called(path)), conditions.let)
        if hits:
            return EndpointAnswer(hits)
        methods = dict.fromkeys(kept.entry.method for kept in there.found if kept.entry.method and conditions.let(kept))
        asked = f"{request.method or ''} {request.path}"
        suggestions = self._suggesting.suggest(asked, conditions)
        return EndpointAnswer((), tuple(methods), suggestions, self._endpoints.hosts(request.path))

    def shaped(self, asked: Asked) -> Sequence[Hit] | None:
        """Return what a query answers that is shaped like a command or an endpoint; None for any other query."""
        if asked.type not in (None, "command", "api"):
            return None
        shape = self._shapes.of(asked.query)
        if isinstance(shape, Request):
            below = self._endpoints.below(shape.path, asked.within) if shape.method is None else Match((), "prefix")
            there = _of(shape, self._endpoints.at(shape.path, asked.within))
            ways = chain([there, below], self._names.called(asked.query))
        elif shape == "command" or self._names.commands.however_spelt(unwrapped(asked.query)):
            ways = chain(self._commands.ways(asked.query), self._names.called(asked.query))
        else:
            return None
        return self._first(ways, self._passing(asked))[: asked.limit]

    def exact(self, asked: Asked) -> Hit | None:
        """The one entry with exactly this name, alias or title; of the kind that the query ends in, if it does.

        Titles of commands and endpoints say in words what others do as well: they count where a query names a type.
        """
        if hit := self._only(asked):
            return hit
        name, kind = without_kind(asked.query)
        other = kind and asked.type and kind != asked.type
        return self._only(replace(asked, query=name, type=kind or asked.type)) if name and not other else None

    def suggest(self, text: str, asked: Asked) -> tuple[str, ...]:
        """Return what may have been meant: at most three names that exist, under the same conditions."""
        return self._suggesting.suggest(text, Conditions.of(asked))

    def names_command(self, line: str) -> bool:
        """Return whether a line begins with the name of a command, or is the beginning of one."""
        return self._commands.named(line)

    def commands(
        self, category: str | None = None, module: str | None = None, within: Within = EVERYWHERE
    ) -> tuple[Placed, ...]:
        """Commands in order of their names, without those that others replace."""
        conditions = Conditions.of(Asked("", type="command", category=category, module=module, within=within))
        found = [kept for kept in self._live if conditions.let(kept)]
        return tuple(kept.placed for kept in sorted(found, key=lambda kept: spelling(kept.entry.called)))

    @cached_property
    def modules(self) -> tuple[str, ...]:
        """Return the modules in use, those with most entries first."""
        return modules_of(self._shelved)

    def entry(self, catalogue: str, id: str) -> Kept | None:
        """Return the entry of this catalogue and id; None when there is none."""
        return self._shelved.by_id(catalogue, id)

    def matching(self, asked: Asked) -> Callable[[Kept], bool]:
        """Return whether an entry passes the conditions of a search."""
        return Conditions.of(asked).let

    def current(self, kept: Kept) -> Kept:
        """Return what is to be used today in place of a deprecated entry; the entry itself if nothing replaces it."""
        return self._shelved.current(kept)

    def _only(self, asked: Asked) -> Hit | None:
        captioned = [self._names.captioned(asked.query)] if asked.type else []
        hits = self._first((*self._names.called(asked.query), *captioned), self._passing(asked))
        return hits[0] if len(hits) == 1 else None

    def _passing(self, asked: Asked) -> Callable[[Kept], bool]:
        conditions = Conditions.of(asked)
        return lambda kept: conditions.let(self.current(kept))

    def _first(self, ways: Iterable[Match], passes: Callable[[Kept], bool]) -> tuple[Hit, ...]:
        """The answers of the first way that names anything which passes, without any twice."""
        for way in ways:
            found: dict[int, Kept] = {}
            for kept in sorted(filter(passes, way.found), key=lambda kept: self.current(kept) is not kept):
                found.setdefault(id(self.current(kept)), kept)
            by, hits = way.matched_by, list[Hit]()
            for kept in found.values():
                current, unlisted = self.current(kept), way.unlisted.get(kept, ())
                unknown = tuple(way.unknown.get(kept, ()))
                instead_of = None if current is kept else kept.entry
                hits.append(Hit(current.catalogue, current.placed, by, SCORES[by], instead_of, unknown, unlisted))
            if hits:
                return tuple(hits)
        return ()

    @property
    def _live(self) -> Iterator[Kept]:
        return (kept for kept in self._shelved if self.current(kept) is kept)

    @cached_property
    def categories(self) -> tuple[Category, ...]:
        """Categories and subcategories in use, in order of their slugs."""
        return categories_of(self._live)

    @cached_property
    def _suggesting(self) -> Suggesting:
        return Suggesting(self._shelved, self._names, self._scorer)


def _of(request: Request, there: Match) -> Match:
    return replace(there, found=[kept for kept in there.found if request.lets(kept.entry.method)])
