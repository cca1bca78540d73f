"""The tools `add_knowledge`, `list_knowledge`, `delete_knowledge`, `publish_knowledge` and `report_outcome`."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from pydantic import Field

from commonplace.hive.access import is_reviewer
from commonplace.hive.inputs import draft, item_id
from commonplace.hive.model import (
    CATEGORIES,
    DEFAULT_CONFIDENCE,
    DEFAULT_LISTED,
    MAX_CONTENT,
    MAX_LISTED,
    MAX_RUN_CHARACTERS,
    MAX_TAGS,
    MIN_CONTENT,
    Category,
    ItemId,
    Listing,
    Outcome,
    Reported,
    Status,
)
from commonplace.hive.tools.services import (
    NOTICE,
    HiveServices,
    fenced,
)
from commonplace.web.mcp import budgets
from commonplace.web.mcp.budgets import MAX_TOKENS, estimate_tokens, fitting
from commonplace.web.mcp.declaration import Answer, Call, SnakeCaseArguments, SnakeCaseOutput, SnakeCasePart, Tool
from commonplace.web.mcp.lists import compact_schema
from commonplace.web.mcp.rendering import compact

LIST = "list_knowledge"
HEAD_TOKENS = 200
"""For what is said of a list as a whole, and for notes of the frame."""


class AddArguments(SnakeCaseArguments):
    content: str = Field(
        description="What was learned and when it applies, to be read by itself; personal data is taken out"
    )
    category: str
    confidence: float = Field(DEFAULT_CONFIDENCE, ge=0, le=1)
    framework: str | None = Field(None, description="Such as FastAPI")
    language: str | None = Field(None, description="Such as python")
    version: str | None = Field(None, description="Of what it is about")
    tags: list[str] | None = Field(None, description=f"At most {MAX_TAGS}")
    run_id: str | None = Field(None, description="Your name of the task in which you learned it")


def add_schema() -> Mapping[str, Any]:
    """With the bounds and values that the service judges, some of them only after the text is stripped."""
    schema = compact_schema(AddArguments.model_json_schema())
    properties = dict(schema["properties"])
    properties["content"] = properties["content"] | {"minLength": MIN_CONTENT, "maxLength": MAX_CONTENT}
    properties["category"] = properties["category"] | {"enum": list(CATEGORIES)}
    return schema | {"properties": properties}


class AddedKnowledge(SnakeCaseOutput):
    contribution_id: str
    status: Literal["queued", "approved"] = Field(description="queued waits for a reviewer")
    category: Category
    message: str


class ListArguments(SnakeCaseArguments):
    status: Literal["all", "pending", "approved"] = "all"
    category: Category | None = None
    limit: int = Field(DEFAULT_LISTED, ge=1, le=MAX_LISTED)
    cursor: str | None = Field(None, description="next_cursor of the page before")


class OwnContribution(SnakeCasePart):
    id: str
    title: str
    category: Category
    status: Status
    confidence: float
    contributed_at: str
    is_public: bool
    invalid_at: str | None = None
    reason: str | None = Field(None, description="Why it was rejected, or is not valid any more")


class OwnContributions(SnakeCaseOutput):
    contributions: list[OwnContribution] = Field(description="Newest first")
    next_cursor: str | None = Field(None, description="Where the list goes on")
    notice: str


class DeleteArguments(SnakeCaseArguments):
    id: str


class DeletedKnowledge(SnakeCaseOutput):
    id: str
    deleted: bool


class PublishArguments(SnakeCaseArguments):
    id: str
    is_public: bool = Field(description="true shares it with all organisations, false withdraws it")


class PublishedKnowledge(SnakeCaseOutput):
    id: str
    is_public: bool
    published_at: str | None = None


class ReportArguments(SnakeCaseArguments):
    item_id: str
    outcome: Outcome
    run_id: str | None = Field(
        None, max_length=MAX_RUN_CHARACTERS, description="Your name of the task: one report for each"
    )


class ReportedOutcome(SnakeCaseOutput):
    item_id: str
    outcome: Outcome
    counted: bool
    helpful_count: int
    not_helpful_count: int
    message: str


def tools(using: HiveServices) -> tuple[Tool, ...]:
    return (
        Tool(
            name="add_knowledge",
            title="Contribute knowledge",
            description="Contributes one thing that you learned and that other agents could not know. Personal data "
            "and secrets are taken out before anything is stored; a person reviews it; you go on at once.",
            arguments=AddArguments,
            output=AddedKnowledge,
            run=partial(add_knowledge, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
            input_schema=add_schema(),
        ),
        Tool(
            name=LIST,
            title="List your contributions",
            description="What your own account contributed, newest first, with what became of it.",
            arguments=ListArguments,
            output=OwnContributions,
            run=partial(list_knowledge, using),
            tier="member",
        ),
        Tool(
            name="delete_knowledge",
            title="Delete a contribution",
            description="Removes for good what your own account contributed, pending or approved.",
            arguments=DeleteArguments,
            output=DeletedKnowledge,
            run=partial(delete_knowledge, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
            destructive=True,
        ),
        Tool(
            name="publish_knowledge",
            title="Publish an item",
            description="Shares an approved item of your organisation with all others, or withdraws it. For reviewers.",
            arguments=PublishArguments,
            output=PublishedKnowledge,
            run=partial(publish_knowledge, using),
            tier="vibecoder",
            level="admin",
            cost="write",
            read_only=False,
            destructive=True,
        ),
        Tool(
            name="report_outcome",
            title="Report whether an item helped",
            description="Says whether an item that you tried solved your problem. It counts once for each task.",
            arguments=ReportArguments,
            output=ReportedOutcome,
            run=partial(report_outcome, using),
            tier="member",
            level="write",
            cost="write",
            read_only=False,
        ),
    )


def add_knowledge(using: HiveServices, call: Call, asked: AddArguments) -> Answer:
    added = using.hive.contribute(call.author, draft(**dict(asked)))
    data = AddedKnowledge(
        contribution_id=added.id,
        status=added.told,
        category=added.category,
        message=added.message,
    )
    return Answer(f"{data.message}\nid `{data.contribution_id}`, {data.category}, {data.status}", data)


def list_knowledge(using: HiveServices, call: Call, asked: ListArguments) -> Answer:
    question = budgets.question_of(asked, "cursor", "limit")
    after = None
    if asked.cursor is not None:
        after = ItemId(str(budgets.resume(asked.cursor, tool=LIST, question=question, version="")))
    listing = Listing(status=asked.status, category=asked.category, limit=asked.limit, after=after)
    page = using.hive.list(call.author, listing)
    own = (OwnContribution.model_validate(one, from_attributes=True) for one in page.contributions)
    rows = fitting(own, _cost, MAX_TOKENS - HEAD_TOKENS)
    last = rows[-1].id if len(rows) < len(page.contributions) else page.after
    onward = budgets.handle(last, tool=LIST, question=question, version="") if last is not None else None
    data = OwnContributions(contributions=rows, next_cursor=onward, notice=NOTICE)
    return Answer(_listed(data), data)


def delete_knowledge(using: HiveServices, call: Call, asked: DeleteArguments) -> Answer:
    id = item_id(asked.id)
    using.hive.delete(call.author, id, reviewer=is_reviewer(call.caller.principal))
    return Answer(f"Deleted `{id}`.", DeletedKnowledge(id=id, deleted=True))


def publish_knowledge(using: HiveServices, call: Call, asked: PublishArguments) -> Answer:
    item = using.hive.publish(call.author, item_id(asked.id), is_public=asked.is_public).contribution
    data = PublishedKnowledge(id=item.id, is_public=item.is_public, published_at=item.published_at)
    told = "is public: every organisation finds it" if item.is_public else "is your organisation's alone"
    return Answer(f"`{item.id}` {told}.", data)


def report_outcome(using: HiveServices, call: Call, asked: ReportArguments) -> Answer:
    reported = using.hive.report(call.author, item_id(asked.item_id), asked.outcome, asked.run_id)
    data = ReportedOutcome(
        item_id=reported.id,
        outcome=reported.outcome,
        counted=reported.counted,
        helpful_count=reported.counts.helpful,
        not_helpful_count=reported.counts.not_helpful,
        message=reported_message(reported),
    )
    return Answer(f"{data.message} Solved {data.helpful_count}, did not help {data.not_helpful_count}.", data)


def reported_message(reported: Reported) -> str:
    if reported.repeated:
        return "You have reported on this item in this task before: that report stands."
    if not reported.counted:
        return "Recorded, not counted: your organisation reported this of the item today."
    return "Counted."


def _cost(row: OwnContribution) -> int:
    data = row.model_dump(mode="json", exclude_none=True)
    return max(estimate_tokens(_line(row)), estimate_tokens(compact(data))) + 2


def _line(row: OwnContribution) -> str:
    parts = (
        row.id,
        row.category,
        "public" if row.is_public else row.status,
        row.contributed_at[:10],
        row.title,
        f"not valid since {row.invalid_at[:10]}" if row.invalid_at else "",
        f"({' '.join(row.reason.split())})" if row.reason else "",
    )
    return " ".join(part for part in parts if part)


def _listed(data: OwnContributions) -> str:
    if not data.contributions:
        return "Your account has contributed nothing of this kind."
    head = f"{len(data.contributions)} of your contributions, newest first. {NOTICE}"
    more = f"\nMore: cursor `{data.next_cursor}`" if data.next_cursor else ""
    return f"{head}\n{fenced(chr(10).join(map(_line, data.contributions)))}{more}"
