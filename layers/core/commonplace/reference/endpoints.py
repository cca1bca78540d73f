"""Endpoints by path: parsing of templates, concrete paths and URLs, and a tree of segments that paths walk down."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from commonplace.reference.model import METHODS, MatchedBy, Method
from commonplace.reference.shelf import Kept, Match, Shelved
from commonplace.reference.spelling import one_edit, parts

MAX_SEGMENTS = 40
"""Of a path that is looked up; no endpoint has more."""

SLOT = "{}"
"""In a shape: one segment, or a part of one, of any value."""
REST = "{+}"
"""In a shape: any number of segments, at the end."""

_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#\s]*")
_PARAMETER = re.compile(r"\{[^{}]*\}|<[^<>]*>")
_WHOLE = re.compile(r"\{([^{}]*)\}|<([^<>]*)>|:([A-Za-z_]\w*)|\[([^\[\]]*)\]")
_REST = re.compile(r"\{[^{}]*(?:\+|\*|:path)\}|<path:[^<>]*>|\*{1,2}")

_WORDED = """
alias branch bucket category code country currency domain environment file folder format handle host key kind label lang
language locale login name namespace org organisation organization owner package path provider ref region repo
repository role scope section site slug state status symbol table tag topic type version zone
"""
_WORDED_PARAMETERS = tuple(_WORDED.split())
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
        """Whether it asks for an endpoint of this method; None is one of every method."""
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
    """Of a path or URL, without host, query string, fragment and empty ones; at most one more than MAX_SEGMENTS."""
    bare = _ORIGIN.sub("", path, count=1).partition("?")[0].partition("#")[0]
    return [unquote(segment) for segment in bare.split("/", 2 * MAX_SEGMENTS) if segment][: MAX_SEGMENTS + 1]


def shape(path: str) -> str:
    """Equal for templates of the same paths: `/users/{id}`, `/users/:user` and `/users/<id>/` are `/users/{}`."""
    return joined([segment_shape(segment) for segment in segments(path)])


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


class Endpoints:
    """Of every catalogue, in one tree."""

    def __init__(self, shelved: Shelved) -> None:
        self._top = Node()
        for kept in shelved:
            if kept.entry.type == "api" and kept.entry.path_template:
                _leaf(self._top, segments(kept.entry.path_template)).here.append(kept)
        servers = {tuple(segments(url)) for one in shelved.catalogues for url in one.servers}
        self._bases = sorted((base for base in servers if base), key=len, reverse=True)

    def at(self, path: str) -> Match:
        """The endpoints of a path, of every method."""
        node = next(filter(None, (self._walk(one) for one in self._variants(segments(path)))), None)
        found = tuple(node.here) if node else ()
        return Match(found, _matched_by(path, found))

    def below(self, path: str) -> Match:
        """Endpoints whose paths go on after this one, the shorter first."""
        node = next(filter(None, (self._walk(one, whole=False) for one in self._variants(segments(path)))), None)
        return Match(tuple(node.below()) if node else (), "prefix")

    def is_first(self, segment: str) -> bool:
        """Whether a path or the base of a server begins with it."""
        return segment.lower() in self._top.literals or any(segment == base[0] for base in self._bases)

    def _variants(self, asked: list[str]) -> Iterator[list[str]]:
        """As it is, without the base path of a server, and with it."""
        if len(asked) > MAX_SEGMENTS:
            return
        yield asked
        yield from (asked[len(base) :] for base in self._bases if tuple(asked[: len(base)]) == base)
        yield from ([*base, *asked] for base in self._bases if tuple(asked[: len(base)]) != base)

    def _walk(self, asked: Sequence[str], *, whole: bool = True) -> Node | None:
        return _walk(self._top, asked, lambda node: bool(node.here) or not whole)


def _leaf(node: Node, template: Sequence[str]) -> Node:
    for segment in template:
        node = _child(node, segment)
    return node


def _child(node: Node, segment: str) -> Node:
    shape = segment_shape(segment)
    if shape == REST:
        node.rest = node.rest or Node()
        return node.rest
    if shape == SLOT:
        node.slot = node.slot or Node()
        node.slot.words = node.slot.words or _may_be_word(parameter(segment))
        return node.slot
    if SLOT not in shape:
        return node.literals.setdefault(segment.lower(), Node())
    pattern = re.compile("[^/]+".join(re.escape(part) for part in shape.split(SLOT)), re.IGNORECASE)
    for known, child in node.partly:
        if known == pattern:
            return child
    node.partly.append((pattern, Node()))
    return node.partly[-1][1]


def _may_be_word(name: str) -> bool:
    return any(part.endswith(_WORDED_PARAMETERS) for part in parts(name))


def _walk(node: Node, asked: Sequence[str], reached: Callable[[Node], bool]) -> Node | None:
    """Where the segments lead; what is literal wins over what stands for anything."""
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
    """Whether a value may stand for the parameter, rather than for a segment that does not exist.

    A plain word does not where an id is meant, unless what follows it is really there. Nor does what is one mistake
    away from a literal segment, or from a parameter.
    """
    if any(len(known) >= _LONG and one_edit(value.lower(), known) for known in node.literals):
        return False
    if not _BRACKETS.isdisjoint(value):
        return False
    follows = bool(left) and left[0].lower() in slot.literals
    return slot.words or follows or not _PLAIN.fullmatch(value)


def _matched_by(path: str, found: Sequence[Kept]) -> MatchedBy:
    asked = segments(path)
    templates = [segments(kept.entry.path_template or "") for kept in found]
    if any(asked[-len(template) :] == template for template in templates if template) or not asked:
        return "name"
    shapes = [segment_shape(segment).lower() for segment in asked]
    if any(shapes[-len(template) :] == _shapes(template) for template in templates):
        return "spelling"
    return "arguments"


def _shapes(template: Sequence[str]) -> list[str]:
    return [segment_shape(segment).lower() for segment in template]
