"""Partners and their tools: names, pins, what of them was approved, and what a search of theirs has found.

What a partner says is data with a source. A tool of theirs is offered with the texts that a person approved, which are
stored here, and only while the partner still says the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from commonplace.kernel.errors import Reasoned

State = Literal["approved", "new", "changed", "gone"]

NAME = re.compile(r"[a-z](?:[a-z0-9]|-(?=[a-z0-9])){0,22}")
"""Of a partner: it stands before the names of its tools."""
MAX_TOOLS, MAX_PAGES = 200, 5
MAX_SCHEMA_BYTES, MAX_SCHEMA_DEPTH = 16 * 1024, 20
MAX_TEXTS_BYTES = 40 * 1024
"""Of everything that is pinned of a tool; it is stored twice."""
MAX_DISCOVERED_BYTES = 16 * 1024
MAX_DESCRIPTION_CHARACTERS = 4_000
MAX_NAME_CHARACTERS = 128
MAX_HIT_CHARACTERS, MAX_TITLE_CHARACTERS, MAX_URL_CHARACTERS = 1_000, 200, 2_000
MAX_ANSWER_CHARACTERS = 32 * 1024
"""Of what a tool of a partner says."""
CALL_SECONDS = 8.0
VIA = "org.commonplace/via"
"""In `_meta`: the deployments that a call has come through."""
MAX_HITS = 50
"""Of one partner's answer that are looked at."""

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_KEPT_CHARACTERS = 55
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
_LINK = re.compile(r"https?://[^\s<>\"]+")


class PartnerFailed(Reasoned):
    """A partner gave nothing usable. `reason` is a stable code; nothing that the partner said is in it."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a partner said of signing in when it refused a call (RFC 9728, section 5.1; RFC 6750, section 3)."""

    metadata: str = ""
    """Where it says whom it trusts."""
    scope: str = ""


class SignInNeeded(PartnerFailed):
    """The partner answers to people who have signed in there."""

    def __init__(self, challenge: Challenge) -> None:
        super().__init__("sign_in")
        self.challenge = challenge


@dataclass(frozen=True, slots=True)
class Contact:
    """Where a partner is, and what is remembered of how it speaks."""

    url: str
    era: str = ""
    discovered: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a tool of a partner has answered."""

    structured: Mapping[str, Any] | None
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Partner:
    """An MCP server of somebody else, that people of an organisation have added."""

    id: str
    """Its name here."""
    revision: int
    url: str
    title: str
    search: str = ""
    """Which of its tools searches; empty is none."""
    query: str = "query"
    """The argument of that tool that takes the words."""
    era: str = ""
    """The protocol that it spoke last: `legacy`, or a version; empty is not known."""
    discovered: str = ""
    """What it said of itself then, as JSON."""
    challenge: Challenge | None = None
    """What it said of signing in; None while it answers without."""
    compared_at: int = 0
    """Epoch milliseconds at which its list of tools was last held against the approved ones."""
    added_by: str = ""
    added_at: int = 0

    @property
    def contact(self) -> Contact:
        return Contact(self.url, self.era, self.discovered)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartnerTool:
    """A tool of a partner: its texts as they are now, and as somebody approved them."""

    id: str
    """Its name here: `partner__tool`."""
    revision: int
    name: str
    """Its name at the partner."""
    offered: str
    """Its texts as the partner has them now, as canonical JSON; empty where it has none any more."""
    approved: str = ""
    """Its texts as they were approved; empty where they never were."""
    approved_by: str = ""
    approved_at: int = 0

    @property
    def state(self) -> State:
        if not self.offered:
            return "gone"
        if not self.approved:
            return "new"
        return "approved" if self.approved == self.offered else "changed"

    @property
    def texts(self) -> Mapping[str, Any]:
        """Return the approved texts."""
        found: Mapping[str, Any] = json.loads(self.approved)
        return found

    @property
    def reads_only(self) -> bool:
        """Return whether the texts say that it changes nothing: those approved, which somebody believed, or else those
        that are offered."""
        found = json.loads(self.approved or self.offered or "{}")
        return (found.get("annotations") or {}).get("readOnlyHint") is True


PINNED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


def texts_of(tool: Mapping[str, Any]) -> str:
    """Return the texts of a tool that are pinned, as canonical JSON."""
    kept = {name: tool[name] for name in PINNED if tool.get(name) is not None}
    return json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def pin(texts: str) -> str:
    """Return the pin of canonical texts: their SHA-256."""
    return hashlib.sha256(texts.encode("utf-8", "surrogatepass")).hexdigest()


def fault_of(tool: Mapping[str, Any]) -> str | None:
    """Return why a tool cannot be offered whatever anybody approves; None for one that can."""
    schema = tool.get("inputSchema")
    if not isinstance(tool.get("name"), str) or not 0 < len(tool["name"]) <= MAX_NAME_CHARACTERS:
        return f"its name is longer than {MAX_NAME_CHARACTERS} characters"
    if len(str(tool.get("description") or "")) > MAX_DESCRIPTION_CHARACTERS:
        return f"its description is longer than {MAX_DESCRIPTION_CHARACTERS:,} characters"
    for name in ("inputSchema", "outputSchema"):
        if len(json.dumps(tool.get(name)).encode()) > MAX_SCHEMA_BYTES or depth(tool.get(name)) > MAX_SCHEMA_DEPTH:
            return f"its {name} has more than {MAX_SCHEMA_BYTES // 1024} kB or {MAX_SCHEMA_DEPTH} levels"
    if depth(tool.get("annotations")) > MAX_SCHEMA_DEPTH or len(texts_of(tool).encode()) > MAX_TEXTS_BYTES:
        return f"its texts have more than {MAX_TEXTS_BYTES // 1024} kB or {MAX_SCHEMA_DEPTH} levels"
    return None if isinstance(schema, dict) and schema.get("type") == "object" else "its inputSchema is no object"


def depth(value: Any) -> int:
    """Return how deep a value is nested, without recursion: a plain one is 0."""
    deepest, left = 0, [(value, 0)]
    while left:
        one, level = left.pop()
        deepest = max(deepest, level)
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        left += [(each, level + 1) for each in inner]
    return deepest


def exposed(partner: str, name: str) -> str:
    """Return the name of a partner's tool here: 1 to 64 of `A-Za-z0-9_-`, another one for each of the partner's."""
    plain = f"{partner}__{name}"
    if _TOOL_NAME.fullmatch(plain):
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_OTHER.sub('_', plain)[:_KEPT_CHARACTERS]}_{digest}"


def cleaned(text: object, most: int) -> str:
    """Return a text of a partner without control and invisible characters, cut to a length."""
    plain = _CONTROL.sub("", str(text)).encode("utf-8", "replace").decode().strip()
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that a source has found."""

    source: str
    title: str
    url: str
    text: str


TITLES, URLS = ("title", "name"), ("documentUrl", "url", "link", "href", "uri")
TEXTS = ("snippet", "text", "description", "summary", "content")


def hits_of(source: str, structured: object, text: str) -> list[Hit]:
    """Return what an answer to a search holds, best first: the rows of its data, or its text where it has none."""
    rows = rows_of(structured)
    hits = [
        Hit(
            source,
            cleaned(first(row, TITLES), MAX_TITLE_CHARACTERS),
            link(first(row, URLS)),
            cleaned(first(row, TEXTS), MAX_HIT_CHARACTERS),
        )
        for row in rows[:MAX_HITS]
    ]
    found = [hit for hit in hits if hit.title or hit.text]
    if not found and not rows and text.strip():
        found = [Hit(source, "", "", cleaned(text, MAX_HIT_CHARACTERS))]
    return found


def rows_of(structured: object) -> list[Mapping[str, Any]]:
    """Return the first list of objects in an answer's data: `results` where there is one, or else any."""
    if not isinstance(structured, dict):
        return []
    lists = [structured.get("results"), *structured.values()]
    return next(([row for row in one if isinstance(row, dict)] for one in lists if isinstance(one, list) and one), [])


def first(row: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((row[name] for name in names if isinstance(row.get(name), str) and row[name].strip()), "")


def link(url: str) -> str:
    """Return an address that people may follow, or nothing."""
    return url if len(url) <= MAX_URL_CHARACTERS and _LINK.fullmatch(url) and url.isprintable() else ""


RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack and others, 2009)."""


def merged(found: Sequence[Sequence[Hit]], limit: int) -> list[tuple[Hit, tuple[str, ...]]]:
    """Return the hits of all sources by reciprocal rank, each with the sources that have it.

    Scores of sources are not compared. One address is one hit; of equal ranks the earlier source is first.
    """
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    sources: dict[str, list[str]] = {}
    for number, one in enumerate(found):
        for rank, hit in enumerate(one, 1):
            name = hit.url or f"{number} {rank}"
            if hit.source in sources.get(name, ()):
                continue
            hits.setdefault(name, hit)
            sources.setdefault(name, []).append(hit.source)
            scores[name] = scores.get(name, 0.0) + 1 / (RANK_CONSTANT + rank)
    order = sorted(scores, key=lambda name: -scores[name])
    return [(hits[name], tuple(sources[name])) for name in order[:limit]]
