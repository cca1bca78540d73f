"""Synonyms and stems: the table of seed 003 ("Forgiving Search with Synonyms"), and a catalogue's own."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from commonplace.search.text import word_lists, words

WORDS = word_lists(Path(__file__).with_name("words.txt"))


def word_group(name: str) -> dict[str, list[str]]:
    """Return the lists whose names begin with the group's: `verbs.get` is `get` of the group `verbs`."""
    return {key.partition(".")[2]: words for key, words in WORDS.items() if key.partition(".")[0] == name}


VERBS: Mapping[str, Sequence[str]] = word_group("verbs")

NOUNS: Mapping[str, Sequence[str]] = word_group("nouns")

DEFAULT: Mapping[str, Sequence[str]] = {**VERBS, **NOUNS}
"""The seed's own. They hold in every direction: who asks for `people` may mean `users`, and the other way round."""

ASKED: Mapping[str, Sequence[str]] = word_group("asked")
"""How people call things in questions: beside the seed's table, for ranking alone."""


LONGEST = 4
"""Words of a phrase that has synonyms, such as `google workspace` for `gw`; longer ones have none."""

Phrase = tuple[str, ...]

_DOUBLED = frozenset("bdgklmnprt")
_VOWELS = frozenset("aeiouy")
_KEPT = ("ss", "us", "is", "ias")
_SIBILANTS = ("sses", "xes", "ches", "shes", "zes")


class Actions:
    """Tokens of actions, which stand in an index beside its words: no word begins as they do."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, ...]] = {}
        self._asked: dict[Phrase, tuple[str, ...]] = {}
        in_questions = word_group("question")
        for action, verbs in word_group("action").items():
            for verb in (*verbs, *in_questions.get(action, ())):
                phrase = tuple(map(stem, verb.split("-")))
                self._asked[phrase] = (*self._asked.get(phrase, ()), self.token(action))
            for verb in map(stem, verbs):
                self._told[verb] = (*self._told.get(verb, ()), self.token(action))

    @staticmethod
    def token(action: str) -> str:
        return f"+{action}"

    def of(self, verbs: Iterable[str]) -> list[str]:
        """Return what is done where an entry has these words, stemmed."""
        return [token for verb in verbs for token in self._told.get(verb, ())]

    def asked(self, phrase: Phrase) -> Sequence[str]:
        """Return what is to be done where a question has this verb or phrase, stemmed; nothing for others."""
        return self._asked.get(phrase, ())


class Synonyms:
    """Synonyms of words and phrases, as words of an index: stemmed as `stem` does."""

    def __init__(self, tables: Iterable[Mapping[str, Sequence[str]]]) -> None:
        self._others: dict[Phrase, dict[Phrase, None]] = defaultdict(dict)
        for key, others in (item for table in tables for item in table.items()):
            phrases = (tuple(map(stem, words(text))) for text in (key, *others))
            group = dict.fromkeys(phrase for phrase in phrases if 0 < len(phrase) <= LONGEST)
            for one in group:
                self._others[one].update(dict.fromkeys(other for other in group if other != one))
        self.longest = max((len(phrase) for phrase in self._others), default=1)
        """Words of the longest phrase."""

    def of(self, phrase: Phrase) -> Sequence[Phrase]:
        """Return the synonyms in the order of the tables; none for what has no synonym."""
        return tuple(self._others.get(phrase, ()))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """`users` and `user`, `creating`, `created` and `creation`, `deployment` and `deploys` become one each.

    Light on purpose: names of commands differ in little, and two of them must not become one. Only English endings,
    only of words of letters that stay long enough.
    """
    if len(word) < 4 or not word.isalpha() or not word.isascii():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(_SIBILANTS):
        word = word[:-2]
    elif word[-1] == "s" and not word.endswith(_KEPT):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            doubled = rest[-1] == rest[-2] and rest[-1] in _DOUBLED and len(rest) > 3
            word = rest[:-1] if doubled else rest
            break
    for ending, least in (("ation", 4), ("ment", 5), ("ate", 4), ("at", 5), ("ion", 4)):
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == "e":
        return word[:-1]
    return word[:-1] + "i" if len(word) > 3 and word[-1] == "y" and word[-2] not in _VOWELS else word
