"""Two small toolsets that share a few names, to try the frame of every toolset with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Literal

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp_types import CallToolResult, TextContent
from pydantic import Field

from commonplace.identity.principals import Principal, Tier
from commonplace.kernel.errors import CommonplaceError, NotFound
from commonplace.web.mcp.declaration import (
    Answer,
    Argument,
    Arguments,
    Call,
    Caller,
    Link,
    Listed,
    NoArguments,
    Output,
    Part,
    Prompt,
    Resource,
    Template,
    Text,
    Tool,
    Toolset,
)
from commonplace.web.mcp.offer import CALLER

SECRET = "the-inner-workings"
"""In the text of an unforeseen error; nobody outside may see it."""

Kind = Literal["pattern", "practice", "tide-table"]


class Filters(Arguments):
    content_type: list[Kind] | None = None
    groups: list[str] | None = None
    since: str | None = None


class Asked(Arguments):
    """This docstring is for who reads the code."""

    query: str = Field(min_length=1, max_length=200, description="What to look for.")
    limit: int = Field(3, ge=1, le=20)
    filters: Filters | None = None
    whole: bool = False


class Hit(Part):
    """One pool."""

    id: str
    title: str | None = None


class Found(Output):
    """This one as well."""

    hits: list[Hit]
    best: Hit | None = None


class Entry(Arguments):
    title: str = Field(max_length=50)
    body: str = Field("", max_length=5_000)
    tags: list[str] = Field(default_factory=list)
    weight: int | None = Field(None, ge=1, le=5)


class Written(Output):
    url: str


class Fixed(Output):
    id: str


def search(call: Call, arguments: Asked) -> Answer:
    hits = [Hit(id=f"pool-{at}", title=f"{arguments.query} {at}") for at in range(arguments.limit)]
    links = (Link("tide://pools/pool-0", "pool-0", "The first", "text/markdown"),)
    return Answer("\n".join(hit.title or hit.id for hit in hits), Found(hits=hits), links)


def write(call: Call, arguments: Entry) -> Answer:
    return Answer(f"Written: {arguments.title}", Written(url=f"{call.base_url}/{arguments.title}"))


async def talk(call: Call, arguments: NoArguments) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=f"said in {call.context.protocol_version}")])


def tool(run: Callable[[Call, Any], Any], name: str, **changes: Any) -> Tool:
    """A public tool without arguments, but for what is changed."""
    given: dict[str, Any] = {
        "name": name,
        "title": name.replace("_", " ").title(),
        "description": f"Does {name}.",
        "arguments": NoArguments,
        "output": Fixed,
        "run": run,
    }
    return Tool(**given | changes)


def raising(error: Exception) -> Callable[[Call, Any], Answer]:
    def run(call: Call, arguments: Any) -> Answer:
        raise error

    return run


def said(text: str) -> Callable[[Call, Any], Answer]:
    def run(call: Call, arguments: Any) -> Answer:
        return Answer(text, Fixed(id=text[:10]))

    return run


def pool(call: Call, variables: Mapping[str, str]) -> tuple[Text, str]:
    if not variables["id"].startswith("pool-"):
        raise NotFound("There is no such pool.", hint="Nearest: pool-0.")
    return f"# {variables['id']}", "text/markdown"


def raw(call: Call, variables: Mapping[str, str]) -> tuple[Text, str]:
    return variables["path"].encode(), "application/octet-stream"


def pool_ids(_: Caller, typed: str, given: Mapping[str, str]) -> Sequence[str]:
    shore = given.get("shore", "")
    return [name for at in range(250) if (name := f"{shore}pool-{at}").startswith(typed)]


def listed(count: int) -> list[Listed]:
    return [
        Listed(f"tide://pools/pool-{at}", f"pool-{at}", f"Pool {at}", None, "text/markdown", 10, "2025-01-01T00:00:00Z")
        for at in range(count)
    ]


def tides(*more: Tool, documents: Callable[[], Sequence[Listed]] = lambda: listed(250)) -> Toolset:
    return Toolset(
        name="tides",
        title="Tides",
        instructions="Pools and their tides. Search first.",
        tools=(
            tool(search, "search_pools", arguments=Asked, output=Found, cost="search"),
            tool(said("member"), "read_log", tier="member"),
            tool(
                write,
                "write_log",
                arguments=Entry,
                output=Written,
                tier="vibecoder",
                read_only=False,
                cost="write",
                level="write",
                idempotent=False,
                open_world=True,
            ),
            tool(talk, "talk", output=None),
            *more,
        ),
        resources=(
            Resource(
                uri="tide://about",
                name="about",
                title="About",
                description="What this is.",
                mime_type="text/plain",
                read=lambda call: "about tides",
            ),
            Resource(
                uri="tide://log",
                name="log",
                title="Log",
                description="Of members.",
                mime_type="text/plain",
                read=lambda call: "log",
                tier="member",
            ),
        ),
        templates=(
            Template(
                uri_template="tide://pools/{id}",
                name="pool",
                title="Pool",
                description="One pool.",
                mime_type="text/markdown",
                read=pool,
                tier="public",
                complete={"id": pool_ids},
            ),
            Template(
                uri_template="tide://raw/{+path}",
                name="raw",
                title="Raw",
                description="As it is.",
                mime_type=None,
                read=raw,
            ),
        ),
        documents=lambda _: documents(),
        prompts=(
            Prompt(
                name="plan",
                title="Plan a visit",
                description="Plans a visit.",
                arguments=(
                    Argument(name="pool", description="Which pool.", complete=pool_ids),
                    Argument(name="shore", description="Where.", required=False),
                ),
                render=lambda call, given: f"Plan a visit to {given['pool']}.",
            ),
            Prompt(
                name="review",
                title="Review",
                description="For members.",
                arguments=(),
                tier="member",
                render=lambda call, given: "Review the log.",
            ),
        ),
    )


def harbour() -> Toolset:
    return Toolset(
        name="harbour",
        title="Harbour",
        instructions="Ships. Ask before you sail.",
        tools=(
            tool(search, "search_pools", arguments=Asked, output=Found),
            tool(said("ships"), "list_ships"),
        ),
        prompts=(
            Prompt(
                name="plan",
                title="Plan a trip",
                description="Plans a trip.",
                arguments=(),
                render=lambda call, given: "Plan a trip.",
            ),
        ),
    )


def account(tier: Tier, *, read_only: bool = False) -> Caller:
    """With every scope of both toolsets."""
    scopes = frozenset({"tides:admin", "harbour:admin"})
    return Caller(Principal(subject="0xabc", tier=tier, scopes=scopes), address="192.0.2.1", read_only=read_only)


def as_caller(server: Server[Any], caller: Caller) -> Server[Any]:
    """The server, as if a guard had found this caller behind every request."""

    async def guard(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        return await call_next(replace(ctx, request=SimpleNamespace(scope={CALLER: caller})))

    server.middleware.insert(0, guard)
    return server


@dataclass
class Spending:
    """A rate limit that remembers what was spent, and refuses when told to."""

    spent: list[tuple[Caller, str]] = field(default_factory=list)
    refusal: CommonplaceError | None = None

    def __call__(self, caller: Caller, cost: str, toolset: str) -> None:
        if self.refusal:
            raise self.refusal
        self.spent.append((caller, cost))
