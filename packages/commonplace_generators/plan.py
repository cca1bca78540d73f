"""Which generators there are, and how one is asked.

Every kind is a pure function `generate(raw, source=..., options=...)` of a module of this folder. A source that cannot
be used at all raises InvalidInput or TooLarge; parts of one that cannot be read are told in `Generated.unread`.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol, cast

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.source.checks import EMPTY, EMPTY_HINT, says_nothing
from commonplace_generators.generated import Generated, Read, Unread

MADE = "auto-generated:"
"""Begins the `source` of a generated entry (seed 003, "Command Entry Example")."""


class Generate(Protocol):
    def __call__(self, raw: bytes, *, source: str, options: Mapping[str, Any], **more: Read) -> Generated:
        """The entries of a source's bytes. Raises InvalidInput and TooLarge."""


@dataclass(frozen=True, slots=True)
class Kind:
    """`module` is imported when it is used; `runs`: the bytes come from running a program, not from a file."""

    module: str
    runs: bool = False
    files: bool = False
    """Whether a source may be several files: `generate` of the module takes `read`, which gives them."""


KINDS: Mapping[str, Kind] = {
    "openapi": Kind("openapi", files=True),
    "console": Kind("console"),
    "click": Kind("programs", runs=True),
    "argparse": Kind("programs", runs=True),
    "typer": Kind("programs", runs=True),
    "help": Kind("helptext", runs=True),
}


def kind_of(name: str) -> Kind:
    """Raises InvalidInput, naming those that there are."""
    if name not in KINDS:
        raise InvalidInput(f"There is no generator “{name}”.", hint=f"One of: {', '.join(KINDS)}.")
    return KINDS[name]


def generate(
    kind: str, raw: bytes, *, source: str, options: Mapping[str, Any], read: Read = lambda _: None
) -> Generated:
    """Return what the generator of a kind makes, each entry with the source that it came from. `read` gives other files
    of the source by their path from its folder."""
    module = importlib.import_module(f"{__package__}.{kind_of(kind).module}")
    more = {"read": read} if kind_of(kind).files else {}
    made = cast(Generate, module.generate)(raw, source=source, options=options, **more)
    digest = sha256(raw).hexdigest()
    told = {one.where for one in made.unread if one.severity == "error"}
    bare = (one.called for one in made.entries if says_nothing(one) and one.called not in told)
    empty = (Unread(called, EMPTY, EMPTY_HINT, "error") for called in bare)
    return Generated(
        tuple(
            one.model_copy(update={"source": one.source or f"{MADE}{source}", "source_hash": one.source_hash or digest})
            for one in made.entries
        ),
        (*empty, *made.unread),
    )
