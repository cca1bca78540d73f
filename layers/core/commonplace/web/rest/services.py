"""The services that endpoints use, built once per application."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from starlette.requests import Request

if TYPE_CHECKING:
    from commonplace.web.challenges import Accounts
    from commonplace.web.limits import Limits
    from commonplace.web.rest.declaration import Site

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Services:
    """Of the frame; `parts` are those of the capabilities."""

    site: "Site"
    limits: "Limits"
    parts: Mapping[type, object]
    accounts: "Accounts | None" = None
    """None where nobody can sign in."""


def services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


def part(request: Request, kind: type[T]) -> T:
    """What the capability with services of this class works with."""
    return cast(T, services(request).parts[kind])
