"""What capabilities declare of themselves: names of parts that exist, and nothing that costs anything to read."""

import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.capabilities import CAPABILITIES
from commonplace.kernel.capability import PARTS, Capability, Part, built, load
from commonplace.repository.sources import BranchSource, StepContext

ROOT = Path(__file__).resolve().parents[2]

DECLARED = [
    pytest.param(part, id=f"{capability.name}-{name}")
    for capability in CAPABILITIES
    for name in PARTS
    if (part := getattr(capability, name))
]


@pytest.mark.parametrize("part", DECLARED)
def test_every_declared_part_can_be_loaded(part: str) -> None:
    assert callable(load(part))


def test_every_room_with_a_declaration_is_listed_once() -> None:
    rooms = {path.parent.name for path in (ROOT / "layers/core/commonplace").glob("*/capability.py")} - {"kernel"}
    assert sorted(capability.name for capability in CAPABILITIES) == sorted(rooms)


def test_reading_all_declarations_loads_no_part_of_any() -> None:
    code = (
        "import sys\nimport commonplace.capabilities\n"
        "print(*sorted(name for name in sys.modules if name.startswith('commonplace.')))"
    )
    command = [sys.executable, "-c", code]
    answer = subprocess.run(
        command, env={"PYTHONPATH": str(ROOT / "layers/core")}, capture_output=True, text=True, check=True
    )
    rooms = [f"commonplace.{capability.name}" for capability in CAPABILITIES]
    expected = ["commonplace.capabilities", "commonplace.kernel", "commonplace.kernel.capability"]
    expected += [*rooms, *(f"{room}.capability" for room in rooms)]
    assert answer.stdout.split() == sorted(expected)


@pytest.mark.parametrize(("part", "error"), [("nowhere.at_all:x", ImportError), ("json:nothing", AttributeError)])
def test_a_part_that_does_not_exist_is_told_when_it_is_loaded(part: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        load(part)


@pytest.mark.parametrize("part", PARTS)
def test_only_what_is_listed_and_makes_something_is_built(
    part: Part, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny_capability.py").write_text(
        "def some(context): return [context]\ndef none(context): return None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    tiny = Capability(name="tiny", **{part: "tiny_capability:some"})
    absent = Capability(name="absent", **{part: "tiny_capability:none"})

    assert list(built([absent, tiny, Capability(name="bare")], part, "context")) == [["context"]]
    assert list(built([absent], part, "context")) == []


def test_a_folder_of_a_branch_is_one_sources_alone() -> None:
    base = BranchSource("", "octo/Notes", "main")
    catalogue = BranchSource("helios", "Octo/notes", "main", "reference")
    others = [BranchSource("b", "octo/other", "main", "docs"), BranchSource("c", "octo/notes", "next", "docs")]
    nothing = cast(Any, None)

    def folders(of: BranchSource) -> tuple[str, ...]:
        return StepContext(
            environ={},
            settings=nothing,
            source=of,
            sources=[base, catalogue, *others],
            objects=nothing,
            repository=nothing,
            state=nothing,
            parallel=nothing,
        ).folders_of_others

    assert folders(base) == ("reference/",)
    assert folders(catalogue) == ()
