"""Categories and modules of what is published: to choose from, and to be told of when there is no such one."""

from collections.abc import Sequence

from commonplace.reference.model import Category
from commonplace.reference.shelf import EVERY
from commonplace.reference.tools.services import ReferenceServices
from commonplace.web.mcp.coercing import shown

MAX_NAMED = 12
"""In a message."""


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
