"""The reference's tools called as clients call them, over answers that a test chooses."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace.identity.principals import Principal
from commonplace.kernel.errors import Unavailable
from commonplace.reference.model import (
    EVERYWHERE,
    Asked,
    Catalogue,
    Category,
    CommandAnswer,
    EndpointAnswer,
    EntryType,
    Gap,
    Hit,
    MatchedBy,
    Method,
    Placed,
    Reported,
    SearchAnswer,
    Within,
    kept,
)
from commonplace.reference.shelf import Kept, modules_of
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.web.mcp.budgets import estimate_tokens
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.rendering import ERROR_META, compact
from commonplace.web.mcp.server import build_server
from tests.fakes.gaps import MemoryGaps
from tests.fakes.identity_stores import Clock
from tests.fakes.toolsets import as_caller
from tests.unit.web.mcp.talking import ask, call, text_of

NOTHING, NO_COMMAND, NO_ENDPOINT = SearchAnswer(()), CommandAnswer(None), EndpointAnswer(())
MEMBER = Principal(subject="0xabc", organisation="acme", tier="member", scopes=frozenset({"reference:write"}))


def member() -> Caller:
    return Caller(MEMBER, address="192.0.2.1")


@dataclass
class Scripted:
    """As `commonplace.reference.service.Reference`, with the answers that it is given."""

    shelf: list[Catalogue]
    found: SearchAnswer = NOTHING
    one: CommandAnswer = NO_COMMAND
    paths: EndpointAnswer = NO_ENDPOINT
    store: MemoryGaps = field(default_factory=lambda: MemoryGaps(Clock()))
    down: bool = False
    asked: list[Any] = field(default_factory=list)
    within: Within = EVERYWHERE
    missing: bool = False
    """Whether a catalogue is not loaded yet."""

    def require_all(self) -> None:
        if self.missing:
            raise Unavailable("It is not loaded yet.")

    def search(self, asked: Asked) -> SearchAnswer:
        self.asked.append(asked)
        self.catalogues()
        return replace(self.found, hits=self.found.hits[: asked.limit])

    def command(self, name: str, within: Within = EVERYWHERE) -> CommandAnswer:
        self.asked.append(name)
        self.within = within
        self.catalogues()
        return self.one

    def endpoint(self, path: str, method: Method | None = None, within: Within = EVERYWHERE) -> EndpointAnswer:
        self.asked.append((path, method))
        self.within = within
        return self.paths

    def commands(
        self, category: str | None = None, module: str | None = None, within: Within = EVERYWHERE
    ) -> tuple[Placed, ...]:
        admitted = filter(within.admits, self.catalogues())
        every = [placed for one in admitted for placed in one.entries if placed.entry.type == "command"]
        fits = (category in (None, one.entry.category, one.entry.subcategory) for one in every)
        return tuple(one for one, fit in zip(every, fits, strict=True) if fit and module in (None, one.entry.module))

    def categories(self) -> tuple[Category, ...]:
        entries = [placed.entry for one in self.catalogues() for placed in one.entries]
        slugs = [(slug, one) for one in entries for slug in {one.category, one.subcategory} if slug]
        every = Counter(slug for slug, _ in slugs)
        commands = Counter(slug for slug, one in slugs if one.type == "command")
        return tuple(Category(slug, None, every[slug], commands[slug]) for slug in sorted(every))

    def modules(self) -> tuple[str, ...]:
        return modules_of(Kept(one, placed) for one in self.catalogues() for placed in one.entries)

    def catalogues(self) -> tuple[Catalogue, ...]:
        if self.down:
            raise Unavailable("The reference cannot be read just now.")
        return tuple(self.shelf)

    @property
    def version(self) -> str:
        return " ".join(f"{one.name}@{one.generation}" for one in self.catalogues())

    def entry(self, catalogue: str, id: str) -> Hit | None:
        every = ((one, placed) for one in self.catalogues() for placed in one.entries)
        found = [Hit(*pair, "name", 1.0) for pair in every if (pair[0].name, pair[1].entry.id) == (catalogue, id)]
        return found[0] if found else None

    def report_gap(
        self, organisation: str, query: str, type: EntryType | None = None, note: str | None = None
    ) -> Reported:
        return Reported(kept(query), self.store.count(organisation, kept(query), type, note and kept(note)))

    def gaps(self, organisation: str, limit: int = 100) -> Sequence[Gap]:
        return self.store.gaps(organisation, limit)


@dataclass
class Desk:
    """One deployment with a reference, and somebody who calls its tools."""

    reference: Scripted
    caller: Caller = field(default_factory=Caller)
    mode: str = "auto"
    told: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        services: Any = {"reference": self.reference} | self.told
        self.bare = build_server([reference_toolset(ReferenceServices(**services))], Surface())

    def server(self) -> Any:
        self.bare.middleware[:] = self.bare.middleware[-1:]
        return as_caller(self.bare, self.caller)

    def call(self, name: str, /, **arguments: Any) -> Any:
        return call(self.server(), name, arguments, self.mode)

    def data(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that succeeds."""
        result = self.call(name, **arguments)
        assert not result.is_error, text_of(result)
        data: dict[str, Any] = result.structured_content
        return data

    def error(self, name: str, /, **arguments: Any) -> tuple[str, str]:
        """The code and the text of a call that fails."""
        result = self.call(name, **arguments)
        assert result.is_error, text_of(result)
        return result.meta[ERROR_META]["code"], text_of(result)

    def ask(self, question: Any) -> Any:
        return ask(self.server(), question, self.mode)


def desk(*catalogues: Catalogue, **told: Any) -> Desk:
    return Desk(Scripted(list(catalogues)), **told)


def hit(catalogue: Catalogue, id: str, matched_by: MatchedBy = "name", **more: Any) -> Hit:
    placed = next(one for one in catalogue.entries if one.entry.id == id)
    return Hit(catalogue, placed, matched_by, more.pop("score", 1.0), **more)


def hits(catalogue: Catalogue, *ids: str) -> tuple[Hit, ...]:
    return tuple(hit(catalogue, id, "words", score=round(1 / (1 + at), 2)) for at, id in enumerate(ids))


def tokens(result: Any) -> int:
    """Of an answer, the larger of text and data."""
    return max(estimate_tokens(text_of(result)), estimate_tokens(compact(result.structured_content)))
