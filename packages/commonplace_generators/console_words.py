"""What was typed, as the values of a console's code: a line, its words, options; and conditions over them.

A condition becomes the ways to type a line for which it is true, and false.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice, product

from commonplace_generators import tsx
from commonplace_generators.tsx import Node

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
        """Return the value of a piece of a template."""
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


MAX_PATHS = 60
Path = dict[int, str]
Paths = list[Path] | None
"""None where nothing is known; none at all where it cannot be; an empty one where it always is."""
SIGILS = {"/", "!", ".", "$", "?", ">"}


class Conditions:
    def __init__(self, evaluator: Evaluator, miss: Callable[[Node, str], None]) -> None:
        """`miss` is told of what is not understood."""
        self._evaluator = evaluator
        self._miss = miss
        self.sigil = ""
        """What a line has to begin with: `/`."""

    def of(self, node: Node, known: Known) -> tuple[Paths, Paths]:
        """The ways to type it where a condition is true, and where it is false."""
        node = node.bare
        left, right, operator = node["left"], node["right"], node["operator"].text
        if node.type == "unary_expression" and operator == "!":
            true, false = self.of(node["argument"], known)
            return false, true
        if node.type == "call_expression":
            return self._asked(node, known), None
        if operator in {"&&", "||"}:
            one, other = self.of(left, known), self.of(right, known)
            if operator == "&&":
                return _both(one[0], other[0]), _either(one[1], other[1])
            return _either(one[0], other[0], one[0] or other[0] or None), _both(one[1], other[1])
        if operator not in {"===", "==", "!==", "!="}:
            return None, None
        held = [self._evaluator.value(side, known) for side in (left, right)]
        word = next((one for one in held if isinstance(one, Word | Line)), None)
        said = next((one.said for one in held if isinstance(one, Text)), "")
        same: tuple[Paths, Paths] = (None, None)
        if all(isinstance(one, Text) for one in held):
            same = ([{}], []) if held[0] == held[1] else ([], [{}])
        elif word is not None and said.split() and not said.startswith("-"):
            same = ([path_of(word.at, said.split())], None)
        elif said in SIGILS and left.text.endswith(("[0]", ".charAt(0)")):
            line = left["object"] or left["function"]["object"]
            self.sigil = said if self._evaluator.value(line, known) == Line(0) else self.sigil
        return (same[1], same[0]) if operator.startswith("!") else same

    def _asked(self, node: Node, known: Known) -> Paths:
        """`line.startsWith('pools ')`, `['list', 'ls'].includes(word)`, `/^examples?$/.test(line)`."""
        owner, method = node["function"]["object"].bare, node["function"]["property"].text
        first = node.arguments[0].bare if node.arguments else Node(None)
        held, asked = self._evaluator.value(owner, known), self._evaluator.value(first, known)
        pattern = next((one for one in (owner, first) if one.type == "regex"), None)
        word = next((one for one in (held, asked) if isinstance(one, Line | Word)), None)
        if method in {"test", "match"} and pattern and word is not None:
            found = alternatives(pattern["pattern"].text)
            if not found:
                self._miss(pattern, f"This pattern is more than a list of words: `{pattern.text[:80]}`")
            return [path_of(word.at, one) for one in found]
        if method == "startsWith" and isinstance(held, Line) and isinstance(asked, Text):
            self.sigil = asked.said if asked.said in SIGILS and not held.at else self.sigil
            words = [word for word in asked.said.split() if any(sign.isalnum() for sign in word)]
            return [path_of(held.at, words)] if words else None
        if method in {"includes", "has"} and (words := self._evaluator.strings(owner)):
            if isinstance(asked, Word | Line):
                return [path_of(asked.at, one.split()) for one in words if one.split()]
            return ([{}] if asked.said in words else []) if isinstance(asked, Text) else None
        return None


def path_of(at: int, words: "list[str] | tuple[str, ...]") -> Path:
    return {at + index: word for index, word in enumerate(words)}


def _both(one: Paths, other: Paths) -> Paths:
    return products(one, other) if one is not None and other is not None else other if one is None else one


def _either(one: Paths, other: Paths, otherwise: Paths = None) -> Paths:
    """`otherwise`: where one side says nothing; `!word || word === 'list'` is `list`."""
    return [*one, *other] if one is not None and other is not None else otherwise


def products(one: list[Path], other: list[Path]) -> list[Path]:
    """Each way of one with each of the other, as far as they do not contradict one another."""
    joined = [{**a, **b} for a in one for b in other if all(b.get(at, word) == word for at, word in a.items())]
    return joined[:MAX_PATHS]
