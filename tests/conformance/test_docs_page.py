"""The documentation page shows what the OpenAPI document says, without scripts."""

import json
from html import unescape
from pathlib import Path

from starlette.testclient import TestClient

from tests.conformance.test_openapi import APP

DOCUMENT = Path(__file__).with_name("openapi.json")


def test_page_shows_every_operation_parameter_and_answer() -> None:
    described = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    answer = TestClient(APP).get("/docs")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page = unescape(answer.text)
    assert f"<h1>{described['info']['title']}</h1>" in page
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            shown = page.split(f'id="{operation["operationId"]}">', 1)[1].split('class="operation"', 1)[0]
            assert f"<h3>{operation['summary']}</h3><code>{method.upper()} {path}</code>" in shown
            for one in operation.get("parameters", ()):
                assert f"<code>{one['name']}</code>{' required' if one['required'] else ''}</label>" in shown, path
            assert [status for status in operation["responses"] if f"<strong>{status}</strong>" not in shown] == []
    assert "sanitise" in page
