"""Partners and their tools: names, pins, what of them was approved, and what a search of theirs has found.

What a partner says is data with a source. A tool of theirs is offered with the texts that a person approved, which are
stored here, and only while the partner still says the same.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self
from urllib.parse import quote

from commonplace.kernel.errors import Reasoned
from commonplace.web.mcp.rendering import cleaned as visible
from commonplace.web.mcp.rendering import whole

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

    def __init__(self, challenge: Challenge, *, lacking: bool = False) -> None:
        """`lacking` says that the person has signed in, for less than this takes."""
        super().__init__("sign_in")
        self.challenge, self.lacking = challenge, lacking


class Refused(PartnerFailed):
    """An authorization server says that what it was sent is not valid: asking again is of no use."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The authorization server of a partner, as its metadata says, and what a token is to be for."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    resource: str
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    scope: str = ""
    names_issuer: bool = False
    """Its answers say by whom they are."""
    reads_documents: bool = False
    """It takes the address of a document for the id of a client."""
    methods: tuple[str, ...] = ()
    """How clients may prove who they are at its token endpoint."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the server that was stored as JSON."""
        return cls(**{**values, "methods": tuple(values["methods"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """What this deployment is to an authorization server."""

    id: str
    secret: str = ""
    method: str = "none"
    expires_at: int = 0
    """Epoch seconds; 0 is never."""

    def signed(self, form: dict[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Return a form with the id, and the proof where it has one, and headers (RFC 6749, section 2.3.1)."""
        form = form | {"client_id": self.id}
        if not self.secret or self.method == "none":
            return form, {}
        if self.method == "client_secret_post":
            return form | {"client_secret": self.secret}, {}
        pair = f"{quote(self.id, safe='')}:{quote(self.secret, safe='')}"
        return form, {"authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


@dataclass(frozen=True, slots=True)
class Grant:
    """What a person's sign-in has given, and where it is renewed."""

    access_token: str
    refresh_token: str
    server: Server
    client: Client

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the grant that was stored as JSON."""
        return cls(**{**values, "server": Server.of(values["server"]), "client": Client(**values["client"])})


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
    issuer: str = ""
    """Who signs people in there, as it was when somebody looked; empty is nobody yet."""
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
    return None if isinstance(schema, dict) and schema.get("type") == "object" else "its inputSchema is not an object"


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
    plain = visible(whole(str(text)))[0].strip()
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def one_line(text: object) -> str:
    """Return a title of a partner: one line, which nothing in it can end."""
    return cleaned(" ".join(str(text).split()), MAX_TITLE_CHARACTERS)


def seen(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema of a partner without characters that nobody sees."""
    found: dict[str, Any] = json.loads(visible(whole(json.dumps(schema, ensure_ascii=False)))[0])
    return found


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that a source has found."""

    source: str
    title: str
    url: str
    text: str


WEAK = "weak"
"""What a server of this make says of results that hardly fit."""
TITLES, URLS = ("title", "name"), ("documentUrl", "url", "link", "href", "uri")
TEXTS = ("snippet", "text", "description", "summary", "content")


def hits_of(source: str, structured: object, text: str) -> list[Hit]:
    """Return what an answer to a search holds, best first: the rows of its data, or its text where it has none."""
    rows = rows_of(structured)
    hits = [
        Hit(
            source,
            one_line(first(row, TITLES)),
            link(first(row, URLS)),
            cleaned(first(row, TEXTS), MAX_HIT_CHARACTERS),
        )
        for row in (rows or [])[:MAX_HITS]
        if row.get("fit") != WEAK
    ]
    found = [hit for hit in hits if hit.title or hit.text]
    if rows is None and text.strip():
        found = [Hit(source, "", "", cleaned(text, MAX_HIT_CHARACTERS))]
    return found


def rows_of(structured: object) -> list[Mapping[str, Any]] | None:
    """Return the first list of objects in an answer's data: `results` where there is one, or else any; None where
    there is no list."""
    values = structured if isinstance(structured, dict) else {}
    lists = [one for one in (values.get("results"), *values.values()) if isinstance(one, list)]
    found = next((one for one in lists if one), lists[0] if lists else None)
    return None if found is None else [row for row in found if isinstance(row, dict)]


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
