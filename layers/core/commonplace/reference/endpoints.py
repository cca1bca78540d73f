"""Endpoints by path: parsing of templates, concrete paths and URLs, and a tree of segments that paths walk down.

Each catalogue has a tree of its own. A URL is answered by the products whose server it is, a path by all of them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from commonplace.reference.model import EVERYWHERE, METHODS, Catalogue, MatchedBy, Method, UnknownOption, Within
from commonplace.reference.options import nearest
from commonplace.reference.shelf import Kept, Match, Shelved
from commonplace.reference.spelling import one_edit, parts
from commonplace.reference.synonyms import WORDS

MAX_SEGMENTS = 40
"""Of a path that is looked up; no endpoint has more."""

SLOT = "{}"
"""In a shape: one segment, or a part of one, of any value."""
REST = "{+}"
"""In a shape: any number of segments, at the end."""

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*")
_URL = re.compile(r"https?://[^\s'\"`<>]+")
_LOCAL = frozenset({"localhost", "127.0.0.1", "host.docker.internal"})
"""Where anybody may have a product running."""
_PARAMETER = re.compile(r"\{[^{}]*\}|<[^<>]*>")
_WHOLE = re.compile(r"\{([^{}]*)\}|<([^<>]*)>|:([A-Za-z_]\w*)|\[([^\[\]]*)\]")
_REST = re.compile(r"\{[^{}]*(?:\+|\*|:path)\}|<path:[^<>]*>|\*{1,2}")

_WORDED_PARAMETERS = tuple(WORDS["worded"])
"""Ends of the words of parameters whose values may be plain words: `{owner}`, `{username}`, `{team_slug}`."""

_PLAIN = re.compile(r"[a-z_-]+")
_BRACKETS = frozenset("{}<>")
_LONG = 4


@dataclass(frozen=True, slots=True)
class Request:
    """A path of a request, with a method or without."""

    path: str
    method: str | None = None
    """As it is written: it may be none that exists."""

    def lets(self, method: Method | None) -> bool:
        """Return whether it asks for an endpoint of this method; None is one of every method."""
        return self.method is None or method is None or known_method(self.method) == method


def known_method(word: str) -> Method | None:
    """`get` and `GET:` are GET."""
    upper = word.upper().rstrip(":")
    return next((method for method in METHODS if method == upper), None)


def is_path(word: str) -> bool:
    """A path, or a URL that has one."""
    origin = _ORIGIN.match(word)
    return word[origin.end() :].startswith("/") if origin else word.startswith("/")


def segments(path: str) -> list[str]:
    """Return those of a path or URL, without query, fragment and empty ones; at most one more than MAX_SEGMENTS."""
    bare = _ORIGIN.sub("", path, count=1).partition("?")[0].partition("#")[0]
    return [unquote(segment) for segment in bare.split("/", 2 * MAX_SEGMENTS) if segment][: MAX_SEGMENTS + 1]


def shape(path: str) -> str:
    """Equal for templates of the same paths: `/users/{id}`, `/users/:user` and `/users/<id>/` are `/users/{}`."""
    return joined([segment_shape(segment) for segment in segments(path)])


def fixed_query(path: str) -> frozenset[tuple[str, str]]:
    """Names and values of the query string, which some templates have as well: `/responses?beta=true`."""
    return frozenset(parse_qsl(path.partition("?")[2].partition("#")[0], keep_blank_values=True))


def joined(of: Sequence[str]) -> str:
    return "/" + "/".join(of)


def segment_shape(segment: str) -> str:
    if _REST.fullmatch(segment):
        return REST
    return SLOT if _WHOLE.fullmatch(segment) else _PARAMETER.sub(SLOT, segment)


def parameter(segment: str) -> str:
    """The name of what the segment stands for, if it is nothing but a parameter: `id` of `{id}`."""
    found = _WHOLE.fullmatch(segment)
    return next(filter(None, found.groups()), "") if found else ""


@dataclass(slots=True)
class Node:
    """A node in the tree of path segments."""

    literals: dict[str, "Node"] = field(default_factory=dict)
    """By segment, folded."""
    partly: list[tuple[re.Pattern[str], "Node"]] = field(default_factory=list)
    """Segments with a parameter in them, such as `{name}.json`."""
    slot: "Node | None" = None
    rest: "Node | None" = None
    words: bool = False
    """Of a slot: whether its value may be a plain word, as a name may and an id may not."""
    here: list[Kept] = field(default_factory=list)

    def below(self) -> Iterator[Kept]:
        """Every endpoint further on, those nearer first."""
        level = [self]
        while level := [child for node in level for child in node.children()]:
            for node in level:
                yield from node.here

    def children(self) -> Iterable["Node"]:
        rest = (self.slot, self.rest)
        return (*self.literals.values(), *(node for _, node in self.partly), *(node for node in rest if node))


class Api:
    """The endpoints of one catalogue. `hosts` are those of its servers, as its settings or its examples name them."""

    def __init__(self, catalogue: Catalogue, found: Sequence[Kept]) -> None:
        self.catalogue, self.top = catalogue, Node()
        for kept in found:
            # Its path, and what else it is called that is one: as the document writes it, without the server's base.
            others = (alias.rpartition(" ") for alias in kept.entry.aliases)
            paths = (path for method, _, path in others if path.startswith("/") and method in ("", kept.entry.method))
            for template in (kept.entry.path_template or "", *paths):
                node = self.top
                for segment in segments(template):
                    node = _child(node, segment)
                node.here.append(kept)
        examples = (_URL.search(example.code) for kept in found for example in kept.entry.examples)
        self.hosts = frozenset(filter(None, map(host, catalogue.servers or [url[0] for url in examples if url])))
        bases = {tuple(segments(url)) for url in catalogue.servers}
        self.bases = sorted(filter(None, bases), key=len, reverse=True)

    def serves(self, asked: str) -> bool:
        """Also of a server whose host has variables: `{region}.api.example.com`."""
        return any(re.fullmatch(".+".join(map(re.escape, _PARAMETER.split(one))), asked) for one in self.hosts)

    def variants(self, asked: list[str]) -> Iterator[list[str]]:
        """Yield the path without the base path of a server, and with it."""
        yield from (asked[len(base) :] for base in self.bases if tuple(asked[: len(base)]) == base)
        yield from ([*base, *asked] for base in self.bases if tuple(asked[: len(base)]) != base)


class Endpoints:
    """The endpoints of every catalogue."""

    def __init__(self, shelved: Shelved) -> None:
        by_catalogue: dict[str, list[Kept]] = {one.name: [] for one in shelved.catalogues}
        for kept in shelved:
            if kept.entry.type == "api" and kept.entry.path_template:
                by_catalogue[kept.catalogue.name].append(kept)
        self._apis = [Api(one, found) for one in shelved.catalogues if (found := by_catalogue[one.name])]

    def at(self, path: str, within: Within = EVERYWHERE) -> Match:
        """The endpoints of a path, of every method; as it is written, or else with or without the base of a server."""
        nodes = self._reached(path, within, lambda node: bool(node.here))
        found = _of_query(path, tuple(dict.fromkeys(kept for node in nodes for kept in node.here)))
        asked = [name for name, _ in parse_qsl(urlsplit(path).query, keep_blank_values=True)] if "?" in path else []
        # By what both have: a base that one lacks does not count.
        own = segments(path)
        by: MatchedBy
        templates = [segments(kept.entry.path_template or "") for kept in found]
        if not own or any(_same_end(own, template) for template in templates):
            by = "name"
        else:
            shapes = _shapes(own)
            by = "spelling" if any(_same_end(shapes, _shapes(template)) for template in templates) else "arguments"
        return Match(found, by, {kept: _unknown(kept, asked) for kept in found})

    def below(self, path: str, within: Within = EVERYWHERE) -> Match:
        """Endpoints whose paths go on after this one, the shorter first."""
        nodes = self._reached(path, within, lambda _: True)
        return Match(tuple(dict.fromkeys(kept for node in nodes for kept in node.below())), "prefix")

    def is_first(self, segment: str) -> bool:
        """Return whether a path or the base of a server begins with it."""
        return any(
            segment.lower() in api.top.literals or any(segment == base[0] for base in api.bases) for api in self._apis
        )

    def hosts(self, path: str) -> tuple[str, ...]:
        """Those of every server, where a URL is that of none."""
        return () if self._serving(path) else tuple(sorted({one for api in self._apis for one in api.hosts}))

    def _serving(self, path: str) -> list[Api]:
        asked = host(path)
        if not asked or asked.partition(":")[0] in _LOCAL:
            return self._apis
        return [api for api in self._apis if api.serves(asked)] or [api for api in self._apis if not api.hosts]

    def _reached(self, path: str, within: Within, reached: Callable[[Node], bool]) -> list[Node]:
        asked, apis = segments(path), [api for api in self._serving(path) if within.admits(api.catalogue)]
        if len(asked) > MAX_SEGMENTS:
            return []
        found = [_walk(api.top, asked, reached) for api in apis]
        if not any(found):
            found = [
                next(filter(None, (_walk(api.top, one, reached) for one in api.variants(asked))), None) for api in apis
            ]
        return [node for node in found if node]


def host(url: str) -> str:
    """Return the host of a URL, with the port if it names one; empty for a path."""
    origin = _ORIGIN.match(url)
    return origin[0].partition("://")[2].rpartition("@")[2].lower() if origin else ""


def _unknown(kept: Kept, asked: Iterable[str]) -> tuple[UnknownOption, ...]:
    """Query parameters that the endpoint does not have: nothing is said where they are not known."""
    if kept.entry.parameters is None:
        return ()
    known = [one.name for one in kept.entry.parameters if one.place == "query"]
    names = {name.partition("[")[0] for name in known}
    missing = [one for one in dict.fromkeys(asked) if one.partition("[")[0] not in names]
    told = kept.entry.authentication or ""
    return tuple(UnknownOption(one, nearest(one, known)) for one in missing if one not in told)


def _of_query(path: str, found: Sequence[Kept]) -> tuple[Kept, ...]:
    """Return, for each method, those whose templates have most of the query, and nothing else than it has."""
    asked = fixed_query(path)
    queries = [fixed_query(kept.entry.path_template or "") for kept in found]
    ranks = [len(one) if one <= asked else -1 for one in queries]
    best: dict[tuple[str, Method | None], int] = {}
    for kept, rank in zip(found, ranks, strict=True):
        key = (kept.catalogue.name, kept.entry.method)
        best[key] = max(rank, best.get(key, -1))
    return tuple(
        kept for kept, rank in zip(found, ranks, strict=True) if rank == best[kept.catalogue.name, kept.entry.method]
    )


def _child(node: Node, segment: str) -> Node:
    shape = segment_shape(segment)
    if shape == REST:
        node.rest = node.rest or Node()
        return node.rest
    if shape == SLOT:
        node.slot = node.slot or Node()
        node.slot.words = node.slot.words or any(
            part.endswith(_WORDED_PARAMETERS) for part in parts(parameter(segment))
        )
        return node.slot
    if SLOT not in shape:
        return node.literals.setdefault(segment.lower(), Node())
    pattern = re.compile("[^/]+".join(re.escape(part) for part in shape.split(SLOT)), re.IGNORECASE)
    for known, child in node.partly:
        if known == pattern:
            return child
    node.partly.append((pattern, Node()))
    return node.partly[-1][1]


def _walk(node: Node, asked: Sequence[str], reached: Callable[[Node], bool]) -> Node | None:
    """Return where the segments lead; what is literal wins over what stands for anything."""
    if not asked:
        return node if reached(node) else None
    segment, left = asked[0], asked[1:]
    for child in _ways(node, segment, left):
        if found := _walk(child, left, reached):
            return found
    return node.rest if node.rest and reached(node.rest) else None


def _ways(node: Node, segment: str, left: Sequence[str]) -> Iterator[Node]:
    shape = segment_shape(segment)
    concrete = SLOT not in shape and shape != REST
    if concrete and (child := node.literals.get(segment.lower())):
        yield child
    yield from (child for pattern, child in node.partly if pattern.fullmatch(segment))
    if node.slot and (shape == SLOT or (concrete and _stands(node, node.slot, segment, left))):
        yield node.slot


def _stands(node: Node, slot: Node, value: str, left: Sequence[str]) -> bool:
    """Return whether a value may stand for the parameter, rather than for a segment that does not exist.

    A plain word does not where an id is meant, unless what follows it is really there. Nor does what is one mistake
    away from a literal segment, or from a parameter.
    """
    if any(len(known) >= _LONG and one_edit(value.lower(), known) for known in node.literals):
        return False
    if not _BRACKETS.isdisjoint(value):
        return False
    follows = bool(left) and left[0].lower() in slot.literals
    return slot.words or follows or not _PLAIN.fullmatch(value)


def _same_end(one: Sequence[str], other: Sequence[str]) -> bool:
    size = min(len(one), len(other))
    return size > 0 and one[-size:] == other[-size:]


def _shapes(template: Sequence[str]) -> list[str]:
    return [segment_shape(segment).lower() for segment in template]
