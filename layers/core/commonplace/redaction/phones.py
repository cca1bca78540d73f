"""Telephone numbers, by Google's rules of what is one in which country.

A number in international form is one wherever it stands. A national form is one where it is valid in a country and
written as people there write it; a mere run of digits only after a word such as "call".
"""

import re
from collections.abc import Iterator

import phonenumbers
from phonenumbers import Leniency, NumberParseException, PhoneNumberMatcher

from commonplace.redaction.model import Span
from commonplace.redaction.vocabulary import words

REGIONS = sorted(
    words(
        "US GB DE FR ES IT NL BE CH AT PT PL SE NO DK FI IE CZ GR HU RO BR MX AR CL CO IN CN JP KR"
        " AU NZ ZA NG KE EG TR RU UA "
        "IL AE SA SG MY TH VN ID PH PK HK TW"
    )
)
WITHOUT_TRUNK = sorted(words("ES IT PT PL NO DK CZ GR MX CO CL IN CN RU UA TR BR CA"))
"""Where people write a number in national form without a 0 or the like before it."""
MOST_CHECKED = 600
"""Candidates of one text that are looked up; what comes after them is taken for a number, lists of digits included."""

_CANDIDATE = re.compile(
    r"(?<![\w.,:/@#$€£¥%=~^*+&|<>-])(?:(?<!\))\+\s?|\(\+|00)?\(?\d(?:[ ]?[().\-/]?[ ]?\d|\)[ .-]?\d){5,17}"
    r"(?:\s?(?:ext\.?|x|extension)\s?\d{1,6})?(?![\w%]|-\w|[.:/,]\d)"
)
_GLUED = re.compile(r"(?:\+|\btel:)(\d{8,15})(?!\d)")
_NORTH_AMERICA = re.compile(
    r"(?:\+?1[ .-]?)?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}(?P<by>[ .-]))[2-9]\d{2}(?(by)(?P=by)|[ .-])\d{4}"
)
_DATE = re.compile(
    r"(?:19|20)\d\d(?:[-/. ]?(?:0[1-9]|1[0-2])[-/. ]?(?:0[1-9]|[12]\d|3[01]))(?!\d)|(?:0?[1-9]|[12]\d"
    r"|3[01])[-/.](?:0?[1-9]|[12]\d|3[01])"
    r"[-/.](?:19|20)?\d\d(?!\d)|(?:19|20)\d\d ?[-/] ?(?:19|20)\d\d(?!\d)"
)
_NOT_BEFORE = re.compile(
    r"(?:\b(?:iso|iec|rfc|cve|cwe|eip|erc|bip|din|ieee|ansi|pep|isbn|issn|doi|orcid|pmid|arxiv|commit|build|version"
    r"|ver|release"
    r"|rev|revision|issue|pr|pull request|ticket|bug|order|invoice|hat|hats|block|height|port|ports|pid|uid|gid"
    r"|offset|bytes|lines?"
    r"|rows?|seq|sequence|epoch|timestamp|chain id|chainid|token id|proposal|error code|errno|snowflake|guild"
    r"|channel id"
    r"|ids?|isin|sku|serial|part)(?: (?:number|no|id|is|of))?|[$€£¥#=])[ :.#=\"'`(/-]{0,3}$",
    re.IGNORECASE,
)
_CALL = re.compile(
    r"(?:\b(?:phone|telephone|tel|tél|téléphone|telefon|telefono|teléfono|telefone|telefoon|puhelin|mobile|mob"
    r"|mobil|móvil|cellulare"
    r"|celular|cell|handy|portable|gsm|fax|call|calling|called|dial|sms|text|texted|whats ?app|signal|viber|hotline"
    r"|landline"
    r"|rufen?|anrufen|erreichbar|llame|llámame|llamar|appelez|appeler|joindre|chiama|chiamare|ligue|zadzwoń|bel|ring"
    r"|reach(?:able|ed)?|contact(?:ed)?|contacto|kontakt|numéro|numero|número|nummer|pager|voicemail|extension|rung"
    r"|rang)\b"
    r"|☎|📞|📱|電話|电话|手机|携帯|전화|телефон|тел\b|звоните|هاتف|फ़ोन|फोन)",
    re.IGNORECASE,
)


def find_phones(text: str) -> Iterator[Span]:
    """Every telephone number, in order."""
    for found in _GLUED.finditer(text):
        if _international(f"+{found[1]}"):
            yield Span(*found.span(1 if found[0].startswith("tel") else 0), "PHONE", "rule", label="phone")
    checked = 0
    for found in _CANDIDATE.finditer(text):
        start = found.start() + (found[0].startswith("(") and ")" not in found[0])
        value = text[start : found.end()]
        if _NOT_BEFORE.search(text, max(0, found.start() - 24), found.start()) and not value.startswith("+"):
            continue
        checked += 1
        called = _CALL.search(text, max(0, found.start() - 48), found.start()) is not None
        if checked > MOST_CHECKED or _is_phone(value, called):
            yield Span(start, found.end(), "PHONE", "rule", 1.0 if value.startswith("+") else 0.9, "phone")


def _is_phone(value: str, called: bool) -> bool:
    digits = re.sub(r"\D", "", re.split(r"[ex]", value)[0])
    if value.startswith(("+", "(+")):
        return _international(value)
    if not 7 <= len(digits) <= 15 or _DATE.match(value) or _is_address(value) or re.fullmatch(r"97[89]\d{10}", digits):
        return False
    if value.startswith("00") and len(digits) >= 10:
        return _international("+" + value[2:])
    if _NORTH_AMERICA.fullmatch(value):
        return True
    separated = len(re.findall(r"\d+", value)) > 1
    if called:
        return (
            len(digits) >= 7 and (separated or len(digits) >= 9) and not re.search(r"\b\d{1,2}[./]\d{1,2}[./]", value)
        )
    groups = re.findall(r"\d+", value)
    if not separated or len(digits) < 9 or _is_dotted_version(value, groups):
        return False
    if value.startswith("0"):
        return any(_valid(value, region) for region in REGIONS)
    if all(len(group) == 3 for group in groups[1:]) and len(groups[0]) <= 3 and "(" not in value:
        return False
    return any(
        _valid(value, region) and PhoneNumberMatcher(value, region, leniency=Leniency.EXACT_GROUPING).has_next()
        for region in WITHOUT_TRUNK
    )


def _is_dotted_version(value: str, groups: list[str]) -> bool:
    return "." in value and (min(map(len, groups)) < 2 or (" " in value and "(" not in value))


def _is_address(value: str) -> bool:
    parts = value.split(".")
    return len(parts) == 4 and all(part.isdigit() and int(part) < 256 for part in parts)


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
