"""The services that the tools of the reference use, who may report gaps, and the categories and modules in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import scope
from commonplace.kernel.errors import InvalidInput
from commonplace.reference.model import Category
from commonplace.reference.shelf import EVERY
from commonplace.web.mcp.arguments import shown
from commonplace.web.mcp.declaration import Call

if TYPE_CHECKING:
    from commonplace.identity.principals import Tier
    from commonplace.reference.service import Reference


NAME = "reference"

REPORTERS: Tier = "member"
"""Whoever signs in as one may report gaps: a list that anybody could fill would be useless."""

MAX_NAMED = 12
"""In a message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceServices:
    reference: Reference
    organisation: str = "default"
    """The deployment's own: of gaps that are reported by accounts without one."""
    keeps_gaps: bool = True
    """Whether there is a list of gaps."""


def may_report(using: ReferenceServices, call: Call) -> bool:
    """Whether this caller could report a gap now; otherwise the tool is not suggested."""
    need = Need(REPORTERS, scope(NAME, "write"), "commands")
    open_to_writing = using.keeps_gaps and not call.caller.read_only
    return open_to_writing and judge(call.caller.principal, need) is Verdict.ALLOWED


def stated(name: str, text: str) -> str:
    """An argument that has to say something. Raises InvalidInput for white space and what cannot be seen."""
    if not any(letter.isprintable() and not letter.isspace() for letter in text):
        raise InvalidInput(f"{name} is empty.", hint="Say what you want to find.")
    return text


def filtered(value: str | None) -> str | None:
    """The slug that is meant; None where nothing is left out."""
    folded = "-".join((value or "").strip().casefold().replace("_", " ").split())
    return None if folded in ("", EVERY) else folded


def categories(using: ReferenceServices) -> Sequence[str]:
    """And subcategories, those with most entries first."""
    return [one.slug for one in sorted(using.reference.categories(), key=lambda one: (-one.entries, one.slug))]


def with_commands(using: ReferenceServices) -> Sequence[Category]:
    """Those that have commands, those with most of them first."""
    found = (one for one in using.reference.categories() if one.commands)
    return sorted(found, key=lambda one: (-one.commands, one.slug))


def modules(using: ReferenceServices) -> Sequence[str]:
    """Those with most entries first."""
    return using.reference.modules()


def unknown(using: ReferenceServices, category: str | None, module: str | None) -> list[str]:
    """What to say of conditions that nothing can fulfil."""
    asked = (("category", category, categories), ("module", module, modules))
    found = ((kind, value, known(using)) for kind, value, known in asked if value)
    return [
        f"There is no {kind} “{shown(value)}”; in use: {listed(known)}."
        for kind, value, known in found
        if value not in known
    ]


def listed(known: Sequence[str]) -> str:
    """The valid values, as far as there is room."""
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    return f"{', '.join(known[:MAX_NAMED])}{more}" if known else "none"
