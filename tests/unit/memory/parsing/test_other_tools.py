"""What other tools remember becomes entries: notes, a graph, an export; and what does not is listed with its line."""

import json

import pytest

from commonplace.memory.entry_files import Parsed, combined
from commonplace.memory.validation import Refused, imports
from commonplace_local.memory.other_tools import READERS, basic_memory, mcp_memory, mem0

NOTE = """---
title: Tide tables
type: decision
tags: [tides, harbour]
permalink: tide-tables
created: 2026-01-24
---

# Tide tables

Why we keep [[Almanac]] beside them.

```md
- [sample] not an observation
```

## Observations
- [decision] Read them twice #safety (agreed in spring)
- [limit] Six hours
  and no more
- loose words #tagged
- [ ] a task #todo
- [00:01:02] spoken
- [link](https://example.org)

## Relations
- superseded_by [[Tide tables 2]]
- "depends on" [[Moon]] (always)
- [[Gates]]
"""


def contents(found: Parsed) -> list[str]:
    return [one.content for one in found.seeds if one.entry_type == "fact"]


def test_a_note_is_a_summary_with_its_relations_and_its_observations_are_facts() -> None:
    found = basic_memory("notes/tides.md", NOTE, ("dev",))
    summary, first, *_ = found.seeds
    assert summary.content.startswith("Tide tables\n\nWhy we keep [[Almanac]]")
    assert "- [ ] a task #todo\n- [00:01:02] spoken\n- [link]" in summary.content
    assert "[sample]" in summary.content
    assert "Observations" not in summary.content
    assert (summary.ref, summary.source_story, summary.tags) == (
        "tide-tables",
        "Tide tables",
        ("tides", "harbour", "decision"),
    )
    assert summary.metadata["date"] == "2026-01-24"
    assert summary.metadata["relations"] == [
        {"type": "superseded_by", "target": "Tide tables 2"},
        {"type": "depends on", "target": "Moon", "context": "always"},
        {"type": "relates_to", "target": "Gates"},
    ]
    assert contents(found) == ["Read them twice #safety", "Six hours and no more", "loose words #tagged"]
    assert first.tags == ("decision", "safety", "tides", "harbour")
    assert (first.metadata["context"], first.parent_ref, first.roles) == ("agreed in spring", "tide-tables", ("dev",))
    assert {one.confidence for one in found.seeds} == {0.4}


def test_a_note_that_another_supersedes_is_linked_to_it() -> None:
    new = "---\ntitle: Tide tables 2\n---\n- [decision] Ask the moon\n"
    seeds = combined([basic_memory("a.md", NOTE, ("all",)), basic_memory("b.md", new, ("all",))]).seeds
    assert {one.source_story: one.superseded_by_ref for one in seeds} == {"Tide tables": "b.md", "Tide tables 2": None}


GRAPH = """{"type":"entity","name":"Harbour","entityType":"place","observations":["has a crane","is «old»"]}
{"type":"relation","from":"Harbour","to":"Crane","relationType":"owns"}
no json

{"type":"relation","from":"Nobody","to":"Crane","relationType":"owns"}
{"type":"entity","name":"Harbour","entityType":"place","observations":[]}
{"type":"entity","name":"Crane","entityType":"thing","observations":["turns", 7]}
"""


def test_an_entity_is_a_summary_and_what_is_no_part_of_the_graph_is_listed() -> None:
    found = mcp_memory("memory.json", GRAPH, ("all",))
    assert [(one.source_story, one.tags) for one in found.seeds if one.entry_type == "summary"] == [
        ("Harbour", ("place",)),
        ("Crane", ("thing",)),
    ]
    assert contents(found) == ["has a crane", "is «old»", "turns"]
    assert found.seeds[0].metadata["relations"] == [{"type": "owns", "target": "Crane"}]
    assert [one.line for one in found.unread] == [3, 5, 6, 7]


def test_a_graph_as_the_server_answers_it_is_read_as_well() -> None:
    lines = [json.loads(line) for line in GRAPH.splitlines() if line.startswith("{")]
    whole = {
        "entities": [one for one in lines if one["type"] == "entity"],
        "relations": [one for one in lines if one["type"] == "relation"],
    }
    assert contents(mcp_memory("m.json", json.dumps(whole, indent=1), ("all",))) == contents(
        mcp_memory("m.json", GRAPH, ("all",))
    )


MEMORIES = [
    {"id": "1", "memory": "Likes cafés", "metadata": {"kind": "taste"}, "categories": ["food"], "user_id": "u1",
     "created_at": "2026-01-24T10:00:00Z", "hash": "9f"},
    {"id": "2", "memory": "Sails"},
    {"id": "three", "memory": " "},
]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"results": MEMORIES}, indent=1),
        json.dumps(MEMORIES, indent=1, ensure_ascii=False),
        json.dumps({"count": 3, "memories": MEMORIES}, indent=1),
        "\n".join(map(json.dumps, MEMORIES)),
    ],
)
def test_an_export_of_mem0_is_a_fact_of_each_memory(text: str) -> None:
    found = mem0("export.json", text, ("all",))
    assert contents(found) == ["Likes cafés", "Sails"]
    assert found.seeds[0].tags == ("food",)
    assert found.seeds[0].metadata == {"kind": "taste", "user_id": "u1", "date": "2026-01-24"}
    assert ["three" in text.split("\n")[one.line - 1] for one in found.unread] == [True]


def test_relations_of_mem0s_graph_are_listed() -> None:
    text = json.dumps({"results": MEMORIES[:2], "relations": [{"source": "a1", "relationship": "is", "target": "b"}]})
    assert [one.reason for one in mem0("e.json", text, ("all",)).unread] == [
        "a relation of mem0's graph, which entries do not have"
    ]


@pytest.mark.parametrize("tool", list(READERS))
@pytest.mark.parametrize("text", ["", "{", "[" * 50_000, "null", '{"results": 3}', '{"entities": {}}', "---\n---\n"])
def test_whatever_a_file_holds_nothing_is_raised_and_what_is_made_can_be_imported(tool: str, text: str) -> None:
    seeds = READERS[tool]("a.md", text, ("all",)).seeds
    assert not seeds or not any(isinstance(one, Refused) for one in imports([one.as_import() for one in seeds]))


def test_more_relations_than_there_is_room_for_are_listed() -> None:
    lines = "".join(f"- relates_to [[{'long ' * 20}{at}]]\n" for at in range(100))
    found = basic_memory("a.md", f"---\ntitle: A\n---\nText.\n{lines}", ("all",))
    (taken,) = imports([one.as_import() for one in found.seeds])
    assert not isinstance(taken, Refused)
    assert len(found.unread) + len(found.seeds[0].metadata["relations"]) == 100
