"""Declarations of capabilities: the names of their parts, by which functions load them, and the permissions they need.

A part is named `module:attribute`. A declaration imports nothing but this module, so that reading all of them costs
nothing; a function loads the parts it has a use for and no others. So keys and log messages stand here as text; a test
compares them with those of the room.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, get_args

Part = Literal["toolset", "routes", "pages", "console", "collection", "sources", "steps", "memberships"]
PARTS: tuple[Part, ...] = get_args(Part)

Function = str
"""The name of a deployed function: of one that runs parts of capabilities, or of one that a capability brings."""


Level = str
LEVELS: tuple[Level, ...] = ("read", "write", "admin")
"""The levels of a toolset that names none: who may administer may write, who may write may read."""
Tier = Literal["public", "member", "vibecoder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """The OAuth scopes of a toolset, `{toolset}:{level}`."""

    toolset: str
    """Its name: of the path `/mcp/{toolset}`, and of the resource that tokens are for."""
    words: Mapping[Level, str]
    """What a person consents to."""
    tiers: Mapping[Level, Tier]
    """The lowest tier whose accounts have it, unless the role map says otherwise; nobody has a level that is absent."""
    kinds: tuple[str, ...]
    """Kinds of things that a token's resource scopes may name (seed 002, section 3)."""
    levels: tuple[Level, ...] = LEVELS
    """Lowest first, each including those before it. The first is `read`, the only one that changes nothing."""
    in_person: tuple[Level, ...] = ()
    """Levels that no token has: people use them in the console, and operators at the command line."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Other names of scopes of the toolset, which clients may request: `{"swarmrise:read": "governance:read"}`."""
    apart: bool = False
    """The toolset is served at its own path alone: not at `/mcp` or `/mcp/all`, and no token for `/api` reaches it."""
    membership: bool = False
    """Its operations take a membership of an organisation (`identity.memberships`), which a consent for it chooses."""
    always: tuple[str, ...] = ()
    """Kinds that every consent includes, so that a token for some of the others can find its way."""
    calls_a_minute: Mapping[Literal["read", "search", "write"], int] = field(default_factory=dict)
    """Limits of its own for each token, by class of calls, which `mcpRateLimits` may change."""

    def __post_init__(self) -> None:
        scopes = {f"{self.toolset}:{level}" for level in self.levels}
        if self.levels[0] != "read" or not {*self.words, *self.tiers} <= set(self.levels):
            raise ValueError(f"the levels of {self.toolset} begin with read, and have those with words and tiers")
        if not set(self.aliases.values()) <= scopes or set(self.aliases) & scopes:
            raise ValueError(f"an alias of {self.toolset} is another name of one of its scopes")
        if (self.membership and not self.apart) or not set(self.always) <= set(self.kinds):
            raise ValueError(
                f"{self.toolset} stands apart if it takes a membership, and has the kinds that it always has"
            )


@dataclass(frozen=True, slots=True)
class Items:
    """Permission for these functions to do this with items of a table."""

    functions: tuple[Function, ...]
    table: Literal["records", "activity", "cache", "identity"]
    """Of `identity`, grants may be checked in a transaction that acts with one, and ended, and no more."""
    actions: tuple[str, ...]
    """Of DynamoDB: `GetItem`."""
    partitions: tuple[str, ...]
    """Partition keys, in which `*` stands for any text: whose items a call reaches is decided by its verified token."""
    attributes: tuple[str, ...] = ()
    """The only attributes that a request may name; empty is no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnFunction:
    """A function that a capability brings. Its code is `functions/{name}`, with underscores."""

    name: Function
    description: str
    settings: Sequence[str]
    """The `kernel.configuration.Settings` that it reads, beside those of its kind."""
    memory_mb: int
    timeout_seconds: int

    @property
    def folder(self) -> str:
        return f"functions/{self.name.replace('-', '_')}"

    @property
    def variable(self) -> str:
        """What its variables begin with."""
        return self.name.replace("-", "_").upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsFunction(OwnFunction):
    """It is called with the keys of changed records by a queue of its own, to which it may send as well.

    The variables `{NAME}_QUEUE_URL` and `{NAME}_SECRET_ARN` are those of its queue, and of its secret.
    """

    records: tuple[str, ...]
    """How the partitions of the table of records end whose changes are queued."""
    receives: int
    """How often a message is handed out before it is set aside."""
    holds: str = ""
    """What a secret holds that is made with it, `{"key"}`; empty is none."""
    shared_with: tuple[Function, ...] = ()
    """Functions that read the secret, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingFunction(OwnFunction):
    """It answers requests as they come, knows callers by tokens and by sessions, and searches.

    Behind the front door its answers are streamed; the HTTP API, which cannot stream, has the same paths and gives the
    same answers whole.
    """

    paths: tuple[str, ...]
    """Each with everything below it: `/api/v1/chat`."""
    environments: str
    """The context key of how many environments it may have, which are reserved for it."""
    proposes: bool = False
    """It opens pull requests, and reads the credentials for them."""
    model: str = ""
    """The context key of the chat model that it calls, `bedrock:ID` or `openai:MODEL`."""


@dataclass(frozen=True, slots=True)
class Objects:
    """Permission for these functions to do this with objects of the content bucket. Who may read may list as well."""

    functions: tuple[Function, ...]
    actions: tuple[Literal["GetObject", "PutObject", "DeleteObject"], ...]
    prefixes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ObjectKeys:
    """Keys of the content bucket that begin and end like this."""

    prefix: str
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageLink:
    """A page of the site that every page we serve names, whichever function serves it."""

    path: str
    title: str
    place: Literal["menu", "footer", "feed"] = "menu"
    """`menu` is the header; a `feed` is named in the head too."""
    media_type: str = ""
    """Of a feed."""
    covers: tuple[str, ...] = ()
    """Beginnings of paths on which this link is shown as the present one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """What the capability counts with `kernel.telemetry.count`, for a graph on the dashboard."""

    name: str
    title: str
    """Of the graph."""
    dimensions: tuple[str, ...] = ()
    minutes: int = 5
    """The period over which it is added up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """When a metric raises an alarm."""

    name: str
    """In kebab case; the stage comes before it."""
    description: str
    metric: str
    """Of a `Metric` without dimensions; with `namespace` one of AWS."""
    namespace: str = ""
    dimensions: Mapping[str, str] = field(default_factory=dict)
    statistic: Literal["Sum", "Maximum", "Minimum", "Average"] = "Sum"
    threshold: float = 1
    """Reached or exceeded."""
    minutes: int = 5
    periods: int = 1
    runbook: str
    """File in docs/operate/runbooks that says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One room: what of it is served, indexed and kept up."""

    name: str
    """Of the room, and of its collection in the index where `indexed_as` names none."""
    scopes: Scopes | None = None
    """Of its toolset."""
    toolset: str | None = None
    """Takes a `web.mcp.declaration.ToolsetContext`; returns a `Toolset`, or None where a deployment has none of it."""
    routes: str | None = None
    """Takes a `web.rest.declaration.RestContext`; returns the `Routes` it answers over REST, or None as above."""
    pages: str | None = None
    """Takes a `web.pages.frame.PageContext`; returns the `Pages` that anybody may read, or None as above."""
    links: tuple[PageLink, ...] = ()
    """Of the header and the footer of every page."""
    console: str | None = None
    """Takes a `web.pages.frame.PageContext`; returns the `ConsolePages` for people who are signed in."""
    collection: str | None = None
    """Takes a `search.collections.IndexContext`; returns an `IndexedCollection`, or None as above."""
    indexed_as: str = ""
    """The name of that collection, where its records are called otherwise than the room."""
    sources: str | None = None
    """Takes the environment; returns the `repository.sources.BranchSource`s to follow."""
    steps: str | None = None
    """Takes a `repository.sources.StepContext`; returns the `RunSteps` of one of those sources."""
    memberships: str | None = None
    """Takes the environment; returns `identity.memberships.Memberships`, or None as above."""
    functions: tuple[RecordsFunction | StreamingFunction, ...] = ()
    requires: str | None = None
    """The setting without which a deployment has none of it, and grants and watches nothing for it."""
    access: tuple[Items | Objects, ...] = ()
    indexed_objects: tuple[ObjectKeys, ...] = ()
    """Objects whose changes are queued for the index function."""
    indexed_records: tuple[str, ...] = ()
    """How the partitions of the table of records end whose changes are queued for the index function."""
    expiry_days: Mapping[str, int] = field(default_factory=dict)
    """Prefix of the content bucket -> age at which its objects are deleted."""
    metrics: tuple[Metric, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    settings: Mapping[Part, Sequence[str]] = field(default_factory=dict)
    """The `kernel.configuration.Settings` that each part reads: functions that load the part get them."""

    def there(self, environ: Mapping[str, str]) -> bool:
        """Return whether a deployment with these variables has something of it."""
        return self.requires is None or bool(environ.get(self.requires.upper(), "").strip())

    @property
    def collection_name(self) -> str | None:
        """What operators, indexes and notes call its collection; None without one."""
        return (self.indexed_as or self.name) if self.collection else None


def load(part: str) -> Any:
    """The attribute that `module:attribute` names. Raises ImportError or AttributeError for a name that is none."""
    module, _, attribute = part.partition(":")
    return getattr(import_module(module), attribute)


def built(capabilities: Sequence[Capability], part: Part, context: Any) -> Iterator[Any]:
    """What this part of each capability makes of the context, in their order; those that make nothing are left out.

    The context is the environment, or has it. Nothing is loaded of a capability that the deployment has nothing of.
    """
    environ = getattr(context, "environ", context)
    for capability in capabilities:
        name: str | None = getattr(capability, part)
        if name is not None and capability.there(environ) and (made := load(name)(context)) is not None:
            yield made
