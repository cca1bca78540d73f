"""Look-up of the document that a model means: by id, reference, title, path or address."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Catalogue, Resolved
from commonplace.documents.content.filter_values import shown, sound
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.kernel.terms import bare, key
from commonplace.repository.slugs import slug

MAX_NAME_CHARACTERS = 1_000

MOST_NAMED = 5  # Documents in one message

_OWN = re.compile(r"/(?:documents|entries|d)/([^/]+)/([^/]+?)(?:\.md)?$")
_RAW = re.compile(r"/raw/(.+)$")

Reading = Callable[[Catalogue, Sequence[str], str], Resolved | Entry | None]
"""`(catalogue, leaf types or none, name) -> document`"""


def locate(catalogue: Catalogue, addresses: DocumentAddresses, content_type: str | None, name: str) -> Resolved:
    """The document. Raises NotFound, naming the nearest, or the valid content types where the type is unknown."""
    asked = sound(name[:MAX_NAME_CHARACTERS]).strip()
    types = _types(content_type)
    cited = addresses.named(asked)
    if cited and (resolved := catalogue.resolve(*cited)) is not None:
        return resolved
    for read in (_by_address, _by_reference, _by_id, _by_path, _by_title):
        if (found := read(catalogue, types or (), asked)) is not None:
            return found if isinstance(found, Resolved) else Resolved(found, former=False)
    if types is None:
        raise NotFound(
            f"There is no content type `{shown(content_type or '')}`.",
            hint=f"Valid types: {', '.join(ONTOLOGY.types)}.",
        )
    wanted = slug(bare(asked).rpartition("/")[2]) or asked
    nearest = catalogue.nearest(types[0] if types else "", wanted)
    hint = f"Did you mean {' or '.join(nearest)}?" if nearest else "Find it with search_knowledge."
    written = f"{content_type}/{asked}" if content_type and "/" not in asked else asked
    raise NotFound(f"There is no document `{shown(written)}`.", hint=hint, nearest=nearest)


def _types(content_type: str | None) -> tuple[str, ...] | None:
    """Empty for any type, None for one that does not exist."""
    if not content_type or not content_type.strip():
        return ()
    try:
        return ONTOLOGY.expand(content_type)
    except InvalidInput:
        return None


def _by_address(catalogue: Catalogue, _: Sequence[str], name: str) -> Resolved | Entry | None:
    """Read an address: a resource's, this deployment's, that which the document describes, or that of its file."""
    if "://" not in name:
        return None
    told = next((entry for entry in catalogue.entries if name in (entry.source_url, entry.url)), None)
    if told is not None:
        return told
    path = unquote(urlsplit(name).path)
    if (own := _OWN.search(path)) is not None and (found := catalogue.resolve(own[1], own[2])) is not None:
        return found
    raw = _RAW.search(path)
    parts = (raw[1] if raw else path).strip("/").split("/")
    by_path = catalogue.manifest.by_path
    return next((by_path[rest] for at in range(len(parts)) if (rest := "/".join(parts[at:])) in by_path), None)


def _by_reference(catalogue: Catalogue, _: Sequence[str], name: str) -> Resolved | None:
    content_type, slash, document_id = name.strip("/").partition("/")
    if not slash or "/" in document_id:
        return None
    if (found := catalogue.resolve(content_type, document_id)) is not None:
        return found
    return catalogue.resolve_any(_types(content_type) or (), document_id)


def _by_id(catalogue: Catalogue, types: Sequence[str], name: str) -> Resolved | None:
    if types:
        return catalogue.resolve_any(types, name)
    found = [entry for entry in catalogue.entries if entry.id == name]
    return Resolved(_only(found), former=False) if found else None


def _by_path(catalogue: Catalogue, types: Sequence[str], name: str) -> Entry | None:
    found = catalogue.at_path(name) if name.strip("/") else None
    # `index` beside a content type is an id, though a page may lie there.
    meant = "/" in name or name.endswith(".md") or not types
    return found if found and (meant or found.content_type in types) else None


def _by_title(catalogue: Catalogue, types: Sequence[str], name: str) -> Entry | None:
    if not (term := key(name)):
        return None
    found = [entry for entry in _named(catalogue).get(term, ()) if not types or entry.content_type in types]
    return _only(found) if found else None


def _only(found: Sequence[Entry]) -> Entry:
    """Raises InvalidInput, naming them, when several answer to one name."""
    if len(found) > 1:
        refs = [entry.ref for entry in found[:MOST_NAMED]]
        raise InvalidInput("Several documents have this name.", hint=f"Ask for one of: {', '.join(refs)}.")
    return found[0]


@lru_cache(maxsize=2)
def _named(catalogue: Catalogue) -> dict[str, list[Entry]]:
    """Return documents by title; by alias where no title is like it."""
    titles = _by_key((entry.title, entry) for entry in catalogue.entries)
    aliases = _by_key((alias, entry) for entry in catalogue.entries for alias in entry.aliases)
    return aliases | titles


def _by_key(named: Iterable[tuple[str, Entry]]) -> dict[str, list[Entry]]:
    found: dict[str, dict[str, Entry]] = defaultdict(dict)
    for name, entry in named:
        found[key(name)][entry.ref] = entry
    return {name: list(entries.values()) for name, entries in found.items()}
