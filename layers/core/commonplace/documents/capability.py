"""Documents: an organisation's published pages, synced from its repository."""

from commonplace.kernel.capability import Capability, Items, ObjectKeys, Objects, PageLink, Scopes

CONTENT, RAW, ATTACHMENTS, METADATA = "content/", "raw/", "attachments/", "metadata/"
PUBLISHED = (CONTENT, RAW, ATTACHMENTS, METADATA)
"""Everything readers may see. Plans, staged files and reports of the operators are not among it."""

REPORTS, HISTORY = "operations/reports/", "operations/history.json"
"""What editors and operators are shown in the console."""

CHANGES = "change#documents"
"""Which were indexed lately, for whoever listens."""

DOCUMENTS = Capability(
    name="documents",
    scopes=Scopes(
        toolset="knowledge",
        words={
            "read": "Search and read the knowledge base",
            "write": "Propose links and drafts, which people review before anything is published",
            "admin": "Look after the knowledge base",
        },
        tiers={"read": "public", "write": "member"},
        kinds=("documents",),
    ),
    toolset="commonplace.documents.tools.toolset:toolset",
    routes="commonplace.documents.rest.routes:routes",
    pages="commonplace.documents.pages.routes:pages",
    console="commonplace.documents.console.pages:pages",
    links=(
        PageLink(path="/types", title="Browse", covers=("/types", "/groups", "/releases", "/t", "/d/")),
        PageLink(path="/map", title="Map"),
        PageLink(path="/types", title="Types", place="footer"),
        PageLink(path="/groups", title="Groups", place="footer"),
        PageLink(path="/releases", title="Releases", place="footer"),
        PageLink(path="/t", title="Tags", place="footer"),
        PageLink(path="/feed.xml", title="What is new", place="feed", media_type="application/atom+xml"),
        PageLink(path="/feed.json", title="What is new", place="feed", media_type="application/feed+json"),
    ),
    collection="commonplace.documents.collection:collection",
    sources="commonplace.documents.source:sources",
    steps="commonplace.documents.sync.steps:steps",
    settings={
        "sources": ["commonplace.repository.settings:KnowledgeBase"],
        "steps": ["commonplace.documents.settings:DocumentsSettings"],
        "console": ["commonplace.documents.settings:ConsoleSettings"],
    },
    access=(
        Objects(("sync-run",), ("GetObject", "PutObject", "DeleteObject"), PUBLISHED),
        Objects(("rest", "mcp", "site"), ("GetObject",), PUBLISHED),
        Objects(("console",), ("GetObject",), (METADATA, REPORTS, HISTORY)),
        Objects(("index", "index-build"), ("GetObject",), (CONTENT, METADATA)),
        Items(("mcp",), "activity", ("Query",), (CHANGES,)),
    ),
    indexed_objects=(ObjectKeys(CONTENT),),
    # What a run works with is of no use once it is over; operators look back at reports for a quarter.
    expiry_days={"operations/blobs/": 7, REPORTS: 90},
)
