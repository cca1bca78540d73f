"""Telephone numbers, by Google's rules of what is one in which country.

A number in international form is one wherever it stands. A national form is one where it is valid in a country and
written as people there write it; a mere run of digits only after a word such as "call".
"""

import re
from collections.abc import Iterator

import phonenumbers
from phonenumbers import Leniency, NumberParseException, PhoneNumberMatcher

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import Forms

FORMS = Forms("phones", ignore_case="not_before call")
REGIONS = sorted(FORMS.words("regions"))
WITHOUT_TRUNK = sorted(FORMS.words("without_trunk"))
MOST_CHECKED = 600
"""Candidates of one text that are looked up; what comes after them is taken for a number, lists of digits included."""


def find_phones(text: str) -> Iterator[Span]:
    """Yield every telephone number, in order."""
    for found in FORMS.glued.finditer(text):
        if _international(f"+{found[1]}"):
            yield Span(*found.span(1 if found[0].startswith("tel") else 0), "PHONE", "rule", label="phone")
    checked = 0
    for found in FORMS.candidate.finditer(text):
        start = found.start() + (found[0].startswith("(") and ")" not in found[0])
        value = text[start : found.end()]
        if FORMS.not_before.search(text, max(0, found.start() - 24), found.start()) and value[0] not in "(+":
            continue
        checked += 1
        called = FORMS.call.search(text, max(0, found.start() - 48), found.start()) is not None
        if checked > MOST_CHECKED or _is_phone(value, called):
            yield Span(start, found.end(), "PHONE", "rule", 1.0 if value.startswith("+") else 0.9, "phone")


def _is_phone(value: str, called: bool) -> bool:
    digits = re.sub(r"\D", "", re.split(r"[ex]", value)[0])
    if value.startswith(("+", "(+")):
        return _international(value)
    parts = value.split(".")
    is_address = len(parts) == 4 and all(part.isdigit() and int(part) < 256 for part in parts)
    if not 7 <= len(digits) <= 15 or FORMS.date.match(value) or is_address or re.fullmatch(r"97[89]\d{10}", digits):
        return False
    if value.startswith("00") and len(digits) >= 10:
        return _international("+" + value[2:])
    if FORMS.north_america.fullmatch(value):
        return True
    separated = len(re.findall(r"\d+", value)) > 1
    if called:
        return (
            len(digits) >= 7 and (separated or len(digits) >= 9) and not re.search(r"\b\d{1,2}[./]\d{1,2}[./]", value)
        )
    groups = re.findall(r"\d+", value)
    if (
        not separated
        or len(digits) < 9
        or ("." in value and (min(map(len, groups)) < 2 or (" " in value and "(" not in value)))
    ):
        return False
    if value.startswith("0"):
        return any(_valid(value, region) for region in REGIONS)
    if all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3 and "(" not in value:
        return False
    return any(
        _valid(value, region) and PhoneNumberMatcher(value, region, leniency=Leniency.EXACT_GROUPING).has_next()
        for region in WITHOUT_TRUNK
    )


def _international(value: str) -> bool:
    try:
        number = phonenumbers.parse(value.strip("("), None)
    except NumberParseException:
        return False
    return phonenumbers.is_possible_number(number)


def _valid(value: str, region: str) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(value, region))
    except NumberParseException:
        return False
