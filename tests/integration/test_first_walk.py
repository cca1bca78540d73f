"""The walk of a newcomer: an empty folder of notes, a page in it, and an agent that finds, reads and cites the page."""

import signal
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client

from tests.integration.running_dev import EDIT_SECONDS, Serving, wait

pytestmark = pytest.mark.laptop

NOTE = "---\npublish: true\n---\n# Mending nets\n\nSoak the twine before you mend a net, or the knots slip.\n"


def test_from_an_empty_folder_to_an_agent_that_cites_a_note(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    dev = Serving(str(notes), "--data", str(tmp_path / "data"))
    try:
        dev.wait_for("Nothing to serve yet: add a Markdown file with `publish: true` in its frontmatter")
        (notes / "mending-nets.md").write_text(NOTE, encoding="utf-8")
        (notes / "private.md").write_text("# Mine alone\n\nNobody mends this twine.\n", encoding="utf-8")
        dev.wait_for("ready:", EDIT_SECONDS)
        wait(lambda: "1 stored, 0 removed, indexed in" in dev.output, EDIT_SECONDS)

        found, read, cited = anyio.run(asked, f"{dev.url}/mcp")

        assert [one["title"] for one in found] == ["Mending nets"]
        assert NOTE.partition("# Mending nets")[2].strip() in read
        page = httpx.get(cited, timeout=60, trust_env=False)
        assert page.status_code == 200
        assert cited.startswith(f"{dev.url}/d/")
        assert "Soak the twine before you mend a net" in page.text
        assert {path.name for path in notes.iterdir()} == {"mending-nets.md", "private.md"}
        assert dev.end(signal.SIGTERM) == 0, dev.output
    finally:
        if dev.process.poll() is None:
            dev.end(signal.SIGKILL)


async def asked(address: str) -> tuple[list[dict[str, Any]], str, str]:
    """What an agent without a token finds, the whole text of the first, and the address that it cites."""
    async with Client(address) as client:
        found = await client.call_tool("search_knowledge", {"query": "before mending a net"})
        assert not found.is_error, found.content
        results = found.structured_content["results"]
        read = await client.call_tool("fetch", {"id": f"{results[0]['contentType']}/{results[0]['id']}"})
        assert not read.is_error, read.content
        return results, read.structured_content["text"], read.structured_content["url"]
