"""A document with invisible text: agents get it without, REST gives the bytes that were written."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.kernel.limits import Limiter
from commonplace.web.mcp.rendering import cleaned
from commonplace.web.rest.declaration import Site
from tests.fakes.embeddings import FakeEmbeddings
from tests.rest_app import rest_app
from tests.unit.documents.rest.conftest import Counters
from tests.unit.documents.tools.published import knowledge_base, synced
from tests.unit.web.mcp.test_invisible import SMUGGLED, served
from tests.unit.web.mcp.world import body_of, call, legacy, modern

PERSIAN = "می\u200cخواهم"
BODY = f"The tide\u200b pool {SMUGGLED} is \u202edeep\u2066. {PERSIAN} 👩🏽\u200d💻 See [[Other]].\n"
FILES = {
    "data/concepts/pool.md": f"---\npublish: true\ntype: concept\ntitle: Pool{SMUGGLED}\ndescription: Wa\u200bter\n"
    f"tags: [sh\u00adore]\ngroup: cell\u2060s\nrelease: re\u2063lease\n---\n{BODY}",
    "data/concepts/other.md": f"---\npublish: true\ntype: concept\ntitle: Other\u2069\n---\nSee [[pool]]. {SMUGGLED}\n",
    "tags/lexicon/pond.md": f"---\npublish: true\ntype: lexicon\ntitle: Pond{SMUGGLED}\n---\nA po\u200dnd is small.\n",
}
CALLS = {
    "search_knowledge": {"query": "tide pool"},
    "define_term": {"term": "pond"},
    "search_lexicon": {"keyword": "pond"},
    "list_groups": {},
    "list_releases": {},
    "get_document": {"id": "pool"},
    "search_with_documents": {"query": "tide pool"},
    "get_related": {"id": "pool"},
    "sync_status": {},
    "search": {"query": "tide pool"},
    "fetch": {"id": "pool"},
}


@pytest.mark.parametrize("era", [modern, legacy])
def test_no_tool_of_the_knowledge_base_gives_agents_what_a_document_hides(tmp_path: Path, era: Any) -> None:
    for name, text in FILES.items():
        (tmp_path / "files" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / name).write_text(text, encoding="utf-8")
    with knowledge_base(synced(tmp_path / "files"), tmp_path / "index.sqlite", FakeEmbeddings()) as using:
        toolset = knowledge_toolset(replace(using, full_text_tier="public"))
        ask = served(toolset)
        assert {tool.name for tool in toolset.tools if tool.read_only} == CALLS.keys()
        said = {}
        for name, arguments in CALLS.items():
            result = body_of(ask(era("tools/call", call(name, **arguments))))["result"]
            assert not result.get("isError"), result
            said[name] = json.dumps(result, ensure_ascii=False)
            assert cleaned(said[name])[1] == 0, name
        assert PERSIAN in said["get_document"]
        assert "👩🏽\u200d💻" in said["fetch"]
        listed = body_of(ask(era("resources/list")))["result"]
        assert cleaned(json.dumps(listed, ensure_ascii=False))[1] == 0
        app = rest_app(using.library, using.search, Site(), Limiter(Counters(), lambda: 0.0))
        with TestClient(app) as client:
            found = [one for one in using.library.manifest().documents if one.path.endswith("pool.md")]
            answer = client.get(f"/api/v1/entries/{found[0].ref}.md")
            assert answer.status_code == 200
            assert BODY.encode() in answer.content
