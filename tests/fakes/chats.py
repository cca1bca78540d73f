"""A chat over a garden's documents: the real tools, search, store and application; a scripted model, and no GitHub."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import httpx
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from commonplace.chat.agent.models import passages
from commonplace.chat.agent.runs import Runs
from commonplace.chat.agent.tools import agent_of
from commonplace.chat.composition import CREATE, MEMBER
from commonplace.chat.model import Owner
from commonplace.chat.routes import Chat, create_app
from commonplace.chat.store import ChatStore
from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Document
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.federation.commons import Commons
from commonplace.federation.partners import Partners
from commonplace.federation.toolset import commons_toolset, own_hits, own_offer
from commonplace.identity.principals import Principal, scope
from commonplace.identity.resources import Resources
from commonplace.identity.sessions import COOKIE, Visitor, csrf_token
from commonplace.kernel.limits import Limiter, Slots
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.mcp.declaration import Answer, Caller
from commonplace.web.mcp.invocation import invoke
from commonplace.web.mcp.offer import Offer, offer_of
from commonplace.web.stack import Limits
from tests.dynamodb_fixture import new_table
from tests.fakes.library import FakeLibrary, garden
from tests.fakes.proposals import FakeProposals
from tests.fakes.slots import FakeSlots
from tests.unit.documents.tools.published import knowledge_base
from tests.unit.web.mcp.world import ByToken, Counters

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

BASE = "https://garden.example.org"
ID = "conversation-1"
Said = str | dict[int, DeltaToolCall]
Script = Callable[[list[ModelMessage], AgentInfo], AsyncIterator[Said]]


def principal(name: str = "ada", tier: Any = "vibecoder", **changed: Any) -> Principal:
    """Return an account of the garden with every scope of its tier."""
    level = "read" if tier == "public" else "write"
    scopes = frozenset([scope("knowledge", level)])
    own = Principal(subject=f"0x{name}", organisation="garden", tier=tier, scopes=scopes, account=f"account-{name}")
    return replace(own, **({"client": "an-app", "grant": "g", "token": f"token-{name}"} | changed))


def says(*said: Said) -> Script:
    """Return a script that says this, whatever it is asked."""

    async def script(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Said]:
        for one in said:
            yield one

    return script


def steps(*rounds: Sequence[Said]) -> Script:
    """Return a script with something to say for each request of the model, the last one for ever."""
    left = list(rounds)

    async def script(_: list[ModelMessage], __: AgentInfo) -> AsyncIterator[Said]:
        for one in left.pop(0) if len(left) > 1 else left[0]:
            yield one

    return script


def call(name: str, **arguments: Any) -> dict[int, DeltaToolCall]:
    return {0: DeltaToolCall(name=name, json_args=json.dumps(arguments))}


@dataclass(eq=False)
class Cookies:
    """Sessions of browsers by their cookies."""

    accounts: dict[str, Principal] = field(default_factory=dict)

    def find(self, cookie: str) -> Any:
        found = self.accounts.get(cookie)
        return Visitor(profile=None, principal=found) if found else None  # type: ignore[arg-type]


@dataclass(eq=False)
class ChatWorld:
    """One deployment with a chat. Time stands still until a test moves it."""

    client: DynamoDBClient
    script: Script = passages
    documents: Sequence[Document] = field(default_factory=garden)
    tokens_per_day: int = 200_000
    together: int = 6
    now: float = 1_795_967_000.0
    partners: Partners | None = None
    """Those of the deployment's organisations; None where it has no federation."""
    sessions: Cookies = field(default_factory=Cookies)
    tokens: dict[str, Principal] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.table, self.activity = new_table(self.client, "records"), new_table(self.client, "activity")
        self.store = ChatStore(self.client, self.table, self.activity, 30, lambda: self.now)
        self.proposals = FakeProposals()
        self.slots, self.followers = FakeSlots(), FakeSlots()
        self._folder = tempfile.TemporaryDirectory(prefix="chat-", ignore_cleanup_errors=True)
        self._opened = knowledge_base(FakeLibrary(self.documents), Path(self._folder.name) / "index.sqlite")
        services = replace(
            self._opened.__enter__(), proposals=self.proposals, addresses=DocumentAddresses(base_url=BASE)
        )
        knowledge = knowledge_toolset(services)
        self.offer = offer_of([knowledge])
        self.commons: Offer | None = None
        if self.partners is not None:
            commons, context = Commons(self.partners, "garden.example.org", "Garden"), SimpleNamespace()
            context.toolsets = [knowledge]
            own = partial(own_hits, own_offer(context))  # type: ignore[arg-type]
            self.commons = offer_of([commons_toolset(lambda: commons, own)])
        self.spent: list[str] = []
        draft = self.offer.tools[CREATE]
        self.agent = agent_of(self.offer.tools["search_knowledge"].tool.arguments, draft.tool.arguments)
        self.runs = Runs(store=self.store, agent=self.agent, model=self._model, tokens_per_day=self.tokens_per_day)
        resources = Resources(BASE, ("knowledge",), ("knowledge",))
        limiter = Limiter(Counters(), lambda: self.now)
        self.chat = Chat(
            store=self.store,
            runs=self.runs,
            invoke=self._invoke,
            draft=draft.need,
            commons=self.commons,
            need=MEMBER,
            accounts=Accounts(ByToken(self.tokens), Challenges(resources), resources.api),
            visitors=self.sessions,  # type: ignore[arg-type]
            origin=BASE,
            limits=Limits(limiter, 0, 0),
            slots=Slots(self.slots, lambda: self.now, each=2, together=self.together),
            followers=Slots(self.followers, lambda: self.now, each=4, together=self.together),
        )
        self.app = create_app(self.chat)

    def close(self) -> None:
        self._opened.__exit__(None, None, None)
        self._folder.cleanup()

    def _model(self) -> Model:
        return FunctionModel(stream_function=self.script, model_name="scripted")

    def _invoke(self, caller: Caller, name: str, given: Any) -> Answer:
        offer = self.offer if self.commons is None or name in self.offer.tools else self.commons
        counted: Any = lambda *of: self.spent.append(of[1])  # noqa: E731
        return invoke(offer, caller, name, given, spend=counted, base_url=BASE, asking=True)

    def person(self, name: str = "ada", **changed: Any) -> Person:
        """Return somebody who calls with a token."""
        token = f"token-{name}-{len(self.tokens)}"
        self.tokens[token] = principal(name, **changed)
        return Person(self, {"authorization": f"Bearer {token}"}, self.tokens[token])

    def browser(self, name: str = "ada", **changed: Any) -> Person:
        """Return somebody at a page of the deployment."""
        cookie = f"cookie-{name}-{len(self.sessions.accounts)}"
        self.sessions.accounts[cookie] = principal(name, **({"client": "console", "token": None} | changed))
        headers = {"cookie": f"{COOKIE}={cookie}", "x-csrf-token": csrf_token(cookie), "origin": BASE}
        return Person(self, headers | {"sec-fetch-site": "same-origin"}, self.sessions.accounts[cookie])

    def audit(self) -> list[dict[str, Any]]:
        """Return what was written down of the chat, the oldest first."""
        from commonplace.kernel.table import deserialize

        items = self.client.scan(TableName=self.activity)["Items"]
        found = [deserialize(item) for item in items if item["pk"]["S"].startswith("chat#")]
        return sorted(found, key=lambda item: str(item["sk"]))


@dataclass(frozen=True)
class Person:
    """Somebody who calls the endpoints."""

    world: ChatWorld
    headers: dict[str, str]
    principal: Principal

    @property
    def owner(self) -> Owner:
        return Owner(self.principal.organisation or "", self.principal.account or "")

    async def send(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """Send a request to the application, in this very loop."""
        transport = httpx.ASGITransport(app=self.world.app)
        async with httpx.AsyncClient(transport=transport, base_url=BASE, timeout=30) as client:
            given = {} if body is None else {"json": body}
            return await client.request(method, f"/api/v1/chat{path}", headers=self.headers | headers, **given)

    async def ask(self, text: str, id: str = ID, message: str = "message-1", **changed: Any) -> httpx.Response:
        return await self.send("POST", "", asked(text, id, message, **changed))

    async def decide(self, call: str, approved: bool, id: str = ID, **changed: Any) -> httpx.Response:
        return await self.send("POST", "", decided(call, approved, id, **changed))

    def now(self, does: str, *given: Any, **options: Any) -> httpx.Response:
        """Do one of these in a loop of its own."""
        work: Callable[[], Any] = partial(getattr(self, does), *given, **options)
        answer: httpx.Response = asyncio.run(work())
        return answer


def asked(text: str, id: str = ID, message: str = "message-1", trigger: str = "submit-message") -> dict[str, Any]:
    messages = [{"id": message, "role": "user", "parts": [{"type": "text", "text": text}]}]
    return {"id": id, "trigger": trigger, "messages": messages}


def decided(call: str, approved: bool, id: str = ID, **changed: Any) -> dict[str, Any]:
    """Return a person's answer to a call, as the AI SDK sends it; `changed` are fields of the part."""
    part = {"type": "tool-createDraft", "toolCallId": call, "state": "approval-responded", "input": {}}
    part |= {"approval": {"id": call, "approved": approved}, **changed}
    return {"id": id, "trigger": "submit-message", "messages": [{"id": "m", "role": "assistant", "parts": [part]}]}


def frames(answer: httpx.Response | str) -> list[dict[str, Any]]:
    """Return the frames of a stream."""
    text = answer if isinstance(answer, str) else answer.text
    found = [line.removeprefix("data: ") for line in text.split("\n\n") if line.startswith("data: {")]
    return [json.loads(one) for one in found]


def words(answer: httpx.Response | str) -> str:
    """Return the text of a stream."""
    return "".join(one["delta"] for one in frames(answer) if one["type"] == "text-delta")
