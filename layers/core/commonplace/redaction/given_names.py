"""Names of persons that are told by a given name: twenty thousand of them, of sixty languages, and what stands around.

A model of 15 MB knows fewer names than a list does, and less of other languages than English; a list knows nothing of a
sentence. So each finds what the other misses.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import ALSO_WORDS, TECHNICAL, words

FILE = Path(__file__).with_suffix(".txt")
_STROKES = str.maketrans("łŁđĐøØıßæœþðə", "lLdDoOisaotda")

_WORD = r"[^\W\d_]+(?:['’ʻ-][^\W\d_]+)*"
_PARTICLE = (
    r"(?:van|von|der|den|de|da|dos|das|do|del|della|dela|di|du|la|le|las|los|bin|binti|binte|ibn|al|el|ter|ten"
    r"|ap|ab|af|av|zu|y|i|e|['’]t|St\.|Mac)"
)
_NAME = re.compile(
    rf"(?<![\w@/#.$&-])(?:{_WORD}|[^\W\d_]\.)(?:[ ](?:{_PARTICLE}[ ]){{0,3}}(?:{_WORD}|[^\W\d_]\.)){{0,6}}"
)
_TOKEN = re.compile(rf"{_WORD}|[^\W\d_]\.")
_TITLE = (
    r"(?:(?:Mr|Mrs|Ms|Mx|Dr|Prof|Herr|Frau|Sra?|Dra?|Mme|Mlle|Me|Avv|Mag|Dott|Ing|Dipl|Lic|Arq|Sig|Rev|Pan|Pani)\b"
    r"\.?(?:-Ing\.)?[ ])+"
)
_TITLED = re.compile(rf"(?<!\w){_TITLE}$")
_INITIALS = re.compile(rf"(?<![\w.])(?:[^\W\d_a-z]\.[ ]?){{2,3}}(?:{_PARTICLE}[ ])?(?=[^\W\d_a-z])[^\W\d_]{{3,}}")
_ASKED = re.compile(
    r"(?:\b(?:ask|asked|tell|told|ping|pinged|cc|by|thanks(?: go)? to|thank|with|from|contact|owner|hi|dear|hello"
    r"|write to|talk to|call|according to|reviewer|author|assignee|par|von|door|por|av|oleh|per|przez)[: ]+|[—–|]\s*)$",
    re.IGNORECASE,
)
"""What stands before somebody's name."""
_SPOKEN_TO = re.compile(
    r"\b(?:ask|asked|tell|told|ping|talk(?:ed)? to|spoke (?:to|with)|write to|thanks to|cc|inherited (?:it )?from"
    r"|(?:written|reported|reviewed|found|fixed|changed|signed|approved|measured|suggested|added|made) by)[ ]$",
    re.IGNORECASE,
)
"""The same where only a person can follow."""
_DID = re.compile(
    r"(?:['’]s\b|,? (?:said|says|saw|found|wrote|writes|noticed|asked|told|reported|fixed|moved|changed|set|thinks"
    r"|thought|took|takes|made|showed|tested|reviewed|measured|suggested|explained|added|removed|rewrote|agreed|warned"
    r"|confirmed|joined|deleted|bisected|silenced|watched|drained|rolled|merged|keeps|owns|knows|needs|wants|works)\b"
    r"|\s*(?:\||$))"
)
_NO_PERSON = words(
    """
    street road avenue lane square drive bridge park island river lake valley university institute college school
    prize award theorem test filter algorithm distribution index transform chip node cluster db ci cd api sdk
    model models server cloud studio code team foundation licence license inc ltd llc gmbh corp release
    """
)
_OPENERS = words(
    """
    ask thanks thank tell told ping contact from by with see the a an in on at for to and or but if when while as dear
    hi hello hey cc call since after before because our my your his her their we i it this that these those talk spoke
    meet met let both credit reported reviewed written found fixed owner author assignee reviewer per via then now also
    even only not no yes frag danke merci gracias obrigado llamar preguntar fråga tack liên hubungi piga
    """
)
"""Words that begin a sentence beside a name, and are none."""
_GIVEN_WORDS = words(
    """
    autumn bill carter chance chase christian clay cliff dale dawn dean drew eve faith finn frank gene glen grace
    grant harmony heath heather holly hope hunter iris ivy jack jade jay jean joy june lance lily mark mason may melody
    mercy miles neal norm olive opal pat patience pearl peg penny pepper ray reed rob robin rose rowan ruby sally
    sam sandy scout stella sue summer sky tad taylor tim victor viola violet wade will august april
    """
)
"""Those of the words that are also names, which are given to people."""
_MONTHS = words("may june april august")
_SYLLABLES = words(
    """
    seung woo hyun jae min ji soo su young yeon hye jin kyung eun seo joon jun hoon ho hee sung sang tae dong yong won
    chul mi na ra in ah yoon chan kwang byung myung geun gyu kyu hwan il ki ka wai kit ming ying ling mei yi ting wei
    chun man kwok wing sze hoi lok chi fai yan tsz lai kin chia hao yu hsin pei shu fen jing kai hung ying chieh ju
    """
)
"""Of given names that are written with a hyphen: Korean and Chinese ones."""
_FAMILIES = words(
    """
    nguyen tran le pham hoang huynh phan vu vo dang bui ngo duong ly dinh truong kim lee choi jung jeong kang yoon jang
    lim shin kwon hwang ahn hong wang zhang liu chen yang huang zhao zhou zhu guo lin gao luo zheng liang xie tang deng
    feng cao peng zeng xiao tian dong yuan cai jiang cheng wei ding shen yao chan wong cheung lau chow ng leung kwok
    """
)
"""Family names that stand first; more than half of their peoples have one of them."""


def folded(name: str) -> str:
    """In small letters, without accents and strokes: one way of writing for many."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).translate(_STROKES)


@cache
def given_names() -> frozenset[str]:
    """Folded."""
    return frozenset(FILE.read_text(encoding="utf-8").partition("\n")[2].split())


def find_given_names(text: str) -> Iterator[Span]:
    """Names with a given name in them, whole: the words around it that belong to it, as far as they are capitalised."""
    for found in _NAME.finditer(text):
        for start, end in _people(text, found):
            yield Span(start, end, "NAME", "rule", label="given-name")
    for found in _INITIALS.finditer(text):
        yield Span(*found.span(), "NAME", "rule", label="initials")


_Token = tuple[str, int, int]


def _people(text: str, found: re.Match[str]) -> Iterator[tuple[int, int]]:
    offset = found.start()
    tokens = [(token[0], offset + token.start(), offset + token.end()) for token in _TOKEN.finditer(found[0])]
    group: list[_Token] = []
    for token in [*tokens, None]:
        if token and (token[0][0].isupper() or (group and _is_particle(token[0]))):
            group.append(token)
            continue
        while group and _is_particle(group[-1][0]):
            group.pop()
        if group and (person := _person(text, group)):
            yield person
        group = []
        if token and _is_written_small(text, token):
            yield token[1], token[2]


def _is_particle(word: str) -> bool:
    return not word[0].isupper() and bool(re.fullmatch(_PARTICLE, word))


def _is_written_small(text: str, token: _Token) -> bool:
    """`ask priya`: nobody else is asked."""
    word, start, _ = token
    return len(word) > 3 and _is_given(folded(word)) and bool(_SPOKEN_TO.search(text[max(0, start - 24) : start]))


def _person(text: str, group: list[_Token]) -> tuple[int, int] | None:
    plain = [folded(word) for word, _, _ in group]
    if any(word in _NO_PERSON or word in TECHNICAL for word in plain):
        return None
    first = next((index for index in range(len(group)) if _tells(text, group, plain, index)), None)
    if first is None:
        return None
    # A family name may stand before: Hungarian, Vietnamese.
    while first > 0 and plain[first - 1] not in _OPENERS and (first > 1 or plain[0] not in ALSO_WORDS):
        first -= 1
    start = group[first][1]
    titled = _TITLED.search(text[max(0, start - 20) : start])
    return start - (len(titled[0]) if titled else 0), group[-1][2]


def _tells(text: str, group: list[_Token], plain: list[str], index: int) -> bool:
    """Whether the word at `index` says that this is somebody."""
    (word, start, _), name = group[index], plain[index]
    if word.isupper() and len(word) > 1 and not (len(group) > 1 and all(each.isupper() for each, _, _ in group)):
        return False
    if re.search(r"-[a-z]", word) and not set(name.split("-")) <= _SYLLABLES:
        return False
    if _is_given(name) or (name in _FAMILIES and len(group) > index + 1 and name not in _OPENERS):
        return True
    before = text[max(0, start - 30) : start]
    if index == 0 and len(name) > 2 and _SPOKEN_TO.search(before) and not word.isupper() and name not in _OPENERS:
        return True
    return name in _GIVEN_WORDS and _stands_as_name(text, group, index)


def _is_given(word: str) -> bool:
    if word in ALSO_WORDS:
        return False
    names, parts = given_names(), re.split(r"['’ʻ-]", word)
    if len(parts) > 1:
        return all(part in _SYLLABLES for part in parts) or (parts[0] in names and all(len(part) > 1 for part in parts))
    return word in names


def _stands_as_name(text: str, group: list[_Token], index: int) -> bool:
    """Whether a name that is a word as well is the name: somebody is asked, or does something, or has two names."""
    word, start, end = group[index]
    others = [each for each, _, _ in group[index + 1 :]]
    if 0 < len(others) < 3 and all(len(each) > 2 for each in others) and not _begins(text, start):
        return True
    if _ASKED.search(text[max(0, start - 24) : start]) and word.casefold() not in _MONTHS:
        return True
    if word.casefold() not in _MONTHS and _DID.match(text, group[-1][2]) and text[end : end + 1] != "\n":
        return True
    following = re.match(r"(?:,| and| und| y| et) ([^\W\d_a-z][^\W\d_]+)", text[end : end + 30])
    return (
        following is not None
        and folded(following[1]) in _GIVEN_WORDS | given_names()
        and _DID.match(text, end + following.end()) is not None
    )


def _begins(text: str, place: int) -> bool:
    """Whether a sentence, a cell or an item begins here."""
    before = text[:place].rstrip(" \t*_>#\"'“„«(")
    return not before or before[-1] in ".!?\n|:;-—–•" or before[-1].isdigit()
