"""The tools `list_groups` and `list_releases`: values that documents carry, and the pages about them."""

from collections.abc import Callable, Sequence
from functools import partial

from pydantic import Field

from commonplace.documents.content import facets
from commonplace.documents.content.document_index import Catalogue
from commonplace.documents.content.facets import Facet
from commonplace.documents.tools.lexicon import document_count, sentence
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.web.mcp.budgets import DEFAULT_TOKENS, estimate_tokens, fitting, shortened
from commonplace.web.mcp.declaration import Answer, Call, NoArguments, Output, Part, Tool

LIST_TOKENS = DEFAULT_TOKENS - 200  # The budget of what is listed
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
            run=partial(_list, using, "group", Groups, facets.groups),
        ),
        Tool(
            name="list_releases",
            title="List releases",
            description="Releases, with how many documents each has. Use an id as the release of a search.",
            arguments=NoArguments,
            output=Releases,
            run=partial(_list, using, "release", Releases, facets.releases),
        ),
    )


def _list(
    using: KnowledgeServices,
    what: str,
    output: type[Output],
    count: Callable[[Catalogue], Sequence[Facet]],
    _: Call,
    __: NoArguments,
) -> Answer:
    """Return all by name; where not all fit, those with most documents."""
    listed: list[Counted] = []
    for facet in count(using.catalogue()):
        page = facet.page
        one = Counted(
            id=facet.name,
            title=page.title if page else facet.name,
            description=shortened(page.description, DESCRIPTION_CHARACTERS) if page and page.description else None,
            status=page.status if page else None,
            count=facet.count,
            page=page.ref if page else None,
            document_url=using.addresses.of(page) if page else None,
        )
        listed.append(one)
    total = len(listed)
    if len(fitting(listed, _tokens, LIST_TOKENS)) < total:
        listed = fitting(sorted(listed, key=lambda one: -one.count), _tokens, LIST_TOKENS)
    most = f"; the {len(listed)} with most documents" if len(listed) < total else ""
    text = "\n".join([f"{total} {what}{'' if total == 1 else 's'}{most}:", *map(_line, listed)])
    if not total:
        text = f"There are no {what}s: no document belongs to one or is about one."
    return Answer(text, output.model_validate({f"{what}s": listed, "total": total}))


def _tokens(one: Counted) -> int:
    return max(map(estimate_tokens, (_line(one), one.model_dump_json(by_alias=True, exclude_none=True)))) + 2


def _line(one: Counted) -> str:
    title = f"{one.title} (id {one.id})" if one.title != one.id else one.id
    status = f", {one.status}" if one.status else ""
    text = f"- {title}{status}: {document_count(one.count)}."
    described = f" {sentence(one.description)}" if one.description else ""
    return f"{text}{described} Page: {one.page}, {one.document_url}" if one.page else text
