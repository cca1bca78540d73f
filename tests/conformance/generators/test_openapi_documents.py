"""The generator on API documents that others published: every operation, twice the same, in time, and valid."""

import json
import random
import re
import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from commonplace.reference.lookup import Lookup
from commonplace.reference.source.reader import Reading, read_catalogue
from commonplace_generators.catalogue_file import dated, written
from commonplace_generators.generated import Generated
from commonplace_generators.openapi import documents
from commonplace_generators.plan import generate
from tests.reference_files import compiled
from tests.registry.packages import file_of

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
MAX_CPU_SECONDS = 60
DAY = "2026-03-01T00:00:00Z"


@dataclass(frozen=True)
class Published:
    """A document of a package."""

    package: str
    path: str
    at_least: int
    """Operations, so that a document that lost its content is noticed."""


DOCUMENTS = {
    "github": Published("@octokit/openapi", "package/generated/api.github.com.json", 1_000),
    "star-trek": Published("@readme/oas-examples", "package/3.0/yaml/star-trek.yaml", 100),
    "readme": Published("@readme/oas-examples", "package/3.1/json/readme.json", 50),
    "galaxy": Published("@scalar/galaxy", "package/dist/3.1.yaml", 10),
    "petstore": Published("@readme/oas-examples", "package/3.0/json/petstore.json", 15),
    "circular": Published("@readme/oas-examples", "package/3.0/json/circular.json", 1),
    "security": Published("@readme/oas-examples", "package/3.0/json/security.json", 10),
}


@cache
def raw(name: str) -> bytes:
    return file_of(DOCUMENTS[name].package, DOCUMENTS[name].path).read_bytes()


@cache
def made(name: str) -> tuple[Generated, float]:
    """What is made of a document, and the processor time that it took."""
    source = raw(name)
    began = time.process_time()
    found = generate("openapi", source, source=f"{name}.json", options={})
    return found, time.process_time() - began


@cache
def read(name: str) -> Reading:
    return read_catalogue({"api.json": written(dated(made(name)[0].entries, None, DAY))}, name)


def operations(document: dict[str, Any]) -> set[tuple[str, str]]:
    """Counted without the generator."""
    paths = document["paths"].items()
    return {(method.upper(), path) for path, item in paths for method in item if method in METHODS}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_of_a_published_document_becomes_an_entry(name: str) -> None:
    wanted = operations(documents.parsed(raw(name)))
    base = {(one.method or "", one.path_template or "") for one in made(name)[0].entries}
    missing = {one for one in wanted if not any(m == one[0] and p.endswith(one[1]) for m, p in base)}
    assert missing == set()
    assert len(base) == len(wanted) >= DOCUMENTS[name].at_least


@pytest.mark.parametrize("name", DOCUMENTS)
def test_entries_of_a_published_document_are_a_valid_catalogue(name: str) -> None:
    assert [one.message for one in read(name).problems] == []
    assert len(read(name).entries) == len(made(name)[0].entries)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_everything_of_a_published_document_is_read_but_its_webhooks(name: str) -> None:
    assert {one.where for one in made(name)[0].unread} <= {"webhooks"}


@pytest.mark.parametrize("name", ["readme", "galaxy", "star-trek"])
def test_a_published_document_in_another_order_makes_the_same_bytes(name: str) -> None:
    other = json.dumps(shuffled(documents.parsed(raw(name)), random.Random(8))).encode()
    again = generate("openapi", other, source=f"{name}.json", options={})
    hashed = {"source_hash": None}
    assert written(one.model_copy(update=hashed) for one in again.entries) == written(
        one.model_copy(update=hashed) for one in made(name)[0].entries
    )


def test_a_document_of_more_than_a_thousand_operations_is_made_within_a_minute() -> None:
    found, seconds = made("github")
    assert seconds < MAX_CPU_SECONDS
    assert len(written(found.entries)) < 12_000_000


@pytest.mark.parametrize("name", DOCUMENTS)
def test_an_entry_of_a_published_document_is_short_enough_to_be_answered(name: str) -> None:
    assert max(len(one.content) for one in made(name)[0].entries) <= 8_000
    assert all(one.examples and "curl" in one.examples[0].code for one in made(name)[0].entries)


def test_authentication_is_told_as_the_document_describes_it() -> None:
    told = {one.path_template: one.authentication or "" for one in made("security")[0].entries}
    assert len(told) >= 8
    assert any("API key in the query parameter" in one for one in told.values())
    assert any("HTTP Basic" in one for one in told.values())
    assert any("OAuth 2.0 access token" in one for one in told.values())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_operation_is_found_by_a_call_of_it(name: str) -> None:
    lookup = Lookup([compiled(read(name))])
    for one in made(name)[0].entries:
        called = re.sub(r"\{[^}]*\}", "x7", one.path_template or "")
        assert [hit.entry.id for hit in lookup.endpoint(called, one.method).hits] == [one.id]


def shuffled(value: Any, order: random.Random) -> Any:
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: shuffled(value[name], order) for name in names}
    return [shuffled(one, order) for one in value] if isinstance(value, list) else value
