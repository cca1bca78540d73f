"""The knowledge base and a second toolset behind the guard, with people, agents and tokens."""

from dataclasses import dataclass, field
from typing import Any, cast

from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.identity.principals import Tier
from commonplace.identity.resources import Resources
from commonplace.kernel.limits import Limiter
from commonplace.web.challenges import Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Answer, Call, NoArguments, Prompt, Resource, Template, Toolset
from commonplace.web.mcp.throttle import Throttle
from tests.fakes.access_tokens import Realm
from tests.fakes.proposals import FakeProposals
from tests.unit.documents.tools.worlds import world as library
from tests.unit.web.mcp.world import BASE_URL, NO_LIMITS, Answered, Context, Counters, Heard, Said, body_of, heard, tool

SERVED = ("knowledge", "memory")
METADATA = f"{BASE_URL}/.well-known/oauth-protected-resource"


@dataclass
class Guarded:
    """A deployment where people sign in."""

    realm: Realm = field(default_factory=Realm)
    limits: Any = field(default_factory=lambda: NO_LIMITS)
    proposals: FakeProposals = field(default_factory=FakeProposals)
    counters: Counters = field(default_factory=Counters)
    page_size: int = 100
    names_authors: bool = False
    read_only: bool = False
    tier: Tier = "public"
    seen: list[Call] = field(default_factory=list)
    """What tools were called with."""

    def __post_init__(self) -> None:
        throttle = Throttle(Limiter(self.counters, self.realm.clock), self.limits)
        using = library().services(proposals=self.proposals, names_authors=self.names_authors)
        self.records: list[Any] = []
        self.handler = Gateway(
            create_app(
                [knowledge_toolset(using), self.memory()],
                Surface(base_url=BASE_URL, spend=throttle.spend, record=self.records.append, page_size=self.page_size),
                throttle=throttle,
                default=("knowledge",),
                read_only=self.read_only,
                principals=self.realm.principals,
                challenges=Challenges(Resources(BASE_URL, ("knowledge",), SERVED)),
                tier=self.tier,
            )
        )

    def memory(self) -> Toolset:
        """A team's own: nothing of it is public but one tool."""

        def look(call: Call, said: Said) -> Answer:
            self.seen.append(call)
            return heard(call, said)

        def count(call: Call, _: NoArguments) -> Answer:
            self.seen.append(call)
            return Answer("one", Heard(text="one"))

        return Toolset(
            name="memory",
            title="Memory",
            instructions="For tests.",
            tools=(
                tool("about_memory", count),
                tool("recall", look, Said, tier="member"),
                tool("remember", look, Said, tier="member", level="write", cost="write", read_only=False),
                tool("purge", count, tier="vibecoder", level="admin", cost="write", read_only=False),
                tool("list_teams", count, tier="member", kind="teams"),
            ),
            resources=(
                Resource(
                    uri="mcp://memory/log",
                    name="log",
                    title="Log",
                    description="Of members.",
                    mime_type="text/plain",
                    read=lambda _: "the log",
                    tier="member",
                ),
            ),
            templates=(
                Template(
                    uri_template="mcp://memory/entries/{id}",
                    name="entry",
                    title="Entry",
                    description="Of members.",
                    mime_type="text/plain",
                    read=lambda _, given: (f"entry {given['id']}", "text/plain"),
                    tier="member",
                    complete={"id": lambda *_: ["first", "second"]},
                ),
            ),
            prompts=(
                Prompt(
                    name="reflect",
                    title="Reflect",
                    description="For members.",
                    arguments=(),
                    render=lambda _, given: "Reflect.",
                    tier="member",
                ),
            ),
        )

    def ask(self, event: dict[str, Any]) -> Answered:
        return self.handler(event, cast(Any, Context()))


def bearer(token: str) -> dict[str, str | None]:
    return {"authorization": f"Bearer {token}"}


def resource(path: str = "/mcp") -> str:
    return f"{BASE_URL}{path}"


def outcome(answer: Answered) -> str:
    """`ok`, a status with its OAuth error, `denied: sentence`, `unavailable`, or the code of a JSON-RPC error."""
    if answer["statusCode"] in (401, 403):
        challenge = answer["headers"]["www-authenticate"]
        error = challenge.partition('error="')[2].partition('"')[0]
        return f"{answer['statusCode']} {error}".strip()
    body = body_of(answer)
    if "error" in body:
        return f"error {body['error']['code']}"
    if not body["result"].get("isError"):
        return "ok"
    text: str = body["result"]["content"][0]["text"]
    return "unavailable" if text.startswith("UNAVAILABLE") else f"denied: {text}"
