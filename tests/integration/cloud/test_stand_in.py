"""Functions see the same in a process of their own, with the C extension of awslambdaric or without, and in one that
they share."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace_local.cloud.environment import worker_variables
from commonplace_local.cloud.lambda_host import LambdaHost
from commonplace_local.cloud.runtime import Function

pytestmark = pytest.mark.laptop


@pytest.fixture(scope="module", params=["extension", "stand-in", "shared"])
def host(request: pytest.FixtureRequest, stack: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LambdaHost]:
    stand_in, process = request.param == "stand-in", "working" if request.param == "shared" else None
    host = LambdaHost(worker_variables(1, "KEY"), tmp_path_factory.mktemp("logs"), stand_in=stand_in)
    probe, broken = stack / "functions" / "probe", stack / "functions" / "broken"
    host.add(Function("probe", "handler.handler", (probe,), {"WHO": "probe"}, timeout_seconds=10), "Probe", process)
    host.add(Function("other", "handler.handler", (probe,), {"WHO": "other"}, timeout_seconds=0.5), "Other", process)
    host.add(Function("broken", "handler.handler", (broken,), {}), "Broken", process)
    yield host
    host.stop()


def test_events_and_answers_pass_whole(host: LambdaHost) -> None:
    event = {"text": "ü" * 1000, "many": list(range(100_000))}
    for _ in range(3):
        outcome = host.invoke("probe", json.dumps(event).encode())
        assert (outcome.failed, json.loads(outcome.payload)) == (False, event)


def test_the_context_has_the_deadline_and_the_arn(host: LambdaHost) -> None:
    context = json.loads(host.invoke("probe", b'{"do": "context"}').payload)
    assert 5_000 < context["left"] <= 10_000
    assert context["arn"].endswith(":function:probe")


def test_errors_are_reported_by_name(host: LambdaHost) -> None:
    outcome = host.invoke("probe", b'{"do": "raise", "why": "no"}')
    assert (outcome.failed, json.loads(outcome.payload)["errorType"]) == (True, "Refused")


def test_an_import_failure_is_reported_before_any_event(host: LambdaHost) -> None:
    outcome = host.invoke("broken", b"{}")
    assert (outcome.failed, json.loads(outcome.payload)["errorType"]) == (True, "Runtime.ImportModuleError")


def test_standard_input_is_empty_for_a_handler(host: LambdaHost) -> None:
    assert json.loads(host.invoke("probe", b'{"do": "read"}').payload) == ""
