"""The two functions of the state machine: one plans, one works on an item."""

import json
import os
from typing import Any

import boto3

s3 = boto3.client("s3")
table = boto3.resource("dynamodb").Table(os.environ["TABLE"])


class TryAgain(Exception):
    pass


def plan(event: dict[str, Any], context: Any) -> dict[str, Any]:
    if "results" in event:
        return {"finished": True}
    s3.put_object(Bucket=os.environ["BUCKET"], Key=f"plans/{event['run']}.json", Body=json.dumps(event["items"]))
    return {"bucket": os.environ["BUCKET"], "key": f"plans/{event['run']}.json"}


def work(event: dict[str, Any], context: Any) -> dict[str, Any]:
    tries = table.update_item(
        Key={"pk": event["run"], "sk": event["item"]["name"]},
        UpdateExpression="ADD tries :one",
        ExpressionAttributeValues={":one": 1},
        ReturnValues="UPDATED_NEW",
    )["Attributes"]["tries"]
    if tries <= event["item"]["failures"]:
        raise TryAgain(f"try {tries}")
    return {"ok": True}
