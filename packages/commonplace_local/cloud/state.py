"""The state of a cloud, in one SQLite file that is written before the answer to whatever changed it leaves.

One request is one transaction of the file, with all that follows from it: the items of a transaction, an object and the
message that announces it, an item and what its stream sends on. So a process that is killed loses nothing that it has
acknowledged, and keeps nothing by halves. After a loss of power the last requests may be missing, and the file is whole
(https://www.sqlite.org/pragma.html#pragma_synchronous). Everything is kept by role (the logical id without its hash),
so that a moved construct does not orphan it. Not kept: old versions of objects, how often a message was received,
executions and asynchronous calls.

What is deleted is overwritten, and the log that still has it is emptied before the answer leaves.
"""

import base64
import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from commonplace_local.cloud import moto_patches
from commonplace_local.cloud.environment import ACCOUNT, REGION

SCHEMA = """
pragma journal_mode = wal;
pragma synchronous = normal;
pragma secure_delete = on;
create table if not exists blobs (role text, key text, metadata text, body blob, primary key (role, key));
create table if not exists items (role text, key text, item text, primary key (role, key));
create table if not exists messages (id text primary key, role text, sent integer, body text, attributes text);
create table if not exists secrets (role text primary key, value text);
"""


@dataclass(frozen=True, slots=True)
class Holdings:
    """The resources whose state is stored: roles by physical name."""

    buckets: Mapping[str, str]
    tables: Mapping[str, str]
    queues: Mapping[str, str]
    secrets: Mapping[str, str]


class SavedState:
    """`save` writes what was changed since the last call, and may be called by any one thread."""

    def __init__(self, path: Path, holdings: Holdings) -> None:
        from moto.dynamodb.models import dynamodb_backends
        from moto.s3.models import s3_backends
        from moto.secretsmanager.models import secretsmanager_backends
        from moto.sqs.models import Message, sqs_backends

        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)  # it holds secrets
        self._holdings = holdings
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.executescript(SCHEMA)
        # What a former start stored is put back. No event announces it, since nothing listens yet.
        for name, role in self._holdings.buckets.items():
            rows = self._database.execute("select key, metadata, body from blobs where role = ?", (role,))
            for key, metadata, body in rows:
                s3_backends[ACCOUNT]["aws"].put_object(name, key, body).set_metadata(json.loads(metadata))
        for name, role in self._holdings.tables.items():
            table = dynamodb_backends[ACCOUNT][REGION].tables[name]
            stream, table.stream_shard = table.stream_shard, None
            for (item,) in self._database.execute("select item from items where role = ?", (role,)):
                table.put_item(json.loads(item))
            table.stream_shard = stream
        for name, role in self._holdings.queues.items():
            rows = self._database.execute(
                "select id, sent, body, attributes from messages where role = ? order by sent, rowid", (role,)
            )
            for id, sent, body, attributes in rows:
                message = Message(id, body)
                message.sent_timestamp = sent
                message.message_attributes = json.loads(attributes)
                sqs_backends[ACCOUNT][REGION].queues[name].add_message(message)
        for arn, role in self._holdings.secrets.items():
            for (value,) in self._database.execute("select value from secrets where role = ?", (role,)):
                secretsmanager_backends[ACCOUNT][REGION].put_secret_value(arn, value, "", "", ["AWSCURRENT"])
        self._writes = moto_patches.Writes()
        self._writes.secrets = True
        moto_patches.watch(self._writes)

    def save(self) -> None:
        """Raises sqlite3.Error; the next call tries again."""
        from moto.secretsmanager.models import secretsmanager_backends

        if not self._writes:
            return
        with self._database:
            deleted = self._save_items() + self._save_objects()
            gone = [(id,) for id, one in self._writes.messages.items() if one is None]
            sent = [(id, *one) for id, one in self._writes.messages.items() if one is not None]
            rows = [
                (id, self._holdings.queues[queue], one.sent_timestamp, one.body, _text(one.message_attributes))
                for id, queue, one in sent
                if queue in self._holdings.queues
            ]
            self._database.executemany("delete from messages where id = ?", gone)
            self._database.executemany("insert or replace into messages values (?, ?, ?, ?, ?)", rows)
            for arn, role in self._holdings.secrets.items() if self._writes.secrets else ():
                secret = secretsmanager_backends[ACCOUNT][REGION].get_secret_value(arn, "", "AWSCURRENT")
                row = (role, secret["SecretString"])
                self._database.execute("insert or replace into secrets values (?, ?)", row)
        self._writes.clear()
        if deleted:
            self._database.execute("pragma wal_checkpoint(truncate)").fetchall()

    def close(self) -> None:
        moto_patches.watch(None)
        self._database.close()

    def _save_items(self) -> int:
        """How many were deleted."""
        kept, gone = [], []
        for (name, hash_key, range_key), table in self._writes.items.items():
            if name in self._holdings.tables:
                found = table.get_item(hash_key, range_key)
                keys = [one.to_json() for one in (hash_key, range_key) if one is not None]
                key = (self._holdings.tables[name], json.dumps(keys))
                if found is None:
                    gone.append(key)
                else:
                    kept.append((*key, _text(found.to_json()["Attributes"])))
        self._database.executemany("delete from items where role = ? and key = ?", gone)
        self._database.executemany("insert or replace into items values (?, ?, ?)", kept)
        return len(gone)

    def _save_objects(self) -> int:
        """How many were deleted."""
        from moto.s3.models import s3_backends

        buckets = s3_backends[ACCOUNT]["aws"].buckets
        deleted = 0
        for bucket, key in self._writes.objects:
            if bucket not in self._holdings.buckets:
                continue
            role, found = self._holdings.buckets[bucket], buckets[bucket].keys.get(key)
            if hasattr(found, "etag"):  # a delete marker has none
                row = (role, key, json.dumps(dict(found.metadata)), found.value)
                self._database.execute("insert or replace into blobs values (?, ?, ?, ?)", row)
            else:
                self._database.execute("delete from blobs where role = ? and key = ?", (role, key))
                deleted += 1
        return deleted


def _text(value: Any) -> str:
    """Return the value as JSON, with bytes as they are sent."""
    return json.dumps(value, default=lambda found: base64.b64encode(found).decode())
