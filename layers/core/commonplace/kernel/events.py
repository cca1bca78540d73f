"""Events as they arrive through SQS: notifications of S3, and changed items of the table of records.

They only say where to look: what is there is read anew.
"""

from typing import Literal
from urllib.parse import unquote_plus

from pydantic import AliasPath, BaseModel, Field


class _Record(BaseModel):
    # The structure stands for the major version; AWS adds fields under minor ones.
    event_version: str = Field(alias="eventVersion", pattern=r"^2\.")
    key: str = Field(validation_alias=AliasPath("s3", "object", "key"))
    """Form-encoded: a space is `+`, everything else that is not plain is `%XX` in UTF-8."""


class _Notification(BaseModel):
    records: list[_Record] | None = Field(alias="Records", default=None)
    event: str | None = Field(alias="Event", default=None)


def keys_of(body: str) -> tuple[str, ...]:
    """The objects that a message names; none for S3's test message.

    What happened to the object (created, deleted, hidden by a delete marker, expired) is not asked: more may have
    happened since. Raises ValueError when the message is no notification of S3 in the known structure.
    """
    notification = _Notification.model_validate_json(body)
    if notification.records is None:
        if notification.event == "s3:TestEvent":
            return ()
        raise ValueError("the message is not a notification of S3")
    return tuple(unquote_plus(record.key) for record in notification.records)


class ChangedRecord(BaseModel):
    """An item of the table of records that was written, or is gone."""

    table: Literal["records"]
    pk: str = Field(max_length=200)
    sk: str = Field(min_length=1, max_length=200)

    @classmethod
    def of(cls, body: str) -> "ChangedRecord | None":
        """None for a message of anything else."""
        try:
            return cls.model_validate_json(body)
        except ValueError:
            return None
