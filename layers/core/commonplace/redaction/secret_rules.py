"""Keys, tokens and passwords: by the form that their provider gives them, or by the name that they are assigned to.

They are looked for everywhere, in code as well. A value that only shows where a secret would stand is none.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Final

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import COMMON, TECHNICAL, Forms

FORMS = Forms("secrets", ignore_case="about_keys about_phrases about_aws stands_for_one weak_name no_secret no_value")
_KNOWN = Forms("providers")
PROVIDERS: Final[dict[str, str]] = {name: _KNOWN.text(name) for name in _KNOWN.data}

_GROUPS = {name: f"(?P<{name}>{form})" for name, form in PROVIDERS.items()}
_BEHIND = [group for name, group in _GROUPS.items() if PROVIDERS[name].startswith("(?<=")]
_ALONE = [group for name, group in _GROUPS.items() if not PROVIDERS[name].startswith("(?<=")]
_PROVIDERS = re.compile(rf"(?<![A-Za-z0-9_/+-])(?=\S{{12}}|SSWS )(?:{'|'.join(_ALONE)})|{'|'.join(_BEHIND)}")
_NAME = re.compile(
    rf"(?:(?P<password>{FORMS.notations('passwords')}|(?i:{FORMS.text('glued_passwords')}))"
    rf"|{FORMS.notations('keys')}|(?i:{FORMS.text('glued_keys')})){FORMS.text('after_name')}(?![^\W_])"
)
_REACHES = [(row["how"], re.compile(FORMS.joined(row["form"]))) for row in FORMS.data["reaches"]]
_COMMANDS = FORMS.many("commands")
_LOOSE = FORMS.words("loose")
_SMALL_WORDS = FORMS.words("small_words")
_NO_PASSWORDS = COMMON | TECHNICAL | _SMALL_WORDS

LIKELY_MNEMONIC = "likely_mnemonic"
"""The label of as many words as a seed phrase has, where nothing says that they are one."""


def find_secrets(text: str) -> Iterator[Span]:
    """Yield every key, token and password, in no order; they may overlap."""
    for found in _PROVIDERS.finditer(text):
        name = found.lastgroup or ""
        if not _repeats(found[0]) and (name not in _LOOSE or _is_random(found[0])):
            yield _secret(found.start(), found.end(), name)
    for found in FORMS.pem.finditer(text):
        yield _secret(found.start(), found.end(), "pem")
    yield from _in_addresses(text)
    yield from _assigned(text)
    yield from _chain_keys(text)
    for found in FORMS.aws_secret.finditer(text):
        if (
            FORMS.about_aws.search(text, max(0, found.start() - 120), found.start())
            and _is_random(found[0])
            and not re.fullmatch(r"[0-9a-f]{40}", found[0])
        ):
            yield _secret(found.start(), found.end(), "aws_secret")
    for found in FORMS.azure_storage.finditer(text):
        if not stands_for_one(found["value"]):
            yield _secret(*found.span("value"), "azure_storage")


def _secret(start: int, end: int, label: str) -> Span:
    return Span(start, end, "API_KEY", "secret", label=label)


def _in_addresses(text: str) -> Iterator[Span]:
    if "://" in text:
        for found in FORMS.credentials.finditer(text):
            if (found["password"] != found["user"] and not stands_for_one(found["password"])) or _is_random(
                found["user"]
            ):
                # A host of an own network says too much beside them, and is no link that anybody could follow.
                host = FORMS.private_host.match(text, found.end())
                yield _secret(found.start("value"), host.end() if host else found.end("value"), "credentials")
        for found in FORMS.token_as_user.finditer(text):
            if _is_random(found["value"]):
                yield _secret(*found.span("value"), "credentials")
    for found in FORMS.in_query.finditer(text):
        if not stands_for_one(found["value"]) and (
            _is_random(found["value"]) or ((name := _NAME.match(found[0], 1)) and name["password"])
        ):
            yield _secret(*found.span("value"), "query")


def _assigned(text: str) -> Iterator[Span]:
    yield from _named(text)
    for found in FORMS.header.finditer(text):
        value = found["value"].rstrip(".!?")
        if not stands_for_one(value) and (
            _is_random(value) or (found[0].startswith("-") and any(map(str.isdigit, value)) and len(value) > 7)
        ):
            yield _secret(found.start("value"), found.start("value") + len(value), "header")
    for form in (*_COMMANDS, FORMS.password_and, FORMS.signed):
        for found in form.finditer(text):
            group = next(one for one in ("value", "also") if one in form.groupindex and found[one])
            if not stands_for_one(found[group]):
                yield _secret(*found.span(group), "assigned")
    for header in FORMS.cookies.finditer(text):
        for found in FORMS.cookie.finditer(text, *header.span("pairs")):
            if _is_random(found["value"]) and not stands_for_one(found["value"]):
                yield _secret(*found.span("value"), "cookie")


def _named(text: str) -> Iterator[Span]:
    """Yield the values within reach of a name of a secret, whatever the syntax."""
    for name in _NAME.finditer(text):
        line = text[max(text.rfind("\n", 0, name.start()) + 1, name.start() - 80) : name.start()]
        if not name["password"] and FORMS.no_secret.search(line):
            continue
        for how, form in _REACHES:
            if (
                (how != "flag" or FORMS.flag.search(line))
                and (how != "directive" or FORMS.directive.fullmatch(line))
                and (found := form.match(text, name.end()))
                and (span := _value(text, name, how, found))
            ):
                yield span
                break
    for found in FORMS.reversed.finditer(text):
        if (after := _NAME.match(text, found.end())) and (span := _value(text, after, "said", found)):
            yield span


def _value(text: str, name: re.Match[str], how: str, found: re.Match[str]) -> Span | None:
    """Return the value that a name reaches, if that can be a secret, and is no word, type or reference."""
    quoted = found["quoted"] if "quoted" in found.re.groupindex else None
    value = quoted or found["bare"].rstrip(".!?:*_")
    for opened, closed in ("()", "[]", "{}"):
        if quoted is None and opened not in value:
            value = value.rstrip(closed)
    start = found.start("bare" if quoted is None else "quoted")
    if scheme := FORMS.scheme_of.match(value):
        start, value = start + scheme.end(), value[scheme.end() :]
    if not value or stands_for_one(value) or FORMS.no_value.fullmatch(value):
        return None
    is_secret = _is_password if name["password"] else _is_key
    if not is_secret(name, value, how if quoted is None else f"{how} quoted", text[found.end() : found.end() + 1]):
        return None
    return _secret(start, start + len(value), "assigned")


def _is_password(name: re.Match[str], value: str, how: str, after: str) -> bool:
    """Return whether this can be a password: any word where a value must stand, only what is no word elsewhere."""
    said, quoted = how.partition(" ")[::2]
    mixed = (
        any(map(str.isdigit, value))
        or re.search(r"[!@#$%^&*+=~]", value)
        or (re.search(r"[a-z][A-Z]", value) and _entropy(value) > 3)
    ) and not re.fullmatch(r"\d{1,3}(?:\.\d+)?\w{0,2}|[a-z]+(?:[._][a-z]+)*_?\d{0,2}", value)
    word = value.casefold()
    plain = len(value) > 3 and word not in _NO_PASSWORDS and not FORMS.no_password.fullmatch(word)
    if " " in value:
        return "phrase" in name[0].casefold() and said in ("literal", "element") and len(value) > 11
    if said in ("literal", "element", "block", "flag"):
        return plain or bool(mixed)
    is_constant, directive = name[0].isupper(), FORMS.directives.search(name[0]) is not None
    if said == "argument":
        return bool(mixed) or (plain and is_constant)
    if said == "directive":
        before = name.string[max(0, name.start() - 80) : name.start()]
        return bool(mixed) or (plain and (directive or is_constant or FORMS.logged_in.search(before) is not None))
    if said == "bare":
        spaced = " " in name.string[name.end() : name.end() + 2]
        by_equals = "=" in name.string[name.end() : name.end() + 2]
        return (bool(mixed) and len(value) > 4) or (
            plain and (is_constant or (by_equals and not spaced) or (not by_equals and _is_line(name, value)))
        )
    if said == "beside":
        return directive or (len(value) > 7 and _is_random(value) and not value.isalnum())
    if name[0].casefold() in ("pass", "pw", "clave", "parola"):
        return bool(mixed) and len(value) > 7
    return (bool(mixed) and len(value) > 4) or (plain and (bool(quoted) or (value.istitle() and after in ".\n")))


def _is_line(name: re.Match[str], value: str) -> bool:
    """Return whether a line holds nothing but a name and its value, as in YAML."""
    text = name.string
    start = text.rfind("\n", 0, name.start()) + 1
    end = text.find("\n", name.end())
    line = text[start : end if end >= 0 else len(text)]
    return bool(re.fullmatch(r"[ \t]*(?:- )?[\w.-]+:[ \t]+\S+", line)) and line.endswith(value)


def _is_key(name: re.Match[str], value: str, _how: str, _after: str) -> bool:
    """Return whether this can be a key or a token: what looks random, or a short number of a PIN."""
    said = name[0].casefold()
    if FORMS.pins.fullmatch(said):
        return bool(re.fullmatch(r"\d{4,8}", value))
    if " " in value:
        return bool(re.search(r"mnemonic|seed|phrase", said))
    if FORMS.weak_name.search(said) and len(value) < 12:
        return (
            bool(re.search(r"\d", value))
            and len(value) >= 8
            and _entropy(value) > 2.5
            and not re.fullmatch(r"[\d.,_]+\w{0,3}", value)
        )
    return _is_random(value) and (
        not FORMS.any_key.fullmatch(said) or (len(value) > 15 and any(map(str.isdigit, value)))
    )


def _chain_keys(text: str) -> Iterator[Span]:
    for found in FORMS.hex_key.finditer(text):
        if FORMS.about_keys.search(text, max(0, found.start() - 60), found.start()) and not _repeats(found[0]):
            yield _secret(found.start(), found.end(), "private_key")
    for found in FORMS.phrase.finditer(text):
        words = re.findall(r"[a-z]{3,8}", found[0])
        told = FORMS.about_phrases.search(text, max(0, found.start() - 80), found.start())
        # Words of BIP-39 have no small words of English among them, and those of a sentence do.
        if (told or len(words) in (12, 15, 18, 21, 24)) and (
            not any(word in _SMALL_WORDS for word in words)
            and len(set(words)) > len(words) // 2
            and words[0] != "abandon" * 2
        ):
            yield _secret(found.start(), found.end(), "mnemonic" if told else LIKELY_MNEMONIC)


def stands_for_one(value: str) -> bool:
    """Return whether a value shows where a secret goes and is none: `<YOUR_KEY>`, `${TOKEN}`, `xxxx`, `changeme`."""
    return (
        FORMS.stands_for_one.fullmatch(value) is not None
        or _repeats(value)
        or ("example" in value.casefold() and not re.search(r"\d{3}", value))
    )


def _repeats(value: str) -> bool:
    body = re.sub(r"^[A-Za-z]{1,10}[-_]|[^A-Za-z0-9]", "", value)[-24:]
    return len(set(body.casefold())) < 4 or (
        "xxxx" in value.casefold() and value.casefold().count("x") > len(value) // 3
    )


def _is_random(value: str) -> bool:
    """Return whether no word would look like this: letters and digits mixed, or a high entropy for its length."""
    if len(value) < 8 or re.fullmatch(r"\d[\d.,:_-]*\w{0,3}", value):
        return False
    if re.fullmatch(
        r"(?:[A-Za-z]+|\d{1,4})(?:[-_./: ](?:[A-Za-z]+|\d{1,4}|[a-z]{1,8}\d{1,2}))*", value
    ) and not re.search(r"[a-z][A-Z][a-z]*[A-Z]\w*[A-Z]", value):
        return False
    digits = sum(map(str.isdigit, value))
    if len(value) < 16:
        return digits >= 1 and digits < len(value) and _entropy(value) > 2.7
    return _entropy(value) > 3.0 and (digits >= 2 or len(re.findall(r"[a-z][A-Z]", value)) > 2)


@cache
def _log2(count: int) -> float:
    return math.log2(count)


def _entropy(value: str) -> float:
    """Bits a character, by how often each stands in the value."""
    length = len(value)
    return sum(count / length * (_log2(length) - _log2(count)) for count in Counter(value).values())
