"""What the tools of the reference work with, and who may report to whoever looks after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.scopes import scope
from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.declaration import Call

if TYPE_CHECKING:
    from commonplace.identity.principals import Tier
    from commonplace.reference.service import Reference

NAME = "reference"

REPORTERS: Tier = "member"
"""Whoever signs in as one may report gaps: a list that anybody could fill would tell nobody anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceServices:
    reference: Reference
    organisation: str = "default"
    """The deployment's own: of gaps that are reported by accounts without one."""
    keeps_gaps: bool = True
    """Whether there is a list of gaps."""


def may_report(using: ReferenceServices, call: Call) -> bool:
    """Whether this caller could report a gap now: nobody is told of what would be refused."""
    need = Need(REPORTERS, scope(NAME, "write"), "commands")
    open_to_writing = using.keeps_gaps and not call.caller.read_only
    return open_to_writing and judge(call.caller.principal, need) is Verdict.ALLOWED


def stated(name: str, text: str) -> str:
    """An argument that has to say something. Raises InvalidInput for white space and what cannot be seen."""
    if not any(letter.isprintable() and not letter.isspace() for letter in text):
        raise InvalidInput(f"{name} is empty.", hint="Say what you want to find.")
    return text
