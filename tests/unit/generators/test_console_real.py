"""The console generator on sources that others wrote: nothing raises, nothing is made up, all is read again alike."""

from pathlib import Path

import pytest

from commonplace.kernel.errors import InvalidInput
from commonplace_generators import console, tsx
from tests.registry.packages import file_of

SOURCES = [
    ("@tanstack/query-devtools", "package/src/Devtools.tsx"),
    ("@tanstack/query-devtools", "package/src/Explorer.tsx"),
    ("react-native-paper", "package/src/components/BottomNavigation/BottomNavigationBar.tsx"),
    ("react-native-paper", "package/src/components/TextInput/TextInput.tsx"),
]
CONSOLE = b"""
/** Takes what is typed. */
export const runCommand = (command: string) => {
  const [verb, ...args] = command.trim().split(/\\s+/);
  switch (verb) {
    // Show the queries.
    case 'queries': return show(args.includes('--stale'));
    default: return undefined;
  }
};
"""


@pytest.fixture(params=SOURCES, ids=[path.rpartition("/")[2] for _, path in SOURCES])
def source(request: pytest.FixtureRequest) -> Path:
    return file_of(*request.param)


def test_a_real_source_is_parsed_without_errors(source: Path) -> None:
    parsed = tsx.parse(source.read_bytes())
    assert not parsed.errors
    assert len(parsed.declared) > 10


def test_a_source_without_a_console_is_refused(source: Path) -> None:
    with pytest.raises(InvalidInput, match="No command was found"):
        console.generate(source.read_bytes(), source=source.name, options={})


def test_a_console_is_found_among_thousands_of_lines_of_other_things(source: Path) -> None:
    raw = source.read_bytes() + CONSOLE
    found = console.generate(raw, source=source.name, options={})
    assert [(one.name, one.syntax, one.summary) for one in found.entries] == [
        ("queries", "queries [--stale]", "Show the queries.")
    ]
    assert console.generate(raw, source=source.name, options={}) == found
