"""The client of the function `redact`, and the function behind it: what passes, and what no error and no log says."""

import io
import json
import logging
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from botocore.stub import Stubber

from commonplace.kernel import aws
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.redaction.client import ATTEMPTS, CONNECT_SECONDS, READ_SECONDS, LambdaRedactor, redactor
from commonplace.redaction.function import MAX_FIELDS, MAX_TEXT_BYTES, RedactFunction
from commonplace.redaction.model import Policy
from commonplace.redaction.pipeline import Pipeline
from commonplace.redaction.ports import Survived
from commonplace.redaction.settings import RedactionSettings
from tests.fakes.lambda_context import CONTEXT
from tests.fakes.redaction import InvokedHere, WordRedactor

ARN = "arn:aws:lambda:eu-central-1:123456789012:function:commonplace-dev-redact:live"
CANARY = "Quillfeather"
OTHERS = b'{"fields": {"title": "x"}, "counts": {}, "shares": {}}'


@pytest.fixture
def client() -> LambdaRedactor:
    return LambdaRedactor(InvokedHere(RedactFunction(WordRedactor(CANARY))), ARN)


def test_fields_come_back_by_their_names_with_counts_and_shares(client: LambdaRedactor) -> None:
    redacted = client.redact({"content": f"ask {CANARY} first", "tags.0": "api"}, Policy())
    assert redacted.fields == {"content": "ask [NAME] first", "tags.0": "api"}
    assert redacted.counts == {"NAME": 1}
    assert redacted.shares == {"content": pytest.approx(1 / 3), "tags.0": 0}


def test_the_policy_reaches_the_redactor() -> None:
    seen: list[Policy] = []

    class Noting(WordRedactor):
        def redact(self, fields: Any, policy: Policy) -> Any:
            seen.append(policy)
            return super().redact(fields, policy)

    policy = Policy(keep_public_identities=False, patterns=("a+", "b"), allowed=("Ada",))
    LambdaRedactor(InvokedHere(RedactFunction(Noting())), ARN).redact({"content": "x"}, policy)
    assert seen == [policy]


def test_what_stays_is_told_as_such_and_what_is_malformed_too(client: LambdaRedactor) -> None:
    with pytest.raises(Survived, match=r"Something stays\.") as stayed:
        client.redact({"content": "Pieces"}, Policy())
    assert stayed.value.hint == "Leave it out."
    with pytest.raises(InvalidInput, match="missing") as wrong:
        client.redact({"content": "x"}, Policy(patterns=("(",)))
    assert not isinstance(wrong.value, Survived)


def test_patterns_are_judged_one_by_one(client: LambdaRedactor) -> None:
    assert client.invalid_patterns(["a+", "(", "b"]) == {"(": "missing )"}
    assert client.invalid_patterns([]) == {}


@pytest.mark.parametrize("pattern", [".*", ".", r"\w+", "[a-z]+", r"\S", "e", r"(?i)THE|[a-m]", r"\b\w{2,}\b"])
def test_pattern_that_would_mask_ordinary_text_is_named(pattern: str) -> None:
    client = LambdaRedactor(InvokedHere(RedactFunction(Pipeline())), ARN)
    assert "of an ordinary text" in client.invalid_patterns([pattern, r"CUST-\d{6}"])[pattern]


@pytest.mark.parametrize(
    ("fields", "policy"),
    [
        ({}, Policy()),
        ({f"field{number}": "x" for number in range(MAX_FIELDS + 1)}, Policy()),
        ({"content": CANARY * MAX_TEXT_BYTES}, Policy()),
        ({"content": "ö" * (MAX_TEXT_BYTES // 2), "title": "x"}, Policy()),
        ({CANARY * 20: "x"}, Policy()),
        ({"content": "x"}, Policy(patterns=(CANARY * 100,))),
        ({"content": "x"}, Policy(patterns=(CANARY,) * 101)),
        ({"content": "x"}, Policy(allowed=("",))),
    ],
)
def test_what_is_too_much_is_refused_without_a_word_of_it(
    client: LambdaRedactor, fields: dict[str, str], policy: Policy
) -> None:
    with pytest.raises(InvalidInput) as refused:
        client.redact(fields, policy)
    assert CANARY not in f"{refused.value.message} {refused.value.hint}"
    assert refused.value.hint


def test_the_largest_that_is_taken_is_taken(client: LambdaRedactor) -> None:
    assert client.redact({"content": "x" * MAX_TEXT_BYTES}, Policy()).counts == {}


@pytest.mark.parametrize("text", ["Boom", "Gone"])
def test_a_function_that_fails_says_that_nothing_was_stored_and_when_to_come_back(
    client: LambdaRedactor, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(Unavailable) as failed:
        client.redact({"content": f"{text} {CANARY}"}, Policy())
    assert failed.value.message == "The detector of personal data does not answer, so nothing was stored."
    assert failed.value.retry_after_seconds > 0
    assert "same arguments" in (failed.value.hint or "")
    assert CANARY not in caplog.text
    assert failed.value.__cause__ is None


@pytest.mark.parametrize("kind", ["Runtime.ImportModuleError", "ModuleNotFoundError"])
def test_a_function_whose_packages_are_missing_says_what_to_install(kind: str) -> None:
    class Missing:
        def invoke(self, **_: object) -> Any:
            told = json.dumps({"errorType": kind, "errorMessage": "No module named 'phonenumbers'"}).encode()
            return {"FunctionError": "Unhandled", "Payload": io.BytesIO(told)}

    with pytest.raises(Unavailable, match="is not installed here, so nothing was stored") as failed:
        LambdaRedactor(Missing(), ARN).redact({"content": CANARY}, Policy())
    assert "extra `redaction`" in (failed.value.hint or "")


@pytest.mark.parametrize("text", ["Boom", "Gone"])
def test_the_function_says_what_kind_of_error_it_was_and_nothing_of_the_text(text: str) -> None:
    with pytest.raises(Unavailable) as failed:
        RedactFunction(WordRedactor())({"fields": {"content": f"{text} {CANARY}"}}, CONTEXT)
    assert CANARY not in failed.value.message
    assert failed.value.__cause__ is None
    if text == "Boom":
        assert "KeyError in redact" in failed.value.message


@pytest.mark.parametrize("event", [{}, {"fields": {"a": 1}}, {"fields": "x"}, {"fields": {"a": "b"}, CANARY: 1}])
def test_an_event_that_is_none_is_answered_as_one(event: dict[str, Any]) -> None:
    answer = RedactFunction(WordRedactor())(event, CONTEXT)
    assert answer["error"]["code"] == "INVALID_INPUT"


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def invoke(self, **_: object) -> Any:
        raise self.error


@pytest.mark.parametrize(
    "error",
    [ReadTimeoutError(endpoint_url="http://x"), ConnectTimeoutError(endpoint_url="http://x"), ConnectionResetError()],
)
def test_a_function_that_does_not_answer_in_time_is_unavailable(error: Exception) -> None:
    with pytest.raises(Unavailable, match="nothing was stored"):
        LambdaRedactor(Failing(error), ARN).redact({"content": CANARY}, Policy())


def stubbed(prepare: Callable[[Stubber], None]) -> LambdaRedactor:
    made: Any = boto3.client("lambda", "eu-central-1", aws_access_key_id="x", aws_secret_access_key="x")
    stub = Stubber(made)
    prepare(stub)
    stub.activate()
    return LambdaRedactor(made, ARN)


@pytest.mark.parametrize("code", ["TooManyRequestsException", "ServiceException", "ResourceNotFoundException"])
def test_a_refusal_of_lambda_is_unavailable(code: str, caplog: pytest.LogCaptureFixture) -> None:
    client = stubbed(lambda stub: stub.add_client_error("invoke", code))
    with pytest.raises(Unavailable):
        client.redact({"content": CANARY}, Policy())
    assert [(each.message, vars(each)["error"]) for each in caplog.records if each.name.startswith("commonplace")] == [
        ("the function redact does not answer", code)
    ]


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"{}", b"no json", b'{"fields": {}}', OTHERS])
def test_an_answer_that_is_none_is_unavailable(body: bytes) -> None:
    client = stubbed(lambda stub: stub.add_response("invoke", {"StatusCode": 200, "Payload": io.BytesIO(body)}))
    with pytest.raises(Unavailable):
        client.redact({"content": CANARY}, Policy())


def test_a_caller_waits_no_longer_than_its_own_callers_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    aws._session.cache_clear()
    made = redactor(RedactionSettings(redact_function=ARN))
    aws._session.cache_clear()
    config = made._client.meta.config
    assert (config.read_timeout, config.connect_timeout) == (READ_SECONDS, CONNECT_SECONDS)
    assert config.retries["total_max_attempts"] == ATTEMPTS
    assert ATTEMPTS * (READ_SECONDS + CONNECT_SECONDS) < 29, "the timeout of mcp, rest and console"
