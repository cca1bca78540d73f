"""The roles inside the domain, from CloudFormation's request to CloudFormation's answer."""

import copy
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from commonplace.kernel import aws
from commonplace.search.opensearch.bootstrap import bootstrap
from functions.bootstrap.handler import handler
from tests.fakes.lambda_context import LambdaContext
from tests.fakes.security_api import SecurityApi, security_api

READER, WRITER = "commonplace-dev-reader", "commonplace-dev-writer"
REST = "arn:aws:iam::123456789012:role/Commonplace-dev-RestRole"
INDEX = "arn:aws:iam::123456789012:role/Commonplace-dev-IndexRole"
BUILD = "arn:aws:iam::123456789012:role/Commonplace-dev-BuildRole"
SECONDS = 240


class Time:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept.append(seconds)


class Context(LambdaContext):
    """As much of Lambda's as is asked."""

    def get_remaining_time_in_millis(self) -> int:
        return 300_000


@pytest.fixture
def api() -> Iterator[SecurityApi]:
    with security_api() as running:
        yield running


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "example")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    aws._session.cache_clear()
    yield
    aws._session.cache_clear()


def request(api: SecurityApi, kind: str = "Create", **properties: Any) -> dict[str, Any]:
    given = {
        "Endpoint": api.url,
        "Names": "commonplace-dev",
        "Readers": [REST],
        "Writers": [INDEX, BUILD],
        **properties,
    }
    return {
        "RequestType": kind,
        "ResponseURL": f"{api.url}/answer?signature=example",
        "StackId": "arn:aws:cloudformation:eu-central-1:123456789012:stack/Commonplace-dev/1",
        "RequestId": "request-1",
        "LogicalResourceId": "OpenSearchRoles",
        "ResourceProperties": {"ServiceToken": "arn:aws:lambda:eu-central-1:123456789012:function:x", **given},
    }


def run(event: dict[str, Any], time: Time | None = None) -> None:
    time = time or Time()
    bootstrap(event, SECONDS, clock=time, sleep=time.sleep)


def test_creation_makes_both_roles_and_gives_them_to_the_functions(api: SecurityApi) -> None:
    run(request(api))

    assert api.roles.keys() == {READER, WRITER}
    assert {name: each["backend_roles"] for name, each in api.rolesmapping.items()} == {
        READER: [REST],
        WRITER: [INDEX, BUILD],
    }


def test_a_role_reaches_the_indexes_of_its_stage_and_no_other(api: SecurityApi) -> None:
    run(request(api))

    for role in api.roles.values():
        (permissions,) = role["index_permissions"]
        assert permissions["index_patterns"] == ["commonplace-dev-*"]


def test_nobody_may_do_anything_to_the_cluster_and_a_reader_writes_nothing(api: SecurityApi) -> None:
    run(request(api))

    reader, writer = api.roles[READER], api.roles[WRITER]
    assert reader["cluster_permissions"] == ["cluster_composite_ops_ro"]
    assert writer["cluster_permissions"] == ["cluster_composite_ops", "indices:data/read/scroll/clear"]
    allowed = reader["index_permissions"][0]["allowed_actions"]
    assert allowed == ["read", "indices:admin/aliases/get", "indices:admin/mappings/get", "indices:monitor/stats"]


def test_cloudformation_is_told_what_it_asked_about(api: SecurityApi) -> None:
    event = request(api)

    run(event)

    (answer,) = api.answers
    assert answer == {
        "Status": "SUCCESS",
        "PhysicalResourceId": "domain-roles",
        "StackId": event["StackId"],
        "RequestId": "request-1",
        "LogicalResourceId": "OpenSearchRoles",
    }
    assert api.answer_types == [""], "the URL is signed for a request without a content type"


def test_the_handler_takes_its_time_from_the_function(api: SecurityApi) -> None:
    handler(request(api), Context())

    assert [answer["Status"] for answer in api.answers] == ["SUCCESS"]


def test_requests_are_signed_for_the_service_and_the_region(api: SecurityApi) -> None:
    run(request(api))

    assert len(api.authorizations) == 4
    for authorization in api.authorizations:
        assert authorization.startswith("AWS4-HMAC-SHA256 Credential=example/")
        assert "/eu-central-1/es/aws4_request" in authorization
        assert "x-amz-security-token" in authorization


def test_an_update_states_everything_anew_and_keeps_the_identity(api: SecurityApi) -> None:
    run(request(api))
    before = copy.deepcopy(api.roles)

    run(request(api, "Update", Writers=[INDEX]))

    assert api.roles == before
    assert api.rolesmapping[WRITER]["backend_roles"] == [INDEX]
    assert {answer["PhysicalResourceId"] for answer in api.answers} == {"domain-roles"}


def test_deletion_removes_everything_and_can_be_repeated(api: SecurityApi) -> None:
    run(request(api))

    run(request(api, "Delete"))
    run(request(api, "Delete"))

    assert (api.roles, api.rolesmapping) == ({}, {})
    assert [answer["Status"] for answer in api.answers] == ["SUCCESS"] * 3


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_domain_that_is_being_made_is_asked_again(api: SecurityApi, status: int) -> None:
    time = Time()
    api.failures = [status, status]

    run(request(api), time)

    assert time.slept == [1, 2]
    assert api.rolesmapping.keys() == {READER, WRITER}
    assert api.answers[0]["Status"] == "SUCCESS"


def test_tries_end_before_the_function_does_and_the_failure_is_told(api: SecurityApi) -> None:
    time = Time()
    api.failures = [503] * 1_000

    run(request(api), time)

    assert 60 < time.now < SECONDS
    (answer,) = api.answers
    assert (answer["Status"], answer["Reason"]) == ("FAILED", f"PUT roles/{READER}: status 503")


def test_a_refusal_is_told_at_once(api: SecurityApi) -> None:
    time = Time()
    api.failures = [400]

    run(request(api), time)

    assert time.slept == []
    assert api.answers[0]["Reason"] == f"PUT roles/{READER}: status 400"


def test_a_signature_is_not_carried_on_to_where_a_redirect_leads(api: SecurityApi) -> None:
    api.failures = [307]

    run(request(api))

    assert [answer["Status"] for answer in api.answers] == ["FAILED"]
    assert len(api.asked) == 1


def test_a_domain_out_of_reach_is_told(api: SecurityApi) -> None:
    run(request(api, Endpoint=f"http://127.0.0.1:{_closed_port()}"))

    assert api.answers[0]["Status"] == "FAILED"
    assert api.answers[0]["Reason"].startswith(f"PUT roles/{READER}: ")


def test_a_domain_that_is_gone_does_not_keep_its_stack(api: SecurityApi) -> None:
    run(request(api, "Delete", Endpoint=f"http://127.0.0.1:{_closed_port()}"))

    assert [answer["Status"] for answer in api.answers] == ["SUCCESS"]


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ({"Endpoint": "http://domain.example.org"}, "Endpoint"),
        ({"Names": "*"}, "Names"),
        ({"Readers": ["*"]}, "Readers"),
        ({"Writers": INDEX}, "Writers"),
    ],
)
def test_wrong_properties_are_a_failure_that_names_them(
    api: SecurityApi, properties: dict[str, Any], named: str
) -> None:
    run(request(api, **properties))

    assert api.answers[0]["Status"] == "FAILED"
    assert named in api.answers[0]["Reason"]
    assert api.asked == []


def test_without_credentials_nothing_is_asked_and_the_failure_is_told(
    api: SecurityApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aws, "credentials", lambda: None)

    run(request(api))

    assert (api.asked, api.answers[0]["Status"]) == ([], "FAILED")


def test_what_nobody_thought_of_is_told_by_its_name_alone(api: SecurityApi, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise KeyError("a secret")

    monkeypatch.setattr(aws, "credentials", broken)

    run(request(api))

    assert (api.answers[0]["Status"], api.answers[0]["Reason"]) == ("FAILED", "KeyError")


def test_an_answer_that_is_not_taken_is_put_again(api: SecurityApi) -> None:
    time = Time()
    api.answer_failures = [503, 503]

    run(request(api), time)

    assert time.slept == [1, 2]
    assert [answer["Status"] for answer in api.answers] == ["SUCCESS"]


def test_an_answer_that_cannot_be_put_is_an_error_so_that_all_is_tried_again(api: SecurityApi) -> None:
    api.answer_failures = [503] * 4

    with pytest.raises(OSError, match="could not be answered"):
        run(request(api))


@pytest.mark.parametrize(
    "change",
    [{"RequestType": "Look"}, {"ResponseURL": "ftp://example.org/"}, {"ResponseURL": "http://example.org/"}],
)
def test_what_did_not_come_from_cloudformation_is_refused(api: SecurityApi, change: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not a request of CloudFormation"):
        run({**request(api), **change})
    with pytest.raises(ValueError, match="not a request of CloudFormation"):
        run({"source": "aws.events"})


def _closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
