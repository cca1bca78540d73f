"""docs/agents/rest-api.md and the OpenAPI document name the same addresses, parameters, errors and headers."""

import re
from functools import cache
from typing import Any

import pytest

from commonplace.documents.content.library import Library
from commonplace.hive.operations import OPERATIONS
from commonplace.hive.rest import hive_routes
from commonplace.hive.service import TooSensitive
from commonplace.kernel import errors
from commonplace.kernel.limits import Limiter
from commonplace.web.rest.app import CACHEABLE, create_app
from commonplace.web.rest.declaration import Site
from tests.rest_app import rest_app
from tests.unit.docs.pages import ROOT, first_cells, rows, section

PAGE = ROOT / "docs" / "agents" / "rest-api.md"
REVIEWING = {one.rest.replace(" ", " /api/v1") for one in OPERATIONS if one.level == "admin"}


class Nothing:
    """Stands where a description needs a part and never uses it."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} is not needed for a description")


@cache
def described() -> dict[str, Any]:
    nothing: Any = Nothing()
    app = rest_app(Library(nothing), nothing, Site(), Limiter(nothing, clock=lambda: 0.0))
    document: dict[str, Any] = app.openapi()
    return document


@cache
def hive() -> dict[str, Any]:
    nothing: Any = Nothing()
    app = create_app([hive_routes(nothing)], Site(), Limiter(nothing, clock=lambda: 0.0))
    return {path: methods for path, methods in app.openapi()["paths"].items() if path.startswith("/api/v1/hive/")}


def parameters(path: str) -> set[str]:
    return {item["name"] for item in described()["paths"][path]["get"].get("parameters", []) if item["in"] == "query"}


def test_the_page_lists_every_address_and_no_other() -> None:
    paths = {f"{method.upper()} {path}" for path, methods in described()["paths"].items() for method in methods}
    assert set(first_cells(PAGE, "Addresses")) == paths


def test_the_page_lists_every_address_of_the_hive_with_its_scope() -> None:
    told = {
        row[0].strip("`"): row[1].strip("`")
        for row in rows(section(PAGE, "Contributed knowledge"))
        if " /api" in row[0]
    }
    there = {f"{method.upper()} {path}" for path, methods in hive().items() for method in methods}
    assert set(told) == there
    assert {address for address, scope in told.items() if scope == "hive:admin"} == REVIEWING


def test_every_parameter_of_the_hive_is_named() -> None:
    text = " ".join(token.content for token in section(PAGE, "Contributed knowledge"))
    for methods in hive().values():
        for operation in methods.values():
            for one in operation.get("parameters", ()):
                assert one["in"] == "path" or f"`{one['name']}`" in text or one["name"] == "feed"
    limit = next(one for one in hive()["/api/v1/hive/search"]["get"]["parameters"] if one["name"] == "limit")
    row = next(row for row in rows(section(PAGE, "Contributed knowledge")) if row[0] == "`limit`")
    assert row[1:] == [str(limit["schema"]["default"]), f"{limit['schema']['minimum']} to {limit['schema']['maximum']}"]


@pytest.mark.parametrize(
    ("heading", "path"),
    [
        ("List documents", "/api/v1/entries"),
        ("Search", "/api/v1/search"),
        ("Links and graph", "/api/v1/graph"),
    ],
)
def test_every_parameter_is_explained(heading: str, path: str) -> None:
    told = {name for row in rows(section(PAGE, heading)) for name in re.findall(r"`(\w+)`", " ".join(row))}
    assert parameters(path) <= told


def test_the_documented_bounds_of_a_list_are_the_real_ones() -> None:
    limit = next(
        item for item in described()["paths"]["/api/v1/entries"]["get"]["parameters"] if item["name"] == "limit"
    )
    row = next(row for row in rows(section(PAGE, "List documents")) if row[0] == "`limit`")
    assert row[1:] == [str(limit["schema"]["default"]), f"{limit['schema']['minimum']} to {limit['schema']['maximum']}"]


def test_every_error_code_is_listed_with_its_status() -> None:
    classes: list[type[errors.CommonplaceError]] = [errors.CommonplaceError, errors.MethodNotAllowed]
    classes += [*errors.CommonplaceError.__subclasses__(), TooSensitive]
    listed = {(row[1].strip("`"), int(row[0])) for row in rows(section(PAGE, "Errors")) if row[1].isupper()}
    ours = {(each.code, each.status) for each in classes if each.__module__.startswith("commonplace.")}
    assert listed == ours


def test_the_caching_header_is_the_real_one() -> None:
    assert f"`Cache-Control: {CACHEABLE}`" in PAGE.read_text(encoding="utf-8")


def test_the_limits_are_the_real_defaults() -> None:
    site = Site()
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"may make {site.reads_per_minute} requests and {site.searches_per_minute} searches a minute" in text
