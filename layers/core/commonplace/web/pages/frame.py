"""The frame of every page: one base template, one stylesheet, one error page, one content security policy.

Templates and assets of the frame are beside this file; capabilities add folders of their own. Pages work without
scripts, load nothing from other hosts, and have a strong entity tag.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from commonplace.kernel.errors import CommonplaceError
from commonplace.web.middleware import error_headers
from commonplace.web.pages.declaration import Link, Pages
from commonplace.web.representations import HTML, NO_STORE, PROTECTED, Page, asset

if TYPE_CHECKING:
    from jinja2 import Environment

FOLDER = Path(__file__).parent
TEMPLATES, ASSETS = FOLDER / "templates", FOLDER / "assets"


@dataclass(frozen=True)
class Frame:
    """What all pages of a deployment share. `base_url` is its public origin, empty where it is not known."""

    name: str = "Commonplace"
    description: str = ""
    accent: str = "#0b6e4f"
    base_url: str = ""
    declared: list[Pages] = field(default_factory=list)
    """Of the capabilities, in their order; complete before the first request."""

    def page(self, request: Request, template: str, **values: Any) -> Page:
        """The page that this template makes of the values, with an entity tag."""
        return Page.of(self.render(request, template, **values), HTML, PROTECTED)

    def render(self, request: Request, template: str, **values: Any) -> bytes:
        """`request` gives the path of the page alone: an answer is made of nobody's Host or query unless `values`
        say so."""
        found = self._templates.get_template(template)
        text = found.render(frame=self, path=request.url.path, **values)
        return text.encode("utf-8", "xmlcharrefreplace")

    def error(self, request: Request, error: CommonplaceError) -> Response:
        """The error as a page, which no cache keeps."""
        values = {
            "title": HTTPStatus(error.status).phrase,
            "error": error,
            "nearest": self.nearest(request.url.path) if error.status == HTTPStatus.NOT_FOUND else (),
        }
        body = self.render(request, "error.html", **values)
        return Response(body, error.status, {**PROTECTED, **NO_STORE, **error_headers(error)}, HTML)

    def nearest(self, path: str) -> Sequence[Link]:
        """The pages that are most like a path at which there is nothing."""
        return [link for each in self.declared if each.nearest for link in each.nearest(path)][:5]

    @property
    def menu(self) -> Sequence[Link]:
        return [link for each in self.declared for link in each.menu]

    @property
    def alternates(self) -> Sequence[tuple[str, Link]]:
        return [one for each in self.declared for one in each.alternates]

    def asset(self, name: str) -> Page | None:
        """A file of one of the folders, by its name; no other is served."""
        file = self._assets.get(name)
        return asset(file) if file else None

    def asset_url(self, name: str) -> str:
        """With the version of the file, so that it may be kept for ever."""
        return f"/assets/{name}?v={asset(self._assets[name]).etag[:12]}"

    @cached_property
    def _assets(self) -> dict[str, Path]:
        folders = [ASSETS, *(each.assets for each in self.declared if each.assets)]
        return {file.name: file for folder in folders for file in sorted(folder.iterdir()) if file.is_file()}

    @cached_property
    def _templates(self) -> Environment:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined

        folders = [TEMPLATES, *(each.templates for each in self.declared if each.templates)]
        return Environment(
            loader=FileSystemLoader(folders),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
