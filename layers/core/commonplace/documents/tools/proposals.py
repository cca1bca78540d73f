"""The tools `save_link` and `create_draft`: each opens a pull request for review and changes nothing else."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from commonplace.documents.content.document import Entry
from commonplace.documents.proposals.proposal import (
    LINK,
    Proposal,
    ProposalContext,
    content_type_of,
    document_proposal,
    kept_in,
    link_proposal,
    proposable,
    same_page,
)
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.kernel.errors import Conflict, Unavailable
from commonplace.kernel.terms import key
from commonplace.repository.slugs import slug
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Tool

if TYPE_CHECKING:
    from commonplace.documents.proposals.github import GitHubProposals

NEVER_SECONDS = 24 * 3600  # A deployment that takes no proposals will take none in a moment either

NEXT_STEP = (
    "Reviewers read it on GitHub, set publish to true and merge it. After the next sync it is found here; until then "
    "no tool shows it."
)
NEXT_STEP_HERE = (
    "It is not on GitHub: it waits on this laptop. `commonplace proposals apply {}` puts it into the folder; there the "
    "owner sets publish to true. Until then no tool shows it."
)


class LinkArguments(Arguments):
    url: str = Field(description="http or https")
    title: str
    description: str | None = Field(None, description="Why it is worth knowing, in one or two sentences")
    key: str | None = Field(None, description="Your key for this request: sent twice, it is proposed once")


class DraftArguments(Arguments):
    content_type: str = Field(description=f"One of {', '.join(proposable())}")
    title: str
    content: str = Field(description="Markdown without frontmatter")
    description: str | None = Field(None, description="One or two sentences for lists and previews")
    tags: list[str] = Field(default_factory=list, description="Like shared-ownership")
    key: str | None = Field(None, description="As in save_link")


class Drafted(Output):
    url: str = Field(description="Of the pull request")
    number: int
    path: str = Field(description="Of the new file")
    handle: str = Field(description="Names this proposal: its branch")
    created: bool = Field(description="False if it was there already")
    next_step: str


def tools(using: KnowledgeServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="save_link",
            title="Save a link",
            description="Propose a web page for the library, as a pull request on GitHub. Nothing is published yet.",
            arguments=LinkArguments,
            output=Drafted,
            run=partial(save_link, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
            open_world=True,
        ),
        Tool(
            name="create_draft",
            title="Create a draft",
            description="Propose a new document, as a pull request on GitHub. It never changes a document that exists.",
            arguments=DraftArguments,
            output=Drafted,
            run=partial(create_draft, using),
            tier="vibecoder",
            level="write",
            cost="write",
            read_only=False,
            open_world=True,
        ),
    )


def save_link(using: KnowledgeServices, call: Call, asked: LinkArguments) -> Answer:
    _proposals(using)
    entries = using.library.edition().catalogue.entries
    proposal = link_proposal(
        _context(using, call, "save_link", asked.key),
        url=asked.url,
        title=asked.title,
        description=asked.description,
        folder=kept_in(LINK, entries),
    )
    page = same_page(asked.url)
    if there := next((entry for entry in entries if entry.url and same_page(entry.url) == page), None):
        message = f"This link is in the library already: {_named(using, there)}. Nothing was proposed."
        raise Conflict(message, hint=f"Read it with get_document. {_change(there)}")
    return _propose(using, proposal)


def create_draft(using: KnowledgeServices, call: Call, asked: DraftArguments) -> Answer:
    _proposals(using)
    catalogue, kind = using.library.edition().catalogue, content_type_of(asked.content_type)
    proposal = document_proposal(
        _context(using, call, "create_draft", asked.key),
        content_type=kind,
        title=asked.title,
        content=asked.content,
        description=asked.description,
        tags=asked.tags,
        folder=kept_in(kind, catalogue.entries),
    )
    # The document of the type with this title, alias or id, now or formerly.
    wanted = key(asked.title)
    alike = [entry for entry in catalogue.entries if entry.content_type == kind]
    named = next((entry for entry in alike if wanted in map(key, (entry.title, *entry.aliases))), None)
    found = None if named else catalogue.resolve(kind, slug(asked.title))
    if there := (found.entry if found else named):
        message = f"There is a {kind} of this name already: {_named(using, there)}. Nothing was proposed."
        hint = f"Read it with get_document. For something else choose another title. {_change(there)}"
        raise Conflict(message, hint=hint)
    return _propose(using, proposal)


def _named(using: KnowledgeServices, entry: Entry) -> str:
    return f"`{entry.ref}`, “{entry.title}”, {using.addresses.of(entry)}"


def _change(entry: Entry) -> str:
    return f"To change it, propose a change of {entry.source_url or entry.path} on GitHub."


def _context(using: KnowledgeServices, call: Call, tool: str, key: str | None) -> ProposalContext:
    principal = call.caller.principal
    return ProposalContext(
        tool=tool,
        day=using.clock().date(),
        organisation=principal.organisation,
        subject=principal.subject,
        key=key,
        author=(principal.display_name or principal.subject) if using.names_authors else None,
    )


def _proposals(using: KnowledgeServices) -> GitHubProposals:
    if using.proposals is None:
        raise Unavailable(
            "This deployment does not accept proposals.",
            retry_after_seconds=NEVER_SECONDS,
            hint="Its operator has not set up credentials for pull requests. Propose the document on GitHub by hand.",
        )
    return using.proposals


def _propose(using: KnowledgeServices, proposal: Proposal) -> Answer:
    made = _proposals(using).propose(proposal)
    step = NEXT_STEP_HERE.format(made.number) if using.laptop else NEXT_STEP
    data = Drafted(
        url=made.url,
        number=made.number,
        path=made.path,
        handle=made.branch,
        created=made.created,
        next_step=step if made.created else f"Nothing new was made. {step}",
    )
    what = "was opened" if data.created else "was there already"
    lines = (
        f"{'Proposal ' if using.laptop else 'Pull request #'}{data.number} {what}: <{data.url}>",
        f"File: `{data.path}`, not published",
        f"Handle: `{data.handle}`",
        f"Next: {data.next_step}",
    )
    return Answer("\n".join(lines), data)
