"""Notes every S3 event and every changed item it hears of; keys of objects that contain "poison" fail alone."""

import json
import os
from typing import Any
from urllib.parse import unquote_plus

import boto3

table = boto3.resource("dynamodb").Table(os.environ["TABLE"])


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    if event.get("source") == "aws.events":
        table.put_item(Item={"pk": "schedule", "sk": event["resources"][0], "detail": event["detail-type"]})
        return {}
    failures = []
    for message in event["Records"]:
        told = json.loads(message["body"])
        if "pk" in told:
            table.put_item(Item={"pk": f"told {told['pk']} {told['sk']}", "sk": message["messageId"], "body": told})
        for record in told.get("Records", []):
            key = unquote_plus(record["s3"]["object"]["key"])
            if "poison" in key:
                failures.append({"itemIdentifier": message["messageId"]})
                continue
            found = record["s3"]["object"]
            item = {"pk": key, "sk": found["sequencer"], "event": record["eventName"], "batch": len(event["Records"])}
            table.put_item(Item=item | {"version": found.get("versionId", "")})
    return {"batchItemFailures": failures}
