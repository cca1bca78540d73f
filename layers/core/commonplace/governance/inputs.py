"""What changes of an organisation take: texts and their bounds, and how a function becomes an operation."""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, create_model, model_validator
from pydantic.alias_generators import to_pascal

from commonplace.governance import model
from commonplace.governance.governance import Governance
from commonplace.identity.oauth.agent_names import is_agent_like
from commonplace.kernel.errors import Forbidden
from commonplace.web.faces import Face
from commonplace.web.operations import Actor, Input, Operation, operation

JOINERS = "".join(map(chr, (0x200C, 0x200D, *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""Invisible characters that writing needs; others could hide or turn around what a reader sees."""
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
"""Letters and signs, by their category, of which nothing is seen."""


def shows(text: str) -> bool:
    """Return whether anything of a text is seen."""
    return any(unicodedata.category(one)[0] not in "CZ" and one not in JOINERS + FILLERS for one in text)


def clean(text: str, *, lines: bool = False, filled: bool = False) -> str:
    """Return a text without needless spaces: as one line, unless it may have several.

    Raises ValueError for characters that nobody sees, and with `filled` for a text that shows nothing.
    """
    found = text.replace("\r\n", "\n").strip() if lines else " ".join(text.split())
    hidden = ("Cc", "Cs") if lines else ("Cc", "Cf", "Cn", "Co", "Cs")
    unseen = "" if lines else FILLERS
    if any(one in unseen or (unicodedata.category(one) in hidden and one not in f"{JOINERS}\n\t") for one in found):
        raise ValueError("it has characters that cannot be seen")
    if filled and not shows(found):
        raise ValueError("it is empty")
    return found


def unmarked(text: str) -> str:
    """Return a name that nobody takes for the mark of an agent. Raises ValueError."""
    if is_agent_like(text):
        raise ValueError('it reads like the mark of an agent: choose one without "AI Agent" and "(via"')
    return text


line, named = clean, partial(clean, filled=True)
block, filled = partial(clean, lines=True), partial(clean, lines=True, filled=True)

Id = Annotated[str, Field(max_length=100)]
Revision = Annotated[int, Field(ge=1, description="The one that was read: a change in between is a conflict.")]
Name = Annotated[str, Field(max_length=model.MAX_NAME), AfterValidator(named), AfterValidator(unmarked)]
Title = Annotated[str, Field(max_length=model.MAX_TITLE), AfterValidator(named)]
RoleTitle = Annotated[Title, AfterValidator(unmarked)]
Firstname = Annotated[str, Field(max_length=model.MAX_PERSON_NAME), AfterValidator(named)]
Surname = Annotated[str, Field(max_length=model.MAX_PERSON_NAME), AfterValidator(line)]
Note = Annotated[str, Field(max_length=model.MAX_TITLE), AfterValidator(line)]
Aim = Annotated[str, Field(max_length=model.MAX_MISSION), AfterValidator(block)]
Duty = Annotated[str, Field(max_length=model.MAX_DUTY), AfterValidator(named)]
Tasks = Annotated[tuple[Duty, ...], Field(max_length=model.MAX_DUTIES, description="What its holder does.")]
Kind = Literal["secretary", "referee"] | None
Reads = Annotated[int | None, Field(ge=6, le=600, description="6 to 600")]
Writes = Annotated[int | None, Field(ge=1, le=100, description="1 to 100")]
Searches = Annotated[int | None, Field(ge=2, le=200, description="2 to 200")]
"""Calls of one agent in a minute."""
Abstract = Annotated[str, Field(max_length=model.MAX_SUMMARY), AfterValidator(block)]
Markdown = Annotated[str, Field(min_length=1, max_length=model.MAX_POLICY_CHARACTERS), AfterValidator(block)]
Color = Annotated[str | None, Field(pattern="^#[0-9A-Fa-f]{6}$", description="Such as #2f6f4e.")]
Url = Annotated[str | None, Field(max_length=model.MAX_URL, pattern=r"^https://[!#-;=?-~]+$", description="https://…")]


DECLARED: dict[str, Any] = {"output": Face, "tier": "public", "level": "write", "tool": False}


class InOrganisation(Input):
    orga_id: Id


class OfPerson(Input):
    firstname: Firstname
    surname: Surname = ""

    @model_validator(mode="after")
    def unmarked(self) -> Self:
        """Raises ValueError for parts that together read like the mark of an agent."""
        unmarked(f"{self.firstname} {self.surname}")
        return self


class Founding(OfPerson):
    slug: str = Field(max_length=64, description="Small letters, digits and hyphens; it can never be changed.")
    name: Name


class Acceptance(OfPerson, InOrganisation):
    secret: Id


@cache
def parameters_of(decide: Callable[..., Any]) -> tuple[inspect.Parameter, ...]:
    """Return what a change takes beside the act, with its annotations as types."""
    _, *taken = inspect.signature(decide, eval_str=True).parameters.values()
    return tuple(taken)


def change(title: str) -> Callable[[Callable[..., Any]], Operation]:
    """Declare a change of an organisation by a member in person.

    `decide` is called with an act and, by name, the fields of the input; again after a concurrent change.
    """

    def declare(decide: Callable[..., Any]) -> Operation:
        taken = parameters_of(decide)
        fields = {one.name: (one.annotation, ... if one.default is one.empty else one.default) for one in taken}
        build: Any = create_model

        @wraps(decide)
        def function(governance: Governance, actor: Actor, request: Any) -> Any:
            access = governance.access(actor, request.orga_id)
            if access.agent:
                raise Forbidden("An agent cannot do this.", hint="Its member can, in the console.")
            given = {name: getattr(request, name) for name in fields}
            return governance.store.change(access, lambda act: decide(act, **given))

        made = build(to_pascal(decide.__name__), __base__=InOrganisation, **fields)
        return operation("governance", title=title, input=made, **DECLARED)(function)

    return declare
