"""Validation of a draft's fields and examples into an entry, or problems (seed 003, "Knowledge Entry Schema")."""

import re
from datetime import datetime
from functools import lru_cache
from typing import Any, get_args

from commonplace.reference.model import ENTRY_TYPES, Confidence, Entry, EntryType, Example, Partial
from commonplace.reference.source import bounds
from commonplace.reference.source.call_fields import call_of
from commonplace.reference.source.drafts import FOLDERS, Draft
from commonplace.reference.source.fields import ID, Fields, first_paragraph
from commonplace.reference.source.findings import At, nearest
from commonplace.repository.links import read_contents
from commonplace.repository.markdown import ParsedFile

KNOWN = frozenset(Entry.model_fields)


_MEANT = {
    "description": "summary",
    "tags": "keywords",
    "body": "content",
    "path": "pathTemplate",
    "related": "relatedIds",
}


_OF_MARKDOWN = {"publish", "draft"}


_HASH = re.compile(r"[0-9a-f]{64}\Z")

_EXAMPLE = "Write description, code and, if you like, output."


def entry_of(draft: Draft) -> Entry | None:
    """None when anything of it is invalid; what is has been reported. Never raises."""
    fields = draft.fields
    given = fields.values.get("id", draft.id)
    valid = isinstance(given, str) and len(given) <= bounds.MAX_ID and ID.match(given)
    # From here on every problem that is reported names the entry.
    at = At(fields.at.path, fields.at.line, given if valid else None)
    fields = Fields(fields.values, fields.spelt, fields.lines, at, fields.findings)
    before = fields.findings.errors
    known = KNOWN | (_OF_MARKDOWN if draft.body is not None else set())
    for name in sorted(fields.values.keys() - known):
        message = f"`{fields.called(name)}` is not a field of an entry; it is left out."
        fields.findings.warning("unknown-field", message, _known_field(name[:60]), fields.where(name))
    content = draft.body if draft.body is not None else fields.block("content", bounds.MAX_CONTENT_BYTES)
    if draft.body is not None and not fields.absent("content"):
        fields.invalid("content", "is given beside a text", "The text below the frontmatter is the content.")
    if len((draft.body or "").encode()) > bounds.MAX_CONTENT_BYTES:
        message = f"The text is larger than {bounds.MAX_CONTENT_BYTES:,} bytes."
        fields.findings.error("invalid-field", message, "Cut it into several entries.", fields.at.on(draft.body_line))
    content = content or ""
    type, id = _type(fields, draft), _id(fields, draft)
    call = call_of(fields, type, content)
    title = fields.text("title", bounds.MAX_TITLE)
    if fields.absent("title"):
        heading = read_contents(ParsedFile({}, draft.body, draft.body_line)).heading if draft.body else None
        title = (heading or call.get("name") or "")[: bounds.MAX_TITLE] or None
        if not title:
            fields.missing("title", "Write a short title.")
    category = fields.slug("category", bounds.MAX_SLUG)
    if fields.absent("category"):
        category = draft.category
        if not category:
            fields.missing("category", "Write a slug, such as `google-workspace`.")
    summary = fields.text("summary", bounds.MAX_SUMMARY)
    if fields.absent("summary"):
        summary = first_paragraph(draft.body) if draft.body else None
        if not summary:
            fields.missing("summary", "Write one or two sentences.")
    rest = _rest(fields, title or "")
    if type is None or id is None or title is None or category is None or summary is None:
        return None
    if not (content.strip() or call.get("parameters")) and (draft.body is not None or fields.absent("content")):
        hint = "Say at least how it is used."
        fields.findings.warning("empty-content", "The entry has no content.", hint, fields.where("content"))
    text, facts = content.strip("\r\n"), call | rest
    entry = Entry(id=id, type=type, title=title, category=category, summary=summary, content=text, **facts)
    return entry if fields.findings.errors == before else None


@lru_cache(maxsize=256)
def _known_field(name: str) -> str:
    known = sorted(KNOWN)
    near = _MEANT.get(name) or nearest(name, known)
    return f"Did you mean `{camel(near)}`?" if near else f"Known fields are {', '.join(map(camel, known))}."


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _type(fields: Fields, draft: Draft) -> EntryType | None:
    if fields.absent("type"):
        if draft.type is None:
            folders = ", ".join(f"{name}/" for name in FOLDERS if name.endswith("s"))
            fields.missing("type", f"Write one of {', '.join(ENTRY_TYPES)}, or put the file into one of {folders}.")
        return draft.type
    given = fields.values["type"]
    text = given.strip().lower() if isinstance(given, str) else None
    found = next((one for one in ENTRY_TYPES if one == text), None)
    if found is None:
        hint = f"Write one of {', '.join(ENTRY_TYPES)}."
        fields.findings.error("unknown-type", "`type` is not a type of entry.", hint, fields.where("type"))
    return found


def _id(fields: Fields, draft: Draft) -> str | None:
    if fields.absent("id"):
        if draft.id is None:
            fields.missing("id", "Write an id that nothing else in the catalogue has, such as `cmd-users-list`.")
        return draft.id[: bounds.MAX_ID] if draft.id else None
    id = fields.text("id", bounds.MAX_ID)
    if id is not None and not ID.match(id):
        fields.invalid(
            "id", "is not an id", "Write small letters, digits, dots, hyphens and underscores: `cmd-users-list`."
        )
        return None
    return id


def _rest(fields: Fields, title: str) -> dict[str, Any]:
    source_hash = fields.text("source_hash", 100)
    if source_hash and not _HASH.match(source_hash.removeprefix("sha256:")):
        fields.invalid("source_hash", "is no sha256", "Write 64 hexadecimal digits, or leave it out.")
    updated = fields.text("last_updated", 40) or ""
    try:
        if updated:
            datetime.fromisoformat(updated)
        else:
            hint = (
                "Write a day, such as `2026-03-01`; until then it is that of the publication which changed the entry."
            )
            fields.findings.warning("missing-last-updated", "There is no `lastUpdated`.", hint, fields.at)
    except ValueError:
        fields.invalid("last_updated", "is not an ISO 8601 time", "Write `2026-03-01` or `2026-03-01T12:00:00Z`.")
    found: list[Example] = []
    for one in fields.mappings("examples", bounds.MAX_EXAMPLES, _EXAMPLE, text="code"):
        code, output = one.block("code", bounds.MAX_EXAMPLE_BYTES), one.block("output", bounds.MAX_EXAMPLE_BYTES)
        description = one.text("description", bounds.MAX_SUMMARY) or title
        if one.absent("code"):
            one.missing("code", _EXAMPLE)
        elif code and code.strip():
            shown = output.strip("\r\n") if output else None
            found.append(Example(description=description, code=code.strip("\r\n"), output=shown))
    return {
        "subcategory": fields.slug("subcategory", bounds.MAX_SLUG),
        "module": fields.slug("module", bounds.MAX_SLUG),
        "keywords": fields.texts("keywords", bounds.MAX_KEYWORDS, bounds.MAX_KEYWORD),
        "aliases": fields.texts("aliases", bounds.MAX_ALIASES, bounds.MAX_ALIAS),
        "examples": found,
        "related_ids": fields.texts("related_ids", bounds.MAX_RELATED, bounds.MAX_ID),
        "deprecated": fields.flag("deprecated") or not fields.absent("replaced_by"),
        "replaced_by": fields.text("replaced_by", bounds.MAX_ID) or None,
        "source": fields.text("source", bounds.MAX_SOURCE) or None,
        "source_hash": source_hash.removeprefix("sha256:") if source_hash else None,
        "last_updated": updated,
        "partial": [one for one in get_args(Partial) if one in fields.texts("partial", 3, 20)],
        "confidence": fields.one_of("confidence", get_args(Confidence), str.lower) or "exact",
    }
