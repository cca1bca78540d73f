"""What the queue of the memory brings: which item was written or removed. It only says where to look."""

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from commonplace.memory.entries import EntryId

ENTRIES, JOBS = "#memory#entries", "#memory#jobs"
"""How partitions end, after the organisation."""

_ORGANISATION = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


@dataclass(frozen=True, slots=True)
class EntryEvent:
    """An entry was written, or is gone."""

    organisation: str
    id: EntryId


@dataclass(frozen=True, slots=True)
class JobEvent:
    """A job was begun, or came further."""

    organisation: str
    id: str


class _Body(BaseModel):
    table: Literal["records"]
    pk: str = Field(max_length=200)
    sk: str = Field(min_length=1, max_length=200)


def is_of_memory(body: str) -> bool:
    """Whether a message is one of these, and not a notification of the bucket."""
    try:
        _Body.model_validate_json(body)
    except ValueError:
        return False
    return True


def event_of(body: str) -> EntryEvent | JobEvent:
    """The event that a message tells. Raises ValueError for one of another form."""
    told = _Body.model_validate_json(body)
    if _ORGANISATION.fullmatch(organisation := told.pk.removesuffix(ENTRIES)):
        return EntryEvent(organisation, EntryId(told.sk))
    if _ORGANISATION.fullmatch(organisation := told.pk.removesuffix(JOBS)):
        return JobEvent(organisation, told.sk)
    raise ValueError("the message names no entry and no job")
