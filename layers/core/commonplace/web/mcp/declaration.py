"""Declarations of toolsets: tools, resources, templates, prompts and skills as data with functions, without the SDK.

Lists, schemas, access, rate limits, docs and snapshots all derive from them. Titles and descriptions are constants of
the code: text of the knowledge base never enters them. Where a tool declares `in_use`, a list adds slugs.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from commonplace.identity.authorization import Need
from commonplace.identity.principals import ANONYMOUS, KINDS, Level, Principal, Tier, author, scope
from commonplace.kernel.audit import Author

Cost = Literal["read", "search", "write"]
"""Each class of calls has a rate limit of its own."""

Complete = Callable[[str, Mapping[str, str]], Sequence[str]]
"""`(what is typed so far, arguments given already) -> values that fit, best first`; any number, the frame cuts."""

Text = str | bytes


class Arguments(BaseModel):
    """Base of a tool's arguments: camelCase outside; what is unknown never reaches it (`arguments.forgive`)."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,  # a cold call builds the models of one tool, not of all
    )


class Part(BaseModel):
    """Base of what structured answers are made of: camelCase outside, absent values left out."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, defer_build=True)


class Output(Part):
    """Base of a tool's structured answer as a whole."""

    notes: list[str] | None = None
    """How the arguments were understood, where that is not what they said. The frame writes it."""


class SnakeCaseArguments(Arguments):
    """Names outside as they are here; camelCase is understood too."""

    model_config = ConfigDict(alias_generator=None)


class SnakeCasePart(Part):
    model_config = ConfigDict(alias_generator=None)


class SnakeCaseOutput(Output):
    model_config = ConfigDict(alias_generator=None)


class NoArguments(Arguments):
    """A tool that asks for nothing."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, from where, and under which restrictions of this deployment and this request."""

    principal: Principal = ANONYMOUS
    address: str = "unknown"
    read_only: bool = False
    """No tool that writes exists for this request. A request can ask for it, and can never ask it away."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as the function behind a declaration sees it."""

    caller: Caller = Caller()
    base_url: str = ""
    """The public origin of this deployment, without a slash at its end."""
    context: Any = None
    """The SDK's request context, for functions that are coroutines and talk to the client while they work."""

    @property
    def author(self) -> Author:
        """On whose behalf it is made, where it is about what an organisation has for itself. Raises Forbidden."""
        return author(self.caller.principal, self.caller.address)


@dataclass(frozen=True, slots=True)
class Link:
    """A resource that an answer points to."""

    uri: str
    name: str
    title: str | None = None
    mime_type: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: compact text for a reader, the same as data, and resources worth reading on.

    Some clients show a model the text only, some the data only: each says everything.
    """

    text: str
    data: Output
    links: tuple[Link, ...] = ()


Run = Callable[[Call, Any], Answer] | Callable[[Call, Any], Awaitable[Any]]
"""`(call, arguments) -> Answer`. A plain function runs in a thread. A coroutine may also return a result of the SDK.

It raises CommonplaceError for what the caller should know: the model reads code, sentence and hint.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A function for models."""

    name: str
    """At most 40 characters of `a-z`, digits and `_`."""
    title: str
    description: str
    """What it does, when to use it, when not: constant, a few sentences, no steering."""
    arguments: type[Arguments]
    output: type[Output] | None
    run: Run
    tier: Tier = "public"
    level: Level = "read"
    """With the toolset's name, the scope that a call needs."""
    kind: str | None = None
    """Of what it reads or changes, one of `principals.KINDS`; None is the toolset's."""
    cost: Cost = "read"
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    """Reaches beyond this deployment."""
    exact: bool = False
    """A number beyond its bounds is refused, not taken as the bound: as tools that write have it anyway."""
    max_values: int = 2_000
    """In the arguments of one call, nested ones included."""
    verbatim: bool = False
    """The text is the data as JSON, and nothing may be added to either: a shape that others have fixed."""
    input_schema: Mapping[str, Any] | None = None
    """In place of the schema of `arguments`, where a model cannot say it."""
    in_use: Mapping[str, Callable[[], Sequence[str]]] = field(default_factory=dict)
    """By argument: slugs that it can be at the moment, the most significant first. Lists add some of them."""
    page: Callable[[Any], str | None] | None = None
    """`arguments -> page of a public deployment where anybody reads the same`: named to a caller who has to sign in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something to read, at a fixed address."""

    uri: str
    name: str
    title: str
    description: str
    mime_type: str
    read: Callable[[Call], Text]
    listed: bool = True
    """Whether lists show it; it is read at its address either way."""
    tier: Tier = "public"
    kind: str | None = None
    """The kind of thing it reads, one of `principals.KINDS`; None is the toolset's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Things to read, at addresses of one shape (RFC 6570: `{name}` and `{+path}`)."""

    uri_template: str
    name: str
    title: str
    description: str
    mime_type: str | None
    read: Callable[[Call, Mapping[str, str]], tuple[Text, str]]
    """`(call, variables) -> (contents, media type)`. Raises NotFound."""
    listed: bool = True
    """Whether lists show it; what is at such an address is read either way."""
    tier: Tier = "public"
    kind: str | None = None
    """The kind of thing it reads, one of `principals.KINDS`; None is the toolset's."""
    complete: Mapping[str, Complete] = field(default_factory=dict)
    page: Callable[[Mapping[str, str]], str | None] | None = None
    """`variables -> page of a public deployment where anybody reads the same`."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One of many resources of a template, as a list shows it."""

    uri: str
    name: str
    title: str
    description: str | None
    mime_type: str
    size: int | None = None
    updated_at: str | None = None
    """ISO 8601."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """What a prompt is made with."""

    name: str
    description: str
    required: bool = True
    complete: Complete | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A workflow that a person starts."""

    name: str
    title: str
    description: str
    arguments: tuple[Argument, ...]
    render: Callable[[Call, Mapping[str, str]], str]
    tier: Tier = "public"


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """Instructions for agents, as files (SEP-2640): `SKILL.md` with frontmatter, and what it refers to."""

    name: str
    files: Mapping[str, str]
    """Relative path -> text; `SKILL.md` is among them."""


class Snapshot(Protocol):
    """The documents of a toolset at one moment; two snapshots show what changed."""

    def find(self, uri: str) -> str | None:
        """The name of the document behind an address, as the change feed has it; None when there is none."""
        ...

    def version(self, name: str) -> int | None:
        """Differs whenever the document does; None when there is none of that name."""
        ...

    def names(self) -> Set[str]:
        """Every document there is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """The declarations that one path serves."""

    name: str
    title: str
    instructions: str
    """When to use it, in constant words; those of all toolsets of a path together stay under a hundred words."""
    tools: tuple[Tool, ...] = ()
    resources: tuple[Resource, ...] = ()
    templates: tuple[Template, ...] = ()
    documents: Callable[[], Sequence[Listed]] | None = None
    """Resources of the templates worth listing, in a lasting order; read page by page."""
    documents_tier: Tier = "public"
    snapshot: Callable[[bool], Snapshot] | None = None
    """The documents as of now, for subscriptions; True reads the store however recently it was read."""
    prompts: tuple[Prompt, ...] = ()
    skills: tuple[Skill, ...] = ()
    kind: str | None = None
    """Of whatever says none of its own; None is the toolset's only kind, if it has but one."""

    def need_of(self, declared: Tool | Resource | Template | Prompt) -> Need:
        """What it takes to use something of this toolset."""
        level: Level = declared.level if isinstance(declared, Tool) else "read"
        return self._need(declared.tier, level, None if isinstance(declared, Prompt) else declared.kind)

    @property
    def documents_need(self) -> Need:
        """What it takes to read one of the documents."""
        return self._need(self.documents_tier, "read", None)

    def _need(self, tier: Tier, level: Level, kind: str | None) -> Need:
        return Need(tier, scope(self.name, level), kind or self.kind or _only(KINDS.get(self.name, ())))


def _only(kinds: tuple[str, ...]) -> str | None:
    return kinds[0] if len(kinds) == 1 else None
