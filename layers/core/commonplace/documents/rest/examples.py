"""One made-up document and everything that is answered about it, for the OpenAPI document."""

from functools import partial
from typing import Any

from commonplace.web.rest import documentation
from commonplace.web.rest.documentation import ErrorExample, error_body

COMMIT = "9f2c1e7b6a5d4c3b2a190817263544536271809a"
BLOB = "1c0d9e8f7a6b5c4d3e2f1a0b9c8d7e6f5a4b3c2d"
SYNCED = "2026-03-21T09:30:12Z"
PATH = "artifacts/patterns/rotating-stewardship.md"
REF = "pattern/rotating-stewardship"

SUMMARY: dict[str, Any] = {
    "id": "rotating-stewardship",
    "contentType": "pattern",
    "title": "Rotating stewardship",
    "description": "How a circle passes its responsibilities on every season.",
    "path": PATH,
    "group": "seed-library",
    "release": "first-harvest",
    "status": None,
    "tags": ["governance", "roles"],
    "date": "2026-02-14",
    "updatedAt": "2026-03-20T17:04:05Z",
    "url": None,
    "sourceUrl": f"https://github.com/example/garden/blob/{COMMIT}/{PATH}",
    "commitSha": COMMIT,
    "syncedAt": SYNCED,
}
BODY = "\n# Rotating stewardship\n\nEvery season the circle asks who carries what.\n"
DOCUMENT: dict[str, Any] = {
    **SUMMARY,
    "aliases": ["stewardship rota"],
    "permalink": None,
    "metadata": {"title": "Rotating stewardship", "tags": ["governance", "roles"], "group": "seed-library"},
    "frontmatter": {"title": "Rotating stewardship", "publish": True, "tags": ["governance", "roles"]},
    "content": BODY,
    "blobSha": BLOB,
    "generation": 12,
}
LEXICON = {
    "id": "governance",
    "contentType": "tag",
    "title": "Governance",
    "description": "How a group decides, and who may.",
    "path": "tags/governance.md",
}
ENTRIES = {"entries": [SUMMARY], "total": 1, "limit": 20, "offset": 0}
MARKDOWN = f'---\ntitle: "Rotating stewardship"\ntype: "pattern"\nid: "rotating-stewardship"\n---\n{BODY}'
LINKS = {
    "ref": REF,
    "out": [LEXICON],
    "back": [],
    "broken": [{"target": "../practises/handover.md", "line": 17, "suggestion": "practice/handover"}],
    "truncated": False,
}
_NODE = {
    "ref": REF,
    "id": "rotating-stewardship",
    "contentType": "pattern",
    "title": "Rotating stewardship",
    "path": PATH,
    "tags": ["governance", "roles"],
}
GRAPH = {
    "nodes": [_NODE],
    "links": [{"source": REF, "target": "tag/governance"}],
    "total": {"nodes": 1, "links": 1},
    "truncated": False,
}
GROUPS = {
    "groups": [
        {
            "id": "seed-library",
            "title": "Seed library",
            "description": "Keeps and lends seeds.",
            "status": None,
            "count": 7,
            "page": {
                "id": "seed-library",
                "contentType": "group",
                "title": "Seed library",
                "description": "Keeps and lends seeds.",
                "path": "data/groups/seed-library.md",
            },
        }
    ],
    "total": 1,
    "limit": 1000,
    "offset": 0,
}
RELEASES = {
    "releases": [
        {"id": "first-harvest", "title": "first-harvest", "description": None, "count": 4, "page": None},
    ],
    "total": 1,
    "limit": 1000,
    "offset": 0,
}
TAGS = {"tags": [{"tag": "governance", "count": 9, "entry": LEXICON}], "total": 1, "limit": 1000, "offset": 0}
MANIFEST = {
    "schemaVersion": 1,
    "repository": "example/garden",
    "branch": "main",
    "commitSha": COMMIT,
    "syncedAt": SYNCED,
    "documents": [
        {
            "ref": REF,
            "id": "rotating-stewardship",
            "contentType": "pattern",
            "path": PATH,
            "key": "content/pattern/rotating-stewardship.json",
            "etag": "5d41402abc4b2a76b9719d911017c592",
            "blobSha": BLOB,
            "updatedAt": "2026-03-20T17:04:05Z",
            "url": "/api/v1/entries/pattern/rotating-stewardship",
        }
    ],
    "total": 1,
    "attachments": [
        {
            "name": "seedlings.png",
            "path": "attachments/Seedlings.png",
            "mediaType": "image/png",
            "size": 48211,
            "blobSha": BLOB,
            "url": f"/api/v1/attachments/seedlings.png?v={BLOB}",
        }
    ],
    "attachmentsTotal": 1,
    "limit": 10000,
    "offset": 0,
    "truncated": False,
}
SYNC = {
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
            "problem": {"code": "aliased-type", "message": "`concept` is read as `tag`", "hint": "write `type: tag`"},
        }
    ],
}
HEALTH = {
    "status": "ok",
    "store": {"status": "ok"},
    "index": {"status": "ok"},
    "commitSha": COMMIT,
    "syncedAt": SYNCED,
    "lagSeconds": 42,
    "documents": 48,
    "version": "1.0.0",
}
UNHEALTHY = {
    "status": "unavailable",
    "store": {"status": "unavailable"},
    "index": {"status": "ok"},
    "commitSha": None,
    "syncedAt": None,
    "lagSeconds": None,
    "documents": 0,
    "version": "1.0.0",
}
FEED = {
    "version": "https://jsonfeed.org/version/1.1",
    "title": "Commonplace",
    "home_page_url": "https://knowledge.example.org/docs",
    "feed_url": "https://knowledge.example.org/feed.json",
    "description": "What changed last in Commonplace.",
    "items": [
        {
            "id": "https://knowledge.example.org/api/v1/entries/pattern/rotating-stewardship",
            "url": SUMMARY["sourceUrl"],
            "title": "Rotating stewardship",
            "summary": SUMMARY["description"],
            "content_text": BODY,
            "date_published": "2026-02-14T00:00:00Z",
            "date_modified": "2026-03-20T17:04:05Z",
            "authors": [{"name": "Rosa Lind"}],
            "tags": ["governance", "roles"],
        }
    ],
}
SCHEMAS = {
    "schemas": [
        {
            "contentType": "pattern",
            "parent": "resource",
            "description": "A reusable solution.",
            "url": "/api/v1/schemas/pattern.json",
        }
    ]
}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "pattern",
    "type": "object",
    "properties": {"title": {"type": "string", "minLength": 1}},
    "required": ["title"],
}
ONTOLOGY = {
    "types": [{"name": "pattern", "parent": "resource", "description": "A reusable solution."}],
    "aliases": {"concept": "tag"},
}
SEARCH = {
    "query": "how do circles pass on responsibility",
    "results": [
        {
            "id": "rotating-stewardship",
            "contentType": "pattern",
            "title": "Rotating stewardship",
            "description": SUMMARY["description"],
            "snippet": "Every season the circle asks who carries what.",
            "heading": "Rotating stewardship",
            "score": 0.94,
            "rerankScore": None,
            "url": None,
            "sourceUrl": SUMMARY["sourceUrl"],
            "path": PATH,
            "group": "seed-library",
            "tags": ["governance", "roles"],
            "date": "2026-02-14",
            "duplicates": [],
        }
    ],
    "total": 6,
    "totalRelation": "candidates",
    "nextCursor": None,
    "suggestion": None,
    "fallback": False,
    "reranked": False,
    "tookMs": 11,
}
LLMS = (
    "# Commonplace\n\n> 48 published documents, each as Markdown.\n\n## Pattern\n\n"
    "- [Rotating stewardship](https://knowledge.example.org/api/v1/entries/pattern/rotating-stewardship.md): "
    "How a circle passes its responsibilities on every season.\n"
)
LLMS_FULL = f"# Commonplace\n\n---\n\n# Rotating stewardship\n\nSource: {SUMMARY['sourceUrl']}\n{BODY}"

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
