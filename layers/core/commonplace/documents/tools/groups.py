"""The tools `list_groups` and `list_releases`: values that documents carry, and the pages about them."""

from collections.abc import Callable, Sequence
from functools import partial

from pydantic import Field

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content import facets
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.facets import Facet
from commonplace.documents.tools.lexicon import document_count, sentence
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, estimate_tokens, fitting, shortened
from commonplace.web.mcp.declaration import Answer, Call, NoArguments, Output, Part, Tool

LIST_TOKENS = DEFAULT_TOKENS - 200
"""Of what is listed."""
DESCRIPTION_CHARACTERS = 240


class Counted(Part):
    id: str = Field(description="The value to filter by")
    title: str
    description: str | None = None
    status: str | None = None
    count: int = Field(description="Its documents")
    page: str | None = Field(None, description="contentType/id")
    document_url: str | None = Field(None, description="Of the page")


class Groups(Output):
    groups: list[Counted]
    total: int


class Releases(Output):
    releases: list[Counted]
    total: int


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="list_groups",
            title="List groups",
            description="Groups, with how many documents each has. Use an id as the group of a search.",
            arguments=NoArguments,
            output=Groups,
            run=partial(_list_groups, using),
        ),
        Tool(
            name="list_releases",
            title="List releases",
            description="Releases, with how many documents each has. Use an id as the release of a search.",
            arguments=NoArguments,
            output=Releases,
            run=partial(_list_releases, using),
        ),
    )


def _list_groups(using: KnowledgeServices, _: Call, __: NoArguments) -> Answer:
    listed, total = _listed(using, facets.groups)
    none = "There are no groups: no document belongs to one, and none is about one."
    return Answer(_list_text("group", listed, total) if total else none, Groups(groups=listed, total=total))


def _list_releases(using: KnowledgeServices, _: Call, __: NoArguments) -> Answer:
    listed, total = _listed(using, facets.releases)
    none = "There are no releases: no document belongs to one, and none is about one."
    return Answer(_list_text("release", listed, total) if total else none, Releases(releases=listed, total=total))


def _listed(using: KnowledgeServices, count: Callable[[Catalogue], Sequence[Facet]]) -> tuple[list[Counted], int]:
    """All by name; where not all fit, those with most documents."""
    found = count(using.catalogue())
    by_name = [_counted(using.addresses, facet) for facet in found]
    if len(fitting(by_name, _tokens, LIST_TOKENS)) == len(found):
        return by_name, len(found)
    by_count = sorted(by_name, key=lambda one: -one.count)
    return fitting(by_count, _tokens, LIST_TOKENS), len(found)


def _counted(addresses: DocumentAddresses, facet: Facet) -> Counted:
    page = facet.page
    if page is None:
        return Counted(id=facet.name, title=facet.name, count=facet.count)
    return Counted(
        id=facet.name,
        title=page.title,
        description=shortened(page.description, DESCRIPTION_CHARACTERS) if page.description else None,
        status=page.status,
        count=facet.count,
        page=page.ref,
        document_url=addresses.of(page),
    )


def _tokens(one: Counted) -> int:
    return max(map(estimate_tokens, (_line(one), one.model_dump_json(by_alias=True, exclude_none=True)))) + 2


def _list_text(what: str, listed: Sequence[Counted], total: int) -> str:
    most = f"; the {len(listed)} with most documents" if len(listed) < total else ""
    return "\n".join([f"{total} {what}{'' if total == 1 else 's'}{most}:", *map(_line, listed)])


def _line(one: Counted) -> str:
    title = f"{one.title} (id {one.id})" if one.title != one.id else one.id
    status = f", {one.status}" if one.status else ""
    told = f"- {title}{status}: {document_count(one.count)}."
    described = f" {sentence(one.description)}" if one.description else ""
    return f"{told}{described} Page: {one.page}, {one.document_url}" if one.page else told
