"""REST and MCP answer the same of one library: the same hits in the same order, the same documents, the same misses.

One table of queries, filters and limits drives both, over the sample knowledge base in a real index, which still holds
two documents that are published no longer.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mcp.server.lowlevel.server import Server
from starlette.testclient import TestClient

from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import MANIFEST_KEY, Entry, Manifest
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.kernel.limits import Limiter
from commonplace.search.model import SearchRequest
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.server import build_server
from commonplace.web.rest.declaration import Site
from tests.examples import examples
from tests.fakes.embeddings import FakeEmbeddings
from tests.rest_app import rest_app
from tests.unit.documents.rest.conftest import Counters
from tests.unit.documents.tools.published import SAMPLE, knowledge_base, synced
from tests.unit.web.mcp.talking import call, text_of

ORIGIN = "https://shore.example.org"

GONE = ("pattern/same-pool-same-day", "tag/foreshore")
"""Still in the index."""

QUERIES = (
    *("pool", "Lift one stone", "who looks after the pools?", "number every pool", "lamp at low tide"),
    *("limpetts", "#foreshore", "a word that nobody wrote: quetzalcoatl", "same pool, same day"),
    *('"unbalanced ( AND *', "жизнь на берегу", "The"),
)
"""What is named, asked, misspelt, no longer published, or not a word at all."""

FILTERS: tuple[Mapping[str, Any], ...] = (
    {},
    {"contentType": "pattern"},
    {"contentType": "resource"},
    {"contentType": "tag"},
    {"contentType": ["tag", "story"]},
    {"group": "pool-desk"},
    {"group": "nobody"},
    {"tags": ["monitoring"]},
    {"dateFrom": "2024-03-01", "dateTo": "2024-12-31"},
    {"contentType": "story", "dateFrom": "2025-01-01"},
)

CASES = [
    *product(QUERIES, FILTERS[:1], (5,)),
    *product(QUERIES[:2], FILTERS[:1], (1, 20)),
    *product(QUERIES[:2], FILTERS[1:], (5,)),
]


@dataclass
class Both:
    """One knowledge base behind both interfaces."""

    using: KnowledgeServices
    client: TestClient
    server: Server[Any]

    def rest(self, path: str, **parameters: Any) -> dict[str, Any]:
        told: dict[str, Any] = self.client.get(f"/api/v1/{path}", params=parameters).json()
        return told

    def mcp(self, name: str, **arguments: Any) -> dict[str, Any]:
        result = call(self.server, name, arguments)
        assert not result.is_error, text_of(result)
        told: dict[str, Any] = result.structured_content
        return told

    def refusal(self, name: str, **arguments: Any) -> str:
        result = call(self.server, name, arguments)
        assert result.is_error
        return text_of(result)

    def refs(self) -> list[str]:
        return [entry.ref for entry in self.using.library.manifest().documents]


@contextmanager
def both(folder: Path, provider: FakeEmbeddings | None) -> Iterator[Both]:
    store = synced(SAMPLE)
    with knowledge_base(store, folder / "documents.sqlite", provider) as using:
        held = store.get(MANIFEST_KEY)
        assert held is not None
        manifest = Manifest.model_validate_json(held.body)
        kept = [entry for entry in manifest.documents if entry.ref not in GONE]
        store.put(MANIFEST_KEY, manifest.model_copy(update={"documents": kept}).to_json())
        using.library.edition(fresh=True)
        site = Site(name="The shore", base_url=ORIGIN, reads_per_minute=0, searches_per_minute=0)
        app = rest_app(using.library, using.search, site, Limiter(Counters(), time))
        addresses = DocumentAddresses(base_url=ORIGIN)
        toolset = knowledge_toolset(replace(using, full_text_tier="public", addresses=addresses))
        with TestClient(app) as client:
            yield Both(using, client, build_server([toolset], Surface(base_url=ORIGIN)))


@pytest.fixture(scope="module", params=["hybrid", "words"])
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    provider = FakeEmbeddings() if request.param == "hybrid" else None
    with both(tmp_path_factory.mktemp(request.param), provider) as found:
        yield found


def parameters(filters: Mapping[str, Any]) -> dict[str, Any]:
    """The same conditions as query parameters of REST."""
    return dict(filters)


def hits(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What both tell of each hit; REST says null where MCP says nothing, and MCP tells no description twice."""
    names = ("contentType", "id", "title", "heading", "snippet", "score", "rerankScore", "date")
    return [
        {name: one.get(name) for name in names}
        | {"snippet": None if one.get("snippet") == one.get("description") else one.get("snippet")}
        | {"duplicates": one.get("duplicates") or []}
        for one in answer["results"]
    ]


def refs(answer: Mapping[str, Any]) -> list[str]:
    return [f"{one['contentType']}/{one['id']}" for one in answer["results"]]


def whole(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {name: answer.get(name) for name in ("total", "totalRelation", "suggestion")}


@pytest.mark.parametrize(("query", "filters", "limit"), CASES)
def test_a_search_finds_the_same(base: Both, query: str, filters: Mapping[str, Any], limit: int) -> None:
    told = base.rest("search", q=query, limit=limit, **parameters(filters))
    said = base.mcp("search_knowledge", query=query, filters={**filters, "limit": limit})
    assert hits(said) == hits(told)
    assert whole(said) == whole(told)
    assert not set(GONE) & {ref for one in said["results"] for ref in (*refs(said), *one.get("duplicates", ()))}
    assert [one["documentUrl"] for one in said["results"]] == [one["documentUrl"] for one in told["results"]]
    assert [one.get("link") for one in said["results"]] == [one["url"] for one in told["results"]]


SPELLINGS = (str, str.upper, str.title, lambda value: value.replace("-", " "), lambda value: f" #{value} ")
"""Ways of writing one value."""


@st.composite
def conditions(draw: st.DrawFn, entries: Sequence[Entry]) -> dict[str, Any]:
    """Filters by values that documents have, in any spelling, and by one that none has; several with commas."""

    def values(named: Iterable[str | None]) -> st.SearchStrategy[str]:
        known = sorted({value for value in named if value})
        spelt = st.builds(
            lambda value, spell: spell(value), st.sampled_from([*known, "nobody"]), st.sampled_from(SPELLINGS)
        )
        return st.lists(spelt, min_size=1, max_size=2).map(",".join)

    types = ("pattern", "Patterns", "concept", "resource", "story,tag", "LINK")
    named = {
        "contentType": st.sampled_from(types),
        "group": values(entry.group for entry in entries),
        "release": values(entry.release for entry in entries),
        "status": values(entry.status for entry in entries),
        "author": values(name for entry in entries for name in entry.author),
        "tags": values(tag for entry in entries for tag in entry.tags),
        "dateFrom": st.sampled_from(["2024-03-01", "2025-01-01"]),
        "dateTo": st.sampled_from(["2024-12-31", "2025-06-30"]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(named)), unique=True, max_size=2))
    return {name: draw(named[name]) for name in chosen}


@given(data=st.data())
@settings(max_examples=examples(25, 800), deadline=None)
def test_every_search_with_every_filter_finds_and_counts_the_same(base: Both, data: st.DataObject) -> None:
    entries = base.using.library.manifest().documents
    words = sorted({word for entry in entries for word in entry.title.split()})
    some = st.lists(st.sampled_from([*words, "the", "of", "who", "quetzalcoatl", "limpetts"]), min_size=1, max_size=5)
    query = data.draw(
        st.one_of(some.map(" ".join), st.sampled_from(QUERIES), st.sampled_from(entries).map(lambda entry: entry.title))
    )
    filters = data.draw(conditions(entries))
    limit = data.draw(st.integers(1, 20))
    told = base.rest("search", q=query, limit=limit, **filters)
    said = base.mcp("search_knowledge", query=query, filters={**filters, "limit": limit})
    assert hits(said) == hits(told)
    assert whole(said) == whole(told)
    if not told["results"]:
        assert set(told.get("hints", ())) <= set(said["hints"])


@given(data=st.data())
@settings(max_examples=examples(15, 400), deadline=None)
def test_every_result_of_a_filtered_search_is_on_the_list_of_those_filters(base: Both, data: st.DataObject) -> None:
    entries = base.using.library.manifest().documents
    filters = data.draw(conditions(entries))
    listed = base.rest("entries", limit=100, fields="contentType,id", **filters)
    refs_listed = {f"{one['contentType']}/{one['id']}" for one in listed["entries"]}
    told = base.rest("search", q="pool shore tide", mode="lexical", limit=100, **filters)
    assert set(refs(told)) <= refs_listed
    assert told.get("hints") == listed.get("hints")


@given(data=st.data())
@settings(max_examples=examples(15, 600), deadline=None)
def test_a_document_answers_to_its_type_in_any_form_and_to_its_parents(base: Both, data: st.DataObject) -> None:
    entry = data.draw(st.sampled_from(base.using.library.manifest().documents))
    named = data.draw(st.sampled_from([*ONTOLOGY.lineage(entry.content_type)]))
    written = data.draw(st.sampled_from([named, named.upper(), named.title(), f"{named}s"]))
    assume(named == entry.content_type or ONTOLOGY.types[named].abstract)
    answer = base.client.get(f"/api/v1/entries/{quote(written)}/{quote(entry.id)}")
    said = base.mcp("get_document", contentType=written, id=entry.id)
    told = answer.json()
    assert (told["contentType"], told["id"]) == (said["contentType"], said["id"])
    assert told["contentType"] in ONTOLOGY.expand(named)
    if written != told["contentType"]:
        assert answer.headers["content-location"] == f"/api/v1/entries/{told['contentType']}/{quote(told['id'])}"


def test_the_table_has_hits_misses_corrections_and_what_is_no_longer_published(base: Both) -> None:
    told = [base.rest("search", q=query, limit=limit, **parameters(filters)) for query, filters, limit in CASES]
    assert any(answer["results"] for answer in told)
    assert any(not answer["results"] for answer in told)
    assert any(answer["suggestion"] for answer in told)
    found = [base.using.search.search(SearchRequest(query)).results for query in QUERIES]
    assert set(GONE) <= {f"{hit.content_type}/{hit.id}" for hits in found for hit in hits}


@pytest.mark.parametrize("query", QUERIES)
def test_pages_of_a_search_are_one_ranking(base: Both, query: str) -> None:
    pages = [base.mcp("search_knowledge", query=query, filters={"limit": 4})]
    while (cursor := pages[-1].get("nextCursor")) is not None:
        pages.append(base.mcp("search_knowledge", query=query, filters={"limit": 4}, cursor=cursor))
    assert [hit for page in pages for hit in hits(page)] == hits(base.rest("search", q=query, limit=20))


@pytest.mark.parametrize("query", QUERIES)
def test_search_for_connectors_finds_the_same(base: Both, query: str) -> None:
    told = base.rest("search", q=query, limit=10)
    said = base.mcp("search", query=query)["results"]
    assert [one["id"] for one in said] == refs(told)
    assert [one["title"] for one in said] == [one["title"] for one in told["results"]]
    assert [one["url"] for one in said] == [one["documentUrl"] for one in told["results"]]


@pytest.mark.parametrize("query", QUERIES)
def test_search_with_documents_finds_the_same_documents(base: Both, query: str) -> None:
    told = base.rest("search", q=query, limit=5, include="documents")
    said = base.mcp("search_with_documents", query=query)
    assert (refs(said), whole(said)) == (refs(told), whole(told))
    for one, other in zip(said["results"], told["results"], strict=True):
        whole_text = other["document"]["content"]
        assert one["score"] == other["score"]
        assert whole_text.startswith(one["content"])
        assert ("nextCursor" in one) is (one["content"] != whole_text)


def test_every_document_is_the_same(base: Both) -> None:
    for ref in base.refs():
        told = base.rest(f"entries/{ref}")
        content_type, _, document_id = ref.partition("/")
        said = base.mcp("get_document", contentType=content_type, id=document_id)
        shared = ("contentType", "id", "title", "group", "release", "status", "date", "updatedAt", "documentUrl")
        for name in (*shared, "sourceUrl"):
            assert said.get(name) == told[name], (ref, name)
        assert (said.get("tags", []), said.get("link")) == (told["tags"], told["url"])
        assert text(base, "get_document", "content", id=ref) == told["content"]
        assert fetched(base, ref) == told["content"]


def text(base: Both, name: str, field: str, **arguments: Any) -> str:
    """A document's text, page by page."""
    pages = [base.mcp(name, **arguments)]
    while (cursor := pages[-1].get("nextCursor")) is not None:
        pages.append(base.mcp(name, **arguments, cursor=cursor))
    return "".join(page[field] for page in pages)


def fetched(base: Both, ref: str) -> str:
    pages = [base.mcp("fetch", id=ref)]
    while (onward := pages[-1]["metadata"].get("next")) is not None:
        pages.append(base.mcp("fetch", id=onward))
    return "".join(page["text"] for page in pages)


@pytest.mark.parametrize("ref", ["pattern/lift-one-stonee", "tag/lift-one-stone", "place/lantern", *GONE])
def test_a_miss_names_the_same_documents(base: Both, ref: str) -> None:
    error = base.rest(f"entries/{ref}")["error"]
    content_type, _, document_id = ref.partition("/")
    for said in (
        base.refusal("get_document", contentType=content_type, id=document_id),
        base.refusal("fetch", id=ref),
        base.refusal("get_related", contentType=content_type, id=document_id),
    ):
        assert said.startswith(f"{error['code']}: ")
        assert all(nearest in said for nearest in error["details"]["nearest"])


def test_an_unknown_type_names_the_same_types(base: Both) -> None:
    told = base.rest("entries/poem/low-tide")["error"]["details"]["validTypes"]
    said = base.refusal("get_document", contentType="poem", id="low-tide")
    assert told == list(ONTOLOGY.types)
    assert ", ".join(told) in said


def test_every_document_is_linked_with_the_same_ones(base: Both) -> None:
    for ref in base.refs():
        told = base.rest(f"entries/{ref}/links")
        said = base.mcp("get_related", id=ref, limit=50)
        linked = {name: [f"{one['contentType']}/{one['id']}" for one in told[name]] for name in ("out", "back")}
        found: dict[str, set[str]] = {}
        for one in said["related"]:
            found.setdefault(one["relation"], set()).add(f"{one['contentType']}/{one['id']}")
        mutual = found.get("both", set())
        assert found.get("out", set()) | mutual == set(linked["out"])
        assert found.get("back", set()) | mutual == set(linked["back"])
        assert said["brokenLinks"] == len(told["broken"])


def test_freshness_is_the_same(base: Both) -> None:
    health, run = base.client.get("/health").json(), base.rest("sync")
    said = base.mcp("sync_status")
    assert (said["status"], said["commit"], said["syncedAt"]) == ("ok", health["commitSha"], health["syncedAt"])
    assert said["documents"] == health["documents"]
    assert (said["lastRun"], said["checkedAt"]) == (run["status"], run["checkedAt"])
    assert (said["problems"], said["brokenLinks"]) == (run["counts"]["problems"], run["counts"]["brokenLinks"])
