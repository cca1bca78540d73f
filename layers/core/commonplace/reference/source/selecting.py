"""Which files of a folder make a catalogue."""

from pathlib import PurePosixPath
from typing import Literal

from commonplace.reference.catalogue import SETTINGS_FILE

Kind = Literal["settings", "json", "yaml", "markdown"]

SOURCES = "sources"
"""Folder of what entries are generated from."""
SUFFIXES: dict[str, Kind] = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".md": "markdown"}


def kind_of(path: str) -> Kind | None:
    """What is to be read of a path inside the catalogue's folder; None for what is left out, or is not known."""
    if path == SETTINGS_FILE:
        return "settings"
    return None if left_out(path) else SUFFIXES.get(PurePosixPath(path).suffix.lower())


def is_read(path: str) -> bool:
    """Whether a sync has to fetch this file."""
    return kind_of(path) is not None


def left_out(path: str) -> bool:
    """README.md, what generators read, and what is hidden or set aside by a dot or an underscore before its name."""
    parts = PurePosixPath(path).parts
    if not parts:
        return True
    hidden = any(part.startswith((".", "_")) for part in parts)
    return hidden or parts[0] == SOURCES or parts[-1].lower() == "readme.md"
