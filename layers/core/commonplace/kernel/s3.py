"""The canonical store on S3. Encryption is the bucket's default; conditional writes are S3's own."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from commonplace.kernel.objects import ListedObject, NotStorable, PreconditionFailed, StoredObject, check_key

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

DELETE_BATCH = 1000
"""Most keys that one DeleteObjects takes."""

_NOT_IN_XML = re.compile(r"[\x00-\x1f\x7f\ufffe\uffff]")
_ABSENT = ("NoSuchKey", "404")
_REFUSED = ("404", "EntityTooLarge", "InvalidArgument", "InvalidRequest", "InvalidURI", "KeyTooLongError")
"""Codes of what is refused because of its key or its size. A missing bucket, credentials and rights have others."""
_CONDITION_FAILED = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")


class ObjectsNotDeleted(Exception):
    """S3 answered, and refused to delete some of the keys. Says how many and why, never which."""

    def __init__(self, codes: list[str]) -> None:
        super().__init__(f"{len(codes)} objects were not deleted: {', '.join(sorted(set(codes)))}")


class S3ObjectStore:
    """Reads and writes one bucket.

    The role needs `s3:ListBucket`: without it S3 answers 403 instead of 404 for an absent key.
    """

    def __init__(self, client: S3Client, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    def get(self, key: str) -> StoredObject | None:
        try:
            return self._read(key)
        except ClientError as error:
            if _code(error) in _ABSENT:
                return None
            raise

    def get_if_changed(self, key: str, etag: str | None) -> StoredObject | None:
        try:
            return self._read(key, **({"IfNoneMatch": f'"{etag}"'} if etag else {}))
        except ClientError as error:
            if _code(error) in ("304", "NotModified"):
                return None
            if _code(error) in _ABSENT:
                raise KeyError(key) from None
            raise

    def put(
        self,
        key: str,
        body: bytes,
        *,
        media_type: str = "application/json",
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> str:
        check_key(key)
        condition: dict[str, Any] = {}
        if if_absent:
            condition["IfNoneMatch"] = "*"
        elif if_match is not None:
            condition["IfMatch"] = f'"{if_match}"'
        try:
            answer = self._client.put_object(
                Bucket=self._bucket, Key=key, Body=body, ContentType=media_type, **condition
            )
        except ClientError as error:
            # An expected version that has been deleted meanwhile is answered with 404.
            if condition and _code(error) in (*_CONDITION_FAILED, *_ABSENT):
                raise PreconditionFailed(key) from None
            if _code(error) in _REFUSED:
                raise NotStorable(_code(error)) from error
            raise
        return answer["ETag"].strip('"')

    def delete(self, keys: Iterable[str]) -> None:
        waiting = iter(keys)
        while batch := list(islice(waiting, DELETE_BATCH)):
            if plain := [key for key in batch if not _NOT_IN_XML.search(key)]:
                answer = self._client.delete_objects(
                    Bucket=self._bucket, Delete={"Objects": [{"Key": key} for key in plain], "Quiet": True}
                )
                if errors := answer.get("Errors", []):
                    raise ObjectsNotDeleted([error.get("Code", "unknown") for error in errors])
            for key in filter(_NOT_IN_XML.search, batch):
                self._client.delete_object(Bucket=self._bucket, Key=key)

    def list(self, prefix: str) -> Iterator[ListedObject]:
        for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix):
            for found in page.get("Contents", []):
                yield ListedObject(found["Key"], found["ETag"].strip('"'), found["Size"])

    def _read(self, key: str, **condition: Any) -> StoredObject:
        answer = self._client.get_object(Bucket=self._bucket, Key=key, **condition)
        with answer["Body"] as body:
            return StoredObject(body.read(), answer["ETag"].strip('"'))


def _code(error: ClientError) -> str:
    return error.response.get("Error", {}).get("Code", "")
