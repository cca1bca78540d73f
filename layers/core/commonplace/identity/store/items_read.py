"""One consistent GetItem on a warm connection, signed here: a fraction of the time that the client of AWS takes.

It is on the way of every call with a token. Whatever is out of the ordinary (no answer, another status, a body that is
not whole) is left to the client, with its retries and its errors: reading twice does no harm.
"""

from __future__ import annotations

import hmac
import json
import ssl
import time
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import sha256
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from zlib import crc32

if TYPE_CHECKING:
    from botocore.credentials import Credentials, ReadOnlyCredentials
    from mypy_boto3_dynamodb import DynamoDBClient

TARGET = "DynamoDB_20120810.GetItem"
CONTENT_TYPE = "application/x-amz-json-1.0"
TIMEOUT_SECONDS = 1
PAUSE_SECONDS = 30
"""How long the client does everything, after two failures in a row."""

Item = Mapping[str, Any]


class QuickReads:
    """Reads of one table. Safe for threads."""

    def __init__(
        self,
        client: DynamoDBClient,
        table: str,
        credentials: Callable[[], Credentials | None],
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`credentials` are those of the client; `clock` gives epoch seconds."""
        self._client = client
        self._table = table
        self._credentials = credentials
        self._clock = clock
        self._url = client.meta.endpoint_url.rstrip("/") + "/"
        self._region = client.meta.region_name
        self._idle: deque[HTTPConnection] = deque()
        self._tls = ssl.create_default_context() if self._url.startswith("https:") else None
        self._failures = 0
        self._paused_until = 0.0

    def get(self, key: Item) -> Item | None:
        """The item; None when there is none. Raises what the client raises."""
        if self._clock() >= self._paused_until:
            answer = self._quick(key)
            if answer is not None:
                self._failures = 0
                return _read(answer.get("Item"))
            self._failures += 1
            if self._failures > 1:
                self._paused_until = self._clock() + PAUSE_SECONDS
        return self._client.get_item(TableName=self._table, Key=dict(key), ConsistentRead=True).get("Item")

    def close(self) -> None:
        """Ends idle connections; the next read makes a new one."""
        while self._idle:
            self._idle.pop().close()

    def _quick(self, key: Item) -> dict[str, Any] | None:
        found = self._credentials()
        if found is None:
            return None
        asked = json.dumps({"TableName": self._table, "Key": key, "ConsistentRead": True}).encode()
        headers = signed(asked, self._url, self._region, found.get_frozen_credentials(), self._clock())
        try:
            answer, body = self._post(asked, headers)
            values = json.loads(body) if answer.status == 200 else None
        except (OSError, HTTPException, ValueError):
            return None
        told = answer.getheader("x-amz-crc32")
        whole = told is None or told == str(crc32(body))
        return values if whole and isinstance(values, dict) else None

    def _post(self, body: bytes, headers: Mapping[str, str]) -> tuple[HTTPResponse, bytes]:
        """Raises OSError or HTTPException, and keeps no connection that did."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connection()
        try:
            connection.request("POST", "/", body, dict(headers))
            answer = connection.getresponse()
            told = answer.read()
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return answer, told

    def _connection(self) -> HTTPConnection:
        place = urlsplit(self._url).netloc
        if self._tls is None:
            return HTTPConnection(place, timeout=TIMEOUT_SECONDS)
        return HTTPSConnection(place, timeout=TIMEOUT_SECONDS, context=self._tls)


def signed(body: bytes, url: str, region: str, credentials: ReadOnlyCredentials, now: float) -> dict[str, str]:
    """The headers of a POST to `/`, by Signature Version 4 of AWS. `now` is in epoch seconds."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    headers = {"content-type": CONTENT_TYPE, "host": urlsplit(url).netloc, "x-amz-date": moment}
    if credentials.token:
        headers["x-amz-security-token"] = credentials.token
    headers["x-amz-target"] = TARGET
    names = ";".join(headers)
    listed = "".join(f"{name}:{value}\n" for name, value in headers.items())
    canonical = f"POST\n/\n\n{listed}\n{names}\n{sha256(body).hexdigest()}"
    scope = f"{moment[:8]}/{region}/dynamodb/aws4_request"
    told = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{sha256(canonical.encode()).hexdigest()}"
    signature = hmac.digest(_signing_key(credentials.secret_key, scope), told.encode(), "sha256").hex()
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
    )
    return headers


@lru_cache(maxsize=4)
def _signing_key(secret: str, scope: str) -> bytes:
    """Good for a day, a region and a service."""
    key = f"AWS4{secret}".encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return key


def _read(item: Item | None) -> Item | None:
    """Bytes as the client gives them: on the wire they are base64."""
    if item is None:
        return None
    return {name: {"B": b64decode(value["B"])} if "B" in value else value for name, value in item.items()}
