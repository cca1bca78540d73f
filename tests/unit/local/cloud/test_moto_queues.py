"""Queues of the laptop cloud answer as they did before, and look at their messages once."""

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.sqs.models import sqs_backends

from commonplace_local.cloud import moto_patches

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

COUNTS = {
    "ApproximateNumberOfMessages": "Visible",
    "ApproximateNumberOfMessagesNotVisible": "InFlight",
    "ApproximateNumberOfMessagesDelayed": "Delayed",
}


@pytest.fixture
def sqs() -> "Iterator[SQSClient]":
    moto_patches.patch_queues()
    with mock_aws():
        client: Any = boto3.session.Session("1", "x", region_name="us-east-1").client("sqs")
        yield client


@pytest.fixture
def url(sqs: "SQSClient") -> str:
    return sqs.create_queue(QueueName="records", Attributes={"VisibilityTimeout": "720"})["QueueUrl"]


def counts(sqs: "SQSClient", url: str) -> list[int]:
    names: Any = list(COUNTS)
    told: Any = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return [int(told[name]) for name in names]


def test_messages_are_counted_as_they_wait_are_in_hand_and_are_delayed(sqs: "SQSClient", url: str) -> None:
    for number in range(4):
        sqs.send_message(QueueUrl=url, MessageBody=str(number))
    sqs.send_message(QueueUrl=url, MessageBody="later", DelaySeconds=900)
    assert counts(sqs, url) == [4, 0, 1]

    (first,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert (first["Body"], counts(sqs, url)) == ("0", [3, 1, 1])
    sqs.delete_message(QueueUrl=url, ReceiptHandle=first["ReceiptHandle"])
    assert counts(sqs, url) == [3, 0, 1]


def test_a_message_that_is_in_hand_is_not_handed_out_again_until_it_is_given_back(sqs: "SQSClient", url: str) -> None:
    sqs.send_message(QueueUrl=url, MessageBody="one")
    (held,) = sqs.receive_message(QueueUrl=url)["Messages"]
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=held["ReceiptHandle"], VisibilityTimeout=0)
    time_of_moto_is_no_longer_that_of_the_change()
    assert [each["Body"] for each in sqs.receive_message(QueueUrl=url)["Messages"]] == ["one"]


def time_of_moto_is_no_longer_that_of_the_change() -> None:
    """A message is visible after the moment that it was given back, and a clock may stand still for a while."""
    began = time.time()
    while time.time() - began < 0.002:
        pass


def test_a_message_that_is_older_than_the_queue_keeps_is_not_handed_out(sqs: "SQSClient", url: str) -> None:
    sqs.send_message(QueueUrl=url, MessageBody="old")
    queue: Any = sqs_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].queues["records"]
    queue._messages[0].sent_timestamp -= 5 * 24 * 3_600 * 1_000
    assert "Messages" not in sqs.receive_message(QueueUrl=url)


def test_other_attributes_are_read_as_before_and_unknown_ones_refused(sqs: "SQSClient", url: str) -> None:
    asked: Any = ["VisibilityTimeout", "Policy"]
    assert sqs.get_queue_attributes(QueueUrl=url, AttributeNames=asked)["Attributes"] == {"VisibilityTimeout": "720"}
    everything = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    assert everything["QueueArn"].endswith(":records")
    with pytest.raises(sqs.exceptions.InvalidAttributeName):
        sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["Magic"])  # type: ignore[list-item]


def test_a_thousand_messages_are_looked_at_once_for_each_answer(sqs: "SQSClient", url: str) -> None:
    queue: Any = sqs_backends[DEFAULT_ACCOUNT_ID]["us-east-1"].queues["records"]
    for number in range(100):
        entries: Any = [{"Id": str(place), "MessageBody": f"{number}-{place}"} for place in range(10)]
        sqs.send_message_batch(QueueUrl=url, Entries=entries)

    class Looked(list[Any]):
        times = 0

        def __iter__(self) -> Iterator[Any]:
            Looked.times += 1
            return super().__iter__()

    queue._messages = Looked(queue._messages)
    assert counts(sqs, url) == [1000, 0, 0]
    assert len(sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10)["Messages"]) == 10
    assert Looked.times <= 8
