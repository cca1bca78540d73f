"""What expressions of a console hold of the line that was typed: all of it, its words, one of them, an option."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

from generators import tsx
from generators.tsx import Node

MAX_ALTERNATIVES = 24
_SAME = {"trim", "trimStart", "trimEnd", "toLowerCase", "toUpperCase", "normalize", "toString", "replaceAll"}
_CUT = {"slice", "substring", "substr", "replace"}
_ASKING = {"includes", "some", "find", "indexOf", "findIndex", "has"}
_CUTTING = ("token", "split", "parse", "words", "argv", "shell")
_FIRST = {"command", "cmd", "commandName", "name", "type", "verb", "action"}
_FURTHER = {"args", "arguments", "params", "rest", "positional", "positionals", "_"}
MESSAGES = {"message", "msg", "m", "interaction"}


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
    """What stands for a word in a table of handlers, where the table is in the source."""

    name: str
    at: int
    node: Node


Value = Text | Line | Words | Word | Options | Flag | Table | None
Known = Mapping[str, Value]


class Evaluator:
    def __init__(self, source: tsx.Source) -> None:
        self.source = source
        self.assumed: dict[int, str] = {}
        """Words at the beginning of the line that are cut off without being asked for again."""

    def value(self, node: Node, known: Known) -> Value:
        node = node.bare
        if node.type in {"identifier", "shorthand_property_identifier"} and node.text in known:
            return known[node.text]
        if (said := self.source.constant(node)) is not None:
            return Text(said)
        match node.type:
            case "member_expression" | "subscript_expression":
                return self._member(node, known)
            case "call_expression":
                return self._call(node, known)
            case "array":
                words: list[str] = []
                for one in node.parts:
                    said = self.source.constant(one)
                    if one.type == "spread_element":
                        rest = self.value(one.parts[0], known) if one.parts else None
                        return Words(rest.at, (*words, *rest.known)) if isinstance(rest, Words) else None
                    if said is None:
                        return None
                    words.append(said)
                return Words(None, tuple(words)) if words else None
            case "ternary_expression":
                return self.value(node["consequence"], known) or self.value(node["alternative"], known)
            case "template_string":
                return _joined([self.piece(one, known) for one in node.parts])
            case "binary_expression":
                left, right = self.value(node["left"], known), self.value(node["right"], known)
                return _joined([left, right]) if node["operator"].text == "+" else left if left is not None else right
        return None

    def piece(self, piece: Node, known: Known) -> Value:
        """Of a template."""
        return self.value(piece.parts[0], known) if "substitution" in piece.type and piece.parts else Text(piece.text)

    def field(self, held: Value, name: str) -> Value:
        """A member of what is held: the command of a line that was parsed, an option of those that were typed."""
        match held:
            case Words(int(at), _, True) if name in _FIRST:
                return Word(at)
            case Words(int(at), _, True) if name in _FURTHER:
                return Words(at + 1)
            case Words(parsed=True) if name in {"flags", "options", "opts"}:
                return Options()
            case Options():
                return Flag(f"--{name}")
        return None

    def strings(self, node: Node) -> list[str]:
        """The elements of a list of texts, written in place or declared; those that are not known are left out."""
        found = self.source.resolved(node)
        found = found.arguments[0] if found.type == "new_expression" and found.arguments else found
        said = [self.source.constant(one) for one in found.parts] if found.type == "array" else []
        return [one for one in said if one is not None]

    def _member(self, node: Node, known: Known) -> Value:
        owner, index, name = node["object"], node["index"], node["property"].text
        held = self.value(owner, known)
        if not index:
            if owner.text in MESSAGES and name in {"content", "commandName"}:
                return Line(0) if name == "content" else Word(0)
            return Words(-2) if node.text == "process.argv" else self.field(held, name)
        if isinstance(held, Words) and index.text.isdigit():
            return held.word(int(index.text))
        if isinstance(held, Options) and (said := self.source.constant(index)):
            return Flag(f"--{said}")
        return self._table(owner, self.value(index, known))

    def _table(self, owner: Node, word: Value) -> Value:
        declared = self.source.resolved(owner)
        readable = declared.type in {"object", "new_expression"}
        return Table(owner.text, word.at, declared if readable else Node(None)) if isinstance(word, Word) else None

    def _call(self, node: Node, known: Known) -> Value:
        called, given = node["function"], node.arguments
        held, method = self.value(called["object"], known), called["property"].text
        if isinstance(held, Line | Words | Word | Options):
            return self._method(held, method, given)
        if method == "question":
            return Line(0)
        if method == "get" and given and (table := self._table(called["object"], self.value(given[0], known))):
            return table
        values = [self.value(one, known) for one in given]
        flags = [one.said for one in values if isinstance(one, Text) and _is_option(one.said)]
        words = next((one for one in values if isinstance(one, Line | Words)), None)
        if words is None:
            return None
        if flags:
            asks = called.text.startswith(("has", "is", "contains", "includes")) or flags[0].endswith("=")
            return Flag(flags[0] if asks else f"{flags[0]}=<value>")
        if not any(part in called.text.casefold() for part in _CUTTING):
            return None
        if isinstance(words, Words) and re.search(r"""['"`]--?['"`]""", self.source.function(called).text):
            return Options()
        return Words(words.at, getattr(words, "known", ()), parsed=True)

    def _method(self, held: Value, method: str, given: list[Node]) -> Value:
        first = given[0] if given else Node(None)
        match held:
            case Line(at) if (
                method in _CUT and first and (len(given) < 2 or given[1].text in {"''", '""', "undefined"})
            ):
                # The line without words at its beginning: `replace('helios ', '')`, `slice('helios '.length)`,
                # `slice(1)`.
                measured = first.bare["object"] if first.bare["property"].text == "length" else first.bare
                begins = first.bare.type == "regex" and first.bare["pattern"].text.startswith("^")
                found = alternatives(first.bare["pattern"].text) if begins else []
                said = found[0] if found else (self.source.constant(measured) or "").split()
                words = [word for word in said if any(sign.isalnum() for sign in word)]
                self.assumed.update({at + index: word for index, word in enumerate(words)})
                return Line(at + len(words))
            case Line(at) if method in {"split", "match"}:
                return Words(at)
            case Line() | Word() if method in _SAME | _CUT:
                return held
            case Words() if method in {"filter", "map", "flatMap"}:
                return held
            case Words() if method in {"shift", "at", "slice", "splice"} and (not first or first.text.isdigit()):
                count = int(first.text or "0")
                return held.word(count) if method in {"shift", "at"} else held.without(count)
            case Words(int(at), ()) if method == "join":
                return Line(at)
            case Words() if method in _ASKING:
                inner = [node for one in given for node in one.walk() if node.type in {"string", "template_string"}]
                said = [self.source.constant(one) or "" for one in (*inner, *given)]
                asked = dict.fromkeys(f"{one}<value>" if one[-1] == "=" else one for one in said if _is_option(one))
                return Flag(", ".join(asked)) if asked else None
        return None


def alternatives(pattern: str) -> list[tuple[str, ...]]:
    """The words that a regular expression accepts: `^helios\\s+gw\\s+(list|ls)\\s+(\\S+)$`; none where it says more."""
    plain = re.sub(r"\\s[+*]?| [+*]?", " ", pattern.removeprefix("^").removesuffix("$").replace(r"\b", ""))
    plain = re.sub(r"\(\?(?::|<\w+>)", "(", plain)
    head = re.split(r"\((?=[^)]*\\[Swd]|[^)]*\.[*+])|\\[Swd]|\[|\.[*+]", plain)[0]
    parts = [
        [*(group.split("|") if group else [letter or sign]), *([""] if maybe else [])]
        for group, letter, sign, maybe in re.findall(r"(?:\(([^()]+)\)|(\w)|\\?(.))(\??)", head)
    ]
    words = [tuple("".join(one).split()) for one in islice(product(*parts), MAX_ALTERNATIVES)]
    fine = all(one and all(re.fullmatch(r"[\w/!.:-]+", word) for word in one) for one in words)
    return list(dict.fromkeys(words)) if fine else []


def _is_option(said: str) -> bool:
    return re.fullmatch(r"-{1,2}\w[\w-]*=?", said) is not None


def _joined(pieces: list[Value]) -> Value:
    """Words that follow one another with a space between them, or a line, whatever text stands in front."""
    kept = [one for one in pieces if not (isinstance(one, Text) and len(one.said.strip()) < 2)]
    first = kept[0] if kept else None
    if isinstance(first, Word) and all(one == Word(first.at + index) for index, one in enumerate(kept)):
        return first if len(kept) == 1 else Line(first.at)
    return kept[-1] if kept and isinstance(kept[-1], Line) and all(isinstance(one, Text) for one in kept[:-1]) else None
