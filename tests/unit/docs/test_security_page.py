"""The threat model names tests that there are."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "operate" / "security.md"

ROWS = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ") and "---" not in line]
THREATS = [line for line in ROWS if not line.startswith("| threat |")]
NAMED = sorted({name for line in THREATS for name in re.findall(r"`(test_\w+)`", line)})


def test_every_threat_has_a_proof() -> None:
    assert len(THREATS) > 30
    assert [line for line in THREATS if "`test_" not in line] == []


def test_the_tests_that_are_named_are_there() -> None:
    files = (ROOT / "tests").rglob("test_*.py")
    there = {
        name for file in files for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(), re.MULTILINE)
    }
    assert [name for name in NAMED if name not in there] == []
