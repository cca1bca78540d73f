"""S3's notifications as they arrive through SQS. They only say where to look: what is there is read anew."""

import re
from urllib.parse import unquote_plus

from pydantic import BaseModel, Field

from commonplace.content.store import CONTENT_PREFIX, REFERENCE_PREFIX
from commonplace.search.model import RecordId

_DOCUMENT_KEY = re.compile(re.escape(CONTENT_PREFIX) + r"(?P<id>[^/]+/[^/]+)\.json")


class _Object(BaseModel):
    key: str
    """Form-encoded: a space is `+`, everything else that is not plain is `%XX` in UTF-8."""


class _Entity(BaseModel):
    object: _Object


class _Record(BaseModel):
    # The structure stands for the major version; AWS adds fields under minor ones.
    event_version: str = Field(alias="eventVersion", pattern=r"^2\.")
    s3: _Entity


class _Notification(BaseModel):
    records: list[_Record] | None = Field(alias="Records", default=None)
    event: str | None = Field(alias="Event", default=None)


def record_of_key(key: str) -> RecordId | None:
    """The record that an object stands for; None when it is no document."""
    match = _DOCUMENT_KEY.fullmatch(key)
    return RecordId(match["id"]) if match else None


def records_of(body: str) -> tuple[RecordId, ...]:
    """The records that a message asks to look at; none for S3's test message and for keys that are no documents.

    What happened to the object (created, deleted, hidden by a delete marker, expired) is not asked: more may have
    happened since. Raises ValueError when the message is no notification of S3 in the known structure.
    """
    found = (record_of_key(key) for key in keys_of(body))
    return tuple(dict.fromkeys(record for record in found if record))


def is_of_catalogues(body: str) -> bool:
    """Whether a message tells of the part of the store that catalogues are in.

    Such a message names no records: it asks to compare with all that is published. False for what cannot be read.
    """
    try:
        return any(key.startswith(REFERENCE_PREFIX) for key in keys_of(body))
    except ValueError:
        return False


def keys_of(body: str) -> tuple[str, ...]:
    """The objects that a message tells of; none of S3's test message. Raises ValueError as `records_of` does."""
    notification = _Notification.model_validate_json(body)
    if notification.records is None:
        if notification.event == "s3:TestEvent":
            return ()
        raise ValueError("the message is no notification of S3")
    return tuple(unquote_plus(record.s3.object.key) for record in notification.records)
