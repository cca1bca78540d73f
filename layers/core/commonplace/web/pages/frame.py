"""The frame of every page: one base template, one stylesheet, one error page, one content security policy.

Templates and assets of the frame are beside this file; capabilities add folders of their own. Pages work without
scripts, load nothing from other hosts, and have a strong entity tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property, partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from commonplace.kernel.capability import Capability, PageLink
from commonplace.kernel.errors import CommonplaceError
from commonplace.kernel.settings import Appearance
from commonplace.web.middleware import error_headers
from commonplace.web.pages.declaration import Edition, Link, Pages
from commonplace.web.pages.theme import stylesheet
from commonplace.web.private import admitted
from commonplace.web.representations import HTML, NO_STORE, PROTECTED, Page, asset

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
TEMPLATES, ASSETS = FOLDER / "templates", FOLDER / "assets"
ASSETS_PATH = "/assets"
CSS = "text/css; charset=utf-8"
THEME = "theme.css"
"""The colours of this deployment, made from its settings."""

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class Frame:
    """What all pages of a deployment share. `base_url` is its public origin, empty where it is not known."""

    name: str = "Commonplace"
    description: str = ""
    accent: str = "#0b6e4f"
    base_url: str = ""
    links: Sequence[PageLink] = ()
    """Of header and footer."""
    logo: bool = False
    """Whether there is one, at `/logo`."""
    declared: list[Pages] = field(default_factory=list)
    """Of the capabilities, in their order; complete before the first request."""
    assets_path: str = ASSETS_PATH
    """Below which the function serves the files of those; the frame's own are the site's, for every function."""

    def page(self, request: Request, template: str, **values: Any) -> Page:
        """The page that this template makes of the values, with an entity tag."""
        return Page.of(self.render(request, template, **values), HTML, PROTECTED)

    def render(self, request: Request, template: str, **values: Any) -> bytes:
        """`request` gives the path of the page alone: an answer is made of nobody's Host or query unless `values`
        say so."""
        found = self._templates.get_template(template)
        edition = partial(self.edition, request)
        text = found.render(frame=self, path=request.scope["path"], edition=edition, **values)
        return text.encode("utf-8", "xmlcharrefreplace")

    def error(self, request: Request, error: CommonplaceError) -> Response:
        """The error as a page, which no cache keeps."""
        values = {
            "title": HTTPStatus(error.status).phrase,
            "error": error,
            "nearest": self.nearest(request) if error.status == HTTPStatus.NOT_FOUND else (),
        }
        body = self.render(request, "error.html", **values)
        return Response(body, error.status, {**PROTECTED, **NO_STORE, **error_headers(error)}, HTML)

    def nearest(self, request: Request) -> Sequence[Link]:
        """The pages most like a path at which there is nothing. None where the request was not let through."""
        if not admitted(request.scope):
            return ()
        path = request.scope["path"]
        try:
            return [link for each in self.declared if each.nearest for link in each.nearest(path)][:5]
        except CommonplaceError:
            return ()

    def edition(self, request: Request) -> Edition | None:
        """What the pages are made from. None where the request was not let through, nothing is published, or the store
        does not say."""
        if not admitted(request.scope):
            return None
        try:
            return next((found for each in self.declared if each.edition and (found := each.edition())), None)
        except CommonplaceError:
            return None

    def placed(self, place: str) -> Sequence[PageLink]:
        return [link for link in self.links if link.place == place]

    def asset(self, name: str) -> Page | None:
        """A file of one of the folders, by its name; no other is served."""
        if name == THEME:
            return self._theme
        file = self._assets.get(name)
        return asset(file) if file else None

    def asset_url(self, name: str) -> str:
        """With the version of the file, so that it may be kept for ever."""
        found = self.asset(name)
        if found is None:
            raise LookupError(f"there is no asset {name}")
        theirs = name in self._assets and self._assets[name].parent != ASSETS
        return f"{self.assets_path if theirs else ASSETS_PATH}/{name}?v={found.etag[:12]}"

    @cached_property
    def _theme(self) -> Page:
        return Page.of(stylesheet(self.accent).encode(), CSS, PROTECTED)

    @cached_property
    def _assets(self) -> dict[str, Path]:
        folders = [ASSETS, *(each.assets for each in self.declared if each.assets)]
        return {file.name: file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()}

    @cached_property
    def _templates(self) -> Environment:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        folders = [TEMPLATES, *(each.templates for each in self.declared if each.templates)]
        made = Environment(
            loader=FileSystemLoader(folders),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        made.filters |= {"day": day, "moment": moment, "stamp": stamp}
        for each in self.declared:
            made.filters |= each.filters
        return made


def frame_of(
    settings: Appearance, capabilities: Sequence[Capability], base_url: str | None, assets_path: str = ASSETS_PATH
) -> Frame:
    """For every function that shows pages; each names the links of all capabilities.

    `assets_path` as of `Frame`.
    """
    links = [link for capability in capabilities for link in capability.links]
    return Frame(
        settings.site_name,
        settings.site_description,
        settings.site_accent,
        base_url or "",
        links,
        assets_path=assets_path,
        logo=settings.site_logo is not None,
    )


def day(value: date | float | str) -> str:
    """`6 March 2027`, in UTC for epoch seconds; a text that is no whole date stays as it is."""
    if isinstance(value, str):
        try:
            return day(date.fromisoformat(value))
        except ValueError:
            return value
    told = value if isinstance(value, date) else _utc(value)
    return f"{told.day} {_MONTHS[told.month - 1]} {told.year}"


def moment(value: datetime | float) -> str:
    """`6 March 2027, 14:05 UTC`; a number is epoch seconds."""
    told = _utc(value)
    return f"{day(told)}, {told:%H:%M} UTC"


def stamp(value: datetime | float) -> str:
    """As the `datetime` of a `time` element."""
    return _utc(value).strftime("%Y-%m-%dT%H:%M:%SZ")


def _utc(value: datetime | float) -> datetime:
    return value.astimezone(UTC) if isinstance(value, datetime) else datetime.fromtimestamp(value, UTC)
