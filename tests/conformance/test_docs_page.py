"""The documentation page shows what the OpenAPI document says."""

import json
import subprocess
from pathlib import Path

import pytest

from infra.node import provide_node

HERE = Path(__file__).parent
SCRIPT = HERE.parents[1] / "layers/core/commonplace/site/assets/docs.js"


@pytest.mark.node
def test_page_shows_every_operation_parameter_and_answer() -> None:
    described = json.loads((HERE / "openapi.json").read_text(encoding="utf-8"))
    node = provide_node()
    if node is None:
        pytest.skip("Node.js is not here: the documentation page's script was not run")
    command = [node, str(HERE / "docs_page.mjs"), str(SCRIPT), str(HERE / "openapi.json")]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    shown = json.loads(told.stdout)
    assert (shown["title"], shown["failed"]) == (described["info"]["title"], "")
    for path, methods in described["paths"].items():
        operation = methods["get"]
        assert f"GET {path}" in shown["main"]
        assert operation["summary"] in shown["contents"]
        assert [one["name"] for one in operation.get("parameters", ()) if one["name"] not in shown["main"]] == []
    assert shown["heading"] == described["info"]["title"]
    assert not {"`", "**"} & {shown["prose"][at : at + size] for at in range(len(shown["prose"])) for size in (1, 2)}
    assert "sanitise" in shown["main"]
    assert "undefined" not in shown["main"]
