"""What functions are told of the catalogues of the product reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from commonplace.reference.settings import CATALOGUES, parse_catalogues
from infra.readers import ConfigurationError, Reader, checked

if TYPE_CHECKING:
    from infra.configuration import Configuration

MAX_CATALOGUES_BYTES = 1_000
"""All that a function is told has to fit into 4 KB; see `infra.identity_keys.MAX_TOLD` as well."""

_ANYWHERE = ("example/knowledge-base", "main")
"""Stands in for repository and branch of the knowledge base, which are checked for themselves."""


def catalogues(key: str, value: Any) -> str:
    """A JSON list or its text, without needless spaces."""
    given = str(checked(lambda text: parse_catalogues(text, *_ANYWHERE), CATALOGUES)(key, value))
    found = json.dumps(json.loads(given), separators=(",", ":"), ensure_ascii=False)
    if (size := len(found.encode())) > MAX_CATALOGUES_BYTES:
        raise ConfigurationError(f"{key} has {size} bytes; a function can be told {MAX_CATALOGUES_BYTES}")
    return found


CATALOGUE_KEYS: Mapping[str, Reader] = {"catalogues": catalogues}


def catalogues_environment(configuration: Configuration) -> dict[str, str]:
    """For every function that syncs or indexes, and for those that take tokens: a catalogue is what makes a toolset."""
    return {"CATALOGUES": configuration.catalogues} if configuration.catalogues else {}
