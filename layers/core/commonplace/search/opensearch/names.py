"""What indexes and aliases are called. The stem is the collection; a hash of the facts tells its indexes apart."""

import hashlib
import json
import re
from dataclasses import asdict

from commonplace.search.generations import Facts
from commonplace.search.model import RecordId

MAX_ID_BYTES = 512


def current(stem: str) -> str:
    """The alias of the index that answers."""
    return stem


def upcoming(stem: str) -> str:
    """The alias of the index being built."""
    return f"{stem}-next"


def previous(stem: str) -> str:
    """The alias of the index to go back to."""
    return f"{stem}-previous"


def write_alias(index: str) -> str:
    """An alias of this one index. Writes go through it with `require_alias`: no write makes a lost index anew."""
    return f"{index}-writes"


def index_name(stem: str, facts: Facts, number: int = 1) -> str:
    """`S-{hash12}`, and `S-{hash12}-2` and so on when an index is built anew under equal facts."""
    told = json.dumps(asdict(facts), sort_keys=True)
    name = f"{stem}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    return name if number == 1 else f"{name}-{number}"


def is_index_of(stem: str, name: str) -> bool:
    """Whether this is the name of an index of the collection, and not of another one whose stem begins alike."""
    return re.fullmatch(re.escape(stem) + r"-[0-9a-f]{12}(?:-[0-9]+)?", name) is not None


def document_key(record: RecordId) -> str:
    """The `_id` of a record: its id, or a hash of it when it is longer than OpenSearch takes."""
    told = record.encode("utf-8", "replace")
    return record if 0 < len(told) <= MAX_ID_BYTES else "sha256-" + hashlib.sha256(told).hexdigest()
