"""Every call that the skill shows is one that works."""

import json
import re
from typing import Any

import pytest

from commonplace.memory.tools.toolset import SKILL
from tests.unit.memory.tools.teams import Team

CALLS = [
    json.loads(line)
    for text in SKILL.files.values()
    for line in re.findall(r'^\s*(\{"name": "kb_.*\})$', text, re.MULTILINE)
]


def test_the_skill_shows_calls() -> None:
    assert {call["name"] for call in CALLS} >= {
        *("kb_search", "kb_get", "kb_get_related", "kb_add", "kb_update", "kb_bulk_import"),
    }


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call["name"])
def test_a_call_of_the_skill_works(here: Team, call: dict[str, Any]) -> None:
    id = here.add("What was there before.")
    arguments = {
        name: id if isinstance(value, str) and value.startswith("ID-") else value
        for name, value in call["arguments"].items()
    }
    here.data(call["name"], **arguments)
