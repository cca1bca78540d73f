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
from commonplace.redaction.vocabulary import Forms

FORMS = Forms("secrets", ignore_case="about_keys about_phrases about_aws stands_for_one strong_name weak_name")
PROVIDERS: Final[dict[str, str]] = FORMS.table("providers")

_PROVIDERS = re.compile(
    "|".join(
        f"(?P<{name}>{'' if form.startswith('(?<=') else '(?<![A-Za-z0-9_/+-])'}(?:{form}))"
        for name, form in PROVIDERS.items()
    )
)
_LOOSE = FORMS.words("loose")
_SMALL_WORDS = FORMS.words("small_words")

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
            _is_random(found["value"]) or FORMS.strong_name.search(found[0][:12])
        ):
            yield _secret(*found.span("value"), "query")


def _assigned(text: str) -> Iterator[Span]:
    for found in FORMS.assigned.finditer(text):
        group = "quoted" if found["quoted"] else "bare"
        value, name, by = found[group], found["name"], found["by"]
        trimmed = value if group == "quoted" else value.rstrip(".!?:*_")
        if trimmed and not stands_for_one(trimmed) and _is_worth_hiding(name, by, trimmed, quoted=group == "quoted"):
            yield _secret(found.start(group), found.start(group) + len(trimmed), "assigned")
    for found in FORMS.header.finditer(text):
        value = found["value"].rstrip(".!?")
        if not stands_for_one(value) and (
            _is_random(value) or (found[0].startswith("-") and any(map(str.isdigit, value)) and len(value) > 7)
        ):
            yield _secret(found.start("value"), found.start("value") + len(value), "header")
    for form in (FORMS.command, FORMS.password_and, FORMS.signed):
        for found in form.finditer(text):
            group = next(one for one in ("value", "also", "third") if one in form.groupindex and found[one])
            if not stands_for_one(found[group]):
                yield _secret(*found.span(group), "assigned")


def _is_worth_hiding(name: str, by: str, value: str, *, quoted: bool) -> bool:
    """Return whether what is assigned to such a name can be a secret, and is no word, type or reference."""
    said = by.strip(" \t\"'`*_").split(" ")[0] in ("is", "was", "ist", "es")
    if FORMS.strong_name.search(name):
        mixed = (
            any(map(str.isdigit, value))
            or re.search(r"[!@#$%^&*+=~]", value)
            or (re.search(r"[a-z][A-Z]", value) and _entropy(value) > 3)
        )
        if said or (by.strip().startswith(":") and not quoted):
            return bool(mixed) and len(value) >= 5 and not re.fullmatch(r"\d{1,3}(?:\.\d+)?\w{0,2}", value)
        return (
            len(value) >= 4
            and " " not in value
            and (bool(mixed) or (quoted and len(value) >= 8 and not re.fullmatch(r"[a-z_]+|[A-Z][a-z]+", value)))
        )
    if re.fullmatch(r"(?i:.*(?:pin|otp|mfa))", name):
        return bool(re.fullmatch(r"\d{4,8}", value))
    if " " in value and not re.search(r"mnemonic|seed|phrase", name, re.IGNORECASE):
        return False
    return (
        _is_random(value)
        if not FORMS.weak_name.match(name) or len(value) >= 12
        else bool(re.search(r"\d", value))
        and len(value) >= 8
        and _entropy(value) > 2.5
        and not re.fullmatch(r"[\d.,_]+\w{0,3}", value)
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
