"""The context keys of the memory: what a search is taken to mean, and how often agents may call."""

import re
from collections.abc import Mapping
from typing import Any

from commonplace.kernel.settings import RATE_LIMITS, rate_limits
from commonplace.memory.model import BATCH, MAX_LIMIT
from infra.providers import fusion
from infra.readers import ConfigurationError, Reader, checked, number

MAX_RATE_LIMITS = 300
"""Bytes. All that a function is told has to fit into 4 KB."""


def share(key: str, value: Any) -> str:
    """A number from 0 to 1, of six decimal places at most; as text, so that it is handed on as it was written."""
    given = "" if isinstance(value, bool) else str(value)
    if re.fullmatch(r"0(\.[0-9]{1,6})?|1(\.0{1,6})?", given, re.ASCII):
        return given
    raise ConfigurationError(f"{key} is a number from 0 to 1 with six decimal places at most, not {value!r}")


def limits(key: str, value: Any) -> str:
    found = str(checked(rate_limits, RATE_LIMITS)(key, value))
    if (size := len(found.encode())) > MAX_RATE_LIMITS:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_RATE_LIMITS}")
    return found


MEMORY_KEYS: Mapping[str, Reader] = {
    "mcpRateLimits": limits,
    "serviceRateFactor": number(1, 100),
    "accountRateFactor": number(1, 100),
    "kbDefaultSearchLimit": number(1, MAX_LIMIT),
    "kbMinConfidence": share,
    "kbBatchSize": number(1, BATCH),
    "kbFusion": fusion,
}
