"""Conditions of a console's code, as the ways to type a line for which they are true, and false."""

from collections.abc import Callable

from generators.console_words import Evaluator, Known, Line, Text, Word, alternatives
from generators.tsx import Node

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
