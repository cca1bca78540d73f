"""Handles that continue an answer: where it stopped, good for the same tool, question and version only.

A handle holds no authority: each use goes through the same checks as a first call, and it holds no text.
"""

import json
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel

from commonplace.kernel.errors import InvalidInput
from commonplace.web.sealed import opened, sealed

MAX_HANDLE_CHARACTERS = 512

_PURPOSE = b"mcp-continuation"
_VERSION_BYTES = 6


def question_of(arguments: BaseModel, *leaving_out: str) -> str:
    """Everything asked, but the handle and what only changes how much is said at once; names as in the model."""
    return arguments.model_dump_json(exclude=set(leaving_out))


def handle(position: int | str, *, tool: str, question: str, version: str) -> str:
    """Opaque. `version` is that of what is continued: an ETag, a commit."""
    told = _digest(version) + json.dumps(position).encode()
    return sealed(told, _asked(tool, question), purpose=_PURPOSE)


def resume(text: str, *, tool: str, question: str, version: str) -> int | str:
    """The position. Raises InvalidInput for a handle of another tool, question or version, or of nobody."""
    try:
        if len(text) > MAX_HANDLE_CHARACTERS:
            raise ValueError("longer than any handle")
        told = opened(text, _asked(tool, question), purpose=_PURPOSE)
        position: Any = json.loads(told[_VERSION_BYTES:])
    except ValueError:
        raise _refused("This handle does not continue this question.") from None
    if told[:_VERSION_BYTES] != _digest(version):
        raise _refused("What this handle continues has changed since.")
    if not isinstance(position, int | str) or isinstance(position, bool):
        raise _refused("This handle does not continue this question.")
    return position


def _asked(tool: str, question: str) -> str:
    return f"{tool}\n{question}"


def _digest(version: str) -> bytes:
    return blake2b(version.encode("utf-8", "backslashreplace"), digest_size=_VERSION_BYTES).digest()


def _refused(message: str) -> InvalidInput:
    return InvalidInput(message, hint="Start anew: ask the same without the handle.")
