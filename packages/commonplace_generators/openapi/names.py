"""Ids, titles, summaries, categories and keywords: readable, and the same as long as the operation is."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

from commonplace_generators.openapi.operations import Operation, Options
from commonplace_generators.openapi.texts import clean, cut, line, sentences

MAX_ID = 160
MAX_SLUG = 60
MAX_TITLE = 120
MAX_SUMMARY = 400
MAX_SHORT = 80
"""Characters of a description that can stand for a title."""
MAX_KEYWORDS = 20
MAX_RELATED = 8
MAX_ALIKE = 5
"""Operations with one summary; what is said of more says nothing of any."""

_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+")
_VERSION = re.compile(r"v?[0-9]+\Z|api\Z|rest\Z")
_SMALL = frozenset(
    {"an", "and", "as", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with", "id", "ids"}
)
_STATE = r"(?:deprecated|experimental|in (?:public |private |open )?(?:beta|preview|alpha))"
_NOTICE = re.compile(
    r"[>#|]|```|---|[^\w\s]*\s*(?:note|notice|important|warning|caution|attention|tip|deprecat\w+|beta|preview|experimental)"
    rf"\b[^\w\s]|(?:this|the) [\w ]{{1,40}} (?:is|was|has been) (?:now |currently )?{_STATE}|[^\w\s]*{_STATE}\b",
    re.IGNORECASE,
)
"""Begins a paragraph, or a sentence, that says what to heed and not what the operation does."""
_LABEL = re.compile(r"[\w ]{1,40}:\s+\S[^.!?]{0,200}")
"""`Required scope: tasks:write`."""


def words(text: str) -> list[str]:
    """Of a name in any of the usual spellings, in small letters: `listUserIDs` is list, user, ids."""
    return [one.lower() for one in _WORD.findall(text[:1_000])]


def slug(text: str, most: int = MAX_SLUG) -> str:
    return "-".join(words(text))[:most].strip("-")


def ids(operations: Sequence[Operation], prefix: str) -> list[str]:
    """One for each: of the operation's own id; where that is missing or not unique, of method and path."""
    before = f"{prefix}-" if prefix and prefix[-1] not in "._-" else prefix
    paths = [slug(f"{one.method.lower()} {one.path}", MAX_ID) for one in operations]
    names = [slug(one.node.text("operationId"), MAX_ID) or path for one, path in zip(operations, paths, strict=True)]
    once = Counter(names)
    names = [name if once[name] == 1 else path for name, path in zip(names, paths, strict=True)]
    twice, digests = Counter(names), (sha256(one.where.encode("utf-8", "replace")).hexdigest() for one in operations)
    return [
        f"{before}{name}" if twice[name] == 1 else f"{before}{path}-{digest[:10]}"
        for name, path, digest in zip(names, paths, digests, strict=True)
    ]


def titles(operations: Sequence[Operation]) -> list[str]:
    """Of each its summary; else its id in words, a short description, or method and path."""
    candidates = []
    for one in operations:
        named = " ".join(words(one.node.text("operationId")))
        described = sentences(telling(one.node.text("description")), MAX_TITLE)
        short = [described] if len(described) <= MAX_SHORT else []
        said = sentences(telling(one.node.text("summary")), MAX_TITLE)
        candidates.append([said, f"{named[:1].upper()}{named[1:]}", *short])
    return [cut(one.rstrip("."), MAX_TITLE) for one in _first_of_its_own(operations, candidates)]


def summaries(operations: Sequence[Operation], known: Sequence[str]) -> list[str]:
    """Of each its own summary; else what its description begins with, notices aside; else its title."""
    candidates = [
        [
            line(telling(one.node.text("summary")), MAX_SUMMARY),
            sentences(telling(one.node.text("description")), MAX_SUMMARY),
            title,
        ]
        for one, title in zip(operations, known, strict=True)
    ]
    return _first_of_its_own(operations, candidates)


def _first_of_its_own(operations: Sequence[Operation], candidates: Sequence[Sequence[str]]) -> list[str]:
    """The first that not many others have as well; else method and path."""
    shared = Counter(one for each in candidates for one in {*each})
    return [
        next((one for one in each if one and shared[one] <= MAX_ALIKE), cut(f"{of.method} {of.template}", MAX_TITLE))
        for of, each in zip(operations, candidates, strict=True)
    ]


def telling(text: str) -> str:
    """The first paragraph that says what something does, from its first sentence that does."""
    for paragraph in clean(text).split("\n\n"):
        said = " ".join(paragraph.split())
        while said and _NOTICE.match(said):
            rest = re.split(r"(?<=[.!?])[*_]*\s+", said, maxsplit=1)[1:]
            said = rest[0] if rest and said[0] not in ">#|`-" else ""
        if said and not _LABEL.fullmatch(said.replace("*", "")):
            return said.replace("**", "")
    return ""


def category(operation: Operation, options: Options) -> tuple[str, str | None]:
    """Category and subcategory. A tag such as `Admin / Users` gives both."""
    tags = operation.node.texts("tags")[:10]
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
    """Return what somebody might ask for, the most telling first."""
    places = [one for one in operation.path.split("/") if one and not one.startswith("{")]
    tags = [one[:200] for one in operation.node.texts("tags")[:5]]
    texts = [*options.keywords, *places, *tags, operation.node.text("operationId")[:300]]
    found = [word for text in texts for word in words(text)] + [" ".join(words(one[:100])) for one in parameters]
    wanted = (cut(one, 60) for one in found if len(one) > 1 and one not in _SMALL and not _VERSION.match(one))
    return list(dict.fromkeys(wanted))[:MAX_KEYWORDS]


def aliases(operation: Operation) -> list[str]:
    """The operation's own id, and the path as it stands in the document if a server's goes before it."""
    own = line(operation.node.text("operationId"), 150)
    found = [own] if own else []
    if operation.template != operation.path and len(operation.path) <= 150:
        found.append(f"{operation.method} {operation.path}")
    return found


def related(operations: Sequence[Operation], known: Sequence[str]) -> list[list[str]]:
    """Of each the ids of the same resource: other methods of the path, what it is in, what is in it."""
    places: dict[str, list[int]] = {}
    for place, one in enumerate(operations):
        places.setdefault(one.shape.rstrip("/"), []).append(place)
    below: dict[str, list[int]] = {}
    for shape, here in places.items():
        if not shape.endswith("/{}"):
            below.setdefault(shape.rpartition("/")[0], []).extend(here)
    found = []
    for place, one in enumerate(operations):
        shape = one.shape.rstrip("/")
        near = [places[shape], places.get(f"{shape}/{{}}", []), places.get(shape.rpartition("/")[0], [])]
        every = dict.fromkeys(each for group in (*near, below.get(shape, [])) for each in group if each != place)
        found.append([known[each] for each in every][:MAX_RELATED])
    return found
