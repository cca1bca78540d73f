"""Exact look-up in the process: what is named, however it is spelt, and nothing else."""

from collections.abc import Callable, Sequence

from commonplace.reference.catalogue import Catalogue, Placed
from commonplace.reference.entries import Entry, Method
from commonplace.reference.kept import Kept, Shelved, matching
from commonplace.reference.results import Asked, Category, CommandAnswer, EndpointAnswer, Hit
from commonplace.reference.spelling import spelling


class Lookup:
    """Built of the catalogues of an edition, once; it never changes, and may be asked by several at once."""

    def __init__(self, catalogues: Sequence[Catalogue]) -> None:
        self._shelved = Shelved(catalogues)

    @property
    def entries(self) -> tuple[Kept, ...]:
        """Every entry, deprecated ones as well, in the order of the catalogues and of their ids."""
        return self._shelved.all

    def command(self, text: str) -> CommandAnswer:
        """The command of this name, or the group that it begins, or what may have been meant."""
        wanted = spelling(text)
        for kept in self._shelved:
            if kept.entry.type == "command" and spelling(kept.entry.called) == wanted:
                return CommandAnswer(Hit(kept.catalogue, kept.placed, "name", 1.0))
        return CommandAnswer(None)

    def endpoint(self, path: str, method: Method | None = None) -> EndpointAnswer:
        """The endpoints of a path: of one method, or of all."""
        return EndpointAnswer(())

    def shaped(self, asked: Asked) -> Sequence[Hit] | None:
        """What a query answers that is shaped like a command or an endpoint; None for any other query."""
        return None

    def exact(self, asked: Asked) -> Hit | None:
        """The one entry with exactly this name, alias or title."""
        return None

    def suggest(self, text: str, asked: Asked) -> tuple[str, ...]:
        """What may have been meant: at most three names that exist, under the same conditions."""
        return ()

    def commands(self, category: str | None = None, module: str | None = None) -> tuple[Placed, ...]:
        """Commands in order of their names."""
        return ()

    def categories(self) -> tuple[Category, ...]:
        """Categories and subcategories in use, in order of their slugs."""
        return ()

    def matching(self, asked: Asked) -> Callable[[Entry], bool]:
        """Whether an entry passes the conditions of a search."""
        return matching(asked)

    def current(self, kept: Kept) -> Kept:
        """What is to be used today in place of a deprecated entry; the entry itself if nothing replaces it."""
        return self._shelved.current(kept)
