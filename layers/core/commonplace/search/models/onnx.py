"""A graph and its tokenizer: text in, arrays out, in batches of texts of about one length."""

import importlib
import os
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from commonplace.kernel.environment import SettingsError
from commonplace.kernel.errors import Unavailable
from commonplace.search.models.onnx_folder import ModelFolder

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

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


class Graph:
    """A model folder, opened. Raises SettingsError for a folder that cannot work. Safe for threads."""

    def __init__(self, folder: ModelFolder) -> None:
        self._folder = folder
        self._tokenizer = _tokenizer(folder)
        self._lock = Lock()  # where a tokenizer cuts is a setting of the tokenizer
        truncation = self._tokenizer.truncation or {}
        self.max_tokens = folder.options.max_tokens or int(truncation.get("max_length") or DEFAULT_TOKENS)
        self._pad = _pad_id(self._tokenizer)
        self._tokenizer.no_padding()
        self._session = _session(folder)
        self._inputs = {each.name: _type_of(each, folder) for each in self._session.get_inputs()}
        self.outputs: dict[str, Any] = {each.name: each.shape for each in self._session.get_outputs()}

    def encode_texts(self, texts: Sequence[str]) -> list["Encoding"]:
        with self._lock:
            self._tokenizer.enable_truncation(self.max_tokens)
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


def _session(folder: ModelFolder) -> Any:
    try:
        # By name: only a deployment with a model of its own carries the package.
        runtime = importlib.import_module("onnxruntime")
    except ModuleNotFoundError as error:
        raise SettingsError("A model folder needs the package onnxruntime: install the group `onnx`.") from error
    options = runtime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    options.enable_mem_pattern = False  # shapes differ from run to run
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(folder.model), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise SettingsError(f"{folder.model} is no ONNX model that can be run here.") from error


def _tokenizer(folder: ModelFolder) -> "Tokenizer":
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(folder.tokenizer.read_text(encoding="utf-8"))
    except Exception as error:
        raise SettingsError(f"{folder.tokenizer} is no tokenizer that can be read.") from error


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
