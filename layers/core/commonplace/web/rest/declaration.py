"""The declaration of a capability's routes, the context from which it builds them, and the services of endpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from starlette.requests import Request

if TYPE_CHECKING:
    from fastapi import APIRouter
    from starlette.routing import BaseRoute

    from commonplace.kernel.objects import ObjectStore
    from commonplace.web.challenges import Accounts
    from commonplace.web.pages.frame import Frame
    from commonplace.web.settings import RestSettings
    from commonplace.web.stack import Limits

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Site:
    """Name, base URL and rate limits of this deployment."""

    name: str = "Commonplace"
    base_url: str = ""
    """Public origin without trailing slash; empty makes addresses relative. Never a request's Host: caches would keep
    whatever somebody wrote there."""
    reads_per_minute: int = 600
    searches_per_minute: int = 60
    fresh: bool = False
    """Browsers ask for each answer again, as on a laptop."""


@dataclass(frozen=True, slots=True)
class RestContext:
    """Settings and the store of objects; whatever else an endpoint needs it makes when a request first needs it."""

    environ: Mapping[str, str]
    settings: RestSettings
    site: Site
    objects: ObjectStore
    frame: Frame
    """Of the pages that describe the API."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routes:
    """The routes of one capability below `/api/v1`. Addresses are named without that prefix."""

    services: object
    """The services of its endpoints: they get them by their class, see `part`."""
    routers: Sequence[APIRouter]
    root_routers: Sequence[APIRouter] = ()
    """Answer at the root of the host as well."""
    pages: Sequence[BaseRoute] = ()
    """Pages for people, at the root of the host alone."""
    tags: Sequence[Mapping[str, str]] = ()
    """Names and descriptions of its own sections of the OpenAPI document."""
    description: str = ""
    """Markdown for the head of that document."""
    searches: frozenset[str] = frozenset()
    """Addresses that the quota of searches counts, not that of reads."""
    unlimited: frozenset[str] = frozenset()
    """Addresses that no quota counts, at the root too."""
    examples: Callable[[], Mapping[str, str]] | None = None
    """Values of parameters, by name, that are published now: what the description shows. Raises Unavailable."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services that endpoints use, built once per application; `parts` are those of the capabilities."""

    site: Site
    limits: Limits
    parts: Mapping[type, object]
    accounts: Accounts | None = None
    """None where nobody can sign in."""


def services(request: Request) -> Services:
    return cast(Services, request.app.state.services)


def part(request: Request, kind: type[T]) -> T:
    """Return what the capability with services of this class works with."""
    return cast(T, services(request).parts[kind])
