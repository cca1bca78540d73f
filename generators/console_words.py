"""What expressions of a console hold of the line that was typed: all of it, its words, one of them, an option."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import TYPE_CHECKING

from generators import tsx

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_ALTERNATIVES = 24
_SAME = {"trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "normalize", "toString", "replace", "replaceAll"}
_CUT = {"slice", "substring", "substr", "replace"}
_KEPT = {"filter", "map", "flatMap", "slice", "splice"}
_ASKING = {"includes", "some", "find", "indexOf", "findIndex", "has"}
_CUTTING = ("token", "split", "parse", "words", "argv", "shell")
_FIRST = {"command", "cmd", "commandName", "name", "type", "verb", "action"}
_FURTHER = {"args", "arguments", "params", "rest", "positional", "positionals", "_"}
_MESSAGES = {"message", "msg", "m", "interaction"}


@dataclass(frozen=True, slots=True)
class Text:
    said: str


@dataclass(frozen=True, slots=True)
class Line:
    """What was typed, from the word with this index on."""

    at: int


@dataclass(frozen=True, slots=True)
class Words:
    """The same as a list, behind words that the code puts in front; without `at`, nothing that was typed is in it."""

    at: int | None
    known: tuple[str, ...] = ()
    parsed: bool = False
    """Whether it may be an object with the command, its arguments and its options."""

    def without(self, count: int) -> "Words":
        over = max(0, count - len(self.known))
        return replace(self, at=None if self.at is None else self.at + over, known=self.known[count:])

    def word(self, index: int) -> "Value":
        if index < len(self.known):
            return Text(self.known[index])
        return None if self.at is None else Word(self.at + index - len(self.known))


@dataclass(frozen=True, slots=True)
class Word:
    at: int


@dataclass(frozen=True, slots=True)
class Options:
    """The options that were typed, by their names."""


@dataclass(frozen=True, slots=True)
class Flag:
    """One of them: `--json`, `--ou=<value>`."""

    said: str


@dataclass(frozen=True, slots=True)
class Table:
    """What stands for a word in a table of handlers; `node` is None where the table is not in the source."""

    name: str
    at: int
    node: "Node | None"


Value = Text | Line | Words | Word | Options | Flag | Table | None
Known = Mapping[str, Value]


class Evaluator:
    def __init__(self, source: tsx.Source) -> None:
        self.source = source
        self.assumed: dict[int, str] = {}
        """Words at the beginning of the line that are cut off without being asked for again."""

    def value(self, node: "Node | None", known: Known) -> Value:
        if node is None:
            return None
        node = tsx.bare(node)
        if node.type.endswith("identifier") and tsx.text(node) in known:
            return known[tsx.text(node)]
        if node.type in {"member_expression", "subscript_expression"}:
            return self._member(node, known)
        if node.type == "call_expression":
            return self._call(node, known)
        if node.type == "array":
            return self._array(node, known)
        if node.type == "ternary_expression":
            one = self.value(node.child_by_field_name("consequence"), known)
            return one or self.value(node.child_by_field_name("alternative"), known)
        if (said := self.source.constant(node)) is not None:
            return Text(said)
        if node.type == "template_string":
            return _joined([self._piece(one, known) for one in node.named_children])
        if node.type == "binary_expression":
            left, right = (self.value(node.child_by_field_name(side), known) for side in ("left", "right"))
            operator = tsx.text(node.child_by_field_name("operator") or node)
            return _joined([left, right]) if operator == "+" else left if left is not None else right
        return None

    def said(self, node: "Node", known: Known, path: Mapping[int, str]) -> str | None:
        """The text that an expression is where the typed words are those of a path; what is a word, in brackets."""
        node = tsx.bare(node)
        plain = self.source.constant(node)
        if plain is not None or node.type != "template_string":
            return plain
        parts = []
        for one in node.named_children:
            value = self._piece(one, known)
            word = path.get(value.at) if isinstance(value, Word) else None
            parts.append(value.said if isinstance(value, Text) else word or "\0")
        return "".join(parts)

    def field(self, held: Value, name: str) -> Value:
        """A member of what is held: the command of a line that was parsed, an option of those that were typed."""
        match held:
            case Words(at, _, True) if name in _FIRST and at is not None:
                return Word(at)
            case Words(at, _, True) if name in _FURTHER and at is not None:
                return Words(at + 1)
            case Words(parsed=True) if name in {"flags", "options", "opts"}:
                return Options()
            case Options():
                return Flag(f"--{name}")
        return None

    def strings(self, node: "Node | None") -> list[str]:
        """The elements of a list of texts, written in place or declared; those that are not known are left out."""
        found = self.source.resolved(node)
        if found is not None and found.type == "new_expression":
            found = next(iter(tsx.arguments(found)), None)
        if found is None or found.type != "array":
            return []
        return [said for one in found.named_children if (said := self.source.constant(one)) is not None]

    def _piece(self, piece: "Node", known: Known) -> Value:
        if piece.type == "template_substitution":
            return self.value(piece.named_children[0], known) if piece.named_children else Text("")
        return Text(tsx.text(piece))

    def _member(self, node: "Node", known: Known) -> Value:
        owner = node.child_by_field_name("object")
        index = node.child_by_field_name("index")
        held = self.value(owner, known)
        if index is None:
            name = tsx.text(node.child_by_field_name("property") or node)
            if tsx.text(owner or node) in _MESSAGES and name in {"content", "commandName"}:
                return Line(0) if name == "content" else Word(0)
            if tsx.text(node) == "process.argv":
                return Words(-2)
            return self.field(held, name) if held is not None else _text(self.source.constant(node))
        if isinstance(held, Words) and tsx.text(index).isdigit():
            return held.word(int(tsx.text(index)))
        if isinstance(held, Options):
            said = self.source.constant(index)
            return Flag(f"--{said}") if said else None
        at = self.value(index, known)
        return self._table(owner, at) if isinstance(at, Word) else None

    def _table(self, owner: "Node | None", word: Word) -> Value:
        if owner is None:
            return None
        declared = self.source.resolved(owner)
        readable = declared is not None and declared.type in {"object", "new_expression"}
        return Table(tsx.text(owner), word.at, declared if readable else None)

    def _call(self, node: "Node", known: Known) -> Value:
        called, given = node.child_by_field_name("function"), tsx.arguments(node)
        if called is None:
            return None
        if called.type == "member_expression":
            owner = called.child_by_field_name("object")
            held = self.value(owner, known)
            method = tsx.text(called.child_by_field_name("property") or called)
            found = self._method(held, method, given)
            if found is not None or isinstance(held, Line | Words | Word | Options):
                return found
            if held is None and method == "get" and given and isinstance(word := self.value(given[0], known), Word):
                return self._table(owner, word)
        name = tsx.text(called)
        values = [self.value(one, known) for one in given]
        flags = [one.said for one in values if isinstance(one, Text) and _is_option(one.said)]
        words = next((one for one in values if isinstance(one, Line | Words)), None)
        if flags and words is not None:
            asks = name.startswith(("has", "is", "contains", "includes")) or flags[0].endswith("=")
            return Flag(flags[0] if asks else f"{flags[0]}=<value>")
        if words is None or not any(part in name.casefold() for part in _CUTTING):
            return None
        function = self.source.function(called)
        if isinstance(words, Words) and function is not None and re.search(r"""['"`]--?['"`]""", tsx.text(function)):
            return Options()
        return Words(words.at, getattr(words, "known", ()), parsed=True)

    def _method(self, held: Value, method: str, given: "list[Node]") -> Value:
        first = given[0] if given else None
        match held:
            case Line(at) if method in _CUT and first is not None:
                return self._cut(at, first)
            case Line() | Word() if method in _SAME | _CUT:
                return held
            case Line(at) if method in {"split", "match"}:
                return Words(at)
            case Words() if method in _KEPT | {"shift", "at"}:
                said = tsx.text(first) if first is not None else "0"
                count = int(said) if said.isdigit() else 0 if method in {"filter", "map", "flatMap"} else None
                if count is None:
                    return None
                return held.word(count) if method in {"shift", "at"} else held.without(count)
            case Words(at, known) if method == "join":
                return Line(at) if at is not None and not known else None
            case Words() if method in _ASKING:
                return self._flag(given)
            case Options() if method in {"get", "has", "includes"} and first is not None:
                said = self.source.constant(first)
                return Flag(said if said.startswith("-") else f"--{said}") if said else None
        return None

    def _cut(self, at: int, first: "Node") -> Value:
        """The line without words at its beginning: `replace('helios ', '')`, `slice('helios '.length)`, `slice(1)`."""
        first = tsx.bare(first)
        measured = first.type == "member_expression" and tsx.text(first).endswith(".length")
        said = str(self.source.constant(first.child_by_field_name("object") if measured else first) or "")
        if first.type == "regex":
            accepted = alternatives(tsx.text(first.child_by_field_name("pattern") or first))
            said = " ".join(accepted[0]) if accepted else ""
        words = [word for word in said.split() if any(sign.isalnum() for sign in word)]
        self.assumed.update({at + index: word for index, word in enumerate(words)})
        return Line(at + len(words))

    def _flag(self, given: "list[Node]") -> Value:
        """The options that an element is compared with."""
        inner = [node for one in given for node in tsx.walk(one) if node.type in {"string", "template_string"}]
        inner += [one for one in given if one.type == "identifier"]
        said = [text for one in inner if (text := self.source.constant(one)) and _is_option(text)]
        return (
            Flag(", ".join(dict.fromkeys(one + "<value>" if one.endswith("=") else one for one in said)))
            if said
            else None
        )

    def _array(self, node: "Node", known: Known) -> Value:
        words: list[str] = []
        for one in node.named_children:
            if one.type == "spread_element":
                rest = self.value(one.named_children[0], known) if one.named_children else None
                return Words(rest.at, (*words, *rest.known)) if isinstance(rest, Words) else None
            said = self.source.constant(one)
            if said is None:
                return None
            words.append(said)
        return Words(None, tuple(words)) if words else None


def alternatives(pattern: str) -> list[tuple[str, ...]]:
    """The words that a regular expression accepts: `^helios\\s+gw\\s+(list|ls)\\s+(\\S+)$`; none where it says more."""
    plain = re.sub(r"\\s[+*]?| [+*]?", " ", pattern.removeprefix("^").removesuffix("$").replace(r"\b", ""))
    plain = re.sub(r"\(\?(?::|<\w+>)", "(", plain)
    head = re.split(r"\((?=[^)]*\\[Swd]|[^)]*\.[*+])|\\[Swd]|\[|\.[*+]", plain)[0]
    parts: list[list[str]] = []
    for found in re.finditer(r"\(([^()]*)\)(\??)|(\w)(\??)|\\?(.)", head):
        group, maybe, letter, perhaps, sign = found.groups()
        if group is not None:
            parts.append([*group.split("|"), *([""] if maybe else [])])
        elif letter:
            parts.append([letter, *([""] if perhaps else [])])
        else:
            parts.append([sign])
    words = [tuple("".join(one).split()) for one in islice(product(*parts), MAX_ALTERNATIVES)]
    fine = words and all(one and all(re.fullmatch(r"[\w/!.:-]+", word) for word in one) for one in words)
    return list(dict.fromkeys(words)) if fine else []


def _text(said: str | None) -> Value:
    return Text(said) if said is not None else None


def _is_option(said: str) -> bool:
    return re.fullmatch(r"-{1,2}\w[\w-]*=?", said) is not None


def _joined(pieces: list[Value]) -> Value:
    """Text, or words that follow one another with a space between them, whatever text stands in front."""
    if all(isinstance(one, Text) for one in pieces):
        return Text("".join(one.said for one in pieces if isinstance(one, Text)))
    kept = [one for one in pieces if not (isinstance(one, Text) and len(one.said.strip()) < 2)]
    first = kept[0] if kept else None
    if isinstance(first, Word) and all(one == Word(first.at + index) for index, one in enumerate(kept)):
        return first if len(kept) == 1 else Line(first.at)
    return kept[-1] if isinstance(kept[-1], Line) and all(isinstance(one, Text) for one in kept[:-1]) else None
