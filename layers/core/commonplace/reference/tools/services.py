"""The services that the tools of the reference share: filters with their values in use, and who may report gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import scope
from commonplace.kernel.errors import InvalidInput, NotFound
from commonplace.reference.model import EVERYWHERE, Category, Within
from commonplace.reference.shelf import EVERY
from commonplace.web.mcp.arguments import shown
from commonplace.web.mcp.budgets import estimate_tokens, fitting
from commonplace.web.mcp.declaration import Arguments, Call, Caller

if TYPE_CHECKING:
    from commonplace.identity.principals import Tier
    from commonplace.reference.service import Reference


NAME = "reference"

REPORTERS: Tier = "member"
"""Whoever signs in as one may report gaps: a list that anybody could fill would be useless."""

MAX_NAMED = 12
"""In a message."""
LISTED_TOKENS = 50
"""Of the values of an argument in the list of tools, which stands before a model in every conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceServices:
    reference: Reference
    organisation: str = "default"
    """The deployment's own: of gaps that are reported by accounts without one."""
    keeps_gaps: bool = True
    """True if there is a list of gaps."""

    @property
    def several(self) -> bool:
        """Return whether an answer has to say which product it is about."""
        return len(self.reference.catalogues()) > 1


class Filtered(Arguments):
    """The filters of a look-up."""

    catalogue: str | None = None
    """Of one product alone; its name or title."""
    version: str | None = None

    @property
    def within(self) -> Within:
        return Within(*((value or "").strip() if filtered(value) else None for value in (self.catalogue, self.version)))


def may_report(using: ReferenceServices, call: Call) -> bool:
    """Return whether this caller could report a gap now; otherwise the tool is not suggested."""
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


def in_use(using: ReferenceServices, *names: str) -> dict[str, Callable[[Caller], Sequence[str]]]:
    """Return, by argument, the values that the list of tools names: as many of the first as there is room for."""
    known = {"catalogue": catalogues, "version": versions, "category": categories, "module": modules}
    return {name: lambda _, values=known[name]: listable(values(using)) for name in names}  # type: ignore[misc]


def listable(values: Sequence[str]) -> Sequence[str]:
    """Return as many of the first as there is room for."""
    return fitting(values, lambda value: estimate_tokens(f"{value}, "), LISTED_TOKENS)


def catalogues(using: ReferenceServices) -> Sequence[str]:
    return [one.name for one in using.reference.catalogues()]


def versions(using: ReferenceServices, catalogue: str | None = None) -> Sequence[str]:
    """Return the versions of this catalogue, or of all."""
    found = (one for one in using.reference.catalogues() if Within(catalogue).admits(one))
    return list(dict.fromkeys(one.version for one in found if one.version))


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


def unknown(
    using: ReferenceServices, category: str | None = None, module: str | None = None, within: Within = EVERYWHERE
) -> list[str]:
    """Return what to say of conditions that nothing can fulfil."""
    asked = [("category", category, categories), ("module", module, modules)]
    found = [(kind, value, known(using)) for kind, value, known in asked if value]
    missed = [(kind, value, known) for kind, value, known in found if value not in known]
    if not any(within.admits(one) for one in using.reference.catalogues()):
        if within.catalogue and not any(Within(within.catalogue).admits(one) for one in using.reference.catalogues()):
            missed.append(("catalogue", within.catalogue, catalogues(using)))
        elif within.version:
            missed.append(("version", within.version, versions(using, within.catalogue)))
    return [f"There is no {kind} “{shown(value)}”; in use: {listed(known)}." for kind, value, known in missed]


def checked(using: ReferenceServices, within: Within) -> Within:
    """Raises NotFound where no catalogue is like that."""
    if told := unknown(using, within=within):
        message, _, known = told[0].partition("; ")
        raise NotFound(f"{message}.", hint=f"{known[:1].upper()}{known[1:]}")
    return within


def listed(known: Sequence[str]) -> str:
    """The valid values, as far as there is room."""
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    return f"{', '.join(known[:MAX_NAMED])}{more}" if known else "none"
