"""The saved state of a cloud between two starts: objects, items and secrets, in one SQLite file.

Everything is read and written through the services' own APIs and kept by role (the logical id without its hash), so
that neither another backend nor a moved construct orphans it. A save is one transaction and takes only objects whose
ETag is new and items that were written. Not kept: old versions, queues, streams, executions; the reconcile schedule
repairs what they would have done.
"""

import base64
import json
import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from local.cloud import moto_patches
from local.cloud.moto_patches import Key

logger = logging.getLogger(__name__)

SCHEMA = """
create table if not exists objects (role text, key text, etag text, head text, body blob, primary key (role, key));
create table if not exists rows (role text, key text, item text, primary key (role, key));
create table if not exists secrets (role text primary key, value text);
"""
HEAD = ("ContentType", "CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "Metadata")
BATCH = 25  # items a BatchWriteItem
READ_BATCH = 100  # items a BatchGetItem


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is kept: physical names by role."""

    buckets: Mapping[str, str]
    tables: Mapping[str, str]
    secrets: Mapping[str, str]


class SavedState:
    """`clients` are boto3 clients for s3, dynamodb and secretsmanager."""

    def __init__(self, path: Path, holdings: Holdings, *, s3: Any, dynamodb: Any, secretsmanager: Any) -> None:
        self._path, self._holdings = path, holdings
        self._s3, self._dynamodb, self._secrets = s3, dynamodb, secretsmanager

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.touch(mode=0o600)  # it holds secrets
        with closing(sqlite3.connect(self._path)) as database, database:
            database.executescript(SCHEMA)
            database.execute("begin")
            yield database

    def save(self) -> None:
        """What fails is tried again with the next save."""
        changed = {role: moto_patches.take_writes(table) for role, table in self._holdings.tables.items()}
        try:
            self._save(changed)
        except BaseException:
            for role, keys in changed.items():
                moto_patches.note_writes(self._holdings.tables[role], *keys)
            raise

    def _save(self, changed: Mapping[str, list[Key]]) -> None:
        with self._database() as database:
            for role, bucket in self._holdings.buckets.items():
                self._save_objects(database, role, bucket)
            for role, keys in changed.items():
                for start in range(0, len(keys), READ_BATCH):
                    self._save_items(database, role, keys[start : start + READ_BATCH])
            for role, arn in self._holdings.secrets.items():
                value = self._secrets.get_secret_value(SecretId=arn)["SecretString"]
                database.execute("insert or replace into secrets values (?, ?)", (role, value))

    def restore(self) -> None:
        """Put back what a former start saved. Does nothing the first time."""
        if not self._path.exists():
            return
        with self._database() as database:
            for role, bucket in self._holdings.buckets.items():
                rows = database.execute("select key, head, body from objects where role = ?", (role,))
                for key, head, body in rows:
                    self._s3.put_object(Bucket=bucket, Key=key, Body=body, **json.loads(head))
            for role, table in self._holdings.tables.items():
                self._put_items(table, database.execute("select item from rows where role = ?", (role,)))
                moto_patches.take_writes(table)  # it is saved already
            for role, arn in self._holdings.secrets.items():
                for (value,) in database.execute("select value from secrets where role = ?", (role,)):
                    self._secrets.put_secret_value(SecretId=arn, SecretString=value)

    def _save_objects(self, database: sqlite3.Connection, role: str, bucket: str) -> None:
        before = dict(database.execute("select key, etag from objects where role = ?", (role,)))
        now: dict[str, str] = {}
        for page in self._s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
            now |= {found["Key"]: found["ETag"] for found in page.get("Contents", [])}
        gone = [(role, key) for key in before.keys() - now.keys()]
        database.executemany("delete from objects where role = ? and key = ?", gone)
        for key, etag in now.items():
            if before.get(key) != etag:
                self._save_object(database, role, bucket, key)

    def _save_object(self, database: sqlite3.Connection, role: str, bucket: str, key: str) -> None:
        try:
            found = self._s3.get_object(Bucket=bucket, Key=key)
        except self._s3.exceptions.NoSuchKey:
            return  # removed since it was listed; the next save drops it
        with closing(found["Body"]) as stream:
            body = stream.read()
        head = {name: found[name] for name in HEAD if found.get(name)}
        row = (role, key, found["ETag"], json.dumps(head), body)
        database.execute("insert or replace into objects values (?, ?, ?, ?, ?)", row)

    def _save_items(self, database: sqlite3.Connection, role: str, keys: list[Key]) -> None:
        """Those that are there as they are now, and none of those that are gone."""
        rows = []
        for item in self._items(self._holdings.tables[role], keys):
            key = {name: item[name] for name in keys[0]}
            rows.append((role, moto_patches.key_text(key), json.dumps(item, default=_bytes_to_json)))
        gone = ((role, moto_patches.key_text(key)) for key in keys)
        database.executemany("delete from rows where role = ? and key = ?", gone)
        database.executemany("insert into rows values (?, ?, ?)", rows)

    def _items(self, table: str, keys: list[Key]) -> Iterator[dict[str, Any]]:
        wanted: dict[str, Any] = {table: {"Keys": keys, "ConsistentRead": True}}
        while wanted:
            answer = self._dynamodb.batch_get_item(RequestItems=wanted)
            yield from answer["Responses"].get(table, [])
            wanted = answer.get("UnprocessedKeys", {})

    def _put_items(self, table: str, rows: sqlite3.Cursor) -> None:
        while batch := rows.fetchmany(BATCH):
            puts = [{"PutRequest": {"Item": json.loads(item, object_hook=_bytes_from_json)}} for (item,) in batch]
            self._dynamodb.batch_write_item(RequestItems={table: puts})


LOOKS_PUT_OFF = 12


class Saver:
    """Saves a few seconds after the last of a row of writes, or while they go on after a minute, and at the end.

    `writes` counts them. In the middle of a sync most of what would be saved is gone or changed a moment later.
    """

    def __init__(self, state: SavedState, writes: Callable[[], int], interval_seconds: float = 5.0) -> None:
        self._state, self._writes, self._interval_seconds = state, writes, interval_seconds
        self._saved = -1
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="saver", daemon=True)

    def start(self) -> None:
        self._saved = self._writes()
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._save_if_changed()

    def _run(self) -> None:
        seen, put_off = self._saved, 0
        while not self._stopping.wait(self._interval_seconds):
            if (writes := self._writes()) != seen and put_off < LOOKS_PUT_OFF:
                seen, put_off = writes, put_off + 1
            else:
                self._save_if_changed()
                put_off = 0

    def _save_if_changed(self) -> None:
        writes = self._writes()
        if writes == self._saved:
            return
        try:
            self._state.save()
            self._saved = writes
        except (BotoCoreError, ClientError, sqlite3.Error):
            logger.exception("The state of the laptop cloud could not be saved")


def _bytes_to_json(value: Any) -> dict[str, str]:
    return {"$bytes": base64.b64encode(value).decode()}


def _bytes_from_json(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["$bytes"]) if value.keys() == {"$bytes"} else value
