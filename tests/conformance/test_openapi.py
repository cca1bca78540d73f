"""The OpenAPI document: a committed contract, complete, true to what is answered, and hard to break."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlencode

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from schemathesis.checks import positive_data_acceptance
from starlette.testclient import TestClient

from commonplace.documents.content.document import DocumentRef
from commonplace.documents.content.library import Library
from commonplace.documents.findings import MAX_HITS
from commonplace.documents.index_source import record_from_document
from commonplace.documents.rest.services import Explanations
from commonplace.documents.sync.report import Counts, Note, Summary
from commonplace.identity.principals import TOGETHER, TOOLSETS
from commonplace.identity.resources import Resources
from commonplace.kernel.limits import Limiter
from commonplace.repository.problems import Problem
from commonplace.search.embedded.engine import EmbeddedEngine
from commonplace.search.model import IndexedRecord
from commonplace.search.service import DeferredSearch, SearchService
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.rest.declaration import Site
from commonplace.web.stack import MINIMUM_BYTES
from tests.examples import examples
from tests.fakes.access_tokens import ISSUER, Realm
from tests.fakes.library import FakeLibrary, garden, links_between
from tests.rest_app import rest_app

SNAPSHOT = Path(__file__).with_name("openapi.json")
EXAMPLES = examples(10, soak=250)
UPDATE = "UPDATE_SNAPSHOTS"
"""Set this variable to 1 to accept what the application says now."""


class NoCounters:
    def add(self, key: str, amount: int, expires_at: int) -> int:
        return amount


def published() -> FakeLibrary:
    documents = garden()
    store = FakeLibrary()
    store.attach("seedlings.png", "image/png", b"\x89PNG\r\n\x1a\n\x00\xff")
    store.publish(documents, graph=links_between(documents))
    counts = Counts(documents=len(documents), stored=1)
    problem = Problem("aliased-type", "`concept` is read as `tag`", hint="write `type: tag`", line=2, field="type")
    note = Note(ref=DocumentRef("tag/governance"), path="tags/governance.md", problem=problem)
    store.put("metadata/sync.json", Summary(status="succeeded", counts=counts, notes=[note]).to_json())
    return store


INDEXES: list[EmbeddedEngine] = []
"""Opened for as long as this module's tests run."""

RESOURCES = Resources(ISSUER, TOGETHER, TOOLSETS)
REALM = Realm()
APP = rest_app(
    Library(published()),
    DeferredSearch(lambda: SearchService(INDEXES[0], None)),
    Site(reads_per_minute=0, searches_per_minute=0),
    Limiter(NoCounters(), time),
    accounts=Accounts(REALM.principals, Challenges(RESOURCES), RESOURCES.api),
    explanations=Explanations("anyone"),
)


@pytest.fixture(scope="module", autouse=True)
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A real index of the garden, so that queries meet what parses them."""
    engine = EmbeddedEngine(tmp_path_factory.mktemp("index") / "documents.sqlite", None)
    engine.write([IndexedRecord(record_from_document(document), ()) for document in garden()], [])
    INDEXES.append(engine)
    yield
    INDEXES.remove(engine)
    engine.close()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    answered: dict[str, Any] = TestClient(APP).get("/api/v1/openapi.json").json()
    return answered


def test_openapi_document_is_the_committed_one(document: dict[str, Any]) -> None:
    told = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    if os.environ.get(UPDATE) == "1":
        SNAPSHOT.write_text(told, encoding="utf-8")
    assert json.loads(SNAPSHOT.read_text(encoding="utf-8")) == document, f"run with {UPDATE}=1 to accept the change"


def test_every_address_of_the_interface_is_described(document: dict[str, Any]) -> None:
    paths = {path.removeprefix("/api/v1") for path in document["paths"]}
    assert paths == {
        *("/entries", "/entries/by-path", "/entries/{contentType}/{id}", "/entries/{contentType}/{id}.md"),
        *("/entries/{contentType}/{id}/links", "/search", "/graph", "/groups", "/releases", "/tags"),
        *("/attachments/{name}", "/ontology", "/schemas", "/schemas/{contentType}.json", "/manifest", "/sync"),
        *("/health", "/feed.json", "/llms.txt", "/llms-full.txt", "/openapi.json", "/me"),
    }


def test_every_operation_has_an_id_of_its_own_and_a_sentence(document: dict[str, Any]) -> None:
    told = list(operations(document))
    ids = [operation["operationId"] for _, operation in told]
    assert len(set(ids)) == len(ids) == len(document["paths"])
    assert [name for name, operation in told if not operation.get("summary") or not operation.get("description")] == []


def test_every_parameter_is_described_by_what_it_does(document: dict[str, Any]) -> None:
    undescribed = [
        (name, parameter["name"])
        for name, operation in operations(document)
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]
    assert undescribed == []


def test_every_answer_has_an_example_that_matches_its_schema(document: dict[str, Any]) -> None:
    checked = 0
    for name, operation in operations(document):
        for status, answer in operation["responses"].items():
            for content in answer.get("content", {}).values():
                schema = {**content["schema"], "components": document["components"]}
                errors = [
                    error.message for error in jsonschema_rs.validator_for(schema).iter_errors(content["example"])
                ]
                assert errors == [], f"{name} {status}"
                checked += 1
            assert status == "304" or answer.get("content"), f"{name} {status} has no example"
    assert checked > 80


def test_document_says_openapi_3_1_and_describes_the_library_to_people(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert "sanitise" in document["info"]["description"].replace("sanitised", "sanitise")
    assert {tag["name"] for tag in document["tags"]} == {
        tag for _, operation in operations(document) for tag in operation["tags"]
    }


PLACES = {"contentType": "pattern", "id": "rotating-stewardship", "name": "seedlings.png"}
"""Values of parameters of paths that lead to something."""


def addresses(document: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Every address, at the root too, with the names of its query parameters."""
    for path, methods in document["paths"].items():
        names = [one["name"] for one in methods["get"].get("parameters", ()) if one["in"] == "query"]
        for address in (path, path.removeprefix("/api/v1")):
            if address == path or address in ("/health", "/feed.json", "/llms.txt", "/llms-full.txt", "/openapi.json"):
                yield address.format(**PLACES), names


def refused(address: str, query: str) -> dict[str, Any]:
    answer = TestClient(APP).get(f"{address}?{query}")
    assert answer.status_code == 422, f"{address}?{query}: {answer.text[:300]}"
    error: dict[str, Any] = answer.json()["error"]
    return error


def test_no_address_ignores_a_parameter_that_it_does_not_have(document: dict[str, Any]) -> None:
    asked = list(addresses(document))
    assert len(asked) == len(document["paths"]) + 5
    for address, names in asked:
        for unknown in ("quetzalcoatl", "utm_source", "_", "access_token"):
            error = refused(address, f"{unknown}=1")
            assert (error["code"], error["details"]["validParameters"]) == ("INVALID_INPUT", names)
            assert [one["field"] for one in error["details"]["fields"]] == [unknown]
            assert all(name in error["details"]["hint"] for name in names)


@given(address=st.integers(0), name=st.text(max_size=30), value=st.text(max_size=5))
@settings(max_examples=examples(60), deadline=None)
def test_whatever_is_not_a_parameter_is_refused(document: dict[str, Any], address: int, name: str, value: str) -> None:
    asked = list(addresses(document))
    path, names = asked[address % len(asked)]
    assume(name not in names)
    fields = refused(path, urlencode({name: value.encode("utf-8", "replace")}, errors="replace"))["details"]["fields"]
    assert len(fields) == 1


def test_every_parameter_in_another_style_is_refused_and_its_name_told(document: dict[str, Any]) -> None:
    checked = 0
    for address, names in addresses(document):
        for name in names:
            snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
            for style in {snake, name.lower(), name.upper(), snake.replace("_", "-")} - {name}:
                error = refused(address, f"{style}=1")
                assert f"did you mean {name}?" in error["message"]
                assert error["details"]["nearest"] == [name]
                assert error["details"]["hint"].startswith(f"Did you mean {name}?")
                checked += 1
    assert checked > 50


def test_a_parameter_of_one_value_is_refused_when_it_comes_twice(document: dict[str, Any]) -> None:
    single = [
        (address.format(**PLACES), parameter["name"])
        for address, methods in document["paths"].items()
        for parameter in methods["get"].get("parameters", ())
        if parameter["in"] == "query" and parameter["schema"].get("type") != "array"
    ]
    assert len(single) > 20
    for address, name in single:
        assert f"{name}: comes several times" in refused(address, f"{name}=1&{name}=2")["message"]


def test_every_text_of_size_is_compressed_for_who_takes_that_and_caches_know(document: dict[str, Any]) -> None:
    queries = {"/api/v1/search": "?q=seeds&limit=20", "/api/v1/entries/by-path": "?path=docs/kitchen/index.md"}
    large = 0
    for address, _ in addresses(document):
        asked = address + queries.get(address, "")
        plain = TestClient(APP).get(asked, headers={"accept-encoding": "gzip;q=0"})
        packed = TestClient(APP).get(asked, headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in plain.headers
        if len(plain.content) < MINIMUM_BYTES or plain.headers["content-type"].startswith("image/"):
            assert "content-encoding" not in packed.headers
            continue
        large += 1
        assert "Accept-Encoding" in plain.headers["vary"], asked
        assert "Accept-Encoding" in packed.headers["vary"], asked
        assert packed.headers["content-encoding"] == "gzip", asked
        assert int(packed.headers["content-length"]) < len(plain.content)
        if address not in ("/api/v1/search", "/health", "/api/v1/health"):
            assert packed.content == plain.content
    assert large > 8


schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", APP)


def depends_on_another(query: Mapping[str, Any]) -> bool:
    """Whether a parameter is there that is valid only beside another one, which a schema cannot say."""
    limit = str(query.get("limit", ""))
    return bool({"cursor", "expect"} & query.keys()) or (limit.isdigit() and int(limit) > MAX_HITS)


@schema.parametrize()
@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_application_keeps_to_its_description(case: schemathesis.Case[Any]) -> None:
    may_be_refused = case.operation.path.endswith("/search") and depends_on_another(case.query or {})
    case.call_and_validate(excluded_checks=[positive_data_acceptance] if may_be_refused else [])
