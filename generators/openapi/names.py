"""Ids, titles, categories and keywords: readable, and the same as long as the operation is."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

from generators.openapi.operation_reader import listed
from generators.openapi.operations import Operation
from generators.openapi.options import Options
from generators.openapi.texts import cut, line, sentences

MAX_ID = 160
MAX_SLUG = 60
MAX_TITLE = 160
MAX_SHORT = 80
"""Characters of a description that can stand for a title."""
MAX_KEYWORDS = 20
MAX_RELATED = 8

_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+")
_VERSION = re.compile(r"v?[0-9]+\Z|api\Z|rest\Z")
_SMALL = frozenset(
    {"an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with", "id", "ids"}
)


def words(text: str) -> list[str]:
    """Of a name in any of the usual spellings, in small letters: `listUserIDs` is list, user, ids."""
    return [one.lower() for one in _WORD.findall(text)]


def slug(text: str, most: int = MAX_SLUG) -> str:
    return "-".join(words(text))[:most].strip("-")


def ids(operations: Sequence[Operation], prefix: str) -> list[str]:
    """One for each: of the operation's own id; where that is missing or not unique, of method and path."""
    candidates = [_candidates(one, prefix) for one in operations]
    chosen = [0] * len(operations)
    for _ in range(len(candidates[0]) if candidates else 0):
        found = [names[place] for names, place in zip(candidates, chosen, strict=True)]
        counts = Counter(found)
        if len(counts) == len(found):
            break
        chosen = [min(place + 1, 2) if counts[name] > 1 else place for name, place in zip(found, chosen, strict=True)]
    return [names[place] for names, place in zip(candidates, chosen, strict=True)]


def _candidates(operation: Operation, prefix: str) -> tuple[str, str, str]:
    own = operation.body.get("operationId")
    by_path = slug(f"{operation.method.lower()} {operation.path}", MAX_ID)
    by_id = slug(own[:1_000], MAX_ID) if isinstance(own, str) else ""
    digest = sha256(f"{operation.method} {operation.path}".encode("utf-8", "replace")).hexdigest()[:10]
    names = (by_id or by_path, by_path, f"{by_path}-{digest}")
    before = f"{prefix}-" if prefix and prefix[-1] not in "._-" else prefix
    return (f"{before}{names[0]}", f"{before}{names[1]}", f"{before}{names[2]}")


def title(operation: Operation) -> str:
    """Its summary; else its id in words, a short description, or method and path."""
    said = line(operation.body.get("summary"), MAX_TITLE)
    if said:
        return said.rstrip(".")
    own = operation.body.get("operationId")
    named = " ".join(words(own[:1_000])) if isinstance(own, str) else ""
    described = sentences(operation.body.get("description"), MAX_TITLE)
    if not named and len(described) <= MAX_SHORT:
        named = described.rstrip(".")
    return cut(named[:1].upper() + named[1:], MAX_TITLE) or cut(f"{operation.method} {operation.template}", MAX_TITLE)


def category(operation: Operation, options: Options) -> tuple[str, str | None]:
    """Category and subcategory. A tag such as `Admin / Users` gives both."""
    tags = [one for one in listed(operation.body.get("tags"))[:10] if isinstance(one, str)]
    slugs = [one for part in tags for one in (slug(piece) for piece in re.split(r"[/>|]", part[:200])) if one]
    named = list(dict.fromkeys(slugs)) or [_from_path(operation.path)]
    if options.category:
        second = options.subcategory or named[0]
        return options.category, second if second != options.category else None
    second = options.subcategory or (named[1] if len(named) > 1 else "")
    return named[0], second or None


def _from_path(path: str) -> str:
    """The first part of a path that says what it is about."""
    parts = [one for one in path.split("/") if one and not one.startswith("{") and not _VERSION.match(one)]
    return next((found for one in parts if (found := slug(one))), "api")


def keywords(operation: Operation, parameters: Iterable[str], options: Options) -> list[str]:
    """What somebody might ask for, the most telling first."""
    own = operation.body.get("operationId")
    tags = [one for one in listed(operation.body.get("tags"))[:5] if isinstance(one, str)]
    places = [one for one in operation.path.split("/") if one and not one.startswith("{")]
    texts = [*options.keywords, *places, *(one[:200] for one in tags), own[:300] if isinstance(own, str) else ""]
    found = [word for text in texts for word in words(text)] + [" ".join(words(one[:100])) for one in parameters]
    wanted = (cut(one, 60) for one in found if len(one) > 1 and one not in _SMALL and not _VERSION.match(one))
    return list(dict.fromkeys(wanted))[:MAX_KEYWORDS]


def aliases(operation: Operation) -> list[str]:
    """The operation's own id, and the path as it stands in the document if a server's goes before it."""
    own = line(operation.body.get("operationId"), 150)
    found = [own] if own else []
    if operation.template != operation.path and len(operation.path) <= 150:
        found.append(f"{operation.method} {operation.path}")
    return found


def related(operations: Sequence[Operation], known: Sequence[str]) -> list[list[str]]:
    """Of each the ids of the same resource: other methods of the path, what it is in, what is in it."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(operations):
        places.setdefault(one.shape.rstrip("/"), []).append(place)
    items: dict[str, list[str]] = {}
    for shape in places:
        items.setdefault(shape.rpartition("/")[0], []).append(shape)
    return [_near(place, one, places, items, known) for place, one in enumerate(operations)]


def _near(
    place: int, operation: Operation, places: dict[str, list[int]], items: dict[str, list[str]], known: Sequence[str]
) -> list[str]:
    shape = operation.shape.rstrip("/")
    above = shape.rpartition("/")[0]
    same = [one for one in places[shape] if one != place]
    item = places.get(f"{shape}/{{}}", [])
    collection = places.get(above, []) if above else []
    below = [one for child in items.get(shape, [])[:MAX_RELATED] if child != f"{shape}/{{}}" for one in places[child]]
    found = dict.fromkeys(one for one in [*same, *item, *collection, *below] if one != place)
    return [known[one] for one in found][:MAX_RELATED]
