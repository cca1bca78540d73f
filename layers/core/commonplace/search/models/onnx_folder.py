"""What a model folder holds and says of itself. Everything that can be wrong with one is said when it is opened."""

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from commonplace.kernel.environment import SettingsError

MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
OPTIONS = "commonplace.json"

MAX_TOKENS = 8_192


@dataclass(frozen=True, slots=True)
class Options:
    """What `commonplace.json` may say; the file may be missing."""

    name: str | None = None
    """Stored with the index; by default the folder's name."""
    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int | None = None
    """Special tokens included. By default what the tokenizer says, else 512."""
    query_prefix: str = ""
    passage_prefix: str = ""


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 1_000


def _name(value: object) -> bool:
    return isinstance(value, str) and bool(re.fullmatch(r"\S.{0,98}\S|\S", value))


def _pooling(value: object) -> bool:
    return value in ("mean", "cls")


def _count(value: object) -> bool:
    return type(value) is int and 16 <= value <= MAX_TOKENS


_KEYS: dict[str, tuple[str, str, Callable[[object], bool]]] = {
    "name": ("name", "a name in one line of at most 100 characters", _name),
    "pooling": ("pooling", "mean or cls", _pooling),
    "maxTokens": ("max_tokens", f"a whole number from 16 to {MAX_TOKENS}", _count),
    "queryPrefix": ("query_prefix", "text of at most 1000 characters", _text),
    "passagePrefix": ("passage_prefix", "text of at most 1000 characters", _text),
}
"""Key of the file -> field, what is valid in words, and whether a value is."""


class ModelFolder:
    """A folder that has the files of a model. Raises SettingsError with what is missing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_dir():
            raise SettingsError(f"The model folder {path} does not exist.")
        missing = [name for name in (MODEL, TOKENIZER) if not (path / name).is_file()]
        if missing:
            raise SettingsError(f"The model folder {path} lacks {' and '.join(missing)}.")
        self.options = _options(path / OPTIONS)
        self.name = self.options.name or path.resolve().name

    @property
    def model(self) -> Path:
        return self.path / MODEL

    @property
    def tokenizer(self) -> Path:
        return self.path / TOKENIZER

    @cached_property
    def revision(self) -> str:
        """16 hex digits over all that decides a vector: graph, weights beside it, tokenizer, options."""
        total = hashlib.sha256()
        decisive = {path for path in self.path.glob(f"{MODEL}*") if path.is_file()}
        decisive |= {path for path in (self.tokenizer, self.path / OPTIONS) if path.is_file()}
        for path in sorted(decisive):
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            total.update(f"{path.name} {digest}\n".encode())
        return total.hexdigest()[:16]


def _options(path: Path) -> Options:
    if not path.is_file():
        return Options()
    try:
        given: Any = json.loads(path.read_bytes())
    except ValueError as error:
        raise SettingsError(f"{path} is no JSON.") from error
    if not isinstance(given, dict) or given.keys() - _KEYS.keys():
        raise SettingsError(f"{path} is a JSON object with no other keys than {', '.join(_KEYS)}.")
    for key, value in given.items():
        _, valid, fits = _KEYS[key]
        if not fits(value):
            raise SettingsError(f"{key} in {path} must be {valid}.")
    return Options(**{_KEYS[key][0]: value for key, value in given.items()})
