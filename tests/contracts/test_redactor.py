"""What a `Redactor` does, whether it works in this process or in the function, which is called through JSON."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.redaction.client import LambdaRedactor
from commonplace.redaction.function import RedactFunction, detector
from commonplace.redaction.model import Policy, Span
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.ports import Detector, Redactor
from commonplace.redaction.settings import RedactSettings
from tests.fakes.redaction import InvokedHere

TEXT = "Maria Okonkwo raised the limit; ask maria@example.org or +49 30 901820 first. See `AKIAIOSFODNN7EXAMPL2`."


class Away:
    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        raise Unavailable("The model does not answer.")


class Broken:
    def detect(self, texts: Sequence[str]) -> list[list[Span]]:
        raise ValueError(f"cannot read {texts[0]}")


def over(kind: str, found_by: Detector) -> Redactor:
    pipeline = Pipeline(found_by)
    return pipeline if kind == "in process" else LambdaRedactor(InvokedHere(RedactFunction(pipeline)), "redact")


KINDS = pytest.mark.parametrize("kind", ["in process", "as a function"])


@pytest.fixture(scope="module", params=["in process", "as a function"])
def redactor(request: pytest.FixtureRequest, rampart_folder: Path) -> Redactor:
    return over(request.param, detector(RedactSettings(stage="dev", model_folder=rampart_folder)))


def test_names_addresses_and_secrets_are_taken_out_and_counted(redactor: Redactor) -> None:
    redacted = redactor.redact({"content": TEXT}, Policy())
    left = redacted.fields["content"]
    assert not [each for each in ("Maria", "Okonkwo", "example.org", "901820", "AKIA") if each in left]
    assert left == "[NAME] raised the limit; ask [EMAIL] or [PHONE] first. See `[API_KEY]`."
    assert redacted.counts == {"NAME": 1, "EMAIL": 1, "PHONE": 1, "API_KEY": 1}
    assert redacted.shares == {"content": pytest.approx(4 / 11)}


def test_what_is_found_in_one_field_is_taken_out_of_every_other(redactor: Redactor) -> None:
    redacted = redactor.redact({"content": TEXT, "tags.0": "maria okonkwo", "tags.1": "limits"}, Policy())
    assert "okonkwo" not in redacted.fields["tags.0"].lower()
    assert redacted.fields["tags.1"] == "limits"


def test_to_redact_what_was_redacted_changes_nothing(redactor: Redactor) -> None:
    once = redactor.redact({"content": TEXT}, Policy())
    assert redactor.redact(once.fields, Policy()).fields == once.fields


def test_an_organisation_may_add_patterns_and_allow_names(redactor: Redactor) -> None:
    policy = Policy(patterns=(r"\bPRJ-\d+\b",), allowed=("Maria Okonkwo",))
    left = redactor.redact({"content": "Maria Okonkwo closed PRJ-77."}, policy).fields["content"]
    assert left == "Maria Okonkwo closed [REDACTED]."


def test_a_pattern_that_is_none_is_refused(redactor: Redactor) -> None:
    with pytest.raises(InvalidInput):
        redactor.redact({"content": "x"}, Policy(patterns=("(",)))


def test_texts_that_are_too_long_are_refused(redactor: Redactor) -> None:
    with pytest.raises(InvalidInput):
        redactor.redact({"content": "x " * 60_000}, Policy())


@KINDS
def test_without_its_detector_it_gives_nothing(kind: str) -> None:
    with pytest.raises(Unavailable):
        over(kind, Away()).redact({"content": TEXT}, Policy())


def test_an_error_of_the_code_is_an_outage_that_quotes_nothing() -> None:
    with pytest.raises(Unavailable) as failed:
        over("as a function", Broken()).redact({"content": TEXT}, Policy())
    assert "Maria" not in failed.value.message
