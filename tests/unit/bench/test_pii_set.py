"""The set that the redaction is measured on: large and varied, in two like halves, without a real key in a file."""

import re

import pytest
import yaml

from bench.pii.cases import FOLDER, KEYS, cases, made, parsed
from commonplace.redaction.model import KINDS
from commonplace.redaction.structure import read_structure


def test_every_mark_is_of_a_kind_or_says_that_it_is_none() -> None:
    assert {mark.kind for case in cases() for mark in case.marks} == {*KINDS, "not", "kept"}


def test_no_file_holds_what_a_scanner_of_secrets_stops_at() -> None:
    known = re.compile(
        r"gh[pousr]_\w{36}|xox[baprs]-\d|AKIA[A-Z2-7]{16}|AIza[\w-]{35}|sk_live_|hooks\.slack\.com/services|BEGIN .*KEY"
    )
    for file in [*FOLDER.glob("*.yaml"), KEYS, KEYS.with_name("cases.py")]:
        assert not known.search(file.read_text(encoding="utf-8")), file.name


def test_a_made_value_is_the_same_every_time_and_another_elsewhere() -> None:
    assert made("github", "a") == made("github", "a") != made("github", "b")


def test_a_mark_that_is_not_closed_is_refused() -> None:
    with pytest.raises(ValueError, match="not closed"):
        parsed("⟦NAME|Ada", "x")


def test_no_case_stands_twice() -> None:
    texts = [text for file in FOLDER.glob("*.yaml") for text in yaml.safe_load(file.read_text(encoding="utf-8"))]
    assert len(texts) == len(set(texts))
    assert len({case.id for case in cases()}) == len(cases()) == len({case.text for case in cases()})


def test_what_the_design_keeps_in_code_is_marked_as_kept() -> None:
    for case in cases():
        code = read_structure(case.text).code
        for mark in case.wanted:
            found = mark.kind in ("API_KEY", "EMAIL", "CREDIT_CARD") or mark.name in ("REDACTED iban", "REDACTED paper")
            assert found or not any(a <= mark.start and mark.end <= b for a, b in code), case.id
