"""What writers write in Obsidian, on GitHub and for Jekyll means here what it means there, on every surface."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from time import time
from typing import Any

import pytest
from mcp import Client
from starlette.testclient import TestClient

from commonplace.capabilities import CAPABILITIES
from commonplace.documents.addresses import DocumentAddresses
from commonplace.documents.content.document import Document
from commonplace.documents.pages.routes import document_pages
from commonplace.documents.pages.services import HERE, Services
from commonplace.documents.rendering.renderer import Renderer
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.kernel.limits import Limiter
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.server import build_server
from commonplace.web.pages.app import create_app
from commonplace.web.pages.frame import frame_of
from commonplace.web.rest.declaration import Site
from commonplace.web.settings import SiteSettings
from tests.fakes.embeddings import FakeEmbeddings
from tests.rest_app import rest_app
from tests.site_app import ENVIRONMENT
from tests.unit.documents.content.files import markdown
from tests.unit.documents.rest.conftest import Counters
from tests.unit.documents.sync.drive import World
from tests.unit.documents.tools.published import knowledge_base
from tests.unit.web.mcp.talking import ask, call

ORIGIN = "https://shore.example.org"
HIDDEN = "CANARY"
COMMENTED = f"""\
# The tide %%{HIDDEN}%%

%%
{HIDDEN} [[aim]] #{HIDDEN} ![[{HIDDEN}.png]]

[a](files/{HIDDEN}.png) and {HIDDEN}
%%

The sea rises. <!-- {HIDDEN} --> It falls. %%{HIDDEN}%%

[//]: # ({HIDDEN})

## Ebb <!-- {HIDDEN} -->

Low water #Shore/Ebb, and a file: [the table](table.pdf#page=2), ![[table.pdf#page=3]], [[table.pdf#page=4|four]].
"""
FILES: Mapping[str, bytes] = {
    "notes/tide.md": markdown(COMMENTED, tags=["shore", "Inbox/To-Read"], description="On the sea."),
    "notes/aim.md": markdown(
        "Aim at the #inbox first.\n",
        title="The [[notes/tide#Ebb|ebb]] of [[notes/sea#Low water]]",
        description="See [[tide|the tide]], ![[map]] and [a chart](https://example.org/a_(b)). %%CANARY%%",
        aliases=["[[aim|Goal]]"],
    ),
    "notes/rtl.md": markdown("# عنوان\n\nنص `code`\n\n- بند\n\n> اقتباس\n\n| خلية |\n|---|\n| خلية |\n", title="مد"),
    "notes/table.pdf": b"%PDF-1.4",
    "files/CANARY.png": b"\x89PNG",
}


class Shore:
    """One knowledge base behind REST, MCP and the site."""

    def __init__(self, using: KnowledgeServices, world: World) -> None:
        self.using, self.world = using, world
        site = Site(name="The shore", base_url=ORIGIN, reads_per_minute=0, searches_per_minute=0)
        self.rest = TestClient(rest_app(using.library, using.search, site, Limiter(Counters(), time)))
        settings = SiteSettings.from_environ(ENVIRONMENT)
        frame = frame_of(settings, CAPABILITIES, settings.base_url)
        services = Services(using.library, using.search, Renderer(using.library, HERE), frame, HERE)
        pages = create_app([document_pages(services)], frame, Limiter(Counters(), time), reads=0, searches=0)
        self.site = TestClient(pages, follow_redirects=False)
        toolset = knowledge_toolset(
            replace(using, full_text_tier="public", addresses=DocumentAddresses(base_url=ORIGIN))
        )
        self.server = build_server([toolset], Surface(base_url=ORIGIN))

    def get(self, path: str) -> str:
        answer = (self.rest if path.startswith(("/api/", "/llms")) else self.site).get(path)
        assert answer.status_code == 200, (path, answer.text)
        return answer.text

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer = call(self.server, name, arguments)
        assert not answer.is_error, answer
        return {"text": answer.content[0].text, **answer.structured_content}

    def resource(self, uri: str) -> str:
        async def read(client: Client) -> Any:
            return await client.read_resource(uri)

        return str(ask(self.server, read).contents[0].text)

    def found(self, **filters: Any) -> list[list[str]]:
        """The ids that each surface finds under these tags: REST's list, both searches, the site's search."""
        query = "&".join(f"tags={tag}" for tag in filters["tags"])
        listed = json.loads(self.get(f"/api/v1/entries?{query}"))["entries"]
        searched = json.loads(self.get(f"/api/v1/search?q=the&mode=lexical&{query}"))["results"]
        agents = self.tool("search_knowledge", query="the tide aim", filters=filters)["results"]
        return [sorted(one["id"] for one in rows) for rows in (listed, searched, agents)]


@pytest.fixture(scope="module")
def shore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shore]:
    world = World()
    world.push(dict(FILES))
    world.sync()
    index: Path = tmp_path_factory.mktemp("shore") / "documents.sqlite"
    with knowledge_base(world.objects, index, FakeEmbeddings()) as using:
        yield Shore(using, world)


def document(shore: Shore, ref: str) -> Document:
    (found,) = shore.using.library.read([shore.world.manifest().by_path[f"notes/{ref}.md"].ref])
    assert isinstance(found, Document)
    return found


@pytest.mark.parametrize(
    "path",
    [
        *("/d/file/tide", "/d/file/aim", "/t", "/t/shore", "/search?q=sea", "/feed.xml", "/", "/sitemap.xml", "/map"),
        *("/api/v1/llms.txt", "/api/v1/llms-full.txt", "/api/v1/feed.json", "/api/v1/tags", "/api/v1/graph"),
        *("/api/v1/entries?limit=100", "/api/v1/search?q=sea&highlight=true", "/api/v1/search?q=CANARY&mode=lexical"),
        *("/api/v1/entries/file/tide/links", "/api/v1/manifest", "/api/v1/sync"),
    ],
)
def test_a_comment_is_on_no_page_and_in_no_list_feed_or_search(shore: Shore, path: str) -> None:
    told = shore.get(path).replace("q=CANARY", "").replace('"query":"CANARY"', "")
    assert HIDDEN not in told


def test_a_comment_is_in_nothing_that_agents_are_given(shore: Shore) -> None:
    answers = [
        shore.tool("get_document", id="file/tide"),
        shore.tool("get_document", id="file/tide", cursor="1"),
        shore.tool("fetch", id="file/tide"),
        shore.tool("search_knowledge", query="the sea rises"),
        shore.tool("search_with_documents", query="the sea rises"),
        shore.tool("search", query="the sea rises"),
        shore.tool("define_term", term="The tide"),
        shore.tool("search_lexicon", keyword="tide"),
        shore.tool("get_related", id="file/tide"),
        shore.tool("get_related", id="file/aim"),
        shore.resource("mcp://superbenefit/documents/file/tide"),
        shore.resource("mcp://superbenefit/raw/notes/tide.md"),
    ]
    for answer in answers:
        assert HIDDEN not in str(answer)
    assert all("The sea rises." in str(answer) for answer in (*answers[:5], *answers[-2:]))


def test_the_bytes_over_rest_stay_as_they_are_written(shore: Shore) -> None:
    body = FILES["notes/tide.md"].decode().partition("\n---\n")[2]
    assert json.loads(shore.get("/api/v1/entries/file/tide"))["content"] == body
    assert shore.get("/api/v1/entries/file/tide.md").endswith(body)
    listed = json.loads(shore.get("/api/v1/entries?include=body&limit=100"))["entries"]
    assert [one["content"] for one in listed if one["id"] == "tide"] == [body]


def test_links_tags_and_files_of_a_comment_do_not_count(shore: Shore) -> None:
    tide = shore.world.manifest().by_path["notes/tide.md"]
    assert tide.title == "The tide"
    graph = shore.using.library.graph()
    assert (graph.out(tide.ref), graph.broken_of(tide.ref)) == ([], [])
    assert [one.path for one in shore.world.manifest().attachments] == ["notes/table.pdf"]


def test_tags_of_the_text_join_those_of_the_frontmatter(shore: Shore) -> None:
    assert document(shore, "tide").tags == ["shore", "inbox/to-read", "shore/ebb"]
    assert document(shore, "aim").tags == ["inbox"]
    assert '<a class="tag" href="/t/shore%2Febb">#Shore/Ebb</a>' in shore.get("/d/file/tide")
    (item,) = (one for one in json.loads(shore.get("/api/v1/feed.json"))["items"] if one["title"] == "The tide")
    assert item["tags"] == ["shore", "inbox/to-read", "shore/ebb"]
    assert '<category term="shore/ebb"/>' in shore.get("/feed.xml")
    assert shore.tool("get_document", id="file/tide")["tags"] == ["shore", "inbox/to-read", "shore/ebb"]


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["inbox"], ["aim", "tide"]),
        (["Inbox"], ["aim", "tide"]),
        (["inbox/to-read"], ["tide"]),
        (["inbox", "shore/ebb"], ["tide"]),
        (["to-read"], []),
        (["inb"], []),
        (["shore"], ["tide"]),
    ],
)
def test_a_tag_finds_what_lies_in_it_and_not_what_it_lies_in(
    shore: Shore, tags: list[str], expected: list[str]
) -> None:
    for found in shore.found(tags=tags):
        assert found == expected


def test_the_page_of_a_tag_lists_what_lies_in_it_and_lists_of_tags_show_them_as_written(shore: Shore) -> None:
    assert "/d/file/tide" in shore.get("/t/inbox") and "/d/file/aim" in shore.get("/t/inbox")
    assert "/d/file/aim" not in shore.get("/t/inbox%2Fto-read")
    tags = {one["tag"]: one["count"] for one in json.loads(shore.get("/api/v1/tags"))["tags"]}
    assert tags == {"inbox": 1, "inbox/to-read": 1, "shore": 1, "shore/ebb": 1}
    assert json.loads(shore.get("/api/v1/tags"))["tags"][0]["tag"] == "inbox"
    facets = shore.get("/search?q=sea&tag=inbox")
    assert 'aria-current="true">inbox <span class="count">2</span>' in facets and "inbox/to-read" in facets


def test_links_in_titles_descriptions_and_aliases_are_their_text(shore: Shore) -> None:
    aim = document(shore, "aim")
    assert aim.title == "The ebb of notes/sea > Low water"
    assert aim.description == "See the tide, map and a chart."
    assert (aim.metadata["title"], aim.metadata["description"]) == (aim.title, aim.description)
    assert aim.frontmatter["title"] == "The [[notes/tide#Ebb|ebb]] of [[notes/sea#Low water]]"
    assert aim.aliases == ["Goal"]
    page = shore.get("/d/file/aim")
    assert '<meta property="og:description" content="See the tide, map and a chart.">' in page
    for path in ("/api/v1/search?q=aim", "/feed.xml", "/llms.txt", "/search?q=aim", "/api/v1/graph"):
        assert "[[" not in shore.get(path), path


def test_a_file_is_linked_with_the_place_in_it(shore: Shore) -> None:
    page = shore.get("/d/file/tide")
    links = json.loads(shore.get("/api/v1/entries/file/tide/links"))["links"]
    for number in (2, 3, 4):
        assert f'#page={number}"' in page
        assert any(link["url"].endswith(f"#page={number}") for link in links)


def test_text_says_itself_which_way_it_is_read_and_code_does_not(shore: Shore) -> None:
    page = shore.get("/d/file/rtl")
    for element in ("<h1 dir=", "<p dir=", "<li dir=", "<blockquote dir=", "<th dir=", "<td dir="):
        assert f'{element}"auto">' in page, element
    assert '<code dir="ltr">code</code>' in page
    assert '<li dir="auto"><a href="/d/file/rtl">' in shore.get("/types/file")
    assert '<p class="passage" dir="auto">' in shore.get("/search?q=sea")
