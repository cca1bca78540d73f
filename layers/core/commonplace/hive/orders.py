"""Text that contains instructions to agents, or hides. Pure.

Rules look at a text as a model reads it: without invisible characters, with letters that only look Latin made Latin,
with character references resolved. Ordinary technical writing is full of imperatives; what is marked is aimed at an
agent's instructions, its user, its tools or its secrets.
"""

import base64
import binascii
import codecs
import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from html import unescape
from itertools import accumulate
from pathlib import Path
from typing import Any

from commonplace.hive.model import Mark
from commonplace.redaction.vocabulary import COMMON, TECHNICAL

SENTENCES = {
    "override": "Tells an agent to set its instructions aside, or to take others.",
    "role-change": "Tells an agent to be somebody else, without its limits.",
    "fake-turn": "Looks like a turn of a conversation, or like the end of quoted data.",
    "tool-call": "Tells an agent to use a tool, or to act without asking.",
    "secrecy": "Tells an agent to keep something from the person it works for.",
    "exfiltration": "Would carry data of the conversation, or secrets, somewhere else.",
    "prompt-leak": "Asks an agent for its own instructions.",
    "addressed": "Speaks to whichever agent reads it.",
    "hidden-text": "Holds text that people do not see and agents do.",
    "disguise": "Has letters of other scripts in Latin words, which is how words are hidden from filters.",
    "encoded": "Holds encoded text that gives orders once it is decoded.",
    "manipulation": "Asks for its own approval, rank or reported outcome.",
}
"""By code: what a reviewer is told. The codes are stable."""


def orders(text: str) -> Sequence[Mark]:
    """What in a text contains instructions to agents, or hides, in order; marks of one code do not overlap."""
    found = [*_hidden(text), *_written(text), *_by_words(text), *_encoded(text)]
    marks: list[Mark] = []
    last: dict[str, int] = {}
    for start, end, code in sorted(set(found)):
        if start >= last.get(code, 0):
            marks.append(Mark(code, SENTENCES[code], start, end))
            last[code] = end
    return marks


_Found = tuple[int, int, str]


def _rules() -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield the code and the pattern of every rule in `order_patterns.txt`, whose head explains its lines."""
    parts: dict[str, str] = {}
    for line in Path(__file__).with_name("order_patterns.txt").read_text("utf-8").splitlines():
        name, _, pattern = line.partition(" ")
        if name.isupper():
            parts[name] = pattern.removeprefix("= ")
        elif name not in ("", "#"):
            whole = re.sub(r"%\{(\w+)\}", lambda found: parts[found[1]], pattern)
            yield name, re.compile(unicodedata.normalize("NFKC", whole), re.IGNORECASE)


_RULES = list(_rules())

_WORDS_OF: dict[str, dict[str, Any]] = tomllib.loads(
    unicodedata.normalize("NFKC", Path(__file__).with_name("order_words.toml").read_text("utf-8"))
)
"""By language: the words by which it is known, and verbs and objects of orders by the code of their mark."""
_SENTENCE = re.compile(r"[.。।!?\n]")
REACH = 60  # Characters between the verb of an order and its object


def _grid(forms: str, unless: str = "") -> re.Pattern[str]:
    """Return words, divided by `|`, as a pattern: they end where a word does in scripts with spaces."""
    each = [
        re.escape(one).replace(r"\ ", r"\s+") for one in sorted(_as_read(forms)[0].split("|"), key=len, reverse=True)
    ]
    whole = rf"\b(?:{'|'.join(each)})\b" if forms[0].isascii() else "|".join(each)
    return re.compile(rf"(?:{whole})(?![ \t]+(?:{unless})\b)" if unless else whole, re.IGNORECASE)


@cache
def _grids() -> list[tuple[str, re.Pattern[str], re.Pattern[str]]]:
    """Return the code of each intent in each language, and how its verbs and its objects are found."""
    return [
        (code, _grid(words["verbs"]), _grid(words["objects"], words.get("unless", "")))
        for language in _WORDS_OF.values()
        for code, words in language.items()
        if code != "known"
    ]


def covered(text: str) -> bool:
    """Return whether every passage is in a language whose orders are known; code and addresses are in none."""
    prose = _URL.sub(" ", _CODE.sub(" ", text))
    plain, _ = _as_read(prose)
    if _OTHER_SCRIPTS.search(plain):
        return False
    for passage in re.split(r"\n\s*\n|\n\W*[-*#|>]", plain):
        words = _SPACED.findall(passage.casefold())
        share = max(sum(map(known.__contains__, words)) for known in _known()) / max(len(words), 1)
        if len(words) > 3 and share < LEAST_KNOWN:
            return False
    return True


LEAST_KNOWN = 0.2  # The part of a passage's words that a language has to know
_URL = re.compile(r"(?:https?://|www\.)\S+")
_SPACED = re.compile(r"(?<![\w/.])[a-z\u00c0-\u024f\u0400-\u04ff]{1,30}(?![\w/])")
# Scripts of languages without marks; letters of Persian and Urdu among Arabic ones.
_OTHER_SCRIPTS = re.compile(
    "[\u0370-\u03ff\u0530-\u05ff\u067e\u0686\u0698\u06a9\u06af\u06cc\u06d2\u0700-\u08ff\u0980-\u10ff\u1200-\u13ff\u1780-\u18af]{2}"
    "|(?:[\u067e\u0686\u0698\u06a9\u06af\u06cc\u06d2][^.]{0,40}?){3}"
)


@cache
def _known() -> list[frozenset[str]]:
    """Return the words of each language; of English those that begin sentences as well, and names of products."""
    known = {name: frozenset(words["known"].split()) for name, words in _WORDS_OF.items() if words["known"]}
    return [*known.values(), known["en"] | COMMON | TECHNICAL]


_CODE = re.compile(r"(?ms)^(?P<f>```|~~~)[^\n]*\n.*?^(?P=f)|`[^`\n]+`")
_TOKEN_ALONE = re.compile(r"`[^`\n]+`")
_COMMENT = re.compile(r"<!--((?:(?!<!--|-->).)*)-->", re.DOTALL)
_TOLD = re.compile(
    r"\b(?:(?:ai|llm|agents?|assistants?|language models?)\b[^.\n]{0,60}?"
    r"\b(?:must|should|always|do not|don't|never|run|call|send|ignore)\b"
    r"|you (?:must|shall|have to|are to) (?!not edit|not modify)\w+)",
    re.IGNORECASE | re.DOTALL,
)
_UNSEEN_STYLE = re.compile(
    r"<\w+\b[^>]{0,200}?\bstyle\s*=\s*[\"'][^\"'>]{0,200}?(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|font-size\s*:\s*[01](?:px|pt|em|%)?\b(?!\.)|opacity\s*:\s*0(?:\.0\d*)?\s*(?:;|[\"'])"
    r"|(?<![\w-])color\s*:\s*(?:white|transparent|#fff(?:fff)?\b)|(?:left|top|text-indent)\s*:\s*-\d{3,})"
    r"[^>]{0,200}>(?=[^<]*\w)"
    r"|<font\b[^>]{0,80}color\s*=\s*[\"']?(?:white|#fff(?:fff)?)\b[^>]*>"
    r"|<(?:div|span|p)\b[^>]{0,80}\shidden(?:\s[^>]*)?>(?=[^<]*\w)",
    re.IGNORECASE,
)
_TAGGED = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]{2,}")
_BIDI = re.compile("[\u202d\u202e]|(?<=[A-Za-z ])[\u202a\u202b\u2066-\u2068](?=[A-Za-z ])")
_ZERO_WIDTH = re.compile(
    "(?<=[A-Za-z])[\u200b-\u200d\u2060\ufeff\u180e]+(?=[A-Za-z])|[\u200b\u2060\u200c\u200d\ufeff]{4,}"
)
_VARIANTS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_WORDS = re.compile(r"[^\W\d_]+")
# Cyrillic, Greek, Armenian and Cherokee letters, each with the Latin one it is drawn as (after Unicode TS 39).
_LOOKS = str.maketrans(
    "аесорхуіјѕһԁԛԝвкмнтгѵӏьАВЕКМНОРСТХУІЈЅԌԚԜαοιρνυτκεηχωΑΒΕΖΗΙΚΜΝΟΡΤΥΧգոսօհցԍᎪᏟᎬᏀᎻᎫᏦᏞᎷᏢᏚᎢᏙᏃ",
    "aecopxyijshdqwbkmhtrvlbABEKMHOPCTXYIJSGQWaoipvutkenxwABEZHIKMNOPTYXqnuohgGACEGHJKLMPSTVZ",
)
_FOREIGN = re.compile(r"[\u0370-\u03ff\u0400-\u052f\u0531-\u0588\u13a0-\u13f4]")
_REFERENCE = re.compile(r"&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6}|[a-zA-Z]{2,8});")
_SPELT = re.compile(r"(?<!\w)(?:[^\W_][ .\-_*|]{1,3}){5,}[^\W_](?!\w)")
_BLOB = re.compile(
    r"(?<![\w+/=-])(?:[A-Za-z0-9+/_-]{24,}={0,2}|(?:[A-Za-z0-9+/]{60,76}\n){2,}[A-Za-z0-9+/]+={0,2})(?![\w+/=])"
)
_HEX = re.compile(
    r"(?<![\w])(?:0x)?((?:[0-9a-fA-F]{2}){20,})(?!\w)|(?:\\x[0-9a-fA-F]{2}){12,}|(?:[0-9a-fA-F]{2} ){20,}[0-9a-fA-F]{2}"
)
_PERCENT = re.compile(r"(?:[\w.-]*%[0-9A-Fa-f]{2}[\w.-]*){3,}")
_STROKES = str.maketrans("ıłđøŁĐØɡɑɩᴀᴄᴇᴏᴜɪɴʀᴛᴘ", "ildoLDOgaiaceouinrtp")


def _written(text: str) -> Iterator[_Found]:
    """Orders in the text as a model reads it."""
    plain, places = _as_read(text)
    inline = [match.span() for match in _TOKEN_ALONE.finditer(text)]
    for code, rule in _RULES:
        for match in rule.finditer(plain):
            start, end = places[match.start()], places[match.end() - 1] + 1
            # A token of a chat template that is named in code, as documentation does, is no turn.
            if code == "fake-turn" and any(first <= start and end <= last for first, last in inline):
                continue
            yield start, end, code
    for run in _SPELT.finditer(plain):
        joined = re.sub(r"\W|_", "", run[0])
        if re.search(
            r"(?i)^(?:ignore|disregard|forget|override|bypass)$|ignore(?:all|any|the|previous|your|prior)|disregard|previousinstructions|systemprompt",
            joined,
        ):
            yield places[run.start()], places[run.end() - 1] + 1, "disguise"
            yield places[run.start()], places[run.end() - 1] + 1, "override"


def _by_words(text: str) -> Iterator[_Found]:
    """Yield the orders that a verb and its object give in any language that is known."""
    plain, places = _as_read(text)
    for code, verbs, objects in _grids():
        for found in objects.finditer(plain):
            # Verb and object in one sentence, in either order, with no more than a few words between them.
            before = _SENTENCE.split(plain[max(0, found.start() - REACH) : found.start()])[-1]
            after = _SENTENCE.split(plain[found.end() : found.end() + REACH])[0]
            if verb := verbs.search(before) or verbs.search(after):
                start = found.start() - len(before) + verb.start() if verb.string is before else found.start()
                end = found.end() + verb.end() if verb.string is after else found.end()
                yield places[start], places[end - 1] + 1, code


def _as_read(text: str) -> tuple[str, Sequence[int]]:
    """The text without disguise, and where each of its characters stands in the original."""
    pieces: list[tuple[str, int]] = []
    position = 0
    for match in [*_REFERENCE.finditer(text), None]:
        stop = match.start() if match else len(text)
        pieces += [(character, position + place) for place, character in enumerate(text[position:stop])]
        if match:
            pieces.append((unescape(match[0]), match.start()))
            position = match.end()
    folded = [(_letter(character), place) for character, place in pieces]
    places = [place for value, place in folded for _ in value]
    return _latin_words("".join(value for value, _ in folded)), places


def _letter(character: str) -> str:
    """As it is compared: without accents, in its usual width; invisible ones are gone."""
    if character.isascii():
        return character
    if (
        unicodedata.category(character[0]) == "Cf"
        or "\u0300" <= character <= "\u036f"
        or "\ufe00" <= character <= "\ufe0f"
    ):
        return ""
    if character in "\u2018\u2019\u02bc":
        return "'"
    if character.isspace():
        return "\n" if character in "\u2028\u2029\x85" else " "
    letters = [one for one in unicodedata.normalize("NFKD", character) if not unicodedata.combining(one)]
    base = "".join(letters).translate(_STROKES)
    return base if base and base.isascii() else unicodedata.normalize("NFKC", character)


def _latin_words(text: str) -> str:
    """Letters that only look Latin become Latin, one for one: in words of two scripts, and, where no word is really of
    the other script, in whole words."""
    words = set(_WORDS.findall(text)) if _FOREIGN.search(text) else set()
    drawn = {word: word.translate(_LOOKS) for word in words if _FOREIGN.search(word)}
    really = any(not looks.isascii() for looks in drawn.values())

    def latin(match: re.Match[str]) -> str:
        looks = drawn.get(match[0], match[0])
        return looks if looks.isascii() and (not really or _mixed(match[0])) else match[0]

    return _WORDS.sub(latin, text) if drawn else text


def _mixed(word: str) -> bool:
    return bool(_FOREIGN.search(word)) and bool(re.search(r"[A-Za-z]", word))


def _hidden(text: str) -> Iterator[_Found]:
    """Characters and markup that people do not see."""
    for pattern in (_TAGGED, _BIDI, _ZERO_WIDTH, _VARIANTS):
        for match in pattern.finditer(text):
            yield *match.span(), "hidden-text"
    for match in _TAGGED.finditer(text):
        told = "".join(chr(ord(character) - 0xE0000) for character in match[0])
        yield from ((*match.span(), mark.code) for mark in orders(told))
    for match in _WORDS.finditer(text):
        if len(match[0]) > 2 and _mixed(match[0]) and match[0].translate(_LOOKS).isascii():
            yield *match.span(), "disguise"
    prose = _CODE.sub(lambda code: " " * len(code[0]), text)
    for match in _UNSEEN_STYLE.finditer(prose):
        yield *match.span(), "hidden-text"
    for match in _COMMENT.finditer(prose):
        if _TOLD.search(match[1]) or any(True for _ in (*_written(match[1]), *_by_words(match[1]))):
            yield *match.span(), "hidden-text"


def _encoded(text: str) -> Iterator[_Found]:
    """Blobs that decode to text which gives orders."""
    for match in _BLOB.finditer(text):
        yield from ((*match.span(), "encoded") for told in _decoded(match[0]) if _gives_orders(told))
    for match in _HEX.finditer(text):
        digits = re.sub(r"0x|\\x|\s", "", match[0])
        if _gives_orders(bytes.fromhex(digits).decode("utf-8", "ignore")):
            yield *match.span(), "encoded"
    for match in _PERCENT.finditer(text):
        told = re.sub(r"%([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), match[0])
        if _gives_orders(told):
            yield *match.span(), "encoded"
    for line, start in zip(
        lines := text.splitlines(keepends=True), accumulate(map(len, lines), initial=0), strict=False
    ):
        for told in (codecs.encode(line, "rot13"), line.rstrip("\n")[::-1]):
            if any(code in ("override", "prompt-leak") for *_, code in _written(told)):
                yield start, start + len(line.rstrip("\n")), "encoded"


def _decoded(blob: str) -> Iterator[str]:
    compact = re.sub(r"\s", "", blob).replace("-", "+").replace("_", "/").rstrip("=")
    try:
        raw = base64.b64decode(compact + "=" * (-len(compact) % 4))
    except (binascii.Error, ValueError):
        return
    for encoding in ("utf-8", "utf-16-le"):
        try:
            told = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if told.isprintable() or "\n" in told:
            yield told


def _gives_orders(told: str) -> bool:
    return any(True for _ in (*_written(told), *_by_words(told))) or bool(
        re.search(r"\b(?:curl|wget)\b.{0,80}https?://|rm -rf", told)
    )
