"""The frame in which diagrams are drawn, and the policies of pages that have one and of those that have none."""

import pytest
from starlette.testclient import TestClient

from commonplace.documents.pages import diagrams
from tests.fakes.library import make
from tests.unit.documents.pages.conftest import World

DIAGRAM = "```mermaid\nflowchart LR\n  A --> B\n```\n"


@pytest.fixture
def reader(world: World) -> TestClient:
    texts = {"drawn": DIAGRAM, "told": "`mermaid`"}
    world.store.publish([make("pattern", name, f"{name}.md", content=text) for name, text in texts.items()])
    return world.client()


def test_only_a_page_with_a_diagram_may_have_the_frame(reader: TestClient) -> None:
    drawn, told = reader.get("/d/pattern/drawn"), reader.get("/d/pattern/told")
    assert "; frame-src 'self'" in drawn.headers["content-security-policy"]
    assert f'<meta name="diagram" content="{diagrams.ADDRESS}">' in drawn.text and "diagrams.js" in drawn.text
    assert "frame-src" not in told.headers["content-security-policy"] and "diagrams.js" not in told.text


def test_the_frame_may_run_and_load_nothing_but_the_scripts_of_this_site(reader: TestClient) -> None:
    frame = reader.get(diagrams.ADDRESS)
    policy = frame.headers["content-security-policy"]
    assert policy.startswith("sandbox allow-scripts; default-src 'none'; script-src 'self' https://garden.example.org;")
    assert "frame-ancestors 'self'" in policy and "connect-src" not in policy and "<script>" not in frame.text
    script = reader.get("/assets/mermaid.js")
    assert script.headers["content-type"].startswith("text/javascript") and len(script.content) < 4_600_000
    assert script.headers["cross-origin-resource-policy"] == "cross-origin"
    assert reader.get("/d/pattern/drawn").headers["cross-origin-resource-policy"] == "same-origin"


def test_without_the_package_a_diagram_is_code(reader: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagrams, "MERMAID", None)
    page = reader.get("/d/pattern/drawn")
    assert "diagrams.js" not in page.text and '<code class="language-mermaid">flowchart LR' in page.text
