"""The skill: its files, and that it speaks of tools that exist."""

import re

import yaml

from commonplace.documents.tools.toolset import FOLDER, SKILL, knowledge_toolset
from tests.fakes.library import garden
from tests.unit.documents.tools.calling import services


def test_skill_says_its_name_and_when_to_use_it() -> None:
    frontmatter = yaml.safe_load(SKILL.files["SKILL.md"].split("---\n")[1])
    assert frontmatter["name"] == SKILL.name == FOLDER.name
    assert 100 < len(frontmatter["description"]) <= 1_024


def test_skill_is_short_and_refers_to_files_that_are_there() -> None:
    text = SKILL.files["SKILL.md"]
    assert len(text.splitlines()) < 120
    for path in re.findall(r"`(references/[^`]+)`", text):
        assert path in SKILL.files
    assert next(iter(SKILL.files)) == "SKILL.md"


def test_skill_speaks_of_tools_that_exist() -> None:
    tools = {tool.name for tool in knowledge_toolset(services(garden())).tools}
    named = set(re.findall(r'"name": "(\w+)"', SKILL.files["SKILL.md"]))
    table = re.findall(r"^\| (`.+?`) \|", SKILL.files["references/tools.md"], re.MULTILINE)
    listed = {name for cell in table for name in re.findall(r"`(\w+)`", cell) if name.islower()}
    assert named <= tools
    assert listed == tools
