"""From a push to whoever waits for it: an open subscription ends with the change, and reading again shows it."""

import asyncio
import threading
import time
from collections.abc import Iterator

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent

from commonplace.search.store import DynamoChanges
from commonplace_local.dev.laptop import Laptop
from commonplace_local.dev.source import clone
from tests.integration.repositories import Clone, document

pytestmark = pytest.mark.laptop

WAIT_SECONDS = 120
ATTEMPTS = 3
FRESH_SECONDS = 60
"""Another process may answer from what it read up to 5 s ago."""

TIDES = "mcp://superbenefit/documents/article/tides"
TIDES_FILE = "mcp://superbenefit/raw/docs/tides.md"


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    user = Clone(tmp_path_factory.mktemp("editor") / "clone")
    user.write("index.md", document("Home", type="index"))
    user.write("docs/tides.md", document("Tides", "Twice a day.\n", type="article"))
    user.commit("Start")
    return user


@pytest.fixture(scope="module")
def laptop(user: Clone, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    data = tmp_path_factory.mktemp("laptop")
    with Laptop(clone(user.folder), data, retry_seconds=1, environment={"MCP_ASSUMED_TIER": "member"}) as laptop:
        laptop.push()
        laptop.wait(WAIT_SECONDS)
        yield laptop


async def heard(client: Client, *uris: str, lists: bool = False) -> list[ServerEvent]:
    """What one subscription tells before it ends. The answer comes whole: nothing is known before."""
    async with client.listen(resource_subscriptions=uris, resources_list_changed=lists) as subscription:
        assert subscription.honored.resource_subscriptions == (list(uris) or None)
        return [event async for event in subscription]


async def heard_after(
    client: Client, laptop: Laptop, user: Clone, path: str, text: str, *uris: str
) -> set[ServerEvent]:
    """What is told of a push. Whoever has not been told listens again, and here the editor has another try as well."""
    for attempt in range(ATTEMPTS):
        listening = asyncio.create_task(heard(client, *uris, lists=True))
        user.write(path, document("Tides", f"{text} {attempt}\n", type="article"))
        user.commit()
        await asyncio.to_thread(laptop.push)
        if events := set(await listening):
            return events
    return set()


async def text_of(client: Client, uri: str, wanted: str) -> str:
    """The resource once it holds what is wanted, or as it is when time is up."""
    deadline = time.monotonic() + FRESH_SECONDS
    while True:
        (contents,) = (await client.read_resource(uri)).contents
        assert isinstance(contents, types.TextResourceContents)
        if wanted in contents.text or time.monotonic() > deadline:
            return contents.text
        await asyncio.to_thread(threading.Event().wait, 0.1)


def test_a_push_is_told_once_the_index_has_taken_it(laptop: Laptop, user: Clone) -> None:
    deployment = laptop.deployment
    feed = DynamoChanges(deployment.client("dynamodb"), deployment.outputs["ActivityTable"])
    position, told = feed.position(), []

    for text in (
        document("Shell", "Cockles.\n", type="article"),
        document("Shell", "Mussels.\n", type="article"),
        None,
    ):
        file = user.write("docs/shell.md", text or "")
        if text is None:
            file.unlink()
        user.commit()
        laptop.push()
        laptop.wait(WAIT_SECONDS)
        changes, position = feed.since(position)
        told += [(change.record, change.kind, change.added) for change in changes]

    assert told == [
        ("article/shell", "written", True),
        ("article/shell", "written", False),
        ("article/shell", "removed", None),
    ]


def test_a_push_ends_an_open_subscription_and_reading_again_shows_it(laptop: Laptop, user: Clone) -> None:
    async def main() -> tuple[set[ServerEvent], str, str]:
        async with Client(laptop.mcp_url, mode="auto") as client:
            await text_of(client, TIDES, "Twice a day.")
            events = await heard_after(client, laptop, user, "docs/tides.md", "Spring tide.", TIDES, TIDES_FILE)
            return (
                events,
                await text_of(client, TIDES, "Spring tide."),
                await text_of(client, TIDES_FILE, "Spring tide."),
            )

    events, text, file = asyncio.run(main())

    assert events == {ResourceUpdated(uri=TIDES), ResourceUpdated(uri=TIDES_FILE)}
    assert "Spring tide." in text
    assert "Spring tide." in file


def test_a_document_that_comes_changes_the_list(laptop: Laptop, user: Clone) -> None:
    async def main() -> set[ServerEvent]:
        async with Client(laptop.mcp_url) as client:
            await client.list_resources()
            return await heard_after(client, laptop, user, "docs/ebb.md", "It goes out.")

    assert asyncio.run(main()) == {ResourcesListChanged()}
    laptop.wait(WAIT_SECONDS)
