"""Subscriptions to documents, as the official client meets them behind a gateway that buffers."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from inspect import isawaitable
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import mcp_types as types
import pytest
from mcp.client.subscriptions import ListenNotSupportedError
from mcp.server.lowlevel.server import Server
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY, ResourcesListChanged, ResourceUpdated, ServerEvent

from commonplace.documents.content.document import Document
from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.identity.principals import Principal, Tier
from commonplace.kernel.limits import MARGIN_SECONDS, Slots
from commonplace.search.model import RecordId
from commonplace.search.source import Change
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller
from commonplace.web.mcp.offer import CALLER
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.subscriptions import MAX_URIS, Pace, install_subscriptions
from tests.fakes.changes import FakeChanges
from tests.fakes.library import FakeLibrary, garden, make
from tests.fakes.search import FakeSearch
from tests.fakes.slots import FakeSlots
from tests.unit.web.mcp.over_http import connected, post, serving

ROTA = "mcp://superbenefit/documents/pattern/rotating-stewardship"
ROTA_FILE = "mcp://superbenefit/raw/artifacts/patterns/rotating-stewardship.md"
SWAP = "mcp://superbenefit/documents/practice/seed-swap"
SWAP_FILE = "mcp://superbenefit/raw/artifacts/practices/Seed%20swap.md"
READER = frozenset({"knowledge:read"})


class Garden:
    """A knowledge base whose time passes only while somebody sleeps, and in which something happens then."""

    def __init__(self, tier: Tier = "public") -> None:
        self.now = 1_000.0
        self.store = FakeLibrary(garden())
        self.library = Library(self.store, clock=self.clock)
        self.feed = FakeChanges()
        self.happenings: list[Callable[[], object]] = []
        """What happens during each sleep; a coroutine is waited for."""
        self.sleeps = 0
        self.held = FakeSlots()
        self.tier: Tier = "public"
        self.subject: str | None = "0xabc"
        self.seconds_left: Callable[[], float] | None = None
        using = KnowledgeServices(library=self.library, search=FakeSearch(), full_text_tier=tier)
        toolset = knowledge_toolset(using)
        self.server: Server[Any] = build_server([toolset], Surface())
        slots = Slots(self.held, self.clock, each=2, together=5)
        install_subscriptions(self.server, [toolset], self.feed, slots, Pace(clock=self.clock, sleep=self.sleep))

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.sleeps += 1
        if self.happenings:
            happened = self.happenings.pop(0)()
            if isawaitable(happened):
                await happened

    def app(self) -> Any:
        return serving(
            self.server, Caller(Principal(subject=self.subject, tier=self.tier, scopes=READER)), self.seconds_left
        )

    def edit(self, document_id: str) -> None:
        """Publishes the document anew, and the index tells of it."""
        self.publish(edited(document_id))
        self.tell(document_id)

    def publish(self, documents: Iterable[Document]) -> None:
        self.store.publish(documents)

    def tell(self, *ids: str, version: int = 2) -> None:
        refs = {document.id: document.ref for document in garden()}
        self.feed.append([Change(RecordId(refs.get(name, f"note/{name}")), "written", version, False) for name in ids])

    def listen(self, *uris: str, lists: bool = False) -> tuple[types.SubscriptionFilter, list[ServerEvent]]:
        """What is granted, and every event until the subscription ends well."""

        return asyncio.run(self.listening(*uris, lists=lists))

    async def listening(
        self, *uris: str, lists: bool = False, subject: str | None = None
    ) -> tuple[types.SubscriptionFilter, list[ServerEvent]]:
        """As `listen`, for another account than this one if `subject` names one."""
        self.subject = subject or self.subject
        async with (
            connected(self.app()) as client,
            client.listen(resource_subscriptions=uris, resources_list_changed=lists) as subscription,
        ):
            return subscription.honored, [event async for event in subscription]

    def asked(self, *uris: str, **more: bool) -> list[dict[str, Any]]:
        """The messages of a listen as they stood on the wire."""
        return asked(self.app(), "subscriptions/listen", {"notifications": {"resourceSubscriptions": uris, **more}})


def edited(*ids: str, generation: int = 2) -> list[Document]:
    """The garden with some documents written anew."""
    newer = {"content": "New words.\n", "generation": generation}
    return [one.model_copy(update=newer) if one.id in ids else one for one in garden()]


def asked(app: Any, method: str, params: dict[str, Any], **told: str) -> list[dict[str, Any]]:
    return asyncio.run(post(app, method, params, **told))


@pytest.fixture
def place() -> Garden:
    return Garden()


def test_a_change_of_a_document_ends_the_wait_for_it(place: Garden) -> None:
    place.happenings = [lambda: None, lambda: place.edit("rotating-stewardship")]

    granted, events = place.listen(ROTA, SWAP)

    assert granted.resource_subscriptions == [ROTA, SWAP]
    assert events == [ResourceUpdated(uri=ROTA)]
    assert place.now == 1_001


def test_a_document_is_waited_for_by_its_file_as_well(place: Garden) -> None:
    place.happenings = [lambda: place.edit("seed-swap")]

    assert place.listen(SWAP_FILE, SWAP, ROTA_FILE)[1] == [ResourceUpdated(uri=SWAP_FILE), ResourceUpdated(uri=SWAP)]


def test_a_document_is_waited_for_by_a_name_it_had_before(place: Garden) -> None:
    former = {"practice/swap": "artifacts/practices/Seed swap.md"}
    place.store.publish(garden(), former_refs=former)
    uri = "mcp://superbenefit/documents/practice/swap"
    place.happenings = [lambda: place.store.publish(edited("seed-swap"), former_refs=former)]

    assert place.listen(uri)[1] == [ResourceUpdated(uri=uri)]


def test_everything_of_one_publication_is_told_at_once(place: Garden) -> None:
    def publish() -> None:
        place.publish(edited("rotating-stewardship", "seed-swap"))
        place.tell("seed-swap")

    place.happenings = [publish]

    assert place.listen(ROTA, SWAP)[1] == [ResourceUpdated(uri=ROTA), ResourceUpdated(uri=SWAP)]


def test_a_change_is_told_only_when_reading_again_shows_it(place: Garden) -> None:
    def publish() -> None:
        place.publish(edited("rotating-stewardship"))

    place.happenings = [lambda: place.tell("rotating-stewardship"), lambda: None, lambda: None, publish]

    assert place.listen(ROTA)[1] == [ResourceUpdated(uri=ROTA)]
    assert place.now == 1_002
    assert [document.content for document in place.library.read(["pattern/rotating-stewardship"]) if document] == [
        "New words.\n"
    ]


def test_lists_change_when_a_document_comes_and_not_when_one_is_edited(place: Garden) -> None:
    def come() -> None:
        place.publish([*edited("rotating-stewardship"), make("note", "fresh", "fresh.md", generation=3)])
        place.feed.append([Change(RecordId("note/fresh"), "written", 3, added=True)])

    place.happenings = [lambda: place.edit("rotating-stewardship"), *[lambda: None] * 20, come]

    granted, events = place.listen(lists=True)

    assert (granted.resources_list_changed, granted.resource_subscriptions) == (True, None)
    assert events == [ResourcesListChanged()]
    assert place.now == 1_011


@pytest.mark.parametrize(("function_ends", "wait_ends"), [(None, 1_020), (1_005, 1_003), (1_000.5, 1_000)])
def test_a_wait_in_vain_ends_well_and_in_time(place: Garden, function_ends: float | None, wait_ends: int) -> None:
    if function_ends is not None:
        place.seconds_left = lambda: function_ends - place.now
    assert place.listen(ROTA, lists=True)[1] == []
    assert place.now == wait_ends


def test_what_changed_before_the_wait_is_not_told(place: Garden) -> None:
    place.edit("rotating-stewardship")

    assert place.listen(ROTA)[1] == []


def test_a_store_that_fails_when_a_wait_begins_is_an_error(place: Garden) -> None:
    place.store.unreachable = True

    (answer,) = place.asked(ROTA)

    assert answer["error"]["code"] == types.INTERNAL_ERROR
    assert "store does not answer" in answer["error"]["message"]


def test_only_documents_that_are_there_are_granted(place: Garden) -> None:
    granted, _ = place.listen(
        ROTA,
        ROTA,
        "mcp://superbenefit/documents/pattern/none",
        "mcp://elsewhere/documents/pattern/rotating-stewardship",
        "mcp://superbenefit/raw/artifacts/../artifacts/patterns/rotating-stewardship.md",
        "mcp://superbenefit/data/groups",
        "file:///etc/passwd",
        "",
    )

    assert granted.resource_subscriptions == [ROTA]


@pytest.mark.parametrize(("tier", "granted"), [("public", None), ("member", [ROTA]), ("vibecoder", [ROTA])])
def test_a_document_is_granted_to_whom_may_read_it(tier: Tier, granted: list[str] | None) -> None:
    place = Garden("member")
    place.tier = tier

    assert place.listen(ROTA)[0].resource_subscriptions == granted


def test_a_wait_for_nothing_that_is_granted_ends_at_once(place: Garden) -> None:
    ack, result = place.asked("mcp://none", toolsListChanged=True, promptsListChanged=True)

    assert ack["params"]["notifications"] == {}
    assert (result["id"], place.now, place.held.calls) == (7, 1_000, 0)


def test_the_grant_comes_first_and_every_message_names_its_subscription(place: Garden) -> None:
    place.happenings = [lambda: place.edit("rotating-stewardship")]

    ack, event, result = place.asked(ROTA)

    assert ack["method"] == "notifications/subscriptions/acknowledged"
    assert ack["params"]["notifications"] == {"resourceSubscriptions": [ROTA]}
    assert (event["method"], event["params"]["uri"]) == ("notifications/resources/updated", ROTA)
    assert result["result"]["resultType"] == "complete"
    metas = [ack["params"]["_meta"], event["params"]["_meta"], result["result"]["_meta"]]
    assert [meta[SUBSCRIPTION_ID_META_KEY] for meta in metas] == [7, 7, 7]


def test_somebody_unknown_is_answered_at_once_and_told_when_to_read_again(place: Garden) -> None:
    place.subject = None
    place.store.unreachable = place.feed.unreachable = True

    ack, result = place.asked(ROTA, resourcesListChanged=True)

    assert (place.sleeps, place.held.calls) == (0, 0)
    assert ack["params"]["notifications"] == {}
    assert result["result"]["resultType"] == "complete"
    told = result["result"]["_meta"]["commonplace/listen"]
    assert told["retryAfterSeconds"] == 60
    assert "sign in" in told["hint"].lower()


def test_an_account_waits_twice_at_once_and_the_third_is_answered_at_once(place: Garden) -> None:
    granted: list[list[str] | None] = []

    async def third() -> None:
        before = place.sleeps
        honored, events = await place.listening(ROTA)
        granted.append(honored.resource_subscriptions)
        assert (place.sleeps, events) == (before, [])

    async def second() -> None:
        honored, _ = await place.listening(ROTA)
        granted.append(honored.resource_subscriptions)

    place.happenings = [second, third]

    assert place.listen(ROTA)[0].resource_subscriptions == [ROTA]
    assert granted == [None, [ROTA]]
    assert place.held.slots == []


def test_five_wait_at_once_and_whoever_comes_then_is_answered_at_once(place: Garden) -> None:
    granted: dict[str, list[str] | None] = {}

    def account(name: str) -> Callable[[], Coroutine[Any, Any, None]]:
        async def listening() -> None:
            granted[name] = (await place.listening(ROTA, subject=name))[0].resource_subscriptions

        return listening

    place.happenings = [account(f"0x{number}") for number in range(5)]
    place.listen(ROTA)

    assert granted == {f"0x{number}": [ROTA] for number in range(4)} | {"0x4": None}
    assert place.held.slots == []


def test_a_wait_that_is_not_held_says_when_to_come_back(place: Garden) -> None:
    place.held.unreachable = True

    ack, result = place.asked(ROTA)

    assert (ack["params"]["notifications"], place.sleeps) == ({}, 0)
    assert result["result"]["_meta"]["commonplace/listen"]["retryAfterSeconds"] == 20


def test_a_slot_is_held_as_long_as_the_wait_may_last_and_no_longer(place: Garden) -> None:
    leases: list[float] = []
    place.happenings = [lambda: leases.extend(slot.until - place.now + 0.5 for slot in place.held.slots)]

    place.listen(ROTA)

    assert leases == [20 + MARGIN_SECONDS]
    assert place.held.slots == []


def test_a_wait_that_is_cut_off_gives_its_slot_back(place: Garden) -> None:
    served = place.server.get_request_handler("subscriptions/listen")
    assert served is not None

    async def main() -> None:
        async def send(*_: Any, **__: Any) -> None: ...

        request = SimpleNamespace(scope={CALLER: Caller(Principal(subject="0xabc", scopes=READER))})
        ctx: Any = SimpleNamespace(request=request, request_id=7, session=SimpleNamespace(send_notification=send))
        with anyio.CancelScope() as limit:

            async def cut() -> None:
                assert len(place.held.slots) == 1
                limit.cancel()
                await anyio.lowlevel.checkpoint()

            place.happenings = [cut]
            asked = types.SubscriptionFilter(resource_subscriptions=[ROTA])
            await served.handler(ctx, types.SubscriptionsListenRequestParams(notifications=asked))
        assert limit.cancelled_caught

    asyncio.run(main())
    assert place.held.slots == []


def test_too_many_addresses_are_refused(place: Garden) -> None:
    (answer,) = place.asked(*(f"{ROTA}-{number}" for number in range(MAX_URIS + 1)))

    assert answer["error"]["code"] == types.INVALID_PARAMS
    assert str(MAX_URIS) in answer["error"]["message"]


def test_the_server_promises_what_it_can_keep(place: Garden) -> None:
    async def main() -> types.ServerCapabilities:
        async with connected(place.app()) as client:
            return client.server_capabilities

    told = asyncio.run(main())
    assert told.resources is not None
    assert told.tools is not None
    assert told.prompts is not None
    assert (told.resources.subscribe, told.resources.list_changed) == (True, False)
    assert (told.tools.list_changed, told.prompts.list_changed) == (False, False)


def test_versions_with_a_handshake_have_no_subscriptions(place: Garden) -> None:
    async def main() -> types.ServerCapabilities:
        async with connected(place.app(), "legacy") as client:
            with pytest.raises(ListenNotSupportedError):
                await client.listen(resource_subscriptions=[ROTA]).__aenter__()
            return client.server_capabilities

    resources = asyncio.run(main()).resources
    assert resources is not None
    assert not resources.subscribe
    (answer,) = asked(place.app(), "subscriptions/listen", {"notifications": {}}, version="2025-11-25")
    assert answer["error"]["code"] == types.METHOD_NOT_FOUND


def test_a_server_without_documents_has_no_subscriptions() -> None:
    server = build_server([], Surface(), FakeChanges(), Slots(FakeSlots(), lambda: 0.0, each=1, together=1))

    (answer,) = asked(serving(server), "subscriptions/listen", {"notifications": {}})
    assert answer["error"]["code"] == types.METHOD_NOT_FOUND


def test_a_server_with_documents_and_a_feed_has_subscriptions(place: Garden) -> None:
    using = KnowledgeServices(library=place.library, search=FakeSearch())
    server = build_server(
        [knowledge_toolset(using)], Surface(), place.feed, Slots(place.held, place.clock, each=1, together=1)
    )

    assert server.get_request_handler("subscriptions/listen") is not None
