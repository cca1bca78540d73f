"""Declarations of toolsets: tools, resources, templates, prompts and skills as data with functions, without the SDK.

Lists, schemas, access, rate limits, docs and snapshots all derive from them. Titles and descriptions are constants of
the code: text of the knowledge base never enters them. Where a tool declares `in_use`, a list adds slugs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from commonplace.identity.authorization import Need, Verdict, judge
from commonplace.identity.principals import ANONYMOUS, KINDS, MEMBERSHIP, Level, Principal, Tier, author, scope
from commonplace.kernel.audit import Author

if TYPE_CHECKING:
    from commonplace.kernel.objects import ObjectStore
    from commonplace.web.mcp.settings import McpSettings

Cost = Literal["read", "search", "write"]
"""Each class of calls has a rate limit of its own."""

Text = str | bytes


class Arguments(BaseModel):
    """The base of a tool's arguments: camelCase outside; what is unknown never reaches it (`arguments.forgive`)."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        defer_build=True,  # a cold call builds the models of one tool, not of all
    )


class Part(BaseModel):
    """The base of what structured answers are made of: camelCase outside, absent values left out."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, defer_build=True)


class Output(Part):
    """The base of a tool's structured answer as a whole."""

    notes: list[str] | None = None
    """Notes of the frame on arguments that were not taken as they came."""


class SnakeCaseArguments(Arguments):
    """Names outside as they are here; camelCase is understood too."""

    model_config = ConfigDict(alias_generator=None)


class SnakeCasePart(Part):
    model_config = ConfigDict(alias_generator=None)


class SnakeCaseOutput(Output):
    model_config = ConfigDict(alias_generator=None)


class NoArguments(Arguments):
    """The arguments of a tool that takes none."""


@dataclass(frozen=True, slots=True)
class ToolsetContext:
    """The settings and the store of objects that the MCP function passes to each capability with a toolset.

    Whatever else a toolset needs it makes when a call first needs it.
    """

    environ: Mapping[str, str]
    settings: McpSettings
    objects: ObjectStore
    toolsets: list[Toolset] = field(default_factory=list)
    """Those of the deployment, once all are built: a tool that reaches another calls it by `invocation.invoke`."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller of a request, its address, and the restrictions of this deployment and this request."""

    principal: Principal = ANONYMOUS
    address: str = "unknown"
    read_only: bool = False
    """No tool that writes exists for this request. A request can set it, and can never unset it."""
    judged: tuple[Need, Verdict] | None = field(default=None, compare=False, repr=False)
    """The guard's verdict on the operation of this request."""

    def verdict(self, need: Need) -> Verdict:
        """Return whether the caller may; what the guard has judged is not judged again."""
        if self.judged is not None and self.judged[0] is need:
            return self.judged[1]
        return judge(self.principal, need)


Complete = Callable[[Caller, str, Mapping[str, str]], Sequence[str]]
"""`(caller, what is typed so far, arguments given already) -> values that fit, best first`; the frame cuts."""


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
        """The author, where a call is about what an organisation has for itself. Raises Forbidden."""
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
    """A tool's compact text for a reader, the same as data, and resources worth reading on.

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
class Declared:
    """What every declaration says of itself."""

    name: str
    title: str
    description: str
    tier: Tier = "public"
    kind: str | None = None
    """The kind of what it reads or changes, one of `principals.KINDS`; None is the toolset's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Declared):
    """A function for models.

    Its name has at most 40 characters of `a-z`, digits and `_`; its description says what it is for, when to call it
    and when not, in a few constant sentences, without steering.
    """

    arguments: type[Arguments]
    output: type[Output] | None
    run: Run
    level: Level = "read"
    """With the toolset's name, the scope that a call needs."""
    cost: Cost = "read"
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False
    """Reaches beyond this deployment."""
    exact: bool = False
    """A number beyond its bounds is refused, not taken as the bound: as tools that write have it anyway."""
    max_values: int = 2_000
    """Values in the arguments of one call, nested ones included."""
    verbatim: bool = False
    """The text is the data as JSON, and nothing may be added to either: a shape that others have fixed."""
    input_schema: Mapping[str, Any] | None = None
    """The schema in place of that of `arguments`, where a model cannot say it."""
    in_use: Mapping[str, Callable[[Caller], Sequence[str]]] = field(default_factory=dict)
    """Slugs, by argument, that it can be at the moment for a caller, the most significant first. Lists add some."""
    page: Callable[[Any], str | None] | None = None
    """`arguments -> page of a public deployment where anybody reads the same`: named to a caller who has to sign in."""
    asks: bool = False
    """A person approves each call: it is offered where one can be asked, as in the chat, and nowhere else."""
    raw: bool = False
    """It is called with the arguments as they came, bounded in size and depth: `input_schema` is somebody else's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource(Declared):
    """Something to read, at a fixed address."""

    uri: str
    mime_type: str
    read: Callable[[Call], Text]
    listed: bool = True
    """Lists show it; it is read at its address either way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template(Declared):
    """Things to read, at addresses of one shape (RFC 6570: `{name}` and `{+path}`)."""

    uri_template: str
    mime_type: str | None
    read: Callable[[Call, Mapping[str, str]], tuple[Text, str]]
    """`(call, variables) -> (contents, media type)`. Raises NotFound."""
    listed: bool = True
    """Lists show it; what is at such an address is read either way."""
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
    """An argument that a prompt is made with."""

    name: str
    description: str
    required: bool = True
    complete: Complete | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Declared):
    """A workflow that a person starts."""

    arguments: tuple[Argument, ...]
    render: Callable[[Call, Mapping[str, str]], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """Instructions for agents, as files (SEP-2640): `SKILL.md` with frontmatter, and what it refers to."""

    name: str
    files: Mapping[str, str]
    """Relative path -> text; `SKILL.md` is among them."""

    @classmethod
    def load(cls, folder: Path) -> Skill:
        """Read every Markdown file of a skill's folder, `SKILL.md` first. The folder's name is the skill's."""
        files = sorted(folder.rglob("*.md"), key=lambda file: (file.name != "SKILL.md", file.as_posix()))
        texts = {file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8") for file in files}
        return cls(name=folder.name, files=texts)


class Snapshot(Protocol):
    """The documents of a toolset at one moment; two snapshots show what changed."""

    def find(self, uri: str) -> str | None:
        """Return the name of the document at an address, as the change feed has it; None when there is none."""
        ...

    def version(self, name: str) -> int | None:
        """Return what differs whenever the document does; None when there is none of that name."""
        ...

    def names(self) -> Set[str]:
        """Return the name of every document."""
        ...


@dataclass(frozen=True, slots=True)
class Happened:
    """The notifications to send."""

    updated: tuple[str, ...] = ()
    """Addresses of the request."""
    listed: bool = False
    """Documents came or went."""

    def __bool__(self) -> bool:
        return self.listed or bool(self.updated)


class Watch(Protocol):
    """What one caller waits for, from its creation on, of a toolset whose resources are no documents."""

    @property
    def uris(self) -> Sequence[str]:
        """The addresses that are granted."""
        ...

    @property
    def lists(self) -> bool:
        """Whether changes of the list of resources are."""
        ...

    def look(self) -> Happened:
        """Return what has happened by now, judged anew. Raises Unavailable."""
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
    documents: Callable[[Caller], Sequence[Listed]] | None = None
    """Resources of the templates worth listing to a caller, in a lasting order; read page by page."""
    documents_tier: Tier = "public"
    snapshot: Callable[[Caller, bool], Snapshot] | None = None
    """A caller's documents as of now, for subscriptions; True reads the store however recently it was read."""
    watch: Callable[[Caller, Sequence[str], bool], Watch] | None = None
    """`(caller, addresses, lists as well) -> the wait for them`, in place of snapshots. Raises InvalidInput, and
    Unavailable."""
    prompts: tuple[Prompt, ...] = ()
    skills: tuple[Skill, ...] = ()
    kind: str | None = None
    """The kind of whatever says none of its own; None is the toolset's only kind, if it has but one."""
    further: Callable[[Caller, str], Sequence[Tool]] | None = None
    """`(caller, name) -> tools that a caller has besides`, where the toolset is served alone; read whenever they are
    listed or called. A name that is called leaves out what cannot have it; empty is all."""
    further_tier: Tier = "member"
    """What they all take, with the scope to read: whoever may not is told before any is looked up."""
    further_cost: Cost = "search"
    """What each of their calls counts as."""
    members_only: bool = False
    """Strangers are not shown that it is there: where it is served alone they are asked to sign in."""

    def need_of(self, declared: Declared | None) -> Need:
        """Return what it takes to use something of this toolset; None stands for its documents."""
        kinds = KINDS.get(self.name, ())
        return Need(
            self.documents_tier if declared is None else declared.tier,
            scope(self.name, declared.level if isinstance(declared, Tool) else "read"),
            (declared and declared.kind) or self.kind or (kinds[0] if len(kinds) == 1 else None),
            MEMBERSHIP.get(self.name, False),
        )
