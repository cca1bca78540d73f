"""The tools `save_link` and `create_draft`: each opens a pull request for review and changes nothing else."""

from functools import partial

from pydantic import Field

from commonplace.documents.proposals.ports import Proposal
from commonplace.documents.proposals.proposal import ProposalContext, document_proposal, link_proposal, proposable
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.kernel.errors import Unavailable
from commonplace.web.mcp.declaration import Answer, Arguments, Call, Output, Tool

NEVER_SECONDS = 24 * 3600
"""A deployment that takes no proposals will take none in a moment either."""

NEXT_STEP = (
    "Reviewers read it on GitHub, set publish to true and merge it. After the next sync it is found here; until then "
    "no tool shows it."
)


class LinkArguments(Arguments):
    url: str = Field(description="http or https")
    title: str
    description: str | None = Field(None, description="Why it is worth knowing, in one or two sentences")
    key: str | None = Field(None, description="Your name for this request: asked again, it is not proposed twice")


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
    asking = _context(using, call, "save_link", asked.key)
    return _propose(using, link_proposal(asking, url=asked.url, title=asked.title, description=asked.description))


def create_draft(using: KnowledgeServices, call: Call, asked: DraftArguments) -> Answer:
    proposal = document_proposal(
        _context(using, call, "create_draft", asked.key),
        content_type=asked.content_type,
        title=asked.title,
        content=asked.content,
        description=asked.description,
        tags=asked.tags,
    )
    return _propose(using, proposal)


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


def _propose(using: KnowledgeServices, proposal: Proposal) -> Answer:
    if using.proposals is None:
        raise Unavailable(
            "This deployment takes no proposals.",
            retry_after_seconds=NEVER_SECONDS,
            hint="Its operator has not set up credentials for pull requests. Propose the document on GitHub by hand.",
        )
    made = using.proposals.propose(proposal)
    data = Drafted(
        url=made.url,
        number=made.number,
        path=made.path,
        handle=made.branch,
        created=made.created,
        next_step=NEXT_STEP if made.created else f"Nothing new was made. {NEXT_STEP}",
    )
    return Answer(_text(data), data)


def _text(data: Drafted) -> str:
    what = "was opened" if data.created else "was there already"
    lines = (
        f"Pull request #{data.number} {what}: <{data.url}>",
        f"File: `{data.path}`, not published",
        f"Handle: `{data.handle}`",
        f"Next: {data.next_step}",
    )
    return "\n".join(lines)
