"""The context key of rate limits by toolset."""

from typing import Any

from commonplace.kernel.configuration import Kind
from commonplace.kernel.settings import DEFAULT_RATE_LIMITS, RATE_LIMITS, rate_limits
from infra.declarations import ConfigurationError, checked, written

__all__ = ["DEFAULT_RATE_LIMITS", "limits"]

MAX_RATE_LIMITS = 300
"""Bytes. All that a function is told has to fit into 4 KB."""


def limits(key: str, value: Any) -> str:
    kind = Kind(RATE_LIMITS, rate_limits)
    checked(key, kind, value)
    found = written(kind, value)
    if (size := len(found.encode())) > MAX_RATE_LIMITS:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_RATE_LIMITS}")
    return found
