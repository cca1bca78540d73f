"""The bare function stands in the same template, and differs from ours in nothing but what it runs."""

import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench.speed.rest import with_bare_function
from commonplace_local.dev.laptop import committed_template


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loop: None) -> ModuleType:
    (tmp_path / "get").write_bytes('{"title":"Ünter"}'.encode())
    monkeypatch.setenv("BARE_BODIES", str(tmp_path))
    return importlib.reload(importlib.import_module("bench.baseline.handler"))


def event(path: str) -> dict[str, Any]:
    http = {"method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "test"}
    context = {"http": http, "stage": "$default", "requestId": "1", "domainName": "localhost"}
    return {
        "version": "2.0",
        "routeKey": "GET /bare/{name}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"host": "localhost"},
        "requestContext": context,
        "isBase64Encoded": False,
    }


def test_the_committed_template_stays_as_it_is(tmp_path: Path) -> None:
    template = committed_template()
    before = json.dumps(template)
    with_bare_function(template, tmp_path)
    assert json.dumps(template) == before


def test_the_bare_function_has_the_memory_time_and_logging_of_ours(tmp_path: Path) -> None:
    resources = with_bare_function(committed_template(), tmp_path)["Resources"]
    (ours,) = (
        resource
        for resource in resources.values()
        if resource.get("Metadata", {}).get("commonplace:source") == "functions/rest"
    )
    bare = resources["BareFunction"]["Properties"]
    differing = {name for name in bare if bare[name] != ours["Properties"][name]}
    assert differing == {"FunctionName", "Environment"}


@pytest.mark.parametrize("path", ["/bare/get", "/host/get"])
def test_the_bare_function_answers_the_given_bytes(bare: ModuleType, path: str) -> None:
    answer = bare.handler(event(path), None)
    assert (answer["statusCode"], answer["body"]) == (200, '{"title":"Ünter"}')
    assert answer["headers"]["content-type"] == "application/json"
