"""The skills extension (SEP-2640): enumerated, read with digests, and only for versions that know extensions."""

import asyncio
import hashlib
from typing import Any

import mcp_types as types
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND

from commonplace.documents.tools.toolset import SKILL
from commonplace.repository import markdown
from commonplace.web.mcp.calls import Surface
from commonplace.web.mcp.declaration import Skill, Toolset
from commonplace.web.mcp.server import build_server
from commonplace.web.mcp.skill_files import DIRECTORY, frontmatter, skill_directories, skill_entries
from tests.unit.web.mcp.over_http import connected, post, serving

GARDENING = Skill(
    name="gardening",
    files={
        "references/soil.md": "# Soil — brown\n",
        "SKILL.md": "---\nname: gardening\ndescription: Grow things. Use it in spring.\n---\n# Gardening\n",
        "references/tables/seeds.csv": "name,month\n",
        "LICENSE": "Free.\n",
    },
)
ROOT = "skill://gardening"
MANIFEST = f"{ROOT}/SKILL.md"


def toolset(*skills: Skill) -> Toolset:
    return Toolset(name="knowledge", title="Knowledge", instructions="Look here.", skills=skills)


SERVER = build_server([toolset(GARDENING)], Surface())


def asked(method: str, version: str = "2026-07-28", **params: Any) -> dict[str, Any]:
    (answer,) = asyncio.run(post(serving(SERVER), method, params, version=version))
    return answer


def written(head: str, name: str = "gardening") -> Skill:
    return Skill(name=name, files={"SKILL.md": f"---\n{head}---\n# Text\n"})


def test_each_skill_is_listed_with_its_frontmatter_and_all_of_its_files() -> None:
    (entry,) = asked("skills/list")["result"]["skills"]

    assert entry["uri"] == MANIFEST
    assert entry["frontmatter"] == {"name": "gardening", "description": "Grow things. Use it in spring."}
    paths = ["SKILL.md", "LICENSE", "references/soil.md", "references/tables/seeds.csv"]
    assert [file["uri"] for file in entry["resources"]] == [f"{ROOT}/{path}" for path in paths]


def test_an_entry_is_the_same_by_itself() -> None:
    assert asked("skills/get", uri=MANIFEST)["result"]["skill"] == asked("skills/list")["result"]["skills"][0]


def test_answers_may_be_kept_for_a_minute_by_whom_they_were_given_to() -> None:
    for answer in (
        asked("skills/list"),
        asked("skills/get", uri=MANIFEST),
        asked("resources/directory/read", uri=ROOT),
    ):
        result = answer["result"]
        assert (result["resultType"], result["ttlMs"], result["cacheScope"]) == ("complete", 60_000, "private")
        assert "nextCursor" not in result


def test_what_is_read_is_what_the_digests_promise() -> None:
    async def main() -> list[types.TextResourceContents]:
        async with connected(serving(SERVER)) as client:
            found = [await client.read_resource(file["uri"]) for file in entry["resources"]]
        return [one for result in found for one in result.contents if isinstance(one, types.TextResourceContents)]

    (entry,) = asked("skills/list")["result"]["skills"]
    read = asyncio.run(main())

    for file, contents in zip(entry["resources"], read, strict=True):
        raw = contents.text.encode()
        assert file["digest"] == f"sha256:{hashlib.sha256(raw).hexdigest()}"
        assert file["size"] == len(raw)
    assert [one.mime_type for one in read] == ["text/markdown", "text/plain", "text/markdown", "text/csv"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_files_are_listed_among_the_resources_in_both_eras(mode: str) -> None:
    async def main() -> list[types.Resource]:
        async with connected(serving(SERVER), mode) as client:
            return (await client.list_resources()).resources

    first, *others = asyncio.run(main())
    assert (first.uri, first.name, first.mime_type) == (MANIFEST, "gardening", "text/markdown")
    assert first.description == "Grow things. Use it in spring."
    assert [other.name for other in others] == ["LICENSE", "references/soil.md", "references/tables/seeds.csv"]


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_folder_shows_what_lies_directly_in_it(slash: str) -> None:
    def rows(uri: str) -> list[tuple[str, str]]:
        found = asked("resources/directory/read", uri=uri + slash)["result"]["resources"]
        return [(row["uri"].removeprefix(f"{ROOT}/"), row["mimeType"]) for row in found]

    assert rows(ROOT) == [("SKILL.md", "text/markdown"), ("LICENSE", "text/plain"), ("references", DIRECTORY)]
    assert rows(f"{ROOT}/references") == [("references/soil.md", "text/markdown"), ("references/tables", DIRECTORY)]
    assert rows(f"{ROOT}/references/tables") == [("references/tables/seeds.csv", "text/csv")]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("skills/get", {"uri": "skill://none/SKILL.md"}),
        ("skills/get", {"uri": ROOT}),
        ("skills/get", {"uri": f"{ROOT}/LICENSE"}),
        ("skills/get", {}),
        ("skills/list", {"cursor": ""}),
        ("skills/list", {"cursor": "x"}),
        ("resources/directory/read", {"uri": MANIFEST}),
        ("resources/directory/read", {"uri": "skill://"}),
        ("resources/directory/read", {"uri": f"{ROOT}/../gardening"}),
        ("resources/directory/read", {"uri": ROOT, "cursor": "x"}),
        ("resources/read", {"uri": ROOT}),
        ("resources/read", {"uri": f"{ROOT}/references"}),
    ],
)
def test_what_is_not_there_is_an_invalid_parameter(method: str, params: dict[str, Any]) -> None:
    assert asked(method, **params)["error"]["code"] == INVALID_PARAMS


@pytest.mark.parametrize("method", ["skills/list", "skills/get", "resources/directory/read"])
def test_versions_with_a_handshake_do_not_have_the_extension(method: str) -> None:
    assert asked(method, "2025-11-25", uri=ROOT)["error"]["code"] == METHOD_NOT_FOUND


def test_the_extension_says_that_folders_can_be_read() -> None:
    async def main() -> types.ServerCapabilities:
        async with connected(serving(SERVER)) as client:
            return client.server_capabilities

    told = asyncio.run(main())
    assert told.extensions == {"io.modelcontextprotocol/skills": {"directoryRead": True}}
    assert told.resources is not None


def test_a_server_without_skills_does_not_speak_of_them() -> None:
    server = build_server([toolset()], Surface())

    assert server.extensions == {}
    assert server.get_request_handler("skills/list") is None


@pytest.mark.parametrize(
    "skill",
    [
        Skill(name="gardening", files={}),
        Skill(name="gardening", files={"SKILL.md": "# No frontmatter\n"}),
        written("name: gardening\n"),
        written("name: other\ndescription: Text.\n"),
        written("name: Gardening\ndescription: Text.\n", "Gardening"),
        written("name: a--b\ndescription: Text.\n", "a--b"),
        written("name: gardening\ndescription: Text: with a colon\n"),
        written("name: gardening\ndescription: Text # with a comment\n"),
        written('name: gardening\ndescription: "Quoted."\n'),
        written("name: gardening\ndescription: >\n"),
        written("name: gardening\ndescription: Text.\nmetadata:\n  a: b\n"),
        Skill(name="gardening", files={**GARDENING.files, "../escaped.md": ""}),
        Skill(name="gardening", files={**GARDENING.files, "/absolute.md": ""}),
        Skill(name="gardening", files={**GARDENING.files, "with space.md": ""}),
    ],
)
def test_a_skill_that_is_malformed_fails_when_the_server_is_built(skill: Skill) -> None:
    with pytest.raises(ValueError, match="skill"):
        build_server([toolset(skill)], Surface())


def test_the_skill_of_the_product_is_read_by_yaml_as_it_is_told_here() -> None:
    assert yaml_fields(SKILL) == frontmatter(SKILL)


def yaml_fields(skill: Skill) -> dict[str, Any]:
    file = markdown.parse(skill.files["SKILL.md"].encode())
    assert isinstance(file, markdown.ParsedFile)
    return file.frontmatter


@given(st.text(max_size=40))
def test_frontmatter_that_is_accepted_means_the_same_to_yaml(text: str) -> None:
    skill = written(f"name: gardening\ndescription: {text}\n")
    try:
        fields = frontmatter(skill)
    except ValueError:
        return
    assert yaml_fields(skill) == fields


def test_the_skill_of_the_product_is_within_the_limits_of_the_extension() -> None:
    (entry,) = skill_entries([SKILL])

    assert len(entry["resources"]) <= 512
    assert sum(file["size"] for file in entry["resources"]) < 100_000
    assert len(entry["frontmatter"]["description"]) <= 1_024
    assert any(row["mimeType"] == DIRECTORY for row in skill_directories([SKILL])[f"skill://{SKILL.name}"])
