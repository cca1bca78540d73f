"""From what a caller asks for to the file, the branch and the pull request that propose it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date as Date

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.proposals import bounds
from commonplace.documents.proposals.addresses import web_address
from commonplace.documents.proposals.frontmatter import Value, frontmatter
from commonplace.documents.proposals.ports import Proposal
from commonplace.documents.proposals.proposal import (
    branch_of,
    content_type_of,
    digest,
    file_name,
    folder_of,
    needs_more,
)
from commonplace.documents.proposals.pull_requests import pull_request_body, pull_request_title
from commonplace.kernel.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks, when, and under which name of their own."""

    tool: str
    """What is asked: one key may name a request of each."""
    day: Date
    """Of today: the document's `date`."""
    organisation: str | None = None
    subject: str | None = None
    """Part of the key: nobody's request is ever found by somebody else's key."""
    key: str | None = None
    """The caller's name of this request: asked for again, it is the same proposal."""
    author: str | None = None
    """Shown in the file and in the pull request; None where the deployment names nobody."""


def link_proposal(asking: Asking, *, url: str, title: str, description: str | None = None) -> Proposal:
    """A page for a web address. Raises InvalidInput."""
    name, about, address = bounds.title_of(title), bounds.description_of(description), web_address(url)
    return _proposal(asking, "link", name, about, url=address)


def document_proposal(
    asking: Asking,
    *,
    content_type: str,
    title: str,
    content: str,
    description: str | None = None,
    tags: Sequence[str] = (),
) -> Proposal:
    """A document of one of the ontology's types. Raises InvalidInput or TooLarge."""
    kind = content_type_of(content_type)
    if needs_more(kind):
        raise InvalidInput(f"A {kind} needs more than a text.", hint="Save a web page with save_link.")
    name, about = bounds.title_of(title), bounds.description_of(description)
    return _proposal(asking, kind, name, about, tags=bounds.tags_of(tags), content=bounds.content_of(content))


def _proposal(
    asking: Asking,
    kind: str,
    title: str,
    description: str | None,
    *,
    url: str | None = None,
    tags: tuple[str, ...] = (),
    content: str = "",
) -> Proposal:
    path = f"{folder_of(kind)}/{file_name(title)}"
    key = bounds.key_of(asking.key)
    author = bounds.author_of(asking.author)
    fingerprint = digest(kind, title, description, url, tags, content)[:32]
    given: dict[str, Value | None] = {
        "title": title,
        "description": description,
        "type": kind if ONTOLOGY.type_of_path(path) != kind else None,
        "url": url,
        "date": asking.day,
        "author": [author] if author else None,
        "tags": tags or None,
        # Always there and never true: a merge alone publishes nothing.
        "publish": False,
    }
    block = frontmatter({name: value for name, value in given.items() if value is not None})
    facts = {"Title": title, "Type": kind, "File": path, "Address": url, "Description": description}
    return Proposal(
        path=path,
        text=f"{block}\n{content}" if content else block,
        title=pull_request_title("Link" if kind == "link" else f"Draft {kind}", title),
        body=pull_request_body(_introduction(kind), {name: fact for name, fact in facts.items() if fact}, author),
        branch=branch_of(title, asking.organisation, asking.subject, asking.tool, key or fingerprint, key=key),
        fingerprint=fingerprint,
    )


def _introduction(kind: str) -> str:
    what = "link for the library" if kind == "link" else f"draft of type {kind}"
    return f"A {what}, proposed through Commonplace. It is one new file, and it is not published."
