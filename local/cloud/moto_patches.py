"""Where moto 5.2.5 differs from AWS in a way that would be noticed: events of deletions, their order, rotated secrets,
and how long transactions take.

* A delete in a versioned bucket puts a marker over the object and announces it; moto says nothing.
* Every event carries a `sequencer` that grows, and in a versioned bucket the version.
* Every answer lets pages of every origin read it. Nothing does here.
* The interpreter of Step Functions calls back with a key of its own, which is nobody's here.
* A secret is read by the stage `AWSCURRENT`; moto goes on giving out the version that was current at first.
* A transaction copies whole tables (`moto_transactions.py`), and a queue goes through all of its messages for each of
  them (`moto_queues.py`). A query sorts the whole table (`moto_queries.py`), and every value of an item is looked for
  in ten places before it is sent (`moto_answers.py`).

Transactions of moto 5.2.5 without a copy of every table that they touch.

moto copies whole tables before each transaction, in case it fails: with some thousand items in a table, a transaction
takes a second. Here only the items that are written are kept, and put back when it fails.

Queries of moto 5.2.5 that look at one partition.

moto sorts every item of the table for each page of a query, and then leaves out those of other partitions: with some
thousand items a query takes seconds. Here it is shown only the items of the partition that it is asked for.

Answers of moto 5.2.5 that hold many values of items.

moto looks for each of the ten forms that a value of DynamoDB can have, under several names each, before it writes one:
with items of some dozen fields that is most of its time. Texts, numbers, truth values and lists of them are written as
they stand.

Queues of moto 5.2.5 that may hold some thousand messages.

moto asks for the time anew for each message that it looks at, and looks at all of them, several times over, for each
one that is sent or received: with a thousand messages waiting, everything else waits for it, too. Here the time is
asked for once, and the attributes of a queue are read once for an answer.

Streams of moto 5.2.5 that forget what was read.

moto keeps every change of a table for ever. A stream here has one reader, its pipe, which asks for where it wants to go
on: what lies before that has been read. AWS forgets after a day.

Which items of moto's tables were written since somebody asked: so a save need not read all the others again.

Noted where moto 5.2.5 writes: `Table.put_item`, `Table.delete_item`, `DynamoDBBackend.update_item`. An item that was
written back as it was, as after a transaction that failed, counts as written.
"""

import copy
import importlib
import itertools
import json
import os
import sys
import threading
import time
import types
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import boto3

MOTO_VERSION = "5.2.5"


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
    clients: Any = importlib.import_module("moto.stepfunctions.parser.asl.utils.boto_client")
    clients.boto3 = types.SimpleNamespace(client=_client_of_the_run)


def _client_of_the_run(**options: Any) -> Any:
    """As `boto3.client`, with the access key of the cloud that runs now."""
    return boto3.client(**options | {"aws_access_key_id": os.environ["AWS_ACCESS_KEY_ID"]})


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
    patch_transactions()
    patch_queues()
    patch_answers()
    patch_queries()
    patch_writes()
    patch_streams()
    ticks = itertools.count(int(time.time()) << 24)
    plain_event, plain_delete = notifications._get_s3_event, S3Backend.delete_object
    plain_stage = SecretsManagerBackend.update_secret_version_stage

    def event(event_name: str, bucket: Any, key: Any, notification_id: str) -> dict[str, list[dict[str, Any]]]:
        message = plain_event(event_name, bucket, key, notification_id)
        version = {"versionId": key.version_id} if bucket.is_versioned else {}
        message["Records"][0]["s3"]["object"] |= {"sequencer": f"{next(ticks):018X}", **version}
        return message

    def delete_object(
        self: S3Backend, bucket_name: str, key_name: str, version_id: str | None = None, bypass: bool = False
    ) -> Any:
        bucket = self.get_bucket(bucket_name)
        before = bucket.keys.get(key_name)
        done = plain_delete(self, bucket_name, key_name, version_id, bypass)
        if bucket.is_versioned and version_id is None and hasattr(before, "etag"):  # a marker has none
            name = notifications.S3NotificationEvent.OBJECT_REMOVED_DELETE_MARKER_CREATED_EVENT
            notifications.send_event(self.account_id, name, bucket, before)
        return done

    def update_secret_version_stage(
        self: SecretsManagerBackend,
        secret_id: str,
        version_stage: str,
        remove_from_version_id: str,
        move_to_version_id: str,
    ) -> tuple[str, str]:
        done = plain_stage(self, secret_id, version_stage, remove_from_version_id, move_to_version_id)
        if version_stage == "AWSCURRENT" and move_to_version_id:
            self.secrets[secret_id].set_default_version_id(move_to_version_id)  # type: ignore[union-attr]
        return done

    werkzeug_app.DISABLE_GLOBAL_CORS = True  # type: ignore[attr-defined]
    SecretsManagerBackend.update_secret_version_stage = update_secret_version_stage  # type: ignore[method-assign]
    notifications._get_s3_event = event
    S3Backend.delete_object = delete_object  # type: ignore[method-assign]


class _Before(NamedTuple):
    """An item as it was before a transaction; None for one that was not there."""

    table: Any
    hash_key: Any
    range_key: Any
    item: Any

    def restore(self) -> None:
        if self.item is not None:
            self.table.items[self.hash_key][self.range_key] = self.item
        else:
            self.table.items[self.hash_key].pop(self.range_key, None)


class _Copying:
    """What moto's module of tables knows as `copy`: tables are not copied."""

    @staticmethod
    def deepcopy(value: Any) -> Any:
        from moto.dynamodb.models.table import Table

        return value if isinstance(value, Table) else copy.deepcopy(value)


@cache
def patch_transactions() -> None:
    """Patch moto, once in this process. For tables with two keys, as all of ours are."""
    from moto.dynamodb import models

    plain = models.DynamoDBBackend.transact_write_items

    def transact_write_items(self: Any, transact_items: list[dict[str, Any]]) -> None:
        tables = {table.name: table for _, table, _ in _written(self, transact_items)}
        if any(table.range_key_attr is None for table in tables.values()):
            raise NotImplementedError("a transaction on a table without a sort key")
        before = [_before(table, key) for _, table, key in _written(self, transact_items)]
        told = {name: len(table.stream_shard.items) for name, table in tables.items() if table.stream_shard}
        try:
            plain(self, transact_items)
        except BaseException:
            for one in before:
                one.restore()
            for name, length in told.items():
                del tables[name].stream_shard.items[length:]
            raise

    vars(models)["copy"] = _Copying
    models.DynamoDBBackend.transact_write_items = transact_write_items  # type: ignore[method-assign]


def _written(backend: Any, transact_items: list[dict[str, Any]]) -> list[tuple[str, Any, dict[str, Any]]]:
    """Kind, table and key of each part that moto will find a table for."""
    parts = [part for item in transact_items for part in item.items()]
    found = [(kind, backend.tables.get(told.get("TableName")), told) for kind, told in parts]
    return [(kind, table, told["Item" if kind == "Put" else "Key"]) for kind, table, told in found if table is not None]


def _before(table: Any, key: dict[str, Any]) -> _Before:
    from moto.dynamodb.models.dynamo_type import DynamoType

    hash_key, range_key = DynamoType(key[table.hash_key_attr]), DynamoType(key[table.range_key_attr])
    return _Before(table, hash_key, range_key, copy.deepcopy(table.get_item(hash_key, range_key)))


INDEX_NAME = 6
"""Its place among the arguments behind the hash key."""


@cache
def patch_queries() -> None:
    """Patch moto, once in this process. Queries of an index, and scans, are as they were."""
    from moto.dynamodb.models.table import Table

    plain = Table.query

    def query(self: Any, hash_key: Any, *given: Any, **named: Any) -> Any:
        index = given[INDEX_NAME] if len(given) > INDEX_NAME else named.get("index_name")
        if index is not None or self.range_key_attr is None:
            return plain(self, hash_key, *given, **named)
        partition = copy.copy(self)
        partition.all_items = lambda: list(self.items.get(hash_key, {}).values())
        return plain(partition, hash_key, *given, **named)

    table: Any = Table
    table.query = query


_PLAIN = {"S": str, "N": str, "BOOL": bool}


@cache
def patch_answers() -> None:
    """Patch moto, once in this process."""
    from moto.core.serialize import BaseJSONSerializer

    plain = BaseJSONSerializer._serialize_type_structure

    def serialize(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if key and shape.name == "AttributeValue" and is_plain(value):
            self._default_serialize(serialized, dict(value), shape, key)
        else:
            plain(self, serialized, value, shape, key)

    serializer: Any = BaseJSONSerializer
    serializer._serialize_type_structure = serialize


def is_plain(value: Any) -> bool:
    """Whether the value is a text, a number, a truth value or a list of them, in the form that it is sent in."""
    if type(value) is not dict or len(value) != 1:
        return False
    ((kind, held),) = value.items()
    if kind == "L":
        return type(held) is list and all(is_plain(one) for one in held)
    return kind in _PLAIN and type(held) is _PLAIN[kind]


@cache
def patch_queues() -> None:
    """Patch moto, once in this process."""
    from moto.core.utils import unix_time, unix_time_millis
    from moto.sqs.models import Queue, SQSBackend

    plain_attributes = SQSBackend.get_queue_attributes

    def messages(self: Queue) -> list[Any]:
        now = unix_time_millis()
        return [one for one in self._messages if now > one.visible_at and now >= one.delayed_until]

    def delayed(self: Queue) -> int:
        now = unix_time_millis()
        return sum(now < one.delayed_until for one in self._messages)

    def not_visible(self: Queue) -> int:
        now = unix_time_millis()
        return sum(now <= one.visible_at for one in self._messages)

    def get_queue_attributes(self: SQSBackend, queue_name: str, attribute_names: list[str]) -> dict[str, Any]:
        if not attribute_names or "All" in attribute_names:
            return plain_attributes(self, queue_name, attribute_names)
        plain_attributes(self, queue_name, [])  # raises where there is no such queue
        attributes = self.get_queue(queue_name).attributes
        known = {name: attributes[name] for name in attribute_names if attributes.get(name) is not None}
        missing = [name for name in attribute_names if name not in known]
        return known | (plain_attributes(self, queue_name, missing) if missing else {})

    def is_kept(self: SQSBackend, queue_name: str, message: Any) -> bool:
        kept: Any = self.get_queue(queue_name).message_retention_period  # type: ignore[attr-defined]
        return bool(kept + message.sent_timestamp / 1000 > unix_time())

    patched: Any = Queue
    patched.messages = property(messages)
    patched.approximate_number_of_messages_delayed = property(delayed)
    patched.approximate_number_of_messages_not_visible = property(not_visible)
    backend: Any = SQSBackend
    backend.get_queue_attributes = get_queue_attributes
    backend.is_message_valid_based_on_retention_period = is_kept


@cache
def patch_streams() -> None:
    """Patch moto, once in this process."""
    from moto.dynamodbstreams.models import DynamoDBStreamsBackend

    plain = DynamoDBStreamsBackend.get_shard_iterator

    def get_shard_iterator(
        self: Any, arn: str, shard_id: str, shard_iterator_type: str, sequence_number: Any = None
    ) -> Any:
        shard = self._get_table_from_arn(arn).stream_shard
        if shard_iterator_type == "AT_SEQUENCE_NUMBER":
            read = int(sequence_number) - shard.starting_sequence_number
            # Raised first: whoever looks in between takes the stream for longer than it is, and looks again.
            shard.starting_sequence_number += read
            del shard.items[:read]
        self.shard_iterators.clear()  # those of former reads
        return plain(self, arn, shard_id, shard_iterator_type, sequence_number)

    DynamoDBStreamsBackend.get_shard_iterator = get_shard_iterator  # type: ignore[method-assign]


Key = dict[str, Any]

_lock = threading.Lock()
_changed: dict[str, dict[str, Key]] = {}


@cache
def patch_writes() -> None:
    """Patch moto, once in this process."""
    from moto.dynamodb.models import DynamoDBBackend
    from moto.dynamodb.models.table import Table

    plain_put, plain_delete, plain_update = Table.put_item, Table.delete_item, DynamoDBBackend.update_item

    def put_item(self: Any, item_attrs: Any, *rest: Any, **named: Any) -> Any:
        try:
            return plain_put(self, item_attrs, *rest, **named)
        finally:
            note_writes(self.name, {name: item_attrs[name] for name in _names(self) if name in item_attrs})

    def delete_item(self: Any, hash_key: Any, range_key: Any) -> Any:
        try:
            return plain_delete(self, hash_key, range_key)
        finally:
            values = [value.to_json() for value in (hash_key, range_key) if value is not None]
            note_writes(self.name, dict(zip(_names(self), values, strict=True)))

    def update_item(self: Any, table_name: str, key: Key, *rest: Any, **named: Any) -> Any:
        try:
            return plain_update(self, table_name, key, *rest, **named)
        finally:
            note_writes(self.get_table(table_name).name, key)

    Table.put_item = put_item  # type: ignore[method-assign]
    Table.delete_item = delete_item  # type: ignore[method-assign]
    DynamoDBBackend.update_item = update_item  # type: ignore[method-assign]


def note_writes(table: str, *keys: Key) -> None:
    """A table's name, and keys as DynamoDB writes them."""
    with _lock:
        _changed.setdefault(table, {}).update({key_text(key): key for key in keys})


def take_writes(table: str) -> list[Key]:
    """The keys that were written since this was asked last. They are noted after the write: who reads now, reads it."""
    with _lock:
        return list(_changed.pop(table, {}).values())


def key_text(key: Key) -> str:
    """A key as text, the same for equal ones."""
    return json.dumps(key, sort_keys=True)


def forget_writes() -> None:
    with _lock:
        _changed.clear()


def _names(table: Any) -> list[str]:
    return [name for name in (table.hash_key_attr, table.range_key_attr) if name is not None]
