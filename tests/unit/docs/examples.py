"""Commands with the answers that a page prints below them, and what it means for an answer to be as printed."""

import json
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.unit.docs.pages import blocks

PRINTED = {"json", "markdown"}


@dataclass(frozen=True, slots=True)
class Example:
    command: tuple[str, ...]
    language: str
    printed: str

    @property
    def name(self) -> str:
        return self.command[-1].split("8787", 1)[-1]


def examples(page: Path) -> list[Example]:
    """Every `curl` that is followed by an answer."""
    return [
        Example(tuple(shlex.split(shown.text)), answer.language, answer.text)
        for shown, answer in pairwise(blocks(page))
        if shown.language == "sh" and shown.text.startswith("curl ") and answer.language in PRINTED
    ]


def differences(example: Example, answer: str) -> list[str]:
    """What the answer lacks of what is printed; a printed answer may leave things out."""
    if example.language == "json":
        return list(_missing(json.loads(example.printed), json.loads(answer), "answer"))
    return [] if example.printed.strip() in answer else [f"{example.printed.strip()!r} is not in {answer!r}"]


def _missing(printed: Any, real: Any, place: str) -> list[str]:
    if isinstance(printed, dict) and isinstance(real, dict):
        unknown = [f"{place}.{key} is not there" for key in printed if key not in real]
        return unknown + [
            lack for key in printed if key in real for lack in _missing(printed[key], real[key], f"{place}.{key}")
        ]
    if isinstance(printed, list) and isinstance(real, list):
        if len(printed) > len(real):
            return [f"{place} has {len(real)} items, not {len(printed)}"]
        pairs = zip(printed, real, strict=False)
        return [
            lack for index, (ours, theirs) in enumerate(pairs) for lack in _missing(ours, theirs, f"{place}[{index}]")
        ]
    return [] if printed == real else [f"{place} is {real!r}, not {printed!r}"]
