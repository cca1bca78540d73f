"""Inputs that the interfaces of machines share: ids, times and drafts as callers write them. Pure."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from commonplace.hive.model import (
    MAX_LABEL_CHARACTERS,
    MAX_RUN_CHARACTERS,
    MAX_TAG_CHARACTERS,
    MAX_TAGS,
    Draft,
    ItemId,
    stamp,
)
from commonplace.hive.refusals import unknown
from commonplace.kernel.errors import InvalidInput
from commonplace.kernel.terms import compatible_length

_ID = re.compile(r"hv_[0-9A-Za-z]{1,64}")


def item_id(text: str) -> ItemId:
    """Raises NotFound, as for an id that is nobody's: what has another shape is nobody's either."""
    if _ID.fullmatch(text.strip()) is None:
        raise unknown(text)
    return ItemId(text.strip())


def moment(text: str, name: str, field: str) -> str:
    """Return a date or a time of ISO 8601 as contributions have theirs; without a zone it is UTC.

    Raises InvalidInput, whose details name the field.
    """
    try:
        found = datetime.fromisoformat(text.strip().upper())
        return stamp(found if found.tzinfo else found.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"{name} is not a time.",
            hint="Write a date or a time of ISO 8601: 2026-11-23 or 2026-11-23T18:00:00Z.",
            field=field,
        ) from None


def draft(
    *,
    content: str,
    category: str,
    confidence: float,
    framework: str | None,
    language: str | None,
    version: str | None,
    tags: Sequence[str] | None,
    run_id: str | None,
    replaces: str | None = None,
) -> Draft:
    """Within its bounds, of which the service judges those of the content. Raises InvalidInput, which repeats nothing
    of what was sent."""
    labels = {"framework": framework, "language": language, "version": version}
    for name, label in labels.items():
        if label is not None and compatible_length(label[: MAX_LABEL_CHARACTERS + 1]) > MAX_LABEL_CHARACTERS:
            raise _too_long(name, MAX_LABEL_CHARACTERS)
    if run_id is not None and compatible_length(run_id[: MAX_RUN_CHARACTERS + 1]) > MAX_RUN_CHARACTERS:
        raise _too_long("run_id", MAX_RUN_CHARACTERS)
    if len(tags or ()) > MAX_TAGS:
        raise InvalidInput(f"A contribution has at most {MAX_TAGS} tags.", hint="Give those one would search for.")
    if any(compatible_length(tag[: MAX_TAG_CHARACTERS + 1]) > MAX_TAG_CHARACTERS for tag in tags or ()):
        raise _too_long("A tag", MAX_TAG_CHARACTERS)
    return Draft(
        content=content,
        category=category,
        confidence=confidence,
        **labels,
        tags=tuple(tags or ()),
        run_id=run_id,
        replaces=replaces or None,
    )


def _too_long(name: str, characters: int) -> InvalidInput:
    return InvalidInput(f"{name} has at most {characters} characters.", hint="Put what is longer into the content.")
