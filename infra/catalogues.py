"""What functions are told of the catalogues of the product reference."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from commonplace.kernel.configuration import Kind
from commonplace.reference.settings import CATALOGUES, parse_catalogues
from infra.declarations import ConfigurationError, checked, written

if TYPE_CHECKING:
    from infra.configuration import Configuration

MAX_CATALOGUES_BYTES = 1_000
"""All that a function is told has to fit into 4 KB; see `infra.configuration.MAX_TOLD` as well."""

_ANYWHERE = ("example/knowledge-base", "main")
"""Stands in for repository and branch of the knowledge base, which are checked for themselves."""


def catalogues(key: str, value: Any) -> str:
    """A JSON list or its text, without needless spaces."""
    kind = Kind(CATALOGUES, lambda text: parse_catalogues(text, *_ANYWHERE))
    checked(key, kind, value)
    found = json.dumps(json.loads(written(kind, value)), separators=(",", ":"), ensure_ascii=False)
    if (size := len(found.encode())) > MAX_CATALOGUES_BYTES:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_CATALOGUES_BYTES}")
    return found


def catalogues_environment(configuration: Configuration) -> dict[str, str]:
    """For every function that syncs or indexes, and for those that take tokens: a catalogue is what makes a toolset."""
    return {"CATALOGUES": configuration.catalogues} if configuration.catalogues else {}
