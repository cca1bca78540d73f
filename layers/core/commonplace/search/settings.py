"""What is told about the index and the models that read and write it."""

import re

from commonplace.kernel.configuration import Kind, Settings, setting, whole

_WEIGHT = r"[0-9]{1,3}(?:\.[0-9]{1,6})?"


def _fusion(given: str) -> str | None:
    from commonplace.search.fusion import Fusion

    return given if re.fullmatch(rf"(?:min-max|rrf)(?::{_WEIGHT},{_WEIGHT})?", given) and Fusion.parse(given) else None


FUSION = Kind("min-max or rrf, with or without weights of words and meaning: min-max:0.6,0.4", _fusion)

BATCH = 100
"""Texts in a call to OpenAI, and entries that are written together (seed 001, decision 11)."""


class Batch(Settings):
    batch: int = setting(whole(1, BATCH), "KB_BATCH_SIZE", key="kbBatchSize", default=BATCH)
    """Entries that are embedded and written together (1 to 100)."""
