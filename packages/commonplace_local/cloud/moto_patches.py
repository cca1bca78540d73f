"""Patches of moto 5.2.5, where it differs from AWS or takes seconds with some thousand items.

* A delete in a versioned bucket puts a marker over the object and announces it; moto says nothing.
* Every event carries a `sequencer` that grows, and in a versioned bucket the version.
* Answers of moto let pages of every origin read them; here none do.
* The interpreter of Step Functions calls back with a key of its own, which is replaced by ours.
* A secret is read by the stage `AWSCURRENT`; moto goes on returning the version that was current at first.
* Transactions, queries, values of items, queues, and what was written: see each `patch_`.
"""

import copy
import importlib
import itertools
import os
import sys
import time
import types
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import boto3

from commonplace_local.cloud.environment import ACCOUNT, REGION

MOTO_VERSION = "5.2.5"

_PLAIN = {"S": str, "N": str, "BOOL": bool}
_writes: "Writes | None" = None


def _replaces(owner: Any, name: str) -> Callable[[Callable[..., Any]], None]:
    """Puts a function in the place of an attribute; it is given what was there before, then the arguments."""

    def replace(function: Callable[..., Any]) -> None:
        plain = getattr(owner, name)
        setattr(owner, name, lambda *given, **named: function(plain, *given, **named))

    return replace


def import_interpreter() -> None:
    """Import the interpreter of Step Functions without the data of EC2.

    It wants one enum of Batch, whose package imports EC2 with every instance type and region there is: two thirds of
    the time until a cloud is up. An empty package in its place lets the module of the enum load alone.
    """
    import moto

    if "moto.batch" not in sys.modules:
        package = types.ModuleType("moto.batch")
        package.__path__ = [str(Path(moto.__path__[0]) / "batch")]
        sys.modules["moto.batch"] = package
    importlib.import_module("moto.stepfunctions.parser.models")

    def client(**options: Any) -> Any:
        """As `boto3.client`, with the access key of the cloud that runs now."""
        return boto3.client(**options | {"aws_access_key_id": os.environ["AWS_ACCESS_KEY_ID"]})

    clients: Any = importlib.import_module("moto.stepfunctions.parser.asl.utils.boto_client")
    clients.boto3 = types.SimpleNamespace(client=client)


@cache
def apply() -> None:
    """Patch moto, once in this process. Raises when it is not the version that these patches were read from."""
    import moto
    from moto.moto_server import werkzeug_app
    from moto.s3 import notifications
    from moto.s3.models import S3Backend
    from moto.secretsmanager.models import SecretsManagerBackend

    if moto.__version__ != MOTO_VERSION:
        raise RuntimeError(
            f"The laptop cloud patches moto {MOTO_VERSION}, this is {moto.__version__}: "
            "read s3/notifications.py, S3Backend.delete_object, SecretsManagerBackend.update_secret_version_stage and "
            "DynamoDBBackend.transact_write_items again before raising the version."
        )
    for patch in (patch_tables, patch_queues, patch_writes):
        patch()
    vars(werkzeug_app)["DISABLE_GLOBAL_CORS"] = True
    ticks = itertools.count(int(time.time()) << 24)

    @_replaces(notifications, "_get_s3_event")
    def event(plain: Any, event_name: str, bucket: Any, key: Any, notification_id: str) -> dict[str, Any]:
        message: dict[str, Any] = plain(event_name, bucket, key, notification_id)
        version = {"versionId": key.version_id} if bucket.is_versioned else {}
        message["Records"][0]["s3"]["object"] |= {"sequencer": f"{next(ticks):018X}", **version}
        return message

    @_replaces(S3Backend, "delete_object")
    def delete_object(plain: Any, self: Any, bucket_name: str, key_name: str, *given: Any, **named: Any) -> Any:
        version_id = given[0] if given else named.get("version_id")
        bucket = self.get_bucket(bucket_name)
        before = bucket.keys.get(key_name)
        done = plain(self, bucket_name, key_name, *given, **named)
        if bucket.is_versioned and version_id is None and hasattr(before, "etag"):  # a marker has none
            name = notifications.S3NotificationEvent.OBJECT_REMOVED_DELETE_MARKER_CREATED_EVENT
            notifications.send_event(self.account_id, name, bucket, before)
        return done

    @_replaces(SecretsManagerBackend, "update_secret_version_stage")
    def update_secret_version_stage(plain: Any, self: Any, **named: Any) -> Any:
        done = plain(self, **named)
        if named["version_stage"] == "AWSCURRENT" and named["move_to_version_id"]:
            self.secrets[named["secret_id"]].set_default_version_id(named["move_to_version_id"])
        return done


def patch_tables() -> None:
    """Every patch of tables but the notes of writes: for tests that use moto without a laptop cloud as well."""
    for patch in (patch_transactions, patch_queries, patch_answers):
        patch()


@cache
def patch_transactions() -> None:
    """Tables are not copied before each transaction, in case it fails: items that are written are kept and put back.

    For tables with two keys, as all of ours are.
    """
    from moto.dynamodb import models
    from moto.dynamodb.models.dynamo_type import DynamoType
    from moto.dynamodb.models.table import Table

    def deepcopy(value: Any) -> Any:
        return value if isinstance(value, Table) else copy.deepcopy(value)

    vars(models)["copy"] = types.SimpleNamespace(deepcopy=deepcopy)

    @_replaces(models.DynamoDBBackend, "transact_write_items")
    def transact_write_items(plain: Any, self: Any, transact_items: list[dict[str, Any]]) -> None:
        written = [
            (table, part["Item" if kind == "Put" else "Key"])
            for item in transact_items
            for kind, part in item.items()
            if (table := self.tables.get(part.get("TableName"))) is not None
        ]
        if any(table.range_key_attr is None for table, _ in written):
            raise NotImplementedError("a transaction on a table without a sort key")
        shards = [(table.stream_shard, len(table.stream_shard.items)) for table, _ in written if table.stream_shard]
        keys = [(table, *(DynamoType(key[name]) for name in _key_names(table))) for table, key in written]
        before = [copy.deepcopy(table.get_item(hash_key, range_key)) for table, hash_key, range_key in keys]
        try:
            plain(self, transact_items)
        except BaseException:
            for (table, hash_key, range_key), item in zip(keys, before, strict=True):
                if item is not None:
                    table.items[hash_key][range_key] = item
                else:
                    table.items[hash_key].pop(range_key, None)
            for shard, length in shards:
                del shard.items[length:]
            raise


@cache
def patch_queries() -> None:
    """A query looks at its partition alone; moto sorts every item of the table for each page.

    Queries of an index, and scans, are as they were.
    """
    from moto.dynamodb.models.table import Table

    @_replaces(Table, "query")
    def query(plain: Any, self: Any, hash_key: Any, *given: Any, **named: Any) -> Any:
        index = given[6] if len(given) > 6 else named.get("index_name")
        if index is not None or self.range_key_attr is None:
            return plain(self, hash_key, *given, **named)
        partition = copy.copy(self)
        partition.all_items = lambda: list(self.items.get(hash_key, {}).values())
        return plain(partition, hash_key, *given, **named)


@cache
def patch_answers() -> None:
    """Plain values of items are written as they stand; moto looks for ten forms under several names before each."""
    from moto.core.serialize import BaseJSONSerializer

    @_replaces(BaseJSONSerializer, "_serialize_type_structure")
    def serialize(plain: Any, self: Any, serialized: Any, value: Any, *called: Any) -> None:
        shape, key = called
        if key and shape.name == "AttributeValue" and is_plain(value):
            self._default_serialize(serialized, dict(value), shape, key)
        else:
            plain(self, serialized, value, *called)


def is_plain(value: Any) -> bool:
    """Whether the value is a text, number or truth value, or a list or map of them, in the form that it is sent in."""
    if type(value) is not dict or len(value) != 1:
        return False
    ((kind, held),) = value.items()
    if kind == "L":
        return type(held) is list and all(map(is_plain, held))
    if kind == "M":
        return type(held) is dict and all(map(is_plain, held.values()))
    return kind in _PLAIN and type(held) is _PLAIN[kind]


@cache
def patch_queues() -> None:
    """The time is read once, and the attributes of a queue are read once for an answer.

    moto asks anew for each message, and looks at all of them several times for each one that is sent or received. A
    message that its receiver puts off is marked `put_off` until somebody receives it again.
    """
    from moto.core.utils import unix_time, unix_time_millis
    from moto.sqs.models import Message, Queue, SQSBackend

    def messages(self: Any) -> list[Any]:
        now = unix_time_millis()
        return [one for one in self._messages if now > one.visible_at and now >= one.delayed_until]

    def delayed(self: Any) -> int:
        now = unix_time_millis()
        return sum(now < one.delayed_until for one in self._messages)

    def not_visible(self: Any) -> int:
        now = unix_time_millis()
        return sum(now <= one.visible_at for one in self._messages)

    patched: Any = Queue
    patched.messages = property(messages)
    patched.approximate_number_of_messages_delayed = property(delayed)
    patched.approximate_number_of_messages_not_visible = property(not_visible)

    @_replaces(SQSBackend, "change_message_visibility")
    def put_off(plain: Any, self: Any, queue_name: str, receipt_handle: str, visibility_timeout: int) -> None:
        plain(self, queue_name, receipt_handle, visibility_timeout)
        for message in self.get_queue(queue_name)._messages:
            if message.had_receipt_handle(receipt_handle):
                message.put_off = int(visibility_timeout) > 0

    @_replaces(Message, "mark_received")
    def receive(plain: Any, self: Any, visibility_timeout: int | None = None) -> None:
        self.put_off = False
        plain(self, visibility_timeout)

    @_replaces(SQSBackend, "get_queue_attributes")
    def get_queue_attributes(plain: Any, self: Any, queue_name: str, attribute_names: list[str]) -> dict[str, Any]:
        if not attribute_names or "All" in attribute_names:
            return dict(plain(self, queue_name, attribute_names))
        plain(self, queue_name, [])  # raises where there is no such queue
        attributes = self.get_queue(queue_name).attributes
        known = {name: attributes[name] for name in attribute_names if attributes.get(name) is not None}
        missing = [name for name in attribute_names if name not in known]
        return known | (plain(self, queue_name, missing) if missing else {})

    @_replaces(SQSBackend, "is_message_valid_based_on_retention_period")
    def is_kept(_plain: Any, self: Any, queue_name: str, message: Any) -> bool:
        kept = self.get_queue(queue_name).message_retention_period
        return bool(kept + message.sent_timestamp / 1000 > unix_time())


class Writes:
    """What was changed and has not been kept yet."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, Any, Any], Any] = {}
        """The table, by its name and both keys."""
        self.objects: set[tuple[str, str]] = set()
        """Bucket and key."""
        self.messages: dict[str, tuple[str, Any] | None] = {}
        """The queue's name and the message, by its id; None when it is gone."""
        self.secrets = False

    def __bool__(self) -> bool:
        return bool(self.items or self.objects or self.messages or self.secrets)

    def clear(self) -> None:
        self.items.clear()
        self.objects.clear()
        self.messages.clear()
        self.secrets = False


def watch(writes: Writes | None) -> None:
    """From now on every change is noted there, and before the request that made it is answered."""
    global _writes  # noqa: PLW0603  moto keeps its state for the process
    _writes = writes


@cache
def patch_writes() -> None:
    """Notes what is written. What was written back as it was, as after a transaction that failed, counts as written."""
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.dynamo_type import DynamoType
    from moto.dynamodb.models.table import Table
    from moto.s3.models import S3Backend
    from moto.secretsmanager.models import SecretsManagerBackend
    from moto.sqs.models import Queue

    def note_item(table: Any, key: Mapping[str, Any]) -> None:
        if _writes is not None:
            hash_key, range_key = [DynamoType(key[name]) for name in _key_names(table)]
            _writes.items[table.name, hash_key, range_key] = table

    @_replaces(Table, "put_item")
    def put_item(plain: Any, self: Any, item_attrs: Any, *rest: Any, **named: Any) -> Any:
        done = plain(self, item_attrs, *rest, **named)
        note_item(self, item_attrs)
        return done

    @_replaces(Table, "delete_item")
    def delete_item(plain: Any, self: Any, hash_key: Any, range_key: Any) -> Any:
        if _writes is not None:
            _writes.items[self.name, hash_key, range_key] = self
        return plain(self, hash_key, range_key)

    @_replaces(DynamoDBBackend, "update_item")
    def update_item(plain: Any, self: Any, table_name: str, key: Any, *rest: Any, **named: Any) -> Any:
        done = plain(self, table_name, key, *rest, **named)
        note_item(self.get_table(table_name), key)
        return done

    @_replaces(S3Backend, "put_object")  # copies and multipart uploads end here
    def put_object(plain: Any, self: Any, bucket_name: str, key_name: str, *rest: Any, **named: Any) -> Any:
        if _writes is not None:
            _writes.objects.add((bucket_name, key_name))
        return plain(self, bucket_name, key_name, *rest, **named)

    @_replaces(S3Backend, "delete_object")
    def delete_object(plain: Any, self: Any, bucket_name: str, key_name: str, *rest: Any, **named: Any) -> Any:
        if _writes is not None:
            _writes.objects.add((bucket_name, key_name))
        return plain(self, bucket_name, key_name, *rest, **named)

    @_replaces(Queue, "add_message")  # a redrive ends here as well
    def add_message(plain: Any, self: Any, message: Any) -> None:
        plain(self, message)
        if _writes is not None:
            _writes.messages[message.id] = (self.name, message)

    @_replaces(Queue, "delete_message")
    def delete_message(plain: Any, self: Any, receipt_handle: str) -> None:
        if _writes is not None:
            gone = (one.id for one in self._messages if one.had_receipt_handle(receipt_handle))
            _writes.messages |= dict.fromkeys(gone)
        plain(self, receipt_handle)

    for name in ("_add_secret", "update_secret_version_stage"):

        @_replaces(SecretsManagerBackend, name)
        def change_secret(plain: Any, self: Any, *given: Any, **named: Any) -> Any:
            if _writes is not None:
                _writes.secrets = True
            return plain(self, *given, **named)


def _key_names(table: Any) -> list[str]:
    return [name for name in (table.hash_key_attr, table.range_key_attr) if name is not None]


def take_changes(table: str) -> list[dict[str, Any]]:
    """What the stream of a table tells since the last call, in order. moto would keep it for ever."""
    from moto.dynamodb.models import dynamodb_backends

    shard: Any = dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard
    taken = [one.to_json() for one in shard.items]
    shard.starting_sequence_number += len(taken)
    shard.items.clear()
    return taken


def send_message(queue: str, body: str) -> None:
    from moto.sqs.models import sqs_backends

    sqs_backends[ACCOUNT][REGION].send_message(queue, body)
