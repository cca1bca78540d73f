"""`list_groups` and `list_releases`."""

from commonplace.documents.tools import groups
from commonplace.web.mcp.budgets import DEFAULT_TOKENS
from commonplace.web.mcp.rendering import cost
from tests.fakes.library import garden, make
from tests.unit.documents.tools.calling import ORIGIN, called, data, services


def test_groups_come_from_pages_folders_and_values() -> None:
    answer = called(groups.tools(services(garden())), "list_groups")
    assert data(answer) == {
        "groups": [
            {
                "id": "kitchen",
                "title": "The kitchen",
                "count": 1,
                "page": "index/docs-kitchen",
                "documentUrl": f"{ORIGIN}/d/index/docs-kitchen",
            },
            {
                "id": "seed-library",
                "title": "Seed library",
                "count": 2,
                "page": "group/seed-library",
                "documentUrl": f"{ORIGIN}/d/group/seed-library",
            },
        ],
        "total": 2,
    }
    assert answer.text.startswith("2 groups:\n- The kitchen (id kitchen): 1 document. Page: index/docs-kitchen, ")


def test_releases_are_named_after_values_and_have_pages() -> None:
    told = [
        make("article", "spring", "artifacts/articles/spring.md", title="Spring almanac", description="What grows"),
        make("file", "a", "notes/a.md", release="spring-almanac"),
        make("file", "b", "notes/b.md", release="autumn"),
    ]
    answer = called(groups.tools(services(told)), "list_releases")
    assert [(one["id"], one["title"], one["count"], one.get("page")) for one in data(answer)["releases"]] == [
        ("autumn", "autumn", 1, None),
        ("spring-almanac", "Spring almanac", 1, "article/spring"),
    ]
    assert "- autumn: 1 document." in answer.text
    assert "- Spring almanac (id spring-almanac): 1 document. What grows. Page: article/spring" in answer.text


def test_where_there_are_none_the_answer_says_so() -> None:
    tools = groups.tools(services([make("file", "a", "notes/a.md")]))
    assert called(tools, "list_groups").text.startswith("There are no groups")
    assert data(called(tools, "list_groups")) == {"groups": [], "total": 0}
    assert called(tools, "list_releases").text.startswith("There are no releases")
    assert data(called(tools, "list_releases")) == {"releases": [], "total": 0}


def test_too_many_groups_are_cut_to_those_with_most_documents() -> None:
    told = [make("group", f"g-{number:03}", f"data/groups/g-{number:03}.md") for number in range(400)]
    told += [
        make("file", f"f-{number}", f"notes/f-{number}.md", group="g-399" if number < 3 else "g-200")
        for number in range(5)
    ]
    answer = called(groups.tools(services(told)), "list_groups")
    shown = data(answer)["groups"]
    assert [one["id"] for one in shown[:3]] == ["g-399", "g-200", "g-000"]
    assert len(shown) < 400
    assert data(answer)["total"] == 400
    assert answer.text.startswith(f"400 groups; the {len(shown)} with most documents:")
    assert cost(answer) <= DEFAULT_TOKENS
