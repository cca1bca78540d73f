"""The shape of a query: a command, an endpoint, or words in English.

A query with a shape is answered by its name or not at all. In doubt it has one: an empty answer with suggestions does
less harm than a command that does not exist.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from commonplace.reference.endpoints import Endpoints, Request, is_path, known_method
from commonplace.reference.model import ENTRY_TYPES, METHODS, EntryType
from commonplace.reference.names import Names, is_option, is_value, tokens, words
from commonplace.reference.spelling import PROMPT, one_edit, parts, spelling, typed, unwrapped
from commonplace.reference.synonyms import VERBS, WORDS, stem, word_group
from commonplace.search.text import fold

JOINED_VERBS = frozenset(verb for key, others in VERBS.items() for verb in (key, *others))
"""Verbs that make a command of a word when they are joined to another: `get-users`, `listUsers`."""

PARTICLES = frozenset(WORDS["particles"])
"""What makes an ordinary word of a joined verb: `add-on`, `make-up`."""

ORDINARY_VERBS = JOINED_VERBS | frozenset(WORDS["ordinary"])
"""Words that may begin a sentence as well as a command."""

OF_SENTENCES = frozenset(WORDS["sentence"])
"""Words that nobody makes a subcommand of."""

JOINING = frozenset(WORDS["joining"])
"""Words of sentences which made-up commands have as well: `helios export users to csv`."""

KINDS: Mapping[str, EntryType | None] = {
    word: next((type for type in ENTRY_TYPES if type == name), None)
    for name, words in word_group("sought").items()
    for word in words
}
"""What people look for, where it ends what they ask: `helios user management guide`."""

LONGEST_NAME = 12
"""Words of a name, as long as one is looked for in a sentence."""

SHORTEST_MISSPELT_ROOT = 5
"""Letters of a root that is recognised in spite of a mistake."""

Shape = Literal["command"] | Request | None
"""None: words."""


def reads_as_sentence(words: Sequence[str], known: Container[str]) -> bool:
    """Return whether these tokens are a question or a sentence; `known` are the words of commands, which prove nothing.

    The last word proves nothing: no sentence ends in `how` or `it`, but what was to be `show` or `list` may.
    A preposition proves something only where what follows the first word begins no command: `helios basics for schools`
    asks, `helios users export to csv` and `helios export users to csv` make up a command.
    """
    if words[-1].endswith("?") and not is_path(words[-1]):
        return True
    plain = [_bare(word) for word in words if not (is_option(word) or is_value(word))]
    telling = {word for word in plain[:-1] if word not in known}
    if not OF_SENTENCES.isdisjoint(telling):
        return True
    commanding = len(plain) > 1 and (plain[1] in known or plain[1] in ORDINARY_VERBS)
    return not commanding and not JOINING.isdisjoint(telling)


def without_kind(text: str) -> tuple[str, EntryType | None]:
    """Return what it names, and of which type, if it ends in a kind: `helios gw users list command`. Else nothing."""
    name, _, last = unwrapped(text).rpartition(" ")
    kind = _bare(last)
    return (name, KINDS[kind]) if kind in KINDS else ("", None)


def _bare(word: str) -> str:
    return fold(word).replace("'", "").strip(".,:;!?()")


class Shapes:
    """Decided by the names that there are. `roots` are first words of commands, besides those of the names."""

    def __init__(self, names: Names, endpoints: Endpoints, roots: Iterable[str]) -> None:
        self._names = names
        self._known = names.words
        self._roots = names.roots | {first for root in roots for first in words([root])[:1]}
        self._endpoints = endpoints

    def of(self, query: str) -> Shape:
        line = unwrapped(query)
        found = tokens(line)
        if not found:
            return None
        # Names may go on from here, though the word that is only begun may be one of sentences: `helios gw us`.
        key = words(found)
        begins = len(key) > 1 and key[0] not in ORDINARY_VERBS and any(self._names.beginning_with(" ".join(key)))
        if typed(query).lstrip("`").startswith(PROMPT) or begins:
            return self.request(line) or "command"
        if reads_as_sentence(found, self._known):
            # Unless every word is one of commands, or nearly: `is` in `helios is users list` was to be `ms`.
            root, *rest = words(found) or [""]
            rooted = root in self._roots - ORDINARY_VERBS and len(rest) <= LONGEST_NAME
            if not rooted or not all(
                word in self._known or any(one_edit(word, known) for known in self._known) for word in rest
            ):
                return None
        coded = typed(query).startswith("`")
        return self.request(line) or ("command" if self._is_command(found, coded=coded) else None)

    def _is_command(self, found: Sequence[str], *, coded: bool) -> bool:
        if any(token.startswith("--") or (token[0], token[-1]) == ("<", ">") for token in found):
            return True
        if len(found) == 1 and _joins_verb(found[0]):
            return True
        # The root that the line begins with, also if it is misspelt, or joined to what follows; empty for none.
        first = next(iter(words(found[:1])), "")
        root = first if not first or first in self._roots else self._misspelt_root(first, words(found)[1:])
        if root in ORDINARY_VERBS:
            return coded
        # What ends in the kind of thing that is looked for, after at least two words, is no command.
        kind = _bare(found[-1])
        of_kind = len(found) > 2 and kind in KINDS and kind not in self._known
        return bool(root) and (not of_kind or any(map(_joins_verb, found)))

    def _misspelt_root(self, first: str, rest: Sequence[str]) -> str:
        """A root with a mistake before nothing but words of commands, or in what is all but a name.

        Or anything else, if what follows is all that follows a root in some name.
        """
        plain = [word for word in rest if not is_value(word)]
        if not plain or first in self._known or first in ORDINARY_VERBS:
            return ""
        for root in self._roots - ORDINARY_VERBS:
            exists = bool(self._names.commands.spelt(" ".join((root, *plain))))
            if exists and len(plain) > 1:
                return root
            if len(root) < SHORTEST_MISSPELT_ROOT:
                continue
            singular = stem(first) == stem(root)
            if one_edit(first, root) and not singular and self._known.issuperset(plain):
                return root
            nearly = (first + plain[0]).startswith(root[:-1]) and not (exists and singular)
            if nearly and self._names.has_nearly(" ".join((first, *plain)), root):
                return root
        return ""

    def request(self, line: str) -> Request | None:
        """The requested path, if a line is one: with a method, as a URL, or as a `curl` command."""
        first, *rest = tokens(unwrapped(line)) or [""]
        if is_path(first):
            return Request(first)
        if not rest:
            # `GET/users`, or a path without its first slash, if there are paths that begin so.
            begin, slash, path = first.partition("/")
            if slash and _like_method(begin) and (_shouted(begin) or self._endpoints.is_first(path.split("/", 1)[0])):
                return Request("/" + path, begin)
            return Request(first) if slash and self._endpoints.is_first(begin) else None
        if spelling(first) in self._roots:
            return None
        if _like_method(first) and (is_path(rest[0]) or (_shouted(first) and "/" in rest[0])):
            return Request(rest[0], first)
        if first != "curl":
            return None
        url = next((word for one in rest if is_path(word := unwrapped(one))), None)
        method = next((value for option, value in pairwise(rest) if option in ("-X", "--request")), None)
        sends = any(one.startswith(("-d", "--data", "-F", "--form")) for one in rest)
        return Request(url, method or ("POST" if sends else None)) if url else None


def _joins_verb(word: str) -> bool:
    """`get-users`, `users_list`, `listUsers`, but neither `add-on` nor `e-mail`."""
    found = parts(word)
    return len(found) > 1 and not JOINED_VERBS.isdisjoint(found) and PARTICLES.isdisjoint(found)


def _like_method(word: str) -> bool:
    """A method, also a misspelt one in capitals."""
    return known_method(word) is not None or (_shouted(word) and any(one_edit(word.upper(), one) for one in METHODS))


def _shouted(word: str) -> bool:
    return sum(letter.isupper() for letter in word) > 1
