"""Examples of the hive's answers and bodies, and what its errors mean."""

from typing import Any

from commonplace.hive.model import QUEUED, REJECTED
from commonplace.hive.rest import models
from commonplace.web.rest.documentation import ErrorExample, Responses, answers, error_body
from commonplace.web.rest.models import Answer

ID = "hv_01JDXYZ8K4QW7M2N6P9R3T4VBC"
TEXT = "Lock rows in one order, or two transactions wait for each other: sort the ids before SELECT FOR UPDATE."
AT = "2026-11-23T08:00:00.000000Z"

REFUSALS: dict[int, ErrorExample] = {
    400: ("The body cannot be read.", error_body("BAD_REQUEST", "The request cannot be read.")),
    403: (
        "The token lacks a scope, which `WWW-Authenticate` names, or the account a role.",
        error_body("FORBIDDEN", "This takes the scope hive:write.", hint="Ask for it, and come again."),
    ),
    404: (
        "Nobody's item, or another organisation's: the answer does not say which.",
        error_body("NOT_FOUND", f"There is no item {ID}.", hint="Take ids from search_knowledge or list_knowledge."),
    ),
    409: (
        "Somebody else has decided meanwhile, or it is not in a state in which this can be done.",
        error_body("CONFLICT", "This contribution is approved already, by mem_8c1f.", status="approved"),
    ),
    413: (
        "The request's body is over 256 KB.",
        error_body("TOO_LARGE", "The request's body is too large.", maxBytes=262_144),
    ),
    429: (
        "Too many calls, or contributions: `Retry-After` says when to come back.",
        error_body("RATE_LIMITED", "This agent has contributed 60 times within the hour.", retryAfterSeconds=900),
    ),
    503: (
        "The store, the index or the redaction does not answer; nothing was stored.",
        error_body("UNAVAILABLE", "The redaction does not answer just now.", retryAfterSeconds=5),
    ),
}
TOO_SENSITIVE: ErrorExample = (
    "Something is outside its bounds, or too much of the text was personal data.",
    error_body("TOO_SENSITIVE", REJECTED, hint="Describe what was learned without names, addresses and keys."),
)

CONTRIBUTED = models.Contributed(contribution_id=ID, status="queued", category="bug_fix", message=QUEUED)
SUMMARY = models.Summary(
    id=ID,
    title=f"{TEXT[:80]}...",
    category="bug_fix",
    confidence=0.9,
    org_attribution="Acme DAO",
    relevance_score=0.8731,
    quality=0.6,
)
RESULTS = models.Results(results=[SUMMARY], total_found=1, next_cursor=None, fallback=False, hint=None)
QUALITY = models.QualityNumbers(outcomes=0.6667, freshness=1.0, confidence=0.9, score=0.6)
ITEM = models.KnowledgeItem(
    id=ID,
    content=TEXT,
    category="bug_fix",
    confidence=0.9,
    framework="SQLAlchemy",
    language="python",
    version="2.0",
    tags=["locks", "sql"],
    org_attribution="Acme DAO",
    contributed_at=AT,
    valid_at=AT,
    invalid_at=None,
    expired_at=None,
    quality=QUALITY,
    helpful_count=1,
    not_helpful_count=0,
    is_public=True,
    agent="agent:builder",
)
ITEMS = models.KnowledgeItems(items=[ITEM], next_cursor=None)
OWN = models.OwnContributions(
    contributions=[
        models.OwnContribution(
            id=ID,
            title=f"{TEXT[:80]}...",
            category="bug_fix",
            status="pending",
            confidence=0.9,
            contributed_at=AT,
            is_public=False,
            invalid_at=None,
            reason=None,
        )
    ],
    next_cursor=None,
)
DELETED = models.Deleted(id=ID, deleted=True)
PUBLICATION = models.Publication(id=ID, is_public=True, published_at=AT)
OUTCOME = models.ReportedOutcome(
    item_id=ID, outcome="solved", counted=True, repeated=False, helpful_count=1, not_helpful_count=0
)
REVIEWED = models.Reviewed(
    id=ID,
    status="pending",
    title=f"{TEXT[:80]}...",
    content=TEXT,
    category="bug_fix",
    confidence=0.9,
    framework="SQLAlchemy",
    language="python",
    version="2.0",
    tags=["locks", "sql"],
    run_id="run-7",
    agent="agent:builder",
    contributed_at=AT,
    valid_at=AT,
    invalid_at=None,
    redactions={"NAME": 1},
    marks=[],
    near=[],
    sensitive=False,
    decided_at=None,
    decided_by=None,
    reason=None,
    is_public=False,
    revision=1,
)
QUEUE = models.Queue(contributions=[REVIEWED], next_cursor=None, waiting=1)
SHEET = models.ReviewSheet(
    contribution=REVIEWED,
    marks=[models.MarkedPassage(code="override", sentence="Tells agents to ignore their rules.", start=0, end=28)],
    near=[
        models.NearContribution(
            id=f"{ID[:-1]}D",
            title="Sort the ids before SELECT FOR UPDATE.",
            content="Sort the ids before SELECT FOR UPDATE.",
            status="approved",
            own=True,
            similarity=0.84,
            by="meaning",
        )
    ],
    quality=None,
    helpful_count=0,
    not_helpful_count=0,
    retrieval_count=0,
)
RULES = models.RulesAnswer(
    revision=3,
    approvals=[models.RuleAnswer(id="tooling", category="tooling", agent="agent:builder", min_confidence=0.9)],
    patterns=["PROJ-[0-9]{4}"],
    allowed=["Acme"],
)
STATS = models.StatsAnswer(
    pending=1,
    approved=12,
    rejected=2,
    contributed=15,
    published=4,
    retrieved=31,
    served=27,
    oldest_pending=AT,
    by_category={"bug_fix": 7, "config": 5},
    contributors=[models.ContributorAnswer(agent="agent:builder", pending=1, refused=0)],
    model="minishlab/potion@1",
    model_changed=False,
)

NEW: dict[str, Any] = {
    "content": TEXT,
    "category": "bug_fix",
    "confidence": 0.9,
    "framework": "SQLAlchemy",
    "language": "python",
    "version": "2.0",
    "tags": ["locks", "sql"],
    "runId": "run-7",
}
NEW_RULES: dict[str, Any] = {
    "revision": 2,
    "approvals": [{"id": "tooling", "category": "tooling", "agent": "agent:builder", "minConfidence": 0.9}],
    "patterns": ["PROJ-[0-9]{4}"],
    "allowed": ["Acme"],
}


def told(example: Answer, description: str, *errors: int, sensitive: bool = False) -> Responses:
    """Of an endpoint that takes a token, and a body where 413 is among its errors."""
    errors = (*errors, 400) if 413 in errors else errors
    refusals = REFUSALS | ({422: TOO_SENSITIVE} if sensitive else {})
    return answers(example, 401, 403, *errors, description=description, conditional=False, refusals=refusals)
