"""From start to stop: what is kept, what a template may not say, and that nothing is left running."""

import copy
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from commonplace_local.cloud.cloud import Cloud
from commonplace_local.cloud.template import TemplateError
from tests.processes import ended

from .test_events import items
from .waiting import until

pytestmark = pytest.mark.laptop

ROOT = Path(__file__).parents[3]


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_stop_ends_every_process_and_gives_the_environment_back(
    template: dict[str, Any], stack: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "the-developers-own")
    before = dict(os.environ)
    with Cloud(template, stack, prewarm=True) as cloud:
        assert "AWS_PROFILE" not in os.environ
        assert "AWS_PROFILE" not in cloud.invoke("Probe", {"do": "environment"})
        cloud.client("lambda").invoke(FunctionName="synthetic-probe", InvocationType="Event", Payload=b'{"do": "loop"}')
        pids = cloud.pids
    assert len(pids) >= 3
    assert not any(alive(pid) for pid in pids)
    assert dict(os.environ) == before


def test_a_stop_right_after_a_start_of_an_execution_finds_it_not_yet_begun_and_ends_it(
    template: dict[str, Any], stack: Path
) -> None:
    with Cloud(template, stack) as cloud:
        machine = cloud.client("stepfunctions")
        machine.start_execution(stateMachineArn=cloud.machine(), name="hasty", input='{"run": "hasty"}')
    assert cloud.failed_executions == {}, "the next cloud starts empty"


HOST = """
import json, pathlib, sys, threading
from commonplace_local.cloud.cloud import Cloud
stack = pathlib.Path(sys.argv[1])
with Cloud(json.loads((stack / "template.json").read_text()), stack) as cloud:
    client = cloud.client("lambda")
    client.invoke(FunctionName="synthetic-probe", InvocationType="Event", Payload=b'{"do": "loop"}')
    cloud.invoke("Plan", {"results": []})
    print(json.dumps(cloud.pids), flush=True)
    threading.Event().wait()
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["killed", "interrupted"])
def test_a_host_that_ends_takes_its_functions_with_it(stack: Path, how: signal.Signals) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "error", "-c", HOST, str(stack)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    with ended(started) as host:
        assert host.stdout is not None
        pids = json.loads(host.stdout.readline())
        host.send_signal(how)
        _, complaints = host.communicate(timeout=60)
    assert len(pids) >= 2
    until(lambda: not any(alive(pid) for pid in pids))
    assert complaints.count(b"Traceback") == (how == signal.SIGINT)  # the KeyboardInterrupt, and no warning
    assert b"Warning" not in complaints


def test_objects_items_and_secrets_survive_a_restart_and_are_not_announced_again(
    template: dict[str, Any], stack: Path, tmp_path: Path
) -> None:
    with Cloud(template, stack, tmp_path) as cloud:
        cloud.client("s3").put_object(
            Bucket=cloud.bucket,
            Key="content/ü.json",
            Body=b"\x00{}",
            ContentType="application/json",
            Metadata={"a": "b"},
        )
        cloud.client("s3").put_object(Bucket=cloud.bucket, Key="content/gone.json", Body=b"{}")
        cloud.client("dynamodb").put_item(
            TableName=cloud.table("Items"), Item={"pk": {"S": "a"}, "sk": {"S": "b"}, "bytes": {"B": b"\x00\xff"}}
        )
        cloud.wait_idle()
        secret = cloud.client("secretsmanager").get_secret_value(SecretId=cloud.secret())["SecretString"]
        cloud.client("s3").delete_object(Bucket=cloud.bucket, Key="content/gone.json")
        cloud.wait_idle()
    assert (tmp_path / "state.sqlite").stat().st_mode & 0o777 == 0o600
    with Cloud(template, stack, tmp_path) as cloud:
        found = cloud.client("s3").get_object(Bucket=cloud.bucket, Key="content/ü.json")
        with found["Body"] as body:
            assert body.read() == b"\x00{}"
        assert (found["ContentType"], found["Metadata"]) == ("application/json", {"a": "b"})
        listed = cloud.client("s3").list_objects_v2(Bucket=cloud.bucket)
        assert [item["Key"] for item in listed["Contents"]] == ["content/ü.json"]
        key = {"pk": {"S": "a"}, "sk": {"S": "b"}}
        item = cloud.client("dynamodb").get_item(TableName=cloud.table("Items"), Key=key)["Item"]
        assert item["bytes"] == {"B": b"\x00\xff"}
        assert cloud.client("secretsmanager").get_secret_value(SecretId=cloud.secret())["SecretString"] == secret
        cloud.wait_idle()
        events = cloud.client("dynamodb").query(
            TableName=cloud.table("Items"),
            KeyConditionExpression="pk = :key",
            ExpressionAttributeValues={":key": {"S": "content/ü.json"}},
        )
        assert events["Count"] == 1  # the one that was saved


def put(cloud: Cloud, sk: str, value: str) -> None:
    item = {"pk": {"S": "a"}, "sk": {"S": sk}, "value": {"S": value}}
    cloud.client("dynamodb").put_item(TableName=cloud.table("Items"), Item=item)


def values(cloud: Cloud) -> dict[str, str]:
    found = cloud.client("dynamodb").scan(TableName=cloud.table("Items"))["Items"]
    return {item["sk"]["S"]: item["value"]["S"] for item in found}


def test_what_is_answered_is_in_the_file_and_what_was_refused_is_not(
    template: dict[str, Any], stack: Path, tmp_path: Path
) -> None:
    def kept() -> set[str]:
        with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database:
            rows = database.execute("select item from items where role = 'Items'")
            return {f"{item['sk']['S']} {item['value']['S']}" for item in (json.loads(text) for (text,) in rows)}

    with Cloud(template, stack, tmp_path) as cloud:
        dynamodb, table = cloud.client("dynamodb"), cloud.table("Items")
        for sk in ("changed", "deleted", "updated", "same"):
            put(cloud, sk, "before")
        assert kept() == {"changed before", "deleted before", "updated before", "same before"}
        put(cloud, "changed", "after")
        dynamodb.delete_item(TableName=table, Key={"pk": {"S": "a"}, "sk": {"S": "deleted"}})
        dynamodb.update_item(
            TableName=table,
            Key={"pk": {"S": "a"}, "sk": {"S": "updated"}},
            UpdateExpression="SET #v = :v",
            ExpressionAttributeNames={"#v": "value"},
            ExpressionAttributeValues={":v": {"S": "after"}},
        )
        writes: list[dict[str, Any]] = [
            {"Put": {"TableName": table, "Item": {"pk": {"S": "a"}, "sk": {"S": sk}, "value": {"S": "refused"}}}}
            for sk in ("same", "new")
        ]
        writes[1]["Put"]["ConditionExpression"] = "attribute_exists(pk)"
        with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
            dynamodb.transact_write_items(TransactItems=writes)
        assert kept() == {"changed after", "updated after", "same before"}
    for _ in range(2):
        with Cloud(template, stack, tmp_path) as cloud:
            assert values(cloud) == {"changed": "after", "updated": "after", "same": "before"}


def test_what_cannot_be_kept_is_not_acknowledged(template: dict[str, Any], stack: Path, tmp_path: Path) -> None:
    with Cloud(template, stack, tmp_path) as cloud:
        with closing(sqlite3.connect(tmp_path / "state.sqlite")) as database:
            database.execute("create trigger full before insert on items begin select raise(abort, 'disk full'); end")
            with pytest.raises(ClientError, match="disk full"):
                put(cloud, "one", "refused")
            database.execute("drop trigger full")
        put(cloud, "two", "kept")
    with Cloud(template, stack, tmp_path) as cloud:
        assert values(cloud)["two"] == "kept"


WRITER = """
import json, pathlib, sys, threading
from commonplace_local.cloud.cloud import Cloud
stack, data = map(pathlib.Path, sys.argv[1:])
with Cloud(json.loads((stack / "template.json").read_text()), stack, data) as cloud:
    items, told = cloud.table("Items"), cloud.table("Told")
    key = {"pk": {"S": "killed#entries"}, "sk": {"S": "told"}}
    cloud.client("sqs").send_message(QueueUrl=cloud.queue_url("Failures"), MessageBody="left")
    cloud.client("s3").put_object(Bucket=cloud.bucket, Key="content/killed.json", Body=b"kept", CacheControl="no-store")
    both = [{"Put": {"TableName": table, "Item": key}} for table in (items, told)]
    cloud.client("dynamodb").transact_write_items(TransactItems=both)
    print("answered", flush=True)
    threading.Event().wait()
"""


def test_a_process_that_is_killed_right_after_an_answer_has_kept_it_and_what_follows_from_it(
    template: dict[str, Any], stack: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-c", WRITER, str(stack), str(tmp_path)]
    started = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)})
    with ended(started) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"answered\n"
        writer.kill()
    with Cloud(template, stack, tmp_path) as cloud:
        found = cloud.client("s3").get_object(Bucket=cloud.bucket, Key="content/killed.json")
        with found["Body"] as body:
            assert (body.read(), found["CacheControl"]) == (b"kept", "no-store")
        (message,) = cloud.client("sqs").receive_message(QueueUrl=cloud.queue_url("Failures"))["Messages"]
        assert message["Body"] == "left"
        for table in ("Items", "Told"):
            key = {"pk": {"S": "killed#entries"}, "sk": {"S": "told"}}
            assert cloud.client("dynamodb").get_item(TableName=cloud.table(table), Key=key)["Item"] == key
        cloud.wait_idle()
        assert items(cloud, "content/killed.json"), "the object was announced"
        assert items(cloud, "told killed#entries told"), "the write was told"


def test_what_a_table_tells_of_is_not_told_again_after_a_restart(
    template: dict[str, Any], stack: Path, tmp_path: Path
) -> None:
    def write_and_count(cloud: Cloud, sk: str) -> int:
        dynamodb = cloud.client("dynamodb")
        item = {"pk": {"S": "kept#entries"}, "sk": {"S": sk}}
        dynamodb.put_item(TableName=cloud.table("Told"), Item=item)
        cloud.wait_idle()
        told = dynamodb.scan(TableName=cloud.table("Items"))["Items"]
        assert dynamodb.scan(TableName=cloud.table("Told"))["Count"] == len(told)
        return len(told)

    for number, sk in enumerate(("before", "after"), start=1):
        with Cloud(template, stack, tmp_path) as cloud:
            assert write_and_count(cloud, sk) == number


def test_a_secret_that_is_given_wins_over_the_saved_one(template: dict[str, Any], stack: Path, tmp_path: Path) -> None:
    for value in ("first", "second"):
        with Cloud(template, stack, tmp_path, secrets={"A key for the tests": {"signing": value}}) as cloud:
            found = cloud.client("secretsmanager").get_secret_value(SecretId=cloud.secret())["SecretString"]
            assert json.loads(found) == {"signing": value}
            assert value not in "".join(cloud.function_logs(name) for name in ("Probe", "Plan", "Indexer"))


def test_a_generated_secret_follows_its_template(template: dict[str, Any], stack: Path) -> None:
    with Cloud(template, stack) as cloud:
        found = cloud.client("secretsmanager").get_secret_value(SecretId=cloud.secret())["SecretString"]
    value = json.loads(found)
    assert value["token"] == ""
    assert len(value["signing"]) == 48


def test_a_taken_port_is_an_error_that_leaves_nothing_behind(template: dict[str, Any], stack: Path) -> None:
    before = dict(os.environ)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        Cloud(template, stack, port=taken.getsockname()[1]).start()
    assert dict(os.environ) == before


def test_a_second_cloud_in_the_process_is_refused_and_the_first_goes_on(template: dict[str, Any], stack: Path) -> None:
    with Cloud(template, stack) as cloud:
        with pytest.raises(RuntimeError, match="already runs"):
            Cloud(template, stack).start()
        assert cloud.invoke("Probe", {"still": "here"}) == {"still": "here"}


def test_an_invalid_state_machine_is_an_error_at_start(template: dict[str, Any], stack: Path) -> None:
    wrong = copy.deepcopy(template)
    machine = wrong["Resources"]["Machine00000017"]["Properties"]
    machine["DefinitionString"] = machine["DefinitionString"].replace('"IntervalSeconds"', '"IntervalSecond"')
    with pytest.raises(TemplateError, match="IntervalSecond"):
        Cloud(wrong, stack).start()


def test_a_queue_that_shows_its_messages_before_the_function_is_done_is_refused(
    template: dict[str, Any], stack: Path
) -> None:
    wrong = copy.deepcopy(template)
    wrong["Resources"]["Queue0000000B"]["Properties"]["VisibilityTimeout"] = 1
    with pytest.raises(TemplateError, match="AWS refuses"):
        Cloud(wrong, stack).start()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"Enrichment": "arn:aws:lambda:us-east-1:123456789012:function:x"}, "Enrichment"),
        ({"Target": {"Fn::GetAtt": ["Machine00000017", "Arn"]}}, "to a queue of this template"),
        ({"Source": {"Fn::GetAtt": ["Items0000000D", "Arn"]}}, "the stream of a table"),
        ({"TargetParameters": {"InputTemplate": "<$.eventName>"}}, "ToldPipe0000001F"),
        ({"SourceParameters": {"DynamoDBStreamParameters": {"MaximumRetryAttempts": 3}}}, "MaximumRetryAttempts"),
    ],
)
def test_a_pipe_that_the_laptop_cannot_be_is_refused(
    template: dict[str, Any], stack: Path, change: dict[str, Any], sentence: str
) -> None:
    wrong = copy.deepcopy(template)
    wrong["Resources"]["ToldPipe0000001F"]["Properties"].update(change)
    with pytest.raises(TemplateError, match=sentence):
        Cloud(wrong, stack).start()


def test_the_committed_template_is_accepted_whole() -> None:
    template = json.loads((ROOT / "packages" / "commonplace_local" / "template.json").read_text())
    with Cloud(template, ROOT) as cloud:
        functions = cloud.client("lambda")
        assert functions.meta.endpoint_url == cloud.endpoint_url
        assert cloud.machine("Sync").endswith(":stateMachine:commonplace-dev-sync")
        assert len({cloud.table("activity"), cloud.table("cache"), cloud.table("records")}) == 3
        assert len(cloud.queue_urls) == 3
        assert cloud.queue_url("IndexRecordsQueue") in cloud.queue_urls
        assert all(url.startswith(cloud.endpoint_url) for url in cloud.queue_urls)
        cloud.client("s3").head_bucket(Bucket=cloud.bucket)
        for name, keys in {"SecretsGithub": {"token", "webhookSecret"}, "SecretsGithubWriter": {"token"}}.items():
            found = cloud.client("secretsmanager").get_secret_value(SecretId=cloud.secret(name))["SecretString"]
            assert set(json.loads(found)) == keys
