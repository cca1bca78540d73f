"""ONNX models from a folder: what they give for texts, in batches of similar length.

A folder that cannot work is refused when it is opened.
"""

import hashlib
import importlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
OPTIONS = "commonplace.json"

MAX_TOKENS = 8_192

TEXTS_PER_RUN = 32
TOKENS_PER_RUN = 8_192
"""Padding included: what one run takes in memory."""

THREADS = max(1, min(4, os.cpu_count() or 1))
DEFAULT_TOKENS = 512

_GIVEN: dict[str, Callable[["Encoding"], list[int]]] = {
    "input_ids": lambda encoding: encoding.ids,
    "attention_mask": lambda encoding: encoding.attention_mask,
    "token_type_ids": lambda encoding: encoding.type_ids,
}
_TYPES = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
_PADS = ("[PAD]", "<pad>", "<|endoftext|>")


@dataclass(frozen=True, slots=True)
class Options:
    """The fields of `commonplace.json`; the file may be missing."""

    name: str | None = None
    """Stored with the index; by default the folder's name."""
    pooling: Literal["mean", "cls"] = "mean"
    max_tokens: int | None = None
    """Special tokens included. By default what the tokenizer says, else 512."""
    query_prefix: str = ""
    passage_prefix: str = ""


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= 1_000


_KEYS: dict[str, tuple[str, str, Callable[[Any], bool]]] = {
    "name": (
        *("name", "a name in one line of at most 100 characters"),
        lambda value: isinstance(value, str) and re.fullmatch(r"\S.{0,98}\S|\S", value) is not None,
    ),
    "pooling": ("pooling", "mean or cls", lambda value: value in ("mean", "cls")),
    "maxTokens": (
        *("max_tokens", f"a whole number from 16 to {MAX_TOKENS}"),
        lambda value: type(value) is int and 16 <= value <= MAX_TOKENS,
    ),
    "queryPrefix": ("query_prefix", "text of at most 1000 characters", _is_text),
    "passagePrefix": ("passage_prefix", "text of at most 1000 characters", _is_text),
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
        raise SettingsError(f"{path} is not JSON.") from error
    if not isinstance(given, dict) or given.keys() - _KEYS.keys():
        raise SettingsError(f"{path} is a JSON object with no other keys than {', '.join(_KEYS)}.")
    for key, value in given.items():
        _, valid, fits = _KEYS[key]
        if not fits(value):
            raise SettingsError(f"{key} in {path} must be {valid}.")
    return Options(**{_KEYS[key][0]: value for key, value in given.items()})


class Graph:
    """A model folder, opened. Raises SettingsError for a folder that cannot work. Safe for threads."""

    def __init__(self, folder: ModelFolder, *, threads: int = THREADS) -> None:
        self._folder = folder
        self._tokenizer = _tokenizer(folder)
        self._lock = Lock()  # where a tokenizer cuts is a setting of the tokenizer
        truncation = self._tokenizer.truncation or {}
        self.max_tokens = folder.options.max_tokens or int(truncation.get("max_length") or DEFAULT_TOKENS)
        self._pad = _pad_id(self._tokenizer)
        self._tokenizer.no_padding()
        self._session = _session(folder, threads)
        self._inputs = {each.name: _type_of(each, folder) for each in self._session.get_inputs()}
        self.outputs: dict[str, Any] = {each.name: each.shape for each in self._session.get_outputs()}

    def encode_texts(self, texts: Sequence[str], *, overlap: int = 0) -> list["Encoding"]:
        """Return the encoded texts; what is too long is in `overflowing`, where each piece repeats `overlap` tokens of
        the former."""
        with self._lock:
            self._tokenizer.enable_truncation(self.max_tokens, stride=overlap)
            return list(self._tokenizer.encode_batch(list(texts)))

    def encode_pairs(self, first: str, seconds: Sequence[str]) -> list["Encoding"]:
        """Each pair in one sequence; only the second text is cut. The first gets half of the tokens at most."""
        half = self.max_tokens // 2
        with self._lock:
            self._tokenizer.no_truncation()
            alone = self._tokenizer.encode(first, add_special_tokens=False)
            if len(alone.ids) > half:
                first = first[: alone.offsets[half - 1][1]]
            self._tokenizer.enable_truncation(self.max_tokens, strategy="only_second")
            return list(self._tokenizer.encode_batch([(first, second) for second in seconds]))

    def run(self, output: str, encodings: Sequence["Encoding"]) -> Iterator[tuple[list[int], Any, Any]]:
        """Positions, the output for them, and their attention mask; one batch after the other. Raises Unavailable."""
        for positions in _batches([len(encoding.ids) for encoding in encodings]):
            chosen = [encodings[position] for position in positions]
            fed = {name: self._padded(chosen, name, kind) for name, kind in self._inputs.items()}
            mask = self._padded(chosen, "attention_mask", "int64")
            try:
                (answer,) = self._session.run([output], fed)
            except Exception as error:
                raise Unavailable(f"The model {self._folder.name} could not be run.") from error
            yield positions, answer, mask

    def _padded(self, encodings: Sequence["Encoding"], name: str, kind: str) -> Any:
        import numpy

        rows = [_GIVEN[name](encoding) for encoding in encodings]
        blank = self._pad if name == "input_ids" else 0
        padded = numpy.full((len(rows), max(map(len, rows))), blank, dtype=kind)
        for index, row in enumerate(rows):
            padded[index, : len(row)] = row
        return padded


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Positions of texts with at least one token, in runs of about equal length: padding is paid for, too."""
    run: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda each: lengths[each]):
        if not lengths[position]:
            continue
        if len(run) == TEXTS_PER_RUN or (len(run) + 1) * lengths[position] > TOKENS_PER_RUN:
            if run:
                yield run
            run = []
        run.append(position)
    if run:
        yield run


def _session(folder: ModelFolder, threads: int) -> Any:
    try:
        # By name: only a deployment with a model of its own carries the package.
        runtime = importlib.import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise SettingsError("A model folder needs the package onnxruntime: install the group `onnx`.") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.enable_mem_pattern = False  # shapes differ from run to run
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise SettingsError(f"{folder.model} is not an ONNX model that can be run here.") from error


def _tokenizer(folder: ModelFolder) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(folder.tokenizer.read_text(encoding="utf-8"))
    except Exception as error:
        raise SettingsError(f"{folder.tokenizer} is not a tokenizer that can be read.") from error


def _pad_id(tokenizer: "Tokenizer") -> int:
    """Some graphs count positions by what is padding: its id must be the one that the model was trained with."""
    if tokenizer.padding:
        return int(tokenizer.padding["pad_id"])
    return next((found for name in _PADS if (found := tokenizer.token_to_id(name)) is not None), 0)


def _type_of(declared: Any, folder: ModelFolder) -> str:
    if declared.name not in _GIVEN or declared.type not in _TYPES:
        asked = f"{declared.name} of {declared.type}"
        raise SettingsError(f"{folder.model} asks for {asked}; known are {', '.join(_GIVEN)} of whole numbers.")
    return _TYPES[declared.type]
