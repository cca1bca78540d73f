"""The functions as deployed: what they import, and what they do over moto's AWS."""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from commonplace.documents.sync.steps import Steps
from commonplace.kernel import aws
from commonplace.kernel.errors import BadRequest
from commonplace.reference.sync.steps import CatalogueSteps
from commonplace.repository.ports import LeaseHeld, RunState
from commonplace.repository.run_state import DynamoSyncState
from tests.aws_fixture import BUCKET, TABLE
from tests.fakes.lambda_context import CONTEXT
from tests.unit.functions.deliveries import BRANCH, REPOSITORY, SECRET, SHA, delivery, push

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_secretsmanager import SecretsManagerClient
    from mypy_boto3_stepfunctions import SFNClient

ROOT = Path(__file__).parents[3]
MACHINE = "arn:aws:states:us-east-1:123456789012:stateMachine:commonplace-dev-sync"


@pytest.fixture(scope="module")
def stepfunctions(session: boto3.session.Session) -> "SFNClient":
    return session.client("stepfunctions")


@pytest.fixture
def environment(
    monkeypatch: pytest.MonkeyPatch,
    secrets_client: "SecretsManagerClient",
    stepfunctions: "SFNClient",
    s3: "S3Client",
    dynamodb: "DynamoDBClient",
) -> Iterator[dict[str, str]]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    secret = secrets_client.create_secret(
        Name="github", SecretString=json.dumps({"webhookSecret": SECRET, "token": ""})
    )
    passing = {"StartAt": "Done", "States": {"Done": {"Type": "Succeed"}}}
    stepfunctions.create_state_machine(
        name="commonplace-dev-sync", definition=json.dumps(passing), roleArn="arn:aws:iam::123456789012:role/sync"
    )
    variables = {
        "STAGE": "dev",
        "CONTENT_BUCKET": BUCKET,
        "ACTIVITY_TABLE": TABLE,
        "SYNC_MACHINE_ARN": MACHINE,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_BRANCH": BRANCH,
        "GITHUB_SECRET_ARN": secret["ARN"],
        "GITHUB_API_URL": "http://127.0.0.1:9",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "123456789012",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    aws._session.cache_clear()
    yield variables
    aws._session.cache_clear()


def load(name: str) -> ModuleType:
    """The handler, built anew from the environment as in a new process."""
    sys.modules.pop(name, None)
    return importlib.import_module(name)


def test_a_push_becomes_an_execution(environment: dict[str, str]) -> None:
    webhook = load("functions.webhook.handler")

    answer = webhook.handler(delivery(push()), CONTEXT)

    assert (answer["statusCode"], json.loads(answer["body"])["run"]) == (202, f"{SHA}-1")
    client = boto3.client("stepfunctions", region_name="us-east-1")
    executions = client.list_executions(stateMachineArn=MACHINE)["executions"]
    assert [execution["name"] for execution in executions] == [f"{SHA}-1"]


def test_a_schedule_becomes_an_execution(environment: dict[str, str]) -> None:
    webhook = load("functions.webhook.handler")

    assert webhook.handler({"source": "aws.events"}, CONTEXT) == {"status": "started", "run": "reconcile-1"}
    with pytest.raises(BadRequest):
        webhook.handler({"source": "elsewhere"}, CONTEXT)


def test_a_delivery_that_aws_cannot_take_is_to_be_sent_again(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACTIVITY_TABLE", "elsewhere")
    webhook = load("functions.webhook.handler")

    answer = webhook.handler(delivery(push()), CONTEXT)

    assert answer["statusCode"] == 503
    assert json.loads(answer["body"])["error"]["code"] == "UNAVAILABLE"
    assert "elsewhere" not in answer["body"]


def test_an_unexpected_error_shows_nothing_internal(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = load("functions.webhook.handler")

    def broken(_: object) -> None:
        raise RuntimeError("internal matters")

    monkeypatch.setattr(webhook.RECEIVER, "receive", broken)
    answer = webhook.handler(delivery(push()), CONTEXT)

    assert answer["statusCode"] == 500
    assert json.loads(answer["body"])["error"]["code"] == "INTERNAL_ERROR"
    assert "internal matters" not in answer["body"]


def test_a_wrong_environment_fails_at_import(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_BRANCH")

    with pytest.raises(ValueError, match="GITHUB_BRANCH is not set"):
        load("functions.webhook.handler")


@pytest.mark.parametrize("step", ["plan", "archive", "publish", "finish", "fail"])
def test_each_step_is_handed_to_its_method(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    sync = load("functions.sync.handler")
    monkeypatch.setattr(Steps, step, lambda _, event: {"did": step, "run": event["run"]})

    assert sync.run({"step": step, "run": "run-1"}, CONTEXT) == {"did": step, "run": "run-1"}


def test_an_item_is_handed_to_store(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    sync = load("functions.sync.handler")
    monkeypatch.setattr(Steps, "store", lambda _, event: event["item"])

    assert sync.store({"run": "run-1", "item": {"blobs": []}, "waits": 0}, CONTEXT) == {"blobs": []}


@pytest.mark.parametrize("step", ["store", "__init__", None, 3])
def test_a_step_that_is_none_is_refused(environment: dict[str, str], step: object) -> None:
    sync = load("functions.sync.handler")

    with pytest.raises(ValueError, match="step must be one of: plan, archive, publish, finish, fail"):
        sync.run({"step": step, "run": "run-1"}, CONTEXT)


def aws_error(code: str, status: int) -> ClientError:
    response: Any = {"Error": {"Code": code, "Message": ""}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "GetObject")


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (aws_error("SlowDown", 503), "StoreUnavailable"),
        (aws_error("ThrottlingException", 400), "StoreUnavailable"),
        (ConnectTimeoutError(endpoint_url="https://s3"), "StoreUnavailable"),
        (aws_error("AccessDenied", 403), "ClientError"),
        (RuntimeError(), "RuntimeError"),
    ],
)
def test_what_passes_by_itself_has_the_name_that_the_machine_retries(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, error: Exception, name: str
) -> None:
    sync = load("functions.sync.handler")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Steps, "plan", fail)
    with pytest.raises(Exception) as caught:
        sync.run({"step": "plan", "run": "run-1"}, CONTEXT)

    assert type(caught.value).__name__ == name


@pytest.mark.parametrize(
    ("error", "name"), [(RuntimeError(), "RuntimeError"), (aws_error("SlowDown", 503), "StoreUnavailable")]
)
def test_a_step_that_fails_is_in_the_status_before_it_is_tried_again(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, s3: "S3Client", error: Exception, name: str
) -> None:
    sync = load("functions.sync.handler")

    def fail(*_: object) -> None:
        error.add_note("notes/private.md")
        raise error

    monkeypatch.setattr(Steps, "plan", fail)
    with pytest.raises(Exception, match=r"|ClientError"):
        sync.run({"step": "plan", "run": "run-1"}, CONTEXT)

    status = s3.get_object(Bucket=BUCKET, Key="metadata/sync.json")["Body"].read()
    assert (json.loads(status)["status"], json.loads(status)["error"]) == ("failed", name)
    assert b"private" not in status
    history = json.loads(s3.get_object(Bucket=BUCKET, Key="operations/history.json")["Body"].read())
    assert [(one["run"], one["file"]) for one in history["runs"]] == [("run-1", "notes/private.md")]


def test_a_run_that_waits_for_another_one_has_not_failed(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, s3: "S3Client"
) -> None:
    sync = load("functions.sync.handler")

    def wait(*_: object) -> None:
        raise LeaseHeld

    monkeypatch.setattr(Steps, "publish", wait)
    with pytest.raises(LeaseHeld):
        sync.run({"step": "publish", "run": "run-1"}, CONTEXT)

    assert s3.list_objects_v2(Bucket=BUCKET)["KeyCount"] == 0


def test_finishing_a_run_gives_its_claim_up(environment: dict[str, str]) -> None:
    webhook, sync = load("functions.webhook.handler"), load("functions.sync.handler")
    started = webhook.handler({"source": "aws.events"}, CONTEXT)["run"]

    assert sync.run({"step": "finish", "run": started, "seen": 0}, CONTEXT) == {"again": True}
    assert sync.run({"step": "finish", "run": started, "seen": 1}, CONTEXT) == {"again": False}
    assert run_state().running is None


def test_a_schedule_wakes_every_source_and_each_has_a_run_state_of_its_own(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CATALOGUES", '[{"name": "helios", "folder": "reference"}]')
    webhook, sync = load("functions.webhook.handler"), load("functions.sync.handler")

    answer = webhook.handler({"source": "aws.events"}, CONTEXT)

    assert answer == {
        "status": "started",
        "run": "reconcile-1",
        "catalogues": {"helios": {"status": "started", "run": "helios-reconcile-1"}},
    }
    client = boto3.client("stepfunctions", region_name="us-east-1")
    executions = client.list_executions(stateMachineArn=MACHINE)["executions"]
    inputs = [client.describe_execution(executionArn=one["executionArn"])["input"] for one in executions]
    assert sorted(json.loads(text)["source"] for text in inputs) == ["", "helios"]
    ended = {"step": "finish", "source": "helios", "run": "helios-reconcile-1", "seen": 1}
    assert sync.run(ended, CONTEXT) == {"again": False}
    assert (run_state("helios").running, run_state().running) == (None, "reconcile-1")


@pytest.mark.parametrize("step", ["plan", "archive", "publish", "finish", "fail"])
def test_a_step_of_a_catalogue_is_handed_to_its_own_steps(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    monkeypatch.setenv("CATALOGUES", '[{"name": "helios", "repository": "octo/helios", "branch": "v2"}]')
    sync = load("functions.sync.handler")
    monkeypatch.setattr(CatalogueSteps, step, lambda steps, _: {"of": steps.source.name, "at": steps.repository})

    answer = sync.run({"step": step, "source": "helios", "run": "run-1"}, CONTEXT)

    assert (answer["of"], answer["at"].name, answer["at"].branch) == ("helios", "octo/helios", "v2")


def test_a_catalogue_that_nobody_configured_is_not_synced(environment: dict[str, str]) -> None:
    sync = load("functions.sync.handler")

    with pytest.raises(ValueError, match="there is no catalogue 'helios'"):
        sync.run({"step": "plan", "source": "helios", "run": "run-1"}, CONTEXT)


def test_the_folder_of_a_catalogue_in_the_knowledge_base_holds_no_documents(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = {"name": "other", "repository": "octo/other", "folder": "docs"}
    here = {"name": "helios", "folder": "docs/reference"}
    monkeypatch.setenv("CATALOGUES", json.dumps([here, elsewhere]))
    sync = load("functions.sync.handler")

    exclusions = sync.SYNC.steps_of("").exclusions
    assert not exclusions.is_content("docs/reference/guides/start.md")
    assert exclusions.is_content("docs/references.md")
    assert not exclusions.is_content("drafts/a.md")


def run_state(catalogue: str = "") -> RunState:
    client = boto3.client("dynamodb", region_name="us-east-1")
    return DynamoSyncState(client, "activity", REPOSITORY, BRANCH, catalogue=catalogue).read()


HEAVY = {"pydantic", "httpx", "yaml", "fastapi", "joserfc", "markdown_it", "numpy", "wordllama", "moto"}


def imported_by(folder: str, environment: dict[str, str]) -> set[str]:
    """Top-level modules after importing a function's handler the way Lambda does."""
    program = "import sys, handler; print(*{name.partition('.')[0] for name in sys.modules})"
    path = os.pathsep.join([str(ROOT / "functions" / folder), str(ROOT / "layers" / "core")])
    keys = {"AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "x", "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment | keys, capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_the_webhook_imports_nothing_but_boto3_and_what_reads_settings(environment: dict[str, str]) -> None:
    modules = imported_by("webhook", environment)

    assert {"boto3", "commonplace"} <= modules
    assert modules & HEAVY == {"pydantic"}


def test_the_sync_imports_neither_the_web_nor_the_search(environment: dict[str, str]) -> None:
    modules = imported_by("sync", environment)

    assert {"pydantic", "httpx"} <= modules
    assert "yaml" not in modules, "the first file that has frontmatter loads it"
    assert not modules & {"fastapi", "starlette", "numpy", "wordllama", "mangum", "moto", "joserfc"}
