"""Small products to look things up in."""

from functools import cache
from typing import Any

from commonplace.reference.lookup import Lookup
from commonplace.reference.model import Asked, Catalogue, Entry, Method
from commonplace.reference.scorer import Scorer
from tests.fakes import catalogues


def command(name: str, arguments: str = "", **told: Any) -> Entry:
    facts: dict[str, Any] = {"type": "command", "name": name, "syntax": f"{name} {arguments}".strip()}
    return catalogues.entry("cmd-" + name.replace(" ", "-").lower(), **{**facts, **told})


def endpoint(method: Method | None, path: str, **told: Any) -> Entry:
    id = f"api-{method or 'any'}{path}".lower().translate(str.maketrans("/{}.:+", "------"))
    return catalogues.entry(id, **{"type": "api", "method": method, "path_template": path, **told})


def product(*entries: Entry, name: str = "product", **told: Any) -> Catalogue:
    return catalogues.catalogue(name, *entries, **told)


def lookup(*entries: Entry, **told: Any) -> Lookup:
    return lookup_of(product(*entries, **told))


def lookup_of(*catalogues: Catalogue) -> Lookup:
    """As it is served: with the words of every entry."""
    entries = [placed.entry for one in catalogues for placed in one.entries]
    return Lookup(catalogues, cache(lambda: Scorer(entries, [one.synonyms for one in catalogues])))


def shaped(found: Lookup, query: str, **told: Any) -> list[str] | None:
    """What the hits of a shaped query are called; None for a query that goes to words."""
    hits = found.shaped(Asked(query, **told))
    return None if hits is None else [hit.entry.called for hit in hits]
