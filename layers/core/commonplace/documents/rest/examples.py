"""Example answers about one made-up document, for the OpenAPI document."""

from datetime import UTC, datetime
from functools import partial

from commonplace import __version__
from commonplace.documents.rest import models
from commonplace.web.rest import documentation
from commonplace.web.rest.documentation import ErrorExample, error_body

COMMIT = "9f2c1e7b6a5d4c3b2a190817263544536271809a"
BLOB = "1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"
SYNCED = datetime(2026, 3, 21, 9, 30, 12, tzinfo=UTC)
CHANGED = datetime(2026, 3, 20, 17, 4, 5, tzinfo=UTC)
PATH = "artifacts/patterns/rotating-stewardship.md"
REF = "pattern/rotating-stewardship"
PAGES = "https://knowledge.example.org/d"

SUMMARY = models.EntrySummary(
    document_url=f"{PAGES}/{REF}",
    id="rotating-stewardship",
    content_type="pattern",
    title="Rotating stewardship",
    description="How a circle passes its responsibilities on every season.",
    path=PATH,
    group="seed-library",
    release="first-harvest",
    status=None,
    tags=["governance", "roles"],
    date="2026-02-14",
    updated_at=CHANGED,
    author=["Rosa Lind"],
    aliases=["stewardship rota"],
    link_type=None,
    banner="attachments/Seedlings.png",
    banner_url=f"https://knowledge.example.org/api/v1/attachments/Seedlings.png?v={BLOB}",
    url=None,
    source_url=f"https://github.com/example/garden/blob/{COMMIT}/{PATH}",
    commit_sha=COMMIT,
    synced_at=SYNCED,
)
BODY = "\n# Rotating stewardship\n\nEvery season the circle asks who carries what.\n"
DOCUMENT = models.Entry(
    **dict(SUMMARY),
    permalink=None,
    metadata={"title": "Rotating stewardship", "tags": ["governance", "roles"], "group": "seed-library"},
    frontmatter={"title": "Rotating stewardship", "publish": True, "tags": ["governance", "roles"]},
    content=BODY,
    blob_sha=BLOB,
    generation=12,
)
LEXICON = models.Pointer(
    document_url=f"{PAGES}/tag/governance",
    id="governance",
    content_type="tag",
    title="Governance",
    description="How a group decides, and who may.",
    path="tags/governance.md",
)
ENTRIES = models.EntryList(entries=[models.ListedEntry(**dict(SUMMARY))], total=1, limit=20, offset=0)
MARKDOWN = f'---\ntitle: "Rotating stewardship"\ntype: "pattern"\nid: "rotating-stewardship"\n---\n{BODY}'
LINKS = models.EntryLinks(
    ref=REF,
    links=[
        models.WrittenLink(
            written="[[Governance#Who decides|deciding]]",
            kind="wiki",
            text="deciding",
            line=14,
            field=None,
            ref="tag/governance",
            attachment=None,
            url=f"{PAGES}/tag/governance#who-decides",
        ),
        models.WrittenLink(
            written="../practises/handover.md",
            kind="link",
            text="Handing over",
            line=17,
            field=None,
            ref=None,
            attachment=None,
            url=None,
        ),
    ],
    out=[LEXICON],
    back=[],
    broken=[models.BrokenLink(target="../practises/handover.md", line=17, suggestion="practice/handover")],
    truncated=False,
)
NODE = models.GraphNode(
    document_url=f"{PAGES}/{REF}",
    ref=REF,
    id="rotating-stewardship",
    content_type="pattern",
    title="Rotating stewardship",
    path=PATH,
    tags=["governance", "roles"],
)
GRAPH = models.Graph(
    nodes=[NODE],
    links=[models.GraphLink(source=REF, target="tag/governance")],
    total=models.GraphTotal(nodes=1, links=1),
    truncated=False,
)
GROUP_PAGE = models.Pointer(
    document_url=f"{PAGES}/group/seed-library",
    id="seed-library",
    content_type="group",
    title="Seed library",
    description="Keeps and lends seeds.",
    path="data/groups/seed-library.md",
)
GROUP = models.Group(
    id="seed-library",
    title="Seed library",
    description="Keeps and lends seeds.",
    status=None,
    count=7,
    page=GROUP_PAGE,
)
GROUPS = models.GroupList(groups=[GROUP], total=1, limit=1000, offset=0)
RELEASE = models.Release(id="first-harvest", title="first-harvest", description=None, count=4, page=None)
RELEASES = models.ReleaseList(releases=[RELEASE], total=1, limit=1000, offset=0)
TAGS = models.TagList(tags=[models.Tag(tag="governance", count=9, entry=LEXICON)], total=1, limit=1000, offset=0)
MANIFEST = models.Manifest(
    schema_version=2,
    repository="example/garden",
    branch="main",
    commit_sha=COMMIT,
    synced_at=SYNCED,
    documents=[
        models.ManifestDocument(
            ref=REF,
            id="rotating-stewardship",
            content_type="pattern",
            path=PATH,
            key="content/pattern/rotating-stewardship.json",
            etag="5d41402abc4b2a76b9719d911017c592-8fb1d04e",
            blob_sha=BLOB,
            updated_at=CHANGED,
            url="/api/v1/entries/pattern/rotating-stewardship",
            document_url=f"{PAGES}/{REF}",
        )
    ],
    total=1,
    attachments=[
        models.ManifestAttachment(
            name="Seedlings.png",
            path="attachments/Seedlings.png",
            media_type="image/png",
            size=48211,
            width=1600,
            height=900,
            blob_sha=BLOB,
            url=f"/api/v1/attachments/Seedlings.png?v={BLOB}",
        )
    ],
    attachments_total=1,
    limit=10000,
    offset=0,
    truncated=False,
)
SYNC = models.SyncSummary.model_validate(
    {
        "status": "succeeded",
        "error": None,
        "checkedAt": "2026-03-21T09:30:14Z",
        "commitSha": COMMIT,
        "generation": 12,
        "startedAt": "2026-03-21T09:30:05Z",
        "finishedAt": "2026-03-21T09:30:14Z",
        "counts": {"documents": 48, "stored": 1, "unchanged": 47, "removed": 0, "problems": 1, "brokenLinks": 1},
        "notes": [
            {
                "ref": REF,
                "path": PATH,
                "problem": {
                    "code": "aliased-type",
                    "message": "`concept` is read as `tag`",
                    "hint": "write `type: tag`",
                },
            }
        ],
    }
)
HEALTH = models.Health(
    status="ok",
    store=models.Part(status="ok"),
    index=models.Part(status="ok"),
    commit_sha=COMMIT,
    synced_at=SYNCED,
    lag_seconds=42,
    documents=48,
    version=__version__,
)
UNHEALTHY = models.Health(
    status="unavailable",
    store=models.Part(status="unavailable"),
    index=models.Part(status="ok"),
    commit_sha=None,
    synced_at=None,
    lag_seconds=None,
    documents=0,
    version=__version__,
)
FEED = models.JsonFeed(
    version="https://jsonfeed.org/version/1.1",
    title="Commonplace",
    home_page_url="https://knowledge.example.org/",
    feed_url="https://knowledge.example.org/feed.json",
    description="What changed last in Commonplace.",
    items=[
        models.FeedItem(
            id="https://knowledge.example.org/api/v1/entries/pattern/rotating-stewardship",
            url=f"{PAGES}/{REF}",
            title="Rotating stewardship",
            summary=SUMMARY.description,
            content_text=BODY,
            date_published="2026-02-14T00:00:00Z",
            date_modified="2026-03-20T17:04:05Z",
            authors=[models.FeedAuthor(name="Rosa Lind")],
            tags=["governance", "roles"],
        )
    ],
)
SCHEMAS = models.SchemaList(
    schemas=[
        models.SchemaLink(
            content_type="pattern",
            parent="resource",
            description="A reusable solution.",
            url="/api/v1/schemas/pattern.json",
        )
    ]
)
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "pattern",
    "type": "object",
    "properties": {"title": {"type": "string", "minLength": 1}},
    "required": ["title"],
}
ONTOLOGY = models.Ontology.model_validate(
    {
        "types": [{"name": "pattern", "parent": "resource", "description": "A reusable solution."}],
        "aliases": {"concept": "tag"},
    }
)
HIT = models.SearchHit(
    document_url=f"{PAGES}/{REF}",
    id="rotating-stewardship",
    content_type="pattern",
    title="Rotating stewardship",
    description=SUMMARY.description,
    snippet="Every season the circle asks who carries what.",
    heading="Rotating stewardship",
    score=0.94,
    rerank_score=None,
    url=None,
    source_url=SUMMARY.source_url,
    path=PATH,
    group="seed-library",
    tags=["governance", "roles"],
    date="2026-02-14",
    fit="strong",
    duplicates=[],
)
SEARCH = models.SearchAnswer(
    query="how do circles pass on responsibility",
    results=[HIT],
    total=6,
    total_relation="candidates",
    next_cursor=None,
    suggestion=None,
    fallback=False,
    reranked=False,
    took_ms=11,
)
LLMS = (
    "# Commonplace\n\n> 48 published documents, each with the page to cite and its Markdown.\n\n## Pattern\n\n"
    f"- [Rotating stewardship]({PAGES}/{REF}): How a circle passes its responsibilities on every season. "
    f"([Markdown](https://knowledge.example.org/api/v1/entries/{REF}.md))\n"
)
LLMS_FULL = f"# Commonplace\n\n---\n\n# Rotating stewardship\n\nSource: {SUMMARY.document_url}\n{BODY}"

ERRORS: dict[int, ErrorExample] = {
    400: (
        "The cursor is of another search.",
        error_body("BAD_REQUEST", "This cursor does not belong to this search.", field="cursor", hint="Leave it out."),
    ),
    401: (
        "A credential is needed, and no valid one came: an access token, or for explanations the operators' key.",
        error_body("UNAUTHORIZED", "Explanations are for operators.", hint="Send `Authorization: Bearer KEY`."),
    ),
    403: (
        "Nobody may do this here.",
        error_body("FORBIDDEN", "Explanations are not open to anybody here.", hint="Operators make a key."),
    ),
    404: (
        "Nothing published answers to this name.",
        error_body("NOT_FOUND", "There is no such document.", nearest=[REF], hint=f"Did you mean {REF}?"),
    ),
}
"""Of errors that say something else here than elsewhere."""

answers = partial(documentation.answers, refusals=ERRORS)
