"""Amazon Comprehend as a detector, against botocore's model of its API."""

from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from commonplace.kernel.errors import Unavailable
from commonplace.redaction.comprehend import MAX_BYTES, Comprehend, language
from commonplace.redaction.model import Span


@pytest.fixture
def client() -> Any:
    return boto3.client("comprehend", "eu-central-1", aws_access_key_id="x", aws_secret_access_key="x")


@pytest.fixture
def stub(client: Any) -> Any:
    with Stubber(client) as stub:
        yield stub
        stub.assert_no_pending_responses()


def entity(kind: str, begin: int, end: int, score: float = 0.99) -> dict[str, Any]:
    return {"Type": kind, "BeginOffset": begin, "EndOffset": end, "Score": score}


def answer(stub: Stubber, text: str, *entities: dict[str, Any], code: str = "en") -> None:
    stub.add_response("detect_pii_entities", {"Entities": [*entities]}, {"Text": text, "LanguageCode": code})


def test_texts_go_in_one_call_and_spans_come_back_where_they_stand(client: Any, stub: Stubber) -> None:
    answer(stub, "ask Ada Byron\n\nat 1 Low St\n\n", entity("NAME", 4, 13), entity("ADDRESS", 18, 26))
    assert Comprehend(client).detect(["ask Ada Byron", "at 1 Low St", ""]) == [
        [Span(4, 13, "NAME", "comprehend", 0.99, "NAME")],
        [Span(3, 11, "LOCATION", "comprehend", 0.99, "ADDRESS")],
        [],
    ]


def test_what_reaches_over_two_texts_is_taken_out_of_both(client: Any, stub: Stubber) -> None:
    answer(stub, "ask Ada\n\nByron now", entity("NAME", 4, 14))
    first, second = Comprehend(client).detect(["ask Ada", "Byron now"])
    assert [(each.start, each.end) for each in (*first, *second)] == [(4, 7), (0, 5)]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("PHONE", "PHONE"),
        ("CREDIT_DEBIT_NUMBER", "CREDIT_CARD"),
        ("AWS_SECRET_KEY", "API_KEY"),
        ("SSN", "REDACTED"),
        ("A_TYPE_OF_TOMORROW", "REDACTED"),
        ("DATE_TIME", None),
        ("URL", None),
    ],
)
def test_every_type_has_a_kind_or_is_not_personal(client: Any, stub: Stubber, kind: str, expected: str | None) -> None:
    answer(stub, "0123456789", entity(kind, 0, 10))
    (spans,) = Comprehend(client).detect(["0123456789"])
    assert [span.kind for span in spans] == ([expected] if expected else [])


def test_what_is_unlikely_does_not_count(client: Any, stub: Stubber) -> None:
    answer(stub, "Redis", entity("NAME", 0, 5, 0.4))
    assert Comprehend(client).detect(["Redis"]) == [[]]


def test_more_than_a_call_may_have_goes_in_several(client: Any, stub: Stubber) -> None:
    half = "ö" * (MAX_BYTES // 4)
    answer(stub, half, entity("NAME", 0, 3))
    answer(stub, half + "x", entity("NAME", 1, 4))
    first, second = Comprehend(client).detect([half, half + "x"])
    assert [(each.start, each.end) for each in (*first, *second)] == [(0, 3), (1, 4)]


def test_nothing_is_asked_about_nothing(client: Any, stub: Stubber) -> None:
    assert Comprehend(client).detect([]) == []
    assert Comprehend(client).detect([" ", ""]) == [[], []]


def test_spanish_is_read_as_spanish(client: Any, stub: Stubber) -> None:
    text = "El equipo de la región no responde, pregunta por Inés."
    answer(stub, text, entity("NAME", 49, 53), code="es")
    ((span,),) = Comprehend(client).detect([text])
    assert text[span.start : span.end] == "Inés"
    assert language("Das Team antwortet nicht") == language("The team does not answer") == "en"


@pytest.mark.parametrize("code", ["ThrottlingException", "TextSizeLimitExceededException", "InternalServerException"])
def test_a_refusal_is_unavailable_and_quotes_nothing(client: Any, stub: Stubber, code: str) -> None:
    stub.add_client_error("detect_pii_entities", code, "about Quillfeather")
    with pytest.raises(Unavailable, match=code) as refused:
        Comprehend(client).detect(["Quillfeather"])
    assert "Quillfeather" not in refused.value.message
    assert refused.value.__cause__ is None
