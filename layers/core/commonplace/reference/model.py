"""Values of the reference: entries of six types, catalogues, queries and answers, problems, and gaps.

Source: seed 003, "Knowledge Entry Schema". A gap is a query that found nothing, kept as one short line without what may
be somebody's own.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal, get_args
from urllib.parse import quote

from pydantic import Field

from commonplace.kernel.stored import Stored

EntryType = Literal["command", "api", "guide", "feature", "troubleshooting", "setting"]
ENTRY_TYPES: tuple[EntryType, ...] = get_args(EntryType)

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"]
METHODS: tuple[Method, ...] = get_args(Method)

SETTINGS_FILE = "catalogue.yaml"
"""At the top of a catalogue's folder: what the product is called, its synonyms, what is generated from what."""

DEFAULT_LIMIT = 5
MAX_LIMIT = 20
SUGGESTIONS = 3
MAX_QUERY_CHARACTERS = 500

MatchedBy = Literal["name", "alias", "spelling", "arguments", "prefix", "words"]
"""How an entry was found: by its exact name, an alias, the same name spelt otherwise, its name with arguments after it,
what its name begins with, or by words and meaning."""

Severity = Literal["error", "warning"]

MAX_CHARACTERS = 200
"""Of a query, and of a note."""
MAX_GAPS = 1_000
"""Different ones of an organisation; what comes when there are so many is not kept."""
GAP_SECONDS = 90 * 86_400
"""A gap is kept so long after it was reported last."""

_UUID = r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
_PREFIXED = r"\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|AKIA|ASIA|AIza|eyJ)[A-Za-z0-9_.-]{10,}"
_NAMED = r"(?i)\b((?:token|secret|password|passwd|pwd|api[_-]?key|bearer)(?:\s*[=:]\s*|\s+))(\S{6,})"
_WORD = r"[A-Za-z0-9_+=]{16,}"


Place = Literal["argument", "option", "path", "query", "header", "cookie", "body"]
PLACES: tuple[Place, ...] = get_args(Place)
"""Where a parameter stands: the first two of a command, the others of an endpoint."""

Partial = Literal["options", "commands", "arguments"]
"""What an entry lists a part of: its options, the commands below it, the words that it takes."""

Confidence = Literal["exact", "inferred"]
"""Says whether the product itself says how it is used, or its source was read for it."""


class Example(Stored):
    description: str
    code: str
    output: str | None = None


class Parameter(Stored):
    """One thing that a call takes."""

    name: str
    """`--message`, `<file>`, `per_page`, `address.city`, `items[].sku`."""
    place: Place
    aliases: list[str] = Field(default_factory=list)
    """Other spellings: `-m`."""
    type: str | None = None
    """What stands for the value, `<msg>`, or is it, `array of string`; None of a flag without a value.

    `[=<when>]` may be left out, and is written behind `=` alone.
    """
    required: bool = False
    description: str = ""
    """One line, with default and allowed values."""

    @property
    def takes_next(self) -> bool:
        """Return whether the word behind an option is its value."""
        return self.type is not None and not self.type.startswith("[=")

    @property
    def line(self) -> str:
        """Return it as Markdown: `- `--message`, `-m` `<msg>`: The message.`"""
        names = ", ".join(f"`{name}`" for name in (self.name, *self.aliases))
        kind = f" {self.type}" if self.type and self.place not in ("argument", "option") else ""
        value = f" `{self.type}`" if self.type and self.place == "option" else ""
        facts = [self.place, *(["required"] if self.required else [])] if self.place != "option" else []
        facts += ["required"] if self.place == "option" and self.required else []
        told = f" ({', '.join(facts)})" if facts else ""
        return f"- {names}{value}{kind}{told}" + (f": {self.description}" if self.description else "")


class Entry(Stored):
    """One thing that can be looked up. As JSON its names are those of seed 003."""

    id: str
    """Unique in its catalogue: `[a-z0-9][a-z0-9._-]*`, at most 200 characters."""
    type: EntryType
    title: str
    category: str
    """A slug: `[a-z0-9][a-z0-9-]*`, at most 60 characters. The same for `subcategory` and `module`."""
    subcategory: str | None = None
    module: str | None = None
    """The optional part of the product that it belongs to; None for what everybody has."""
    name: str | None = None
    """Of a command: what is typed, without arguments: `helios gw users list`."""
    syntax: str | None = None
    """Of a command: the name with its arguments: `helios gw users get <email> [--json]`."""
    usages: list[str] = Field(default_factory=list)
    """Further ways to write it: `git branch -d <name>...`."""
    method: Method | None = None
    path_template: str | None = None
    """Of an endpoint: `/api/v1/users/{id}`."""
    parameters: list[Parameter] | None = None
    """Everything that a call takes; None where that is not known."""
    authentication: str | None = None
    """Of an endpoint: one line."""
    confidence: Confidence = "exact"
    partial: list[Partial] = Field(default_factory=list)
    """What its source is known to list a part of: what is not listed may exist."""
    summary: str
    """One or two sentences."""
    content: str = ""
    """Markdown, beside what the fields above say."""
    keywords: list[str] = Field(default_factory=list)
    aliases: list[str] = Field(default_factory=list)
    """Other ways to refer to it, in words or as spelt elsewhere."""
    examples: list[Example] = Field(default_factory=list)
    related_ids: list[str] = Field(default_factory=list)
    deprecated: bool = False
    replaced_by: str | None = None
    """Id of the entry to use instead."""
    source: str | None = None
    """Where it came from: `auto-generated:DeveloperConsole.tsx`."""
    source_hash: str | None = None
    """sha256 of the source that it was generated from, in hexadecimal digits."""
    last_updated: str
    """ISO 8601."""

    @property
    def called(self) -> str:
        """Return what it is called in use: a command's name, `METHOD /path` of an endpoint, else the title."""
        if self.type == "command" and self.name:
            return self.name
        if self.type == "api" and self.path_template:
            return f"{self.method} {self.path_template}" if self.method else self.path_template
        return self.title

    @property
    def text(self) -> str:
        """Content and parameters as Markdown: what a search reads."""
        return "\n\n".join(filter(None, (self.content, "\n".join(one.line for one in self.parameters or ()))))


class Placed(Stored):
    """An entry and where it stands."""

    entry: Entry
    path: str
    """Of its file, in the repository."""
    line: int | None = None
    """Where it begins, 1-based; None where it is all of the file."""
    generation: int
    """Of the publication that changed it last."""


class Catalogue(Stored):
    """The catalogue that readers load: one immutable object for each publication."""

    name: str
    """Of the deployment's configuration: `[a-z][a-z0-9-]*`."""
    title: str
    """What the product is called."""
    description: str = ""
    version: str | None = None
    """Of the product: `2.1`."""
    roots: list[str] = Field(default_factory=list)
    """First words of commands, besides those of the entries' own names."""
    synonyms: dict[str, list[str]] = Field(default_factory=dict)
    """Those of the catalogue, beyond the default table."""
    categories: dict[str, str] = Field(default_factory=dict)
    """Slug -> title, where the catalogue says one."""
    modules: dict[str, str] = Field(default_factory=dict)
    """The same for optional modules."""
    servers: list[str] = Field(default_factory=list)
    """URLs of the API: host and base path of one, before the path of an endpoint, are forgiven."""
    repository: str
    """`owner/name`."""
    web_url: str | None = None
    """Where people see the repository: on GitHub, or a folder (`file:///...`). None where nobody does."""
    branch: str
    commit_sha: str
    generation: int
    synced_at: datetime
    entries: list[Placed] = Field(default_factory=list)
    """By id."""

    def source_url(self, placed: Placed) -> str | None:
        """The entry's file: on GitHub its line at the commit that was published, in a folder as it is now."""
        if self.web_url is None or self.web_url.startswith("file:"):
            return self.web_url and f"{self.web_url}/{quote(placed.path)}"
        line = f"#L{placed.line}" if placed.line else ""
        return f"{self.web_url}/blob/{self.commit_sha}/{quote(placed.path)}{line}"

    @property
    def tree_url(self) -> str | None:
        """All of its files, likewise."""
        if self.web_url is None or self.web_url.startswith("file:"):
            return self.web_url
        return f"{self.web_url}/tree/{self.commit_sha}"


class Manifest(Stored):
    """The publication of a catalogue, at `reference/{name}/manifest.json`: the one object that is ever replaced."""

    name: str
    pipeline: str
    """Fingerprint of what decides what a file becomes; another one means that everything is read anew."""
    repository: str
    branch: str
    folder: str
    commit_sha: str
    generation: int
    synced_at: datetime
    files: dict[str, str] = Field(default_factory=dict)
    """Path -> blob id, of every file that was read."""
    catalogue_key: str
    """Of the `Catalogue`'s object."""
    versions: dict[str, int] = Field(default_factory=dict)
    """Id of each entry -> generation that changed it last."""


@dataclass(frozen=True, slots=True)
class Within:
    """Which catalogues are asked; None is no condition."""

    catalogue: str | None = None
    """Its name or title, letter case ignored."""
    version: str | None = None

    def admits(self, catalogue: Catalogue) -> bool:
        names = (catalogue.name.casefold(), catalogue.title.casefold())
        return (self.catalogue is None or self.catalogue.strip().casefold() in names) and (
            self.version is None or self.version.strip() == catalogue.version
        )


EVERYWHERE = Within()


@dataclass(frozen=True, slots=True)
class Asked:
    """A search. The conditions are exact; None is no condition."""

    query: str
    type: EntryType | None = None
    category: str | None = None
    """Category or subcategory, letter case ignored."""
    module: str | None = None
    limit: int = DEFAULT_LIMIT
    within: Within = EVERYWHERE


@dataclass(frozen=True, slots=True)
class UnknownOption:
    """An option of a line, or a query parameter of a request, that the entry does not have."""

    name: str
    nearest: tuple[str, ...] = ()
    """Those that it has, the nearest first."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One entry that answers."""

    catalogue: Catalogue
    placed: Placed
    matched_by: MatchedBy
    score: float
    """From 0 to 1; 1 for an exact name."""
    instead_of: Entry | None = None
    """The deprecated entry that the query named, which this one replaces."""
    unknown_options: tuple[UnknownOption, ...] = ()
    unlisted: tuple[UnknownOption, ...] = ()
    """Words and options of a line that the entry does not list, which may exist nevertheless."""

    @property
    def entry(self) -> Entry:
        return self.placed.entry


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The best first. `suggestions` are names that exist (`Entry.called`), for when there is no hit."""

    hits: tuple[Hit, ...]
    suggestions: tuple[str, ...] = ()
    shaped: bool = False
    """True if the query is shaped like a command or an endpoint: it is answered by its name or not at all."""
    fallback: bool = False
    """True if only words were compared, because no vector could be had."""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """One command, or what may have been meant."""

    hit: Hit | None
    beginning: tuple[Hit, ...] = ()
    """Commands that begin with the query, when there are several: a group, not a command."""
    suggestions: tuple[str, ...] = ()
    others: tuple[Hit, ...] = ()
    """The commands of other catalogues that the query names as well."""


@dataclass(frozen=True, slots=True)
class EndpointAnswer:
    """The endpoints of a path: the one of the method, or all of them."""

    hits: tuple[Hit, ...]
    methods: tuple[Method, ...] = ()
    """Those that the path has, when the requested one is not among them."""
    suggestions: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Those of the servers, where the path is a URL of another one."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category or subcategory in use."""

    slug: str
    title: str | None
    entries: int
    commands: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A query that found nothing, as maintainers see it."""

    query: str
    count: int
    first_at: str
    last_at: str
    """ISO 8601."""
    type: EntryType | None = None
    note: str | None = None
    """What the last reporter added."""


@dataclass(frozen=True, slots=True)
class Reported:
    """The query that found nothing, as it was stored."""

    query: str
    """Masked and cut."""
    count: int | None
    """How often it has been reported, this time included; None when it was not kept."""


class Problem(Stored):
    """One thing to mend. An error keeps the whole catalogue from being published; a warning does not."""

    code: str
    """Stable and kebab-case: `malformed-file`, `duplicate-id`, `dangling-relation` ..."""
    severity: Severity
    message: str
    hint: str | None = None
    path: str | None = None
    """Of the file, in the catalogue's folder."""
    line: int | None = None
    """1-based."""
    entry: str | None = None
    """Id of the entry."""


def kept(text: str) -> str:
    """One line of at most MAX_CHARACTERS, masked."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return masked(" ".join(line.split()))[:MAX_CHARACTERS].strip()


def masked(text: str) -> str:
    """Return the text with a name of its kind in place of each e-mail address, key, id, network address and long
    number.
    """
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return text


def digest(query: str, type: EntryType | None) -> str:
    """The same for queries that differ in letter case and spaces only. In hexadecimal digits."""
    folded = " ".join(query.casefold().split())
    return sha256(f"{type or ''}\n{folded}".encode("utf-8", "backslashreplace")).hexdigest()


def _secret(found: re.Match[str]) -> str:
    """Return what follows `token=` and the like, unless it is an ordinary word: users look for `password reset` too."""
    named, value = found[1], found[2]
    ordinary = value.isalpha() and not re.search(r"[=:]", named)
    return found[0] if ordinary or value.startswith(("<", "--")) else f"{named}<token>"


def _mixed(found: re.Match[str]) -> str:
    """A word of letters and digits as no name has them."""
    word = found[0]
    digits = sum(letter.isdigit() for letter in word)
    hexadecimal = digits >= 2 and re.fullmatch(r"[0-9a-fA-F]+", word) is not None
    return "<token>" if hexadecimal or (digits >= 3 and word.strip("0123456789")) else word


_MASKS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"[^\s@]+@[^\s@]+"), "<email>"),
    (re.compile(_UUID), "<id>"),
    (re.compile(_PREFIXED), "<token>"),
    (re.compile(_NAMED), _secret),
    (re.compile(_WORD), _mixed),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b"), "<address>"),
    (re.compile(r"\d(?:[ ().-]{0,2}\d){6,}"), "<number>"),
)
