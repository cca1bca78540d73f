"""English around names: the words by which a question differs from what is typed at a prompt."""

from collections.abc import Container, Mapping, Sequence

from commonplace.reference.commandline import is_option, is_value
from commonplace.reference.entries import EntryType
from commonplace.reference.paths import is_path
from commonplace.reference.spelling import unwrapped
from commonplace.reference.synonyms import VERBS
from commonplace.search.text import fold

_PARTICLES = "away back down in off on out over up"

_ORDINARY_VERBS = """
apply approve archive ask assign backup book browse build call cancel check clean clear close compare compile configure
connect copy count deploy describe diff disable download enable end exit explain export find finish fix format generate
give go grant help import init inspect install invite join keep kill leave link load lock log login look manage mark
merge migrate monitor mount move name open order pause pick ping plan post print publish pull push put query quit read
rebuild reload rename repair replace report request reset resize resolve restart restore resume revoke rotate run save
scale schedule search select send set setup share sort start stop submit suspend switch sync tag take tell test track
transfer try turn undo uninstall unlock upgrade upload use validate verify wait watch write
"""

_OF_SENTENCES = """
a am an and are arent be because been but can cannot cant could did didnt do does doesnt dont had has hasnt have havent
he how i if im is isnt it its may me might must my not our please shall she should shouldnt that the their them
there these they this those us was wasnt we were what whats when where which while who whose why will wont would
wouldnt you your
"""

_JOINING = "about as at between by for from in into of on onto per to using via with without"

_KINDS: Mapping[EntryType | None, str] = {
    "command": "command commands syntax usage",
    "api": "endpoint endpoints request",
    "guide": "guide guides handbook howto tutorial tutorials walkthrough",
    "feature": "feature features",
    "troubleshooting": "troubleshooting",
    None: "article articles doc docs documentation example examples faq instructions manual overview reference",
}

JOINED_VERBS = frozenset(verb for key, others in VERBS.items() for verb in (key, *others))
"""Verbs that make a command of a word when they are joined to another: `get-users`, `listUsers`."""

PARTICLES = frozenset(_PARTICLES.split())
"""What makes an ordinary word of a joined verb: `add-on`, `make-up`."""

ORDINARY_VERBS = JOINED_VERBS | frozenset(_ORDINARY_VERBS.split())
"""Words that may begin a sentence as well as a command."""

OF_SENTENCES = frozenset(_OF_SENTENCES.split())
"""Words that nobody makes a subcommand of."""

JOINING = frozenset(_JOINING.split())
"""Words of sentences which made-up commands have as well: `helios export users to csv`."""

KINDS = {word: type for type, words in _KINDS.items() for word in words.split()}
"""What people look for, where it ends what they ask: `helios user management guide`."""


def reads_as_sentence(words: Sequence[str], known: Container[str]) -> bool:
    """Whether these tokens are a question or a sentence; `known` are the words of commands, which prove nothing.

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


def asks_for_kind(words: Sequence[str], known: Container[str]) -> bool:
    """Whether it ends in the kind of thing that is looked for, after at least two words."""
    kind = _bare(words[-1])
    return len(words) > 2 and kind in KINDS and kind not in known


def without_kind(text: str) -> tuple[str, EntryType | None]:
    """What it asks for, and of which type, if it ends in a kind: `helios gw users list command`. Else nothing."""
    name, _, last = unwrapped(text).rpartition(" ")
    kind = _bare(last)
    return (name, KINDS[kind]) if kind in KINDS else ("", None)


def _bare(word: str) -> str:
    return fold(word).replace("'", "").strip(".,:;!?()")
