"""`commonplace init`: what it writes is valid, published, and never over something else."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from commonplace.documents.content.ontology import ONTOLOGY
from commonplace_local.cli.init import ACTION, SCHEMA, WORKFLOW, schema, snippets
from tests.integration.running_dev import commonplace

TYPES = {"article", "file", "group", "index", "link", "pattern", "person", "practice", "question", "tag"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    done = commonplace("init", "kb", at=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("Next: commonplace dev kb\n")
    return tmp_path / "kb"


def frontmatter(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8").split("---\n")[1], Loader=yaml.BaseLoader)


def test_every_page_is_published_and_nothing_is_to_mend(base: Path) -> None:
    done = commonplace("validate", "--json", "--strict", at=base)
    facts = json.loads(done.stdout)
    assert (done.returncode, facts["findings"], facts["summary"]["skipped"]) == (0, [], {})
    assert facts["summary"]["published"] == dict.fromkeys(sorted(TYPES), 1)


def test_every_page_fits_the_schema_of_the_editor(base: Path) -> None:
    checked = Draft202012Validator(json.loads((base / SCHEMA).read_text()))
    for file in base.rglob("*.md"):
        metadata = {**frontmatter(file), "publish": True}
        assert [error.message for error in checked.iter_errors(metadata)] == [], file


@pytest.mark.parametrize(
    "metadata", [{"type": "link", "title": "No address"}, {"type": "question", "title": "Why", "status": "maybe"}, {}]
)
def test_the_schema_refuses_what_the_ontology_refuses(metadata: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema())
    found = Draft202012Validator(schema()).is_valid({"type": "file"} | metadata)
    assert not found


def test_a_snippet_of_each_type_makes_a_page_of_it() -> None:
    made = snippets()
    assert set(made) == {name for name, spec in ONTOLOGY.types.items() if not spec.abstract}
    for name, snippet in made.items():
        text = re.sub(r"\$\{\d+[:|]([^,|}]*)[^}]*\}", r"\1", "\n".join(snippet["body"])).replace("$0", "")
        metadata = yaml.safe_load(text.split("---\n")[1])
        assert metadata["type"] == name
        assert Draft202012Validator(schema()).is_valid(metadata | {"url": "https://example.org"}), text


def test_the_workflow_takes_the_action_from_the_named_repository(tmp_path: Path) -> None:
    done = commonplace("init", ".", "--action", "reef/commonplace@v2", at=tmp_path)
    assert ACTION not in done.stdout
    workflow = yaml.load((tmp_path / WORKFLOW).read_text(), Loader=yaml.BaseLoader)
    assert "pull_request" in workflow["on"]
    assert [step["uses"] for step in workflow["jobs"]["validate"]["steps"]][-1] == "reef/commonplace@v2"


def test_nothing_is_overwritten_and_nothing_is_written_beside(tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("Mine.\n")
    done = commonplace("init", at=tmp_path)
    assert done.returncode == 1
    assert "already has index.md, and nothing is overwritten." in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["index.md"]


@pytest.mark.parametrize(("arguments", "says"), [(("--action", "mine"), "OWNER/NAME@REF"), (("index.md",), "index.md")])
def test_what_cannot_be_is_a_sentence(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    (tmp_path / "index.md").write_text("Mine.\n")
    done = commonplace("init", *arguments, at=tmp_path)
    assert done.returncode == 1
    assert says in done.stderr
