"""The messages that docs/start/troubleshooting.md explains are those of the code."""

import re
from functools import cache

import pytest

from tests.unit.docs.pages import ROOT, rows, tokens

PAGE = ROOT / "docs" / "start" / "troubleshooting.md"
FOLDERS = ("layers", "packages", "functions", "tests/opensearch_node")
SHORTEST = 5
"""Characters of a part of a message that is looked for; shorter ones are in any code."""
SYMPTOMS = [text for row in rows(tokens(PAGE)) for _, text in re.findall(r"(`+)(.+?)\1(?!`)", row[0])]
MESSAGES = [text for text in SYMPTOMS if " " in text or text[0].isupper()]


@cache
def written() -> str:
    """Return the text of the program, with literals that go on in the next line joined."""
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in [*files, ROOT / "Makefile"])
    return re.sub(r'"\s*\n\s*f?"', "", text)


def parts(message: str) -> list[str]:
    """Return what stands between the places of a message where a value is put in."""
    return [part for part in re.split(r"…|\b\d+(?= (?:of|files))", message) if len(part.strip()) >= SHORTEST]


def test_the_page_explains_messages() -> None:
    assert len(MESSAGES) > 15


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_one_of_the_code(message: str) -> None:
    assert parts(message) != []
    assert [part for part in parts(message) if part not in written()] == []
