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
"""

import importlib
import itertools
import os
import sys
import time
import types
from functools import cache
from pathlib import Path
from typing import Any

import boto3

from local.cloud import moto_answers, moto_changes, moto_queries, moto_queues, moto_streams, moto_transactions

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
    moto_transactions.patch_transactions()
    moto_queues.patch_queues()
    moto_answers.patch_answers()
    moto_queries.patch_queries()
    moto_changes.patch_writes()
    moto_streams.patch_streams()
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
