"""Numbers of accounts, cards and papers, by their check digits where they have any.

A number whose form is its own needs nothing else; one that any run of digits could be needs a word before it that says
what it is. Check digits come from python-stdnum.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from commonplace.redaction.model import Kind, Span
from commonplace.redaction.vocabulary import REACH, Forms, notations

FORMS = Forms("numbers")


class _Checked(Protocol):
    def is_valid(self, number: str, *, check_country: bool = True) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Number:
    label: str
    form: re.Pattern[str]  # Its first group is the number
    checks: tuple[str, ...]
    """Modules of stdnum, one of which must hold; none where the form or the word before is enough."""
    kind: Kind = "REDACTED"
    in_code: bool = False


@cache
def _module(name: str) -> _Checked:
    return cast(_Checked, import_module(f"stdnum.{name}"))


def _number(row: Mapping[str, Any]) -> _Number:
    form, checks = FORMS.joined(row["form"]), tuple(row.get("checks", ()))
    after = FORMS.joined(row.get("after", ""))
    if after:
        between = rf"(?:[^\S\n_.-]?[_.-]?{notations(FORMS.text('between'))}\.?){{0,4}}"
        pattern = rf"{notations(after)}{between}{REACH}({form})(?![\w-]|\.\w)"
    else:
        pattern = rf"(?<![\w.+/-])({form})(?![\w-]|[./]\w)"
    in_code = bool(checks) or row["label"] in _IN_CODE
    return _Number(row["label"], re.compile(pattern), checks, row.get("kind", "REDACTED"), in_code)


_IN_CODE = FORMS.words("in_code")
_NUMBERS = tuple(map(_number, FORMS.data["numbers"]))


def find_numbers(text: str, *, in_code: bool = False) -> Iterator[Span]:
    """Yield every number of an account, a card or a paper, in no order; in code those that are one for sure."""
    if not any(map(str.isdigit, text)):
        return
    for number in _NUMBERS:
        for found in number.form.finditer(text) if number.in_code or not in_code else ():
            value = found[1]
            if not number.checks or any(_module(one).is_valid(value) for one in number.checks):
                yield Span(*found.span(1), number.kind, "rule", label=number.label)
    for found in FORMS.card.finditer(text):
        if _module("luhn").is_valid(re.sub(r"\D", "", found[0])):
            yield Span(*found.span(), "CREDIT_CARD", "rule", label="card")
    for found in FORMS.iban.finditer(text):
        if end := _iban_end(found[1]):
            yield Span(found.start(), found.start() + end, "REDACTED", "rule", label="iban")


def _iban_end(text: str) -> int:
    """Return where the IBAN that begins here ends; words may follow it. 0 if it is none."""
    ends = [found.end() for found in re.finditer(r"[A-Za-z0-9]", text)]
    letters = re.sub(r"[ -]", "", text).upper()
    for length in range(min(34, len(ends)), 14, -1):
        end = ends[length - 1]
        if (
            text[end : end + 1].isalnum()
            or int("".join(str(int(letter, 36)) for letter in letters[4:length] + letters[:4])) % 97 != 1
        ):
            continue
        # By the country's length and the check digits alone: banks come and go.
        if _module("iban").is_valid(text[:end], check_country=False):
            return end
    return 0
