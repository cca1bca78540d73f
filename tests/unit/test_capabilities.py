"""What capabilities declare of themselves: names of parts that exist, and nothing that costs anything to read."""

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

from commonplace.capabilities import CAPABILITIES
from commonplace.documents import capability as documents
from commonplace.documents.content.keys import ATTACHMENTS_PREFIX, CONTENT_PREFIX, METADATA_PREFIX, RAW_PREFIX
from commonplace.documents.sync.keys import REPORTS_PREFIX, STAGED_PREFIX
from commonplace.kernel.capability import PARTS, Capability, Part, built, load
from commonplace.memory.capability import MEMORY
from commonplace.memory.index_source import ENTRIES, JOBS
from commonplace.reference.capability import CATALOGUES, REFERENCE
from commonplace.reference.library import REFERENCE_PREFIX, manifest_key
from commonplace.repository.sources import BranchSource, StepContext
from commonplace.search.store import PARTITION as CHANGES
from tests.unit.docs.pages import rows, section

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


def test_the_import_contract_keeps_every_capability_from_the_others() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    assert layers[0].split(" | ") == [f"commonplace.{capability.name}" for capability in CAPABILITIES]


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


def test_documents_declare_the_prefixes_that_they_are_kept_under() -> None:
    assert documents.PUBLISHED == (CONTENT_PREFIX, RAW_PREFIX, ATTACHMENTS_PREFIX, METADATA_PREFIX)
    assert documents.DOCUMENTS.expiry_days.keys() == {STAGED_PREFIX, REPORTS_PREFIX}
    assert [keys.prefix for keys in documents.DOCUMENTS.indexed_objects] == [CONTENT_PREFIX]
    assert documents.CHANGES == CHANGES


def test_the_reference_declares_where_its_catalogues_are_kept() -> None:
    (keys,) = REFERENCE.indexed_objects
    assert keys.prefix == CATALOGUES == REFERENCE_PREFIX
    assert manifest_key("helios").startswith(keys.prefix)
    assert manifest_key("helios").endswith(keys.suffix)


def test_the_memory_declares_the_records_that_its_index_is_made_of() -> None:
    assert MEMORY.indexed_records == (ENTRIES, JOBS)


def test_a_declared_alarm_watches_a_declared_metric_and_leads_to_its_runbook() -> None:
    runbooks = {row[0].strip("`"): row[2] for row in rows(section(ROOT / "docs/operate/operate.md", "Alarms"))}
    for capability in CAPABILITIES:
        metrics = {metric.name for metric in capability.metrics if not metric.dimensions}
        for alarm in capability.alarms:
            assert alarm.namespace or alarm.metric in metrics
            assert runbooks[alarm.name].endswith(f"(runbooks/{alarm.runbook})")


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
    some: dict[str, Any] = {part: "tiny_capability:some"}
    none: dict[str, Any] = {part: "tiny_capability:none"}
    tiny, absent = Capability(name="tiny", **some), Capability(name="absent", **none)

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


def test_a_collection_is_called_like_its_room_or_like_its_records() -> None:
    assert MEMORY.collection_name == "memory"
    assert Capability(name="hive", collection="x:y", indexed_as="contributions").collection_name == "contributions"
    assert Capability(name="hive", indexed_as="contributions").collection_name is None
