"""What changes of an organisation take: texts and their bounds, and how a function becomes an operation."""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, create_model
from pydantic.alias_generators import to_pascal

from commonplace.governance import model
from commonplace.governance.governance import Governance
from commonplace.governance.rules import only_in_person
from commonplace.web.faces import Face
from commonplace.web.operations import Actor, Input, Operation, operation

JOINERS = "".join(map(chr, (0x200C, 0x200D, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Invisible characters that writing needs; others could hide or turn around what a reader sees."""
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
"""Letters and signs, by their category, of which nothing is seen."""


def shows(text: str) -> bool:
    """Return whether anything of a text is seen."""
    return any(unicodedata.category(one)[0] not in "CZ" and one not in JOINERS + FILLERS for one in text)


def line(text: str) -> str:
    """Return a text as one line without needless spaces. Raises ValueError for characters that nobody sees."""
    found = " ".join(text.split())
    if any(one in FILLERS or (unicodedata.category(one)[0] == "C" and one not in JOINERS) for one in found):
        raise ValueError("it has characters that cannot be seen")
    return found


def named(text: str) -> str:
    """Return a text as `line` does. Raises ValueError for one that shows nothing, too."""
    if not shows(found := line(text)):
        raise ValueError("it is empty")
    return found


def block(text: str) -> str:
    """Return a text of several lines. Raises ValueError for control characters."""
    found = text.replace("\r\n", "\n").strip()
    if any(unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t" for one in found):
        raise ValueError("it has control characters")
    return found


def filled(text: str) -> str:
    """Return a text as `block` does. Raises ValueError for one that shows nothing, too."""
    if not shows(found := block(text)):
        raise ValueError("it is empty")
    return found


Id = Annotated[str, Field(max_length=100)]
Revision = Annotated[int, Field(ge=1, description="The one that was read: a change in between is a conflict.")]
Name = Annotated[str, Field(max_length=model.MAX_NAME), AfterValidator(named)]
Title = Annotated[str, Field(max_length=model.MAX_TITLE), AfterValidator(named)]
Firstname = Annotated[str, Field(max_length=model.MAX_PERSON_NAME), AfterValidator(named)]
Surname = Annotated[str, Field(max_length=model.MAX_PERSON_NAME), AfterValidator(line)]
Note = Annotated[str, Field(max_length=model.MAX_TITLE), AfterValidator(line)]
Mission = Annotated[str, Field(max_length=model.MAX_MISSION), AfterValidator(block)]
Duty = Annotated[str, Field(max_length=model.MAX_DUTY), AfterValidator(named)]
Duties = Annotated[tuple[Duty, ...], Field(max_length=model.MAX_DUTIES)]
Kind = Literal["secretary", "referee"] | None
Abstract = Annotated[str, Field(max_length=model.MAX_SUMMARY), AfterValidator(block)]
Markdown = Annotated[str, Field(min_length=1, max_length=model.MAX_POLICY_CHARACTERS), AfterValidator(block)]
Color = Annotated[str | None, Field(pattern="^#[0-9A-Fa-f]{6}$", description="Such as #2f6f4e.")]
Url = Annotated[str | None, Field(max_length=model.MAX_URL, pattern=r"^https://[!#-;=?-~]+$", description="https://…")]
DECLARED: dict[str, Any] = {"output": Face, "tier": "public", "level": "write", "tool": False}


class InOrganisation(Input):
    orga_id: Id


class OneMember(InOrganisation):
    member_id: Id


class Founding(Input):
    slug: str = Field(max_length=64, description="Small letters, digits and hyphens; it can never be changed.")
    name: Name
    firstname: Firstname
    surname: Surname = ""


class Acceptance(InOrganisation):
    secret: Id
    firstname: Firstname
    surname: Surname = ""


def change(title: str, input: type[InOrganisation] | None = None) -> Callable[[Callable[..., Any]], Operation]:
    """Declare a change of an organisation by a member in person. `decide` is repeated after conflicts.

    It is called with an act and the input; without a class of input, with the fields that it takes by name.
    """

    def declare(decide: Callable[..., Any]) -> Operation:
        _, *taken = inspect.signature(decide, eval_str=True).parameters.values()
        fields = {one.name: (one.annotation, ... if one.default is one.empty else one.default) for one in taken}
        build: Any = create_model
        made = input or build(to_pascal(decide.__name__), __base__=InOrganisation, **fields)

        @wraps(decide)
        def function(governance: Governance, actor: Actor, asked: Any) -> Any:
            access = governance.access(actor, asked.orga_id)
            only_in_person(access)
            given = {} if input else {name: getattr(asked, name) for name in fields}
            return governance.store.change(access, lambda act: decide(act, *([asked] if input else []), **given))

        return operation("governance", title=title, input=made, **DECLARED)(function)

    return declare
