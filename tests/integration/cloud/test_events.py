"""What happens by itself: object events, poison, schedules, state machines, and waiting for rest."""

import json
from typing import Any

import pytest
from boto3.dynamodb.types import TypeDeserializer

from commonplace_local.cloud import moto_view
from commonplace_local.cloud.cloud import Cloud

from .waiting import until

pytestmark = pytest.mark.laptop


def items(cloud: Cloud, key: str) -> list[dict[str, Any]]:
    answer = cloud.client("dynamodb").query(
        TableName=cloud.table("Items"),
        KeyConditionExpression="pk = :key",
        ExpressionAttributeValues={":key": {"S": key}},
    )
    read = TypeDeserializer().deserialize
    return [{name: read(value) for name, value in item.items()} for item in answer["Items"]]


def test_an_object_below_the_prefix_reaches_the_function(cloud: Cloud) -> None:
    cloud.client("s3").put_object(Bucket=cloud.bucket, Key="content/a b+ü.json", Body=b"{}")
    cloud.client("s3").put_object(Bucket=cloud.bucket, Key="elsewhere/a.json", Body=b"{}")
    cloud.wait_idle()
    (found,) = items(cloud, "content/a b+ü.json")
    assert found["event"] == "ObjectCreated:Put"
    assert found["version"]
    assert items(cloud, "elsewhere/a.json") == []


def test_a_delete_in_the_versioned_bucket_is_announced_after_the_write(cloud: Cloud) -> None:
    s3 = cloud.client("s3")
    s3.put_object(Bucket=cloud.bucket, Key="content/gone.json", Body=b"{}")
    s3.delete_object(Bucket=cloud.bucket, Key="content/gone.json")
    s3.delete_object(Bucket=cloud.bucket, Key="content/never.json")
    cloud.wait_idle()
    events = [item["event"] for item in items(cloud, "content/gone.json")]  # sorted by sequencer
    assert events == ["ObjectCreated:Put", "ObjectRemoved:DeleteMarkerCreated"]
    assert items(cloud, "content/never.json") == []


def test_a_burst_arrives_in_batches_larger_than_one_receive(cloud: Cloud) -> None:
    keys = [f"content/burst-{number}.json" for number in range(30)]
    for key in keys:
        cloud.client("s3").put_object(Bucket=cloud.bucket, Key=key, Body=b"{}")
    cloud.wait_idle()
    found = [item for key in keys for item in items(cloud, key)]
    assert len(found) == 30
    assert max(item["batch"] for item in found) > 10


def test_poison_reaches_the_dead_letters_and_its_batch_does_not(cloud: Cloud) -> None:
    for key in ("content/poison.json", "content/healthy.json"):
        cloud.client("s3").put_object(Bucket=cloud.bucket, Key=key, Body=b"{}")
    sqs = cloud.client("sqs")
    dead = sqs.get_queue_url(QueueName="DeadLetters")["QueueUrl"]
    (letter,) = until(lambda: sqs.receive_message(QueueUrl=dead, WaitTimeSeconds=1).get("Messages"))
    assert "poison" in letter["Body"]
    cloud.wait_idle()
    assert len(items(cloud, "content/healthy.json")) == 1


def test_a_call_that_nobody_waits_for_is_made_again_and_its_failure_is_set_aside(cloud: Cloud) -> None:
    payload = json.dumps({"do": "raise", "why": "no"})
    cloud.client("lambda").invoke(
        FunctionName="synthetic-probe", Qualifier="live", InvocationType="Event", Payload=payload
    )
    sqs = cloud.client("sqs")
    failures = sqs.get_queue_url(QueueName="Failures")["QueueUrl"]
    (message,) = until(lambda: sqs.receive_message(QueueUrl=failures, WaitTimeSeconds=1).get("Messages"))
    record = json.loads(message["Body"])
    assert record["requestPayload"] == json.loads(payload)
    assert record["requestContext"]["functionArn"].endswith(":function:synthetic-probe:live")
    assert (record["requestContext"]["condition"], record["requestContext"]["approximateInvokeCount"]) == (
        "RetriesExhausted",
        2,
    )
    assert record["responsePayload"]["errorMessage"] == "no"


def test_a_long_poll_ends_when_a_message_comes(cloud: Cloud) -> None:
    sqs = cloud.client("sqs")
    queue = sqs.create_queue(QueueName="other")["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="late", DelaySeconds=1)
    assert [m["Body"] for m in sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=20)["Messages"]] == ["late"]


def test_a_message_that_its_receiver_puts_off_is_no_work_until_it_is_received_again(cloud: Cloud) -> None:
    sqs = cloud.client("sqs")
    queue = sqs.create_queue(QueueName="later")["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="later")
    counted = [moto_view.messages("later")]
    receipt = sqs.receive_message(QueueUrl=queue, VisibilityTimeout=60)["Messages"][0]["ReceiptHandle"]
    counted.append(moto_view.messages("later"))
    for seconds in (600, 0):
        sqs.change_message_visibility(QueueUrl=queue, ReceiptHandle=receipt, VisibilityTimeout=seconds)
        counted.append(moto_view.messages("later"))
    assert counted == [1, 1, 0, 1]


def test_a_schedule_fires_on_demand_with_the_event_of_eventbridge(cloud: Cloud) -> None:
    cloud.fire("Nightly")
    cloud.wait_idle()
    (found,) = items(cloud, "schedule")
    assert found["sk"].endswith(":rule/NightlyRule")
    assert found["detail"] == "Scheduled Event"


def test_the_state_machine_retries_and_goes_on_without_a_lost_child(cloud: Cloud) -> None:
    machine = cloud.client("stepfunctions")
    work = [{"name": "good", "failures": 0}, {"name": "late", "failures": 2}, {"name": "lost", "failures": 99}]
    run = machine.start_execution(
        stateMachineArn=cloud.machine(), name="first", input=json.dumps({"run": "first", "items": work})
    )
    cloud.wait_idle()
    done = machine.describe_execution(executionArn=run["executionArn"])
    assert done["status"] == "SUCCEEDED"
    assert json.loads(done["output"])["results"] == [
        {"ok": True},
        {"ok": True},
        {"ok": False, "name": "lost", "error": "TryAgain"},
    ]
    assert {item["sk"]: item["tries"] for item in items(cloud, "first")} == {"good": 1, "late": 3, "lost": 4}


def test_a_failed_execution_is_known_by_the_name_of_its_error(cloud: Cloud) -> None:
    machine = cloud.client("stepfunctions")
    machine.start_execution(stateMachineArn=cloud.machine(), name="unplanned", input='{"run": "unplanned"}')
    cloud.wait_idle()
    assert cloud.failed_executions == {"unplanned": "KeyError"}


def test_waiting_for_rest_says_what_is_busy(cloud: Cloud) -> None:
    cloud.client("lambda").invoke(FunctionName="synthetic-probe", InvocationType="Event", Payload=b'{"do": "loop"}')
    with pytest.raises(TimeoutError, match="function synthetic-probe"):
        cloud.wait_idle(timeout=0.2)
    cloud.wait_idle()
