"""The page `/map`: the links between published documents, drawn, and the same as a list.

`?type=` and `?group=` narrow it to some documents, `?around={type}/{id}` to one and those it has links with.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Entry
from commonplace.documents.content.document_index import Selection
from commonplace.documents.content.library import Library
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.kernel.errors import NotFound
from commonplace.search.filters import Filters
from commonplace.web.pages.frame import Frame
from commonplace.web.representations import Page, PageCache


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the map is narrowed to; empty where it is not."""

    type: str = ""
    group: str = ""
    around: str = ""

    def __bool__(self) -> bool:
        return bool(self.type or self.group or self.around)


def map_routes(frame: Frame, library: Library) -> list[Route]:
    """Each map is drawn once for each version of what is published."""
    pages = PageCache()

    async def get_map(request: Request) -> Response:
        edition = library.edition()
        catalogue = edition.catalogue
        asked = {name: request.query_params.get(name, "").strip() for name in ("type", "group", "around")}
        if asked["type"]:
            ONTOLOGY.expand(asked["type"])
        if asked["group"] and asked["group"] not in {entry.group for entry in catalogue.entries}:
            raise NotFound("No document has this group.", hint="Choose one of those that the map offers.")
        center: Entry | None = None
        if asked["around"]:
            content_type, _, identifier = asked["around"].partition("/")
            found = catalogue.resolve(content_type, identifier)
            if found is None:
                near = catalogue.nearest(content_type, identifier)
                hint = f"Perhaps: {', '.join(near)}." if near else None
                raise NotFound("There is no document of this name to show the surroundings of.", hint=hint)
            center = found.entry
            asked["around"] = center.ref
        chosen = Chosen(**asked)
        key = ("map", chosen.type, chosen.group, chosen.around)

        def drawn() -> Page:
            from commonplace.documents.pages.map_model import OUTLINES, around, draw

            filters = Filters(
                content_types=ONTOLOGY.expand(chosen.type) if chosen.type else (),
                groups=(chosen.group,) if chosen.group else (),
            )
            documents = catalogue.select(Selection(filters))
            edges = library.graph().edges
            shown = around(center.ref, documents, edges) if center else documents
            return frame.page(
                request,
                "map.html",
                heading=f"Around {center.title}" if center else "Map",
                center=center,
                drawn=draw(shown, edges),
                chosen=chosen,
                types=sorted({entry.content_type for entry in catalogue.entries} | {chosen.type} - {""}),
                groups=sorted({entry.group for entry in catalogue.entries if entry.group}, key=str.casefold),
                outlines=OUTLINES,
                address=DocumentAddresses().of,
            )

        return pages.page(edition.etag, key, drawn).answer(request)

    return [Route("/map", get_map)]
