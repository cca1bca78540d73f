"""What is read at an address: data, documents, files; what is listed, and what is completed."""

import json
from collections.abc import Mapping

import pytest
from mcp import Client

from commonplace.documents.content.keys import raw_key
from commonplace.documents.content.ontology import ONTOLOGY
from commonplace.documents.tools import resources
from commonplace.documents.tools.services import FIRST_HOST, KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.kernel.errors import NotFound, TooLarge, Unavailable
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Caller, Text
from commonplace.web.mcp.offer import match, pattern_of
from commonplace.web.mcp.server import build_server
from tests.fakes.library import FakeLibrary, garden
from tests.unit.documents.tools.calling import CALL, ORIGIN, serving
from tests.unit.web.mcp.talking import ask

PNG = b"\x89PNG\r\n\x1a\n\x00\xff"
SECRET = "notes/unpublished.md"


@pytest.fixture
def store() -> FakeLibrary:
    store = FakeLibrary()
    store.attach("seedlings.png", "image/png", PNG)
    store.attach("beds.svg", "image/svg+xml", "<svg>Beet · Kohl</svg>".encode())
    store.attach("latin.txt", "text/plain", "Käse".encode("latin-1"))
    store.publish(garden())
    for document in garden():
        store.put(raw_key(document.path), f"---\ntitle: {document.title}\n---\r\nAs it was · é\r\n".encode())
    store.put(raw_key(SECRET), b"nobody may read this")
    return store


@pytest.fixture
def using(store: FakeLibrary) -> KnowledgeServices:
    return serving(store)


def fixed(using: KnowledgeServices, name: str) -> str:
    (found,) = (one for one in resources.resources(using) if one.name == name)
    told = found.read(CALL)
    assert isinstance(told, str)
    return told


def read(using: KnowledgeServices, uri: str) -> tuple[Text, str]:
    """As the frame reads: the first template that the address is of. Raises NotFound where it is of none."""
    for template in resources.templates(using):
        if (variables := match(pattern_of(template.uri_template), uri)) is not None:
            return template.read(CALL, variables)
    raise NotFound("Resource not found")


def complete(using: KnowledgeServices, name: str, typed: str, given: Mapping[str, str] | None = None) -> list[str]:
    (completer,) = (one.complete[name] for one in resources.templates(using) if name in one.complete)
    return list(completer(Caller(), typed, given or {}))


def test_fixed_resources_have_the_addresses_that_clients_know(using: KnowledgeServices) -> None:
    assert [(one.uri, one.mime_type, one.tier) for one in resources.resources(using)] == [
        ("mcp://superbenefit/prompts/knowledge-search", "text/plain", "public"),
        ("mcp://superbenefit/data/ontology", "application/json", "public"),
        ("mcp://superbenefit/data/groups", "application/json", "public"),
        ("mcp://superbenefit/data/releases", "application/json", "public"),
    ]


def test_host_of_every_address_is_configured(store: FakeLibrary) -> None:
    server = build_server([knowledge_toolset(serving(store, uri_host="garden"))], Surface())

    async def listed(client: Client) -> list[str]:
        rows, shapes = (await client.list_resources()).resources, (await client.list_resource_templates())
        return [str(one.uri) for one in rows] + [one.uri_template for one in shapes.resource_templates]

    uris = ask(server, listed)
    assert len(uris) > 10
    assert all(uri.startswith(("mcp://garden/", "skill://")) for uri in uris)


def test_the_first_addresses_answer_beside_those_of_the_configured_host(store: FakeLibrary) -> None:
    using = serving(store, uri_host="garden", full_text_tier="public")
    server = build_server([knowledge_toolset(using)], Surface())
    document = resources.documents(using)[0].uri.removeprefix("mcp://garden/")

    async def read(client: Client) -> list[str]:
        told = []
        for path in ("prompts/knowledge-search", "data/groups", document):
            both = [(await client.read_resource(f"mcp://{host}/{path}")).contents[0] for host in ("garden", FIRST_HOST)]
            assert [str(one.uri) for one in both] == [f"mcp://garden/{path}", f"mcp://{FIRST_HOST}/{path}"]
            assert both[0].text == both[1].text  # type: ignore[union-attr]
            told.append(path)
        return told

    assert len(ask(server, read)) == 3
    known = resources.snapshot(using, fresh=False)
    assert known.find(f"mcp://garden/{document}") == known.find(f"mcp://{FIRST_HOST}/{document}") is not None


def test_guidance_says_when_to_search_how_to_cite_and_what_not_to_invent(using: KnowledgeServices) -> None:
    told = fixed(using, "prompts/knowledge-search")
    for said in ("When to search", "How to cite", "What not to invent", "search_knowledge", "define_term"):
        assert said in told


def test_ontology_is_the_one_that_everything_is_made_from(using: KnowledgeServices) -> None:
    assert json.loads(fixed(using, "data/ontology")) == ONTOLOGY.describe()


def test_groups_and_releases_are_the_ones_of_the_other_interfaces(using: KnowledgeServices) -> None:
    groups = json.loads(fixed(using, "data/groups"))
    assert groups["total"] == 2
    assert groups["groups"][1] == {
        "id": "seed-library",
        "title": "Seed library",
        "description": None,
        "status": None,
        "count": 2,
        "page": {
            "documentUrl": f"{ORIGIN}/d/group/seed-library",
            "id": "seed-library",
            "contentType": "group",
            "title": "Seed library",
            "description": None,
            "path": "data/groups/seed-library.md",
        },
    }
    assert json.loads(fixed(using, "data/releases"))["releases"] == [
        {"id": "first-harvest", "title": "first-harvest", "description": None, "count": 1, "page": None}
    ]


def test_full_text_has_the_tier_of_the_deployment(store: FakeLibrary) -> None:
    assert {one.tier for one in resources.templates(serving(store))} == {"member"}
    assert {one.tier for one in resources.templates(serving(store, full_text_tier="public"))} == {"public"}


def test_document_is_its_body_after_a_short_frontmatter(using: KnowledgeServices) -> None:
    text, kind = read(using, "mcp://superbenefit/documents/pattern/rotating-stewardship")
    assert isinstance(text, str)
    assert kind == "text/markdown"
    assert text.startswith('---\ntitle: "Rotating stewardship"\ntype: "pattern"\nid: "rotating-stewardship"\n')
    assert 'source: "https://github.com/example/garden/blob/' in text
    assert text.endswith("\r\n# Rotating stewardship\r\n\r\nEvery season — ask who carries what.\r\n<b>raw</b>\r\n")


def test_document_answers_to_a_former_name(store: FakeLibrary) -> None:
    store.publish(garden(), former_refs={"pattern/rota": "artifacts/patterns/rotating-stewardship.md"})
    text, _ = read(serving(store), "mcp://superbenefit/documents/pattern/rota")
    assert 'id: "rotating-stewardship"' in str(text)


def test_unknown_document_names_the_nearest(using: KnowledgeServices) -> None:
    with pytest.raises(NotFound) as caught:
        read(using, "mcp://superbenefit/documents/pattern/rotating-stewardships")
    assert caught.value.hint == "Nearest: mcp://superbenefit/documents/pattern/rotating-stewardship."


def test_file_of_a_document_is_what_it_was(using: KnowledgeServices) -> None:
    expected = ("---\ntitle: Seed swap\n---\r\nAs it was · é\r\n", "text/markdown")
    assert read(using, "mcp://superbenefit/raw/artifacts/practices/Seed%20swap.md") == expected
    assert read(using, "mcp://superbenefit/raw/artifacts/practices/Seed swap.md") == expected


def test_file_with_dots_in_its_name_is_read(using: KnowledgeServices) -> None:
    assert "title: Dots" in read(using, "mcp://superbenefit/raw/links/dots...and%20more.md")[0]


def test_attachments_are_bytes_or_text_by_their_type(using: KnowledgeServices) -> None:
    assert read(using, "mcp://superbenefit/raw/files/seedlings.png") == (PNG, "image/png")
    assert read(using, "mcp://superbenefit/raw/files/beds.svg") == ("<svg>Beet · Kohl</svg>", "image/svg+xml")
    assert read(using, "mcp://superbenefit/raw/files/latin.txt") == ("Käse".encode("latin-1"), "text/plain")


@pytest.mark.parametrize(
    "path",
    [
        SECRET,
        "notes/../notes/unpublished.md",
        "artifacts/../notes/unpublished.md",
        "artifacts/%2e%2e/notes/unpublished.md",
        "artifacts/%252e%252e/notes/unpublished.md",
        "artifacts%2F..%2Fnotes%2Funpublished.md",
        "..%5cnotes%5cunpublished.md",
        "../metadata/manifest.json",
        "../content/tag/governance.json",
        "/index.md",
        "./index.md",
        "index.md/",
        "index.md%00",
        "INDEX.MD",
        "data",
        "files/",
        "seedlings.png",
        "attachments/seedlings.png",
    ],
)
def test_nothing_but_a_published_path_is_read(store: FakeLibrary, using: KnowledgeServices, path: str) -> None:
    resources.documents(using)
    store.reads.clear()
    with pytest.raises(NotFound):
        read(using, f"mcp://superbenefit/raw/{path}")
    assert store.reads == []


@pytest.mark.parametrize(
    "path", [SECRET, "../raw/index.md", "notes/../index.md", "/index.md", "index.md\x00", "", ".."]
)
def test_file_is_found_by_its_exact_path_whatever_the_frame_lets_through(
    store: FakeLibrary, using: KnowledgeServices, path: str
) -> None:
    resources.documents(using)
    store.reads.clear()
    (_, files) = resources.templates(using)
    with pytest.raises(NotFound):
        files.read(CALL, {"path": path})
    assert store.reads == []


@pytest.mark.parametrize(
    ("kind", "name"), [("..", "index"), ("tag", "../index/garden"), ("", ""), ("TAG", "governance")]
)
def test_document_is_found_by_its_exact_name_whatever_the_frame_lets_through(
    using: KnowledgeServices, kind: str, name: str
) -> None:
    (texts, _) = resources.templates(using)
    with pytest.raises(NotFound):
        texts.read(CALL, {"contentType": kind, "id": name})


def test_file_that_no_answer_holds_is_refused_before_it_is_read(store: FakeLibrary) -> None:
    store.attach("film.mp4", "video/mp4", b"0" * 4_000_001)
    store.publish(garden())
    using = serving(store)
    resources.documents(using)
    store.reads.clear()
    with pytest.raises(TooLarge) as caught:
        read(using, "mcp://superbenefit/raw/files/film.mp4")
    assert caught.value.hint and caught.value.hint.startswith("Get it at /api/v1/attachments/film.mp4?v=")
    assert store.reads == []


def test_file_that_is_being_replaced_is_asked_for_again_later(store: FakeLibrary, using: KnowledgeServices) -> None:
    store.delete([raw_key("index.md")])
    with pytest.raises(Unavailable):
        read(using, "mcp://superbenefit/raw/index.md")


def test_every_document_is_listed_by_title_and_can_be_read(using: KnowledgeServices) -> None:
    listed = resources.documents(using)
    assert [one.title for one in listed] == sorted((one.title for one in garden()), key=str.casefold)
    assert len(listed) == len(garden())
    for one in listed:
        assert f"id: {json.dumps(one.name.partition('/')[2])}" in str(read(using, one.uri)[0])


def test_listed_document_says_when_it_changed(using: KnowledgeServices) -> None:
    (found,) = (one for one in resources.documents(using) if one.name == "pattern/rotating-stewardship")
    assert found.updated_at == "2026-03-20T17:04:05Z"
    assert (found.mime_type, found.description) == (
        "text/markdown",
        "How a circle passes its responsibilities on every season.",
    )


def test_list_is_taken_page_by_page(using: KnowledgeServices) -> None:
    listed = resources.documents(using)
    pages = [*listed[:4], *listed[4:8], *listed[8:]]
    assert pages == list(listed)
    assert list(listed[100:]) == []


def test_content_types_in_use_are_completed_first(using: KnowledgeServices) -> None:
    found, used = complete(using, "contentType", ""), {one.content_type for one in garden()}
    assert set(found[: len(used)]) == used
    assert "playbook" in found[len(used) :]
    assert "resource" not in found
    assert complete(using, "contentType", "PRA") == ["practice"]


def test_ids_are_completed_within_the_content_type(using: KnowledgeServices) -> None:
    assert complete(using, "id", "SEED", {"contentType": "link"}) == ["seed-atlas"]
    assert complete(using, "id", "", {"contentType": "tag"}) == ["governance"]
    assert set(complete(using, "id", "seed")) == {"seed-atlas", "seed-library", "seed-swap"}


def test_paths_are_completed_from_published_files_only(using: KnowledgeServices) -> None:
    assert complete(using, "path", "docs/kitchen/") == ["docs/kitchen/index.md", "docs/kitchen/rules.md"]
    assert complete(using, "path", "seedl") == ["files/seedlings.png"]
    assert complete(using, "path", "unpublished") == []
