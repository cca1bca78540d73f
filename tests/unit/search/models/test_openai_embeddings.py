import json
import logging
import math
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.kernel.retry import Transient
from commonplace.search.models.guarded import GuardedEmbeddings
from commonplace.search.models.openai import OpenAiEmbeddings, api_key
from tests.fakes.model_server import Failure
from tests.fakes.openai_server import KEY, Standin, embedding, running
from tests.unit.kernel.test_resilience import never

SMALL = "text-embedding-3-small"
NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.fixture
def server() -> Iterator[Standin]:
    with running() as state:
        yield state


def provider(server: Standin, **given: Any) -> OpenAiEmbeddings:
    chosen: dict[str, Any] = {
        "model": SMALL,
        "dimension": 1536,
        "base_url": server.url,
        "read_seconds": 5,
        "clock": NOW.timestamp,
    }
    return OpenAiEmbeddings(lambda: KEY, **chosen | given)


def test_a_text_is_asked_for_with_its_model_and_its_number_of_dimensions(server: Standin) -> None:
    (vector,) = provider(server).embed(["the tide"])
    assert server.requests == [{"model": SMALL, "input": ["the tide"], "encoding_format": "base64", "dimensions": 1536}]
    assert list(vector) == pytest.approx([float(value) for value in embedding("the tide", 1536)], abs=1e-6)


@pytest.mark.parametrize("texts", [1, 99, 100, 101, 250])
def test_a_call_takes_a_hundred_texts(server: Standin, texts: int) -> None:
    vectors = provider(server, dimension=8).embed([f"text {number}" for number in range(texts)])
    assert len(vectors) == texts
    assert len(server.calls) == math.ceil(texts / 100)
    assert server.texts == [f"text {number}" for number in range(texts)]


def test_as_many_texts_go_in_a_call_as_are_configured(server: Standin) -> None:
    provider(server, dimension=8, texts_per_call=7).embed(["text"] * 15)
    assert server.calls == [7, 7, 1]


def test_a_hundred_texts_of_the_greatest_length_are_too_many_for_one_call(server: Standin) -> None:
    vectors = provider(server, dimension=8).embed(["tide pools of the sea " * 500] * 100)
    assert (len(vectors), server.complaints) == (100, [])
    assert sum(server.calls) == 100
    assert all(len(text.encode()) <= 8_192 for text in server.texts)


def test_a_service_that_knows_no_base64_may_send_numbers(server: Standin) -> None:
    packed = provider(server, dimension=16).embed(["tide", "pool"])
    server.floats = True
    numbers = provider(server, dimension=16).embed(["tide", "pool"])
    assert [list(each) for each in numbers] == [pytest.approx(list(each), abs=1e-6) for each in packed]


def test_a_model_that_cannot_be_asked_for_a_length_is_not_asked(server: Standin) -> None:
    (vector,) = provider(server, model="text-embedding-ada-002").embed(["tide"])
    assert (len(vector), "dimensions" in server.requests[0]) == (1536, False)


def test_a_model_of_another_length_than_configured_is_refused(server: Standin) -> None:
    with pytest.raises(Unavailable, match="1536 numbers in place of 768"):
        provider(server, model="text-embedding-ada-002", dimension=768).embed(["tide"])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "Retry-After": "1"}, 0.25),
        ({"Retry-After": format_datetime(NOW.replace(minute=2), usegmt=True)}, 120),
        ({"Retry-After": format_datetime(NOW.replace(hour=11), usegmt=True)}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({}, None),
    ],
)
def test_what_passes_says_how_long_to_wait(server: Standin, headers: dict[str, str], seconds: float | None) -> None:
    server.fail(Failure(status=429, code="rate_limit_exceeded", headers=headers))
    with pytest.raises(Transient) as raised:
        provider(server).embed(["tide"])
    assert raised.value.wait_seconds == seconds


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(server: Standin, status: int) -> None:
    server.fail(Failure(status=status))
    waits: list[float] = []
    assert len(GuardedEmbeddings(provider(server), sleep=waits.append).embed(["tide"])) == 1
    assert waits == [1]


def test_a_pause_that_the_service_asks_for_is_kept(server: Standin) -> None:
    server.fail(Failure(status=429, code="rate_limit_exceeded", headers={"Retry-After": "3"}))
    waits: list[float] = []
    GuardedEmbeddings(provider(server), sleep=waits.append).embed(["tide"])
    assert waits == [3]


@pytest.mark.parametrize("kind", ["dropped", "malformed", "truncated"])
def test_a_broken_answer_may_pass_as_well(server: Standin, kind: str) -> None:
    server.fail(Failure(kind))
    with pytest.raises(Transient):
        provider(server).embed(["tide"])
    assert len(provider(server).embed(["tide"])) == 1


def test_no_answer_in_time_is_out_of_reach(server: Standin) -> None:
    server.fail(Failure("hang"))
    with pytest.raises(Transient, match="out of reach"):
        provider(server, read_seconds=0.05).embed(["tide"])


def test_nobody_who_listens_is_out_of_reach() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = Standin(url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        with pytest.raises(Transient, match="out of reach"):
            provider(nobody).embed(["tide"])


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (400, "invalid_request_error", "dimensions"),
        (401, "invalid_api_key", "apiKey"),
        (403, "forbidden", "project of the key"),
        (404, "model_not_found", "openai:MODEL"),
        (429, "insufficient_quota", "billing"),
    ],
)
def test_what_will_not_pass_is_not_tried_again_and_says_what_to_do(
    server: Standin, status: int, code: str, hint: str
) -> None:
    server.fail(Failure(status=status, code=code))
    with pytest.raises(Unavailable, match=code) as raised:
        GuardedEmbeddings(provider(server), sleep=never).embed(["tide"])
    assert not isinstance(raised.value, Transient)
    assert hint in (raised.value.hint or "")


@pytest.mark.parametrize(
    "answer",
    [
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": "%%%"}]},
        {"data": [{"index": 0, "embedding": "AAA="}]},
        {"data": [{"index": 0, "embedding": [0.0] * 1536}]},
        {"data": [{"index": 0, "embedding": None}]},
        {"data": {"index": 0}},
        {"other": 1},
        [],
    ],
)
def test_an_answer_without_a_vector_is_no_vector(server: Standin, answer: Any) -> None:
    server.answer = answer
    with pytest.raises(Unavailable):
        provider(server).embed(["tide"])


def test_an_answer_without_end_is_not_read_to_its_end(server: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonplace.search.models.openai.MAX_ANSWER_BYTES", 1_000)
    with pytest.raises(Transient, match="cannot be read"):
        provider(server).embed(["tide"])


def test_neither_key_nor_text_nor_what_was_answered_is_logged_or_raised(
    server: Standin, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    failures = [Failure(status=401, code="invalid_api_key"), Failure(status=500), Failure("malformed")]
    server.fail(*failures)
    said = []
    for _ in failures:
        with pytest.raises(Unavailable) as raised:
            provider(server).embed(["a secret plan"])
        said.append(f"{raised.value!r} {raised.value} {raised.value.hint} {raised.value.__cause__!r}")
    said += [json.dumps(record.__dict__, default=str) for record in caplog.records]
    assert not [text for text in said if KEY in text or "secret plan" in text or "a sentence" in text]
    assert "invalid_api_key" in "".join(said)


def test_a_wrong_key_is_refused_without_naming_it(server: Standin, caplog: pytest.LogCaptureFixture) -> None:
    wrong = OpenAiEmbeddings(lambda: "sk-wrong-key", model=SMALL, dimension=1536, base_url=server.url)
    with pytest.raises(Unavailable, match="invalid_api_key") as raised:
        wrong.embed(["tide"])
    assert "sk-wrong-key" not in f"{raised.value!r}{caplog.text}{[record.__dict__ for record in caplog.records]}"


def test_a_service_without_a_key_is_asked_without_one(server: Standin) -> None:
    with pytest.raises(Unavailable, match="invalid_api_key"):
        OpenAiEmbeddings(lambda: None, model=SMALL, dimension=1536, base_url=server.url).embed(["tide"])
    assert server.complaints == ["Incorrect API key provided: "]


def test_a_key_that_cannot_be_had_is_no_reason_to_wait(server: Standin) -> None:
    def nothing() -> str:
        raise Unavailable("A secret that this needs cannot be read now.")

    keyless = OpenAiEmbeddings(nothing, model=SMALL, dimension=1536, base_url=server.url)
    with pytest.raises(Unavailable, match="secret"):
        GuardedEmbeddings(keyless, sleep=never).embed(["tide"])
    assert server.requests == []


def test_the_key_is_read_from_the_secret() -> None:
    assert api_key(json.dumps({"apiKey": f" {KEY}\n"})) == KEY


@pytest.mark.parametrize(
    "text", ["", "sk-0123456789", "[]", '{"apiKey": ""}', '{"apiKey": 1}', '{"apikey": "sk-01234567"}',
             '{"apiKey": "sk-0123\\r\\nX: y"}', '{"apiKey": "clé-0123456789"}']
)  # fmt: skip
def test_a_secret_that_holds_no_key_is_refused_without_quoting_it(text: str) -> None:
    with pytest.raises(ValueError, match=r'^the secret must be a JSON object with "apiKey"$'):
        api_key(text)
