"""Functions that share a process: each has its own variables and log, and one that hangs or dies spares the others."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from commonplace_local.cloud.environment import worker_variables
from commonplace_local.cloud.lambda_host import SERVING, WORKING, LambdaHost
from commonplace_local.cloud.runtime import Function

pytestmark = pytest.mark.laptop


@pytest.fixture
def host(stack: Path, tmp_path: Path) -> Iterator[LambdaHost]:
    host = LambdaHost(worker_variables(1, "KEY"), tmp_path)
    for name, seconds in (("one", 10.0), ("two", 10.0), ("hasty", 0.5)):
        folders = (stack / "functions" / "probe",)
        host.add(Function(name, "handler.handler", folders, {"WHO": name}, timeout_seconds=seconds), name, WORKING)
    host.add(Function("served", "handler.handler", (stack / "functions" / "probe",), {}), "served", SERVING)
    yield host
    host.stop()


def answer(host: LambdaHost, function: str, /, **event: Any) -> Any:
    outcome = host.invoke(function, json.dumps(event).encode())
    told = json.loads(outcome.payload)
    return told["errorType"] if outcome.failed else told


def test_functions_of_one_process_have_variables_of_their_own(host: LambdaHost) -> None:
    one, two = answer(host, "one", do="environment"), answer(host, "two", do="environment")
    assert (one["WHO"], two["WHO"]) == ("one", "two")
    assert (one["AWS_LAMBDA_FUNCTION_NAME"], two["AWS_LAMBDA_FUNCTION_NAME"]) == ("one", "two")
    assert answer(host, "one", do="pid") == answer(host, "two", do="pid") != answer(host, "served", do="pid")
    assert len(host.pids) == 2


def test_each_line_stands_in_the_log_of_the_function_that_wrote_it(host: LambdaHost, tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=answer, args=(host, name), kwargs={"do": "say", "text": f"{name} {number}"})
        for number in range(20)
        for name in ("one", "two")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    host.stop()
    for name in ("one", "two"):
        lines = (tmp_path / f"{name}.log").read_text().splitlines()
        assert sorted(lines) == sorted(f"{name} {number}" for number in range(20))


def test_two_calls_of_one_function_run_at_once(host: LambdaHost, tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    met: list[str] = []

    def meet(name: str, other: str) -> None:
        met.append(answer(host, "one", do="meet", folder=str(meeting), name=name, others=[other]))

    threads = [threading.Thread(target=meet, args=names) for names in (("a", "b"), ("b", "a"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(met) == ["a", "b"]


def test_a_call_past_its_time_fails_alone(host: LambdaHost) -> None:
    before = answer(host, "one", do="pid")
    assert answer(host, "hasty", do="loop") == "Sandbox.Timedout"
    assert answer(host, "hasty", text="again") == {"text": "again"}
    assert answer(host, "one", do="pid") == before


def test_a_call_that_holds_the_interpreter_costs_the_others_seconds(host: LambdaHost) -> None:
    before = answer(host, "one", do="pid")
    assert answer(host, "hasty", do="hold") == "Sandbox.Timedout"
    assert answer(host, "one", text="meanwhile") in ("Runtime.ExitError", {"text": "meanwhile"})
    assert answer(host, "one", text="again") == {"text": "again"}
    assert answer(host, "one", do="pid") != before


def test_a_handler_that_exits_fails_its_call_at_once(host: LambdaHost) -> None:
    before = answer(host, "two", do="pid")
    assert answer(host, "one", do="leave", why="no") == "SystemError"
    assert answer(host, "two", do="pid") == before


def test_an_environment_answers_the_calls_of_its_own_api_alone(host: LambdaHost) -> None:
    variables = answer(host, "one", do="environment")
    url = f"http://{variables['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation/next"
    agent = f"aws-lambda-python {variables['AWS_ACCESS_KEY_ID']}"
    for end in ("", answer(host, "two", do="environment")["COMMONPLACE_ENVIRONMENT"]):
        assert httpx.get(url, headers={"User-Agent": agent + end}, trust_env=False).status_code == 403


def test_a_process_that_dies_fails_its_calls_and_starts_again_with_the_next(host: LambdaHost) -> None:
    before = answer(host, "two", do="pid")
    assert answer(host, "one", do="exit", status=7) == "Runtime.ExitError"
    assert answer(host, "two", do="pid") not in (before, None)
    assert answer(host, "one", text="again") == {"text": "again"}


def test_the_process_that_works_ends_when_it_is_idle_and_starts_with_the_next_call(host: LambdaHost) -> None:
    before, serving = answer(host, "one", do="pid"), answer(host, "served", do="pid")
    answer(host, "two", do="pid")
    host.end_idle()
    assert host.pids == [serving]
    assert answer(host, "one", do="pid") != before
    assert answer(host, "served", do="pid") == serving


def test_a_process_with_a_call_is_not_ended(host: LambdaHost, tmp_path: Path) -> None:
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    waits = threading.Thread(
        target=answer, args=(host, "one"), kwargs={"do": "meet", "folder": str(meeting), "name": "a", "others": ["b"]}
    )
    waits.start()
    pid = answer(host, "two", do="pid")
    while not (meeting / "a").exists():
        assert waits.is_alive()
    host.end_idle()
    (meeting / "b").touch()
    waits.join()
    assert pid in host.pids
