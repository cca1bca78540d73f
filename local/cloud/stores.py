"""Builders of what holds something: buckets, queues, tables, secrets. Each is made through its service's own API."""

import json
import secrets
import string
from collections.abc import Callable, Mapping
from typing import Any

from local.cloud.environment import ACCOUNT, REGION
from local.cloud.parts import Parts, refuse
from local.cloud.template import Attributes, Stack, stem


class Stores:
    """`secret_values` are what this start gives, by logical id, its stem, or description."""

    def __init__(self, client: Callable[[str], Any], secret_values: Mapping[str, Mapping[str, Any]]) -> None:
        self.parts = Parts()
        self.given_secrets: set[str] = set()  # logical ids whose value this start gave
        self._client, self._secret_values = client, secret_values
        self._unused = set(secret_values)
        self._visibility_seconds: dict[str, int] = {}  # by queue ARN

    @property
    def unused_secrets(self) -> list[str]:
        """Names of given values that no secret of the template answers to."""
        return sorted(self._unused)

    def bucket(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        name = given.get("BucketName", f"commonplace-{stem(logical_id).lower()}")
        s3 = self._client("s3")
        s3.create_bucket(Bucket=name)
        if given.get("VersioningConfiguration"):
            s3.put_bucket_versioning(Bucket=name, VersioningConfiguration=given["VersioningConfiguration"])
        if given.get("NotificationConfiguration"):
            self.parts.notifications[name] = _notifications(logical_id, given["NotificationConfiguration"])
        self.parts.buckets[logical_id] = name
        return {"Ref": name, "Arn": f"arn:aws:s3:::{name}"}

    def queue(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "FifoQueue", "DelaySeconds")
        name = given.pop("QueueName", stem(logical_id))
        given.pop("Tags", None)
        url = self._client("sqs").create_queue(QueueName=name, Attributes={k: _text(v) for k, v in given.items()})
        arn = f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"
        self.parts.queues[logical_id] = url["QueueUrl"]
        self._visibility_seconds[arn] = int(given.get("VisibilityTimeout", 30))
        return {"Ref": url["QueueUrl"], "QueueUrl": url["QueueUrl"], "Arn": arn, "QueueName": name}

    def table(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        refuse(logical_id, given, "LocalSecondaryIndexes")
        name = given.get("TableName", stem(logical_id))
        indexes = [
            {part: index[part] for part in ("IndexName", "KeySchema", "Projection")}
            for index in given.get("GlobalSecondaryIndexes", [])
        ]
        dynamodb = self._client("dynamodb")
        stream = given.get("StreamSpecification")
        made = dynamodb.create_table(
            TableName=name,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=given["KeySchema"],
            AttributeDefinitions=given["AttributeDefinitions"],
            **({"GlobalSecondaryIndexes": indexes} if indexes else {}),
            **({"StreamSpecification": {"StreamEnabled": True, **stream}} if stream else {}),
        )["TableDescription"]
        if expiry := given.get("TimeToLiveSpecification"):
            dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=expiry)
        self.parts.tables[logical_id] = name
        told = {"StreamArn": made["LatestStreamArn"]} if stream else {}
        return {"Ref": name, "Arn": f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}", **told}

    def secret(self, stack: Stack, logical_id: str, properties: dict[str, Any]) -> Attributes:
        given = stack.value(properties)
        names = {logical_id, stem(logical_id), given.get("Description", "")}
        known = next((name for name in self._secret_values if name in names), None)
        if known is not None:
            self._unused.discard(known)
            self.given_secrets.add(logical_id)
        value = json.dumps(dict(self._secret_values[known])) if known is not None else _generated(given)
        made = self._client("secretsmanager").create_secret(
            Name=given.get("Name", stem(logical_id)), SecretString=value
        )
        self.parts.secrets[logical_id] = made["ARN"]
        return {"Ref": made["ARN"], "Id": made["ARN"]}


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _notifications(logical_id: str, given: dict[str, Any]) -> dict[str, Any]:
    """From the shape of CloudFormation to that of `PutBucketNotificationConfiguration`."""
    refuse(logical_id, given, "LambdaConfigurations", "TopicConfigurations", "EventBridgeConfiguration")
    return {
        "QueueConfigurations": [
            {
                "Id": f"{stem(logical_id)}-{index}",
                "QueueArn": entry["Queue"],
                "Events": [entry["Event"]],
                "Filter": {"Key": {"FilterRules": entry.get("Filter", {}).get("S3Key", {}).get("Rules", [])}},
            }
            for index, entry in enumerate(given.get("QueueConfigurations", []))
        ]
    }


def _generated(given: Mapping[str, Any]) -> str:
    """The value that `GenerateSecretString` asks for, from letters and digits."""
    asked = given.get("GenerateSecretString")
    if asked is None:
        return str(given.get("SecretString", "{}"))
    alphabet = string.ascii_letters + string.digits
    word = "".join(secrets.choice(alphabet) for _ in range(int(asked.get("PasswordLength", 32))))
    if "GenerateStringKey" not in asked:
        return word
    return json.dumps({**json.loads(asked.get("SecretStringTemplate", "{}")), asked["GenerateStringKey"]: word})
