"""How functions run: errors by name, timeouts, crashes, concurrency, and what a worker may see."""

import json
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from commonplace_local.cloud.cloud import Cloud
from commonplace_local.cloud.runtime import Call, FunctionFailed, Worker

pytestmark = pytest.mark.laptop


def invoke_through_boto(cloud: Cloud, name: str, payload: object, **how: str) -> dict[str, Any]:
    answer = cloud.client("lambda").invoke(FunctionName=name, Payload=json.dumps(payload), **how)
    with answer["Payload"] as stream:
        return {**answer, "Payload": stream.read()}


def test_an_event_reaches_the_handler_and_its_answer_comes_back(cloud: Cloud) -> None:
    assert cloud.invoke("Probe", {"text": "ü", "n": 1}) == {"text": "ü", "n": 1}


def test_an_exception_is_named_by_its_class(cloud: Cloud) -> None:
    with pytest.raises(FunctionFailed) as failure:
        cloud.invoke("Probe", {"do": "raise", "why": "no"})
    assert (failure.value.kind, failure.value.message) == ("Refused", "no")


def test_a_function_past_its_timeout_is_ended_and_the_next_call_gets_a_new_process(cloud: Cloud) -> None:
    before = cloud.invoke("Probe", {"do": "pid"})
    with pytest.raises(FunctionFailed) as failure:
        cloud.invoke("Probe", {"do": "loop"})
    assert failure.value.kind == "Sandbox.Timedout"
    assert cloud.invoke("Probe", {"do": "pid"}) != before


def test_a_process_that_dies_fails_its_call_and_the_next_call_gets_a_new_process(cloud: Cloud) -> None:
    with pytest.raises(FunctionFailed) as failure:
        cloud.invoke("Probe", {"do": "exit", "status": 7})
    assert failure.value.kind == "Runtime.ExitError"
    assert "exit status 7" in failure.value.message
    assert cloud.invoke("Probe", {"alive": True}) == {"alive": True}


def test_a_process_that_asks_for_work_before_its_start_has_returned_gets_it(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, take, asked = subprocess.Popen, Worker.take, threading.Event()

    def taken(worker: Worker, gone: Callable[[], bool]) -> Call | None:
        asked.set()
        return take(worker, gone)

    def started(*words: Any, **how: Any) -> Any:
        process = start(*words, **how)
        assert asked.wait(60)
        return process

    with pytest.raises(FunctionFailed):
        cloud.invoke("Probe", {"do": "exit", "status": 7})
    monkeypatch.setattr(Worker, "take", taken)
    monkeypatch.setattr(subprocess, "Popen", started)
    assert cloud.invoke("Probe", {"alive": True}) == {"alive": True}


def test_a_function_that_cannot_be_imported_fails_every_call_with_the_reason(cloud: Cloud) -> None:
    for _ in range(2):
        with pytest.raises(FunctionFailed, match="a_module_that_nobody_wrote") as failure:
            cloud.invoke("Broken", {})
        assert failure.value.kind == "Runtime.ImportModuleError"


def test_calls_that_wait_for_each_other_run_in_environments_of_their_own(cloud: Cloud, tmp_path: Path) -> None:
    names = ["one", "two", "three"]
    for name in names[1:]:
        invoke_through_boto(
            cloud,
            "synthetic-probe",
            {"do": "meet", "folder": str(tmp_path), "name": name, "others": names},
            InvocationType="Event",
        )
    assert cloud.invoke("Probe", {"do": "meet", "folder": str(tmp_path), "name": "one", "others": names}) == "one"


def test_an_answer_over_the_payload_limit_fails(cloud: Cloud) -> None:
    assert len(cloud.invoke("Probe", {"do": "big", "bytes": 6_000_000})) == 6_000_000
    with pytest.raises(FunctionFailed) as failure:
        cloud.invoke("Probe", {"do": "big", "bytes": 6_291_456})
    assert failure.value.kind == "Function.ResponseSizeTooLarge"


def test_an_event_over_the_payload_limit_is_refused(cloud: Cloud) -> None:
    client = cloud.client("lambda")
    with pytest.raises(client.exceptions.RequestTooLargeException):
        invoke_through_boto(cloud, "synthetic-probe", "x" * 6_291_456)


def test_an_unknown_function_is_not_found(cloud: Cloud) -> None:
    client = cloud.client("lambda")
    with pytest.raises(client.exceptions.ResourceNotFoundException):
        invoke_through_boto(cloud, "nobody", {})


def test_boto_invokes_by_alias_and_sees_function_errors(cloud: Cloud) -> None:
    answer = invoke_through_boto(cloud, "synthetic-probe", {"do": "context"}, Qualifier="live")
    context = json.loads(answer["Payload"])
    assert context["arn"].endswith(":function:synthetic-probe:live")
    assert 0 < context["left"] <= 2000
    failed = invoke_through_boto(cloud, "synthetic-probe", {"do": "raise", "why": "no"})
    assert failed["FunctionError"] == "Unhandled"


def test_variables_come_from_the_template_and_the_overrides(cloud: Cloud) -> None:
    seen = cloud.invoke("Probe", {"do": "environment"})
    assert seen["STAGE"] == "dev"
    assert seen["EXTRA"] == "given"
    assert seen["SECRET_ARN"] == cloud.secret()
    assert seen["MACHINE_ARN"] == cloud.machine()
    assert seen["AWS_LAMBDA_FUNCTION_NAME"] == "synthetic-probe"


def test_a_worker_sees_no_account_of_the_developer(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = cloud.invoke("Probe", {"do": "environment"})
    assert seen["AWS_ENDPOINT_URL"] == cloud.endpoint_url
    assert seen["AWS_CONFIG_FILE"] == seen["AWS_SHARED_CREDENTIALS_FILE"] == os.devnull
    assert cloud.invoke("Probe", {"do": "endpoint"}) == cloud.endpoint_url
    assert "127.0.0.1" in seen["NO_PROXY"]


def test_a_handler_imports_its_own_folder_first_and_nothing_of_the_host(cloud: Cloud, stack: Path) -> None:
    path = cloud.invoke("Probe", {"do": "path"})
    own = [entry for entry in path if entry.startswith(str(stack))]
    assert own[0] == str(stack / "functions" / "probe")
    assert not any(Path(entry).match("packages/commonplace_local/cloud") for entry in path)


def test_what_a_function_writes_is_in_its_log(cloud: Cloud) -> None:
    from .waiting import until

    cloud.invoke("Probe", {"do": "say", "text": "to whom it may concern"})
    assert until(lambda: "to whom it may concern" in cloud.function_logs("Probe"))
