"""Which worker of pytest-xdist runs what: tests of a file stay together, and so do files that share what starts slowly.

Its own groups (`--dist loadgroup`) rename tests, which pytest 9.2 does not let it do any more.
"""

from xdist.scheduler import LoadFileScheduling

INTEGRATION, CONFORMANCE = "tests/integration", "tests/conformance"
TEAM = ("hive_commands", "hive_copies", "identity_guard", "memory_mend", "memory_tools")
SAMPLE = ("document_urls", "readme", "reference_page")
TOGETHER = {
    f"{INTEGRATION}/test_acceptance_opensearch.py": "own node",
    f"{INTEGRATION}/test_dev_opensearch.py": "own node",
    f"{INTEGRATION}/test_opensearch_engine.py": "own node",
    **{f"{INTEGRATION}/test_{name}.py": "the laptop of a team" for name in TEAM},
    **{f"{INTEGRATION}/test_{name}.py": "the laptop of the sample" for name in SAMPLE},
    f"{CONFORMANCE}/mcp": "a laptop of the sample",
    f"{CONFORMANCE}/auth": "a laptop of the sample and its accounts",
}
"""File, or folder -> group."""

LONGEST = (
    "own node",
    "the laptop of a team",
    f"{CONFORMANCE}/hive/test_seed.py",
    f"{CONFORMANCE}/memory/test_tools.py",
    "a laptop of the sample",
    f"{INTEGRATION}/test_dev.py",
    f"{INTEGRATION}/test_acceptance.py",
    "tests/infra/test_policy.py",
    "tests/infra/test_imports.py",
    f"{INTEGRATION}/test_push_to_answer.py",
    f"{INTEGRATION}/test_memory_kills.py",
    f"{INTEGRATION}/test_memory_learn.py",
    f"{INTEGRATION}/test_memory_outage.py",
    f"{INTEGRATION}/test_catalogue_sync.py",
    f"{INTEGRATION}/test_dev_catalogues.py",
    "the laptop of the sample",
    "a laptop of the sample and its accounts",
    f"{CONFORMANCE}/hive/test_hostile.py",
    f"{CONFORMANCE}/reference/test_seed.py",
    f"{CONFORMANCE}/generators/test_openapi_documents.py",
    f"{CONFORMANCE}/generators/test_large_documents.py",
    f"{CONFORMANCE}/reference/test_tools.py",
    "tests/infra/test_edge.py",
    "tests/infra/test_bundles.py",
    "tests/browser/test_pages.py",
    "tests/browser/test_sites.py",
    "tests/browser/test_dev.py",
    "tests/browser/test_local_accounts.py",
    "tests/browser/test_hive.py",
)
"""These begin first, so that no worker is left with one of them at the end."""


def group_of(nodeid: str) -> str:
    """What stays on one worker with this test: a file, or a name of `TOGETHER`."""
    file = nodeid.split("::", 1)[0]
    return TOGETHER.get(file) or TOGETHER.get(file.rpartition("/")[0], file)


def start_order(nodeid: str) -> int:
    """By how long its group takes."""
    group = group_of(nodeid)
    return LONGEST.index(group) if group in LONGEST else len(LONGEST)


class GroupScheduling(LoadFileScheduling):  # type: ignore[misc]
    """As `--dist loadfile`, by group and in the order of the tests."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
