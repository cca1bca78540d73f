"""The frame of every page: one base template, one stylesheet, one error page, one content security policy.

Templates and assets of the frame are beside this file; capabilities add folders of their own. Pages work without
scripts, load nothing from other hosts, and have a strong entity tag.
"""

from __future__ import annotations

import colorsys
from collections.abc import Mapping, Sequence
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
from commonplace.web.representations import HTML, NO_STORE, PROTECTED, Page, asset
from commonplace.web.stack import admitted

if TYPE_CHECKING:
    from jinja2 import Environment

    from commonplace.kernel.objects import ObjectStore
    from commonplace.web.settings import SiteSettings

FOLDER = Path(__file__).parent
TEMPLATES, ASSETS = FOLDER / "templates", FOLDER / "assets"
ASSETS_PATH = "/assets"
CSS = "text/css; charset=utf-8"
THEME = "theme.css"
"""The colours of this deployment, made from its settings."""

LIGHT_PAPER, DARK_PAPER = "#f4f2ec", "#20242a"
"""The least favourable backgrounds of site.css on which text in the accent stands."""

CONTRAST = 5.0
"""The least contrast of text in the accent; WCAG 2.2 AA asks for 4.5, and tinted backgrounds take a little of it."""

STEPS = 200

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class Frame:
    """The frame that all pages of a deployment share. `base_url` is its public origin, empty where it is not known."""

    name: str = "Commonplace"
    description: str = ""
    accent: str = "#0b6e4f"
    base_url: str = ""
    links: Sequence[PageLink] = ()
    """The links of header and footer."""
    logo: bool = False
    """There is one, at `/logo`."""
    declared: list[Pages] = field(default_factory=list)
    """The pages of the capabilities, in their order; complete before the first request."""
    assets_path: str = ASSETS_PATH
    """The path of the files of those; the frame's own are the site's, for every function."""

    def page(self, request: Request, template: str, **values: Any) -> Page:
        """Return the page that this template makes of the values, with an entity tag."""
        return Page.of(self.render(request, template, **values), HTML, PROTECTED)

    def render(self, request: Request, template: str, **values: Any) -> bytes:
        """Return the page as bytes. `request` gives its path alone: no answer is made of a Host or query by itself."""
        found = self._templates.get_template(template)
        edition = partial(self.edition, request)
        text = found.render(frame=self, path=request.scope["path"], edition=edition, **values)
        return text.encode("utf-8", "xmlcharrefreplace")

    def error(self, request: Request, error: CommonplaceError) -> Response:
        """Return the error as a page, which no cache stores."""
        values = {
            "title": HTTPStatus(error.status).phrase,
            "error": error,
            "nearest": self.nearest(request) if error.status == HTTPStatus.NOT_FOUND else (),
        }
        body = self.render(request, "error.html", **values)
        return Response(body, error.status, {**PROTECTED, **NO_STORE, **error_headers(error)}, HTML)

    def nearest(self, request: Request) -> Sequence[Link]:
        """Return the pages most like a path at which there is nothing; none where the request was not let through."""
        if not admitted(request.scope):
            return ()
        path = request.scope["path"]
        try:
            return [link for each in self.declared if each.nearest for link in each.nearest(path)][:5]
        except CommonplaceError:
            return ()

    def edition(self, request: Request) -> Edition | None:
        """Return what the pages are made from; None where the request was not let through, nothing is published, or
        the store does not respond."""
        if not admitted(request.scope):
            return None
        try:
            return next((found for each in self.declared if each.edition and (found := each.edition())), None)
        except CommonplaceError:
            return None

    def placed(self, place: str) -> Sequence[PageLink]:
        return [link for link in self.links if link.place == place]

    def asset(self, name: str) -> Page | None:
        """Return a file of one of the folders, by its name; no other is served."""
        if name == THEME:
            return self.theme
        file = self._assets.get(name)
        return asset(file) if file else None

    def asset_url(self, name: str) -> str:
        """Return an address with the version of the file, so that it may be cached for ever."""
        found = self.asset(name)
        if found is None:
            raise LookupError(f"there is no asset {name}")
        theirs = name in self._assets and self._assets[name].parent != ASSETS
        return f"{self.assets_path if theirs else ASSETS_PATH}/{name}?v={found.etag[:12]}"

    @cached_property
    def theme(self) -> Page:
        return Page.of(stylesheet(self.accent).encode(), CSS, PROTECTED)

    @cached_property
    def _assets(self) -> dict[str, Path]:
        folders = [ASSETS, *(each.assets for each in self.declared if each.assets)]
        found = {file.name: file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()}
        return found | {name: file for each in self.declared for name, file in each.files.items()}

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


@dataclass(frozen=True, slots=True)
class PageContext:
    """Settings, the frame, and the store of objects; whatever else a page needs it makes when a request needs it."""

    environ: Mapping[str, str]
    settings: SiteSettings
    frame: Frame
    objects: ObjectStore


def frame_of(
    settings: Appearance, capabilities: Sequence[Capability], base_url: str | None, assets_path: str = ASSETS_PATH
) -> Frame:
    """Return the frame for a function that shows pages; each names the links of all capabilities."""
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
    """Return `6 March 2027`, in UTC for epoch seconds; a text that is no whole date stays as it is."""
    if isinstance(value, str):
        try:
            return day(date.fromisoformat(value))
        except ValueError:
            return value
    at = value if isinstance(value, date) else _utc(value)
    return f"{at.day} {_MONTHS[at.month - 1]} {at.year}"


def moment(value: datetime | float) -> str:
    """Return `6 March 2027, 14:05 UTC`; a number is epoch seconds."""
    at = _utc(value)
    return f"{day(at)}, {at:%H:%M} UTC"


def stamp(value: datetime | float) -> str:
    """Return it as the `datetime` of a `time` element."""
    return _utc(value).strftime("%Y-%m-%dT%H:%M:%SZ")


def _utc(value: datetime | float) -> datetime:
    return value.astimezone(UTC) if isinstance(value, datetime) else datetime.fromtimestamp(value, UTC)


def stylesheet(accent: str) -> str:
    """Return the colours that site.css uses: the accent `#rrggbb`, until text in it reads well in both schemes."""
    light, dark = readable(accent, LIGHT_PAPER), readable(accent, DARK_PAPER)
    return f":root{{--accent:light-dark({light},{dark});--on-accent:light-dark({on(light)},{on(dark)})}}\n"


def readable(colour: str, paper: str) -> str:
    """Return the colour, made darker on a light paper and lighter on a dark one, until its contrast is enough."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_rgb(colour))
    target = 0.0 if luminance(paper) > 0.5 else 1.0
    for step in range(STEPS + 1):
        moved = lightness + (target - lightness) * step / STEPS
        found = "#" + "".join(f"{round(part * 255):02x}" for part in colorsys.hls_to_rgb(hue, moved, saturation))
        if contrast(found, paper) >= CONTRAST:
            return found
    return "#000000" if target == 0.0 else "#ffffff"


def on(colour: str) -> str:
    """Return black or white, whichever reads better on it."""
    return max("#ffffff", "#101010", key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio, from 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance, from 0 to 1 (WCAG 2.2)."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue
