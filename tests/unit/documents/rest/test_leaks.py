"""What is not published is nowhere: a canary in everything a reader must not see never comes back."""

import json
import logging
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from commonplace.search.model import RecordId
from tests.fakes.library import AUTHORED, COMMIT, FakeLibrary, garden, links_between, make
from tests.fakes.search import hit
from tests.unit.documents.rest.conftest import World
from tests.unit.documents.rest.told import ToldSearch

CANARY = "xanthippe"


@pytest.fixture
def haunted() -> World:
    """The garden, with unpublished things wherever a store can hold any."""
    secret = make("pattern", f"{CANARY}-plan", f"drafts/{CANARY}.md", content=CANARY, tags=[CANARY], group=CANARY)
    documents = garden()
    graph = links_between(documents)
    graph["authored"] = {f"drafts/{CANARY}.md": [AUTHORED | {"target": CANARY, "text": CANARY}]}
    store = FakeLibrary()
    store.put(f"content/pattern/{CANARY}-plan.json", secret.to_json())
    store.put(f"raw/drafts/{CANARY}.md", CANARY.encode())
    store.put(f"operations/reports/{COMMIT}.json", json.dumps({"skipped": [CANARY]}).encode())
    store.put("operations/known.json", CANARY.encode())
    store.put(f"attachments/{CANARY}.png", CANARY.encode())
    store.publish(documents, graph=graph, former_refs={f"pattern/{CANARY}-plan": f"drafts/{CANARY}.md"})
    found = hit("pattern", f"{CANARY}-plan", title=CANARY, snippet=CANARY, document=secret)
    like_it = hit("pattern", "rotating-stewardship", duplicates=(RecordId(f"pattern/{CANARY}-plan"),))
    return World(store, ToldSearch(found, like_it, suggestion=CANARY))


def addresses(client: TestClient) -> Iterator[str]:
    """Every address of the interface, asked for everything and for the canary's neighbourhood."""
    described = client.get("/openapi.json").json()["paths"]
    plain = [path for path in described if "{" not in path and not path.endswith(("search", "by-path"))]
    yield from plain
    manifest = client.get("/api/v1/manifest").json()
    for document in manifest["documents"]:
        yield from (document["url"], f"{document['url']}.md", f"{document['url']}/links")
    for guess in ("drafts", "raw/drafts", "..", "operations", "metadata"):
        yield f"/api/v1/entries/by-path?path={guess}"
        yield f"/api/v1/attachments/..%2f{guess}%2fknown.json"
        yield f"/api/v1/entries/pattern/..%2f..%2f{guess}%2fknown"
    for more in ("limit=1", "limit=20", "mode=lexical", "include=documents&highlight=true", "collapse=false"):
        yield f"/api/v1/search?q=plan&{more}"
    yield from (f"/api/v1/entries/pattern/{CANARY[:-1]}", f"/api/v1/graph?around=pattern/{CANARY[:-2]}")
    yield from (f"/api/v1/entries?pathPrefix=drafts&sort={sort}" for sort in ("title", "-updated"))
    yield "/api/v1/graph?around=pattern/rotating-stewardship&depth=5"


def test_nothing_unpublished_is_ever_answered_or_logged(haunted: World, caplog: pytest.LogCaptureFixture) -> None:
    client = haunted.client()
    asked = list(addresses(client))
    with caplog.at_level(logging.DEBUG, logger="commonplace"):
        answers = [(address, client.get(address)) for address in asked]
    # What a caller wrote may come back, as far as they wrote it; the whole word only the store could have told.
    assert [address for address, answer in answers if CANARY in answer.text or CANARY in str(answer.headers)] == []
    assert CANARY not in caplog.text
    assert sum(answer.status_code == 200 for _, answer in answers) > 40


def test_unpublished_is_a_miss_by_its_exact_name(haunted: World) -> None:
    client = haunted.client()
    names = (
        f"entries/pattern/{CANARY}-plan",
        f"entries/pattern/{CANARY}-plan.md",
        f"entries/pattern/{CANARY}-plan/links",
        f"entries/by-path?path=drafts/{CANARY}.md",
        f"attachments/{CANARY}.png",
        f"graph?around=pattern/{CANARY}-plan",
    )
    assert {client.get(f"/api/v1/{name}").status_code for name in names} == {404}
    assert client.get(f"/api/v1/entries?tags={CANARY}").json()["total"] == 0


def test_document_that_was_withdrawn_leaves_every_cached_answer(world: World) -> None:
    kept = [document for document in garden() if document.id != "rotating-stewardship"]
    client = world.client()
    # The description and the ontology speak of a made-up document of the same name.
    asked = [address for address in addresses(client) if not address.endswith(("/openapi.json", "/ontology"))]
    before = [address for address in asked if "otating" in client.get(address).text]
    world.store.publish(kept)
    world.search.hits = (hit("pattern", "rotating-stewardship", title="Rotating stewardship"),)
    world.clock.now += 5
    after = [address for address in asked if "otating" in client.get(address).text]
    assert len(before) > 10
    assert after == []
