"""The node of tests ends with its owner, and is missed aloud."""

import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.integration.running_dev import alive, descendants, wait
from tests.opensearch_fixture import or_skipped
from tests.opensearch_node.java import RequirementMissing
from tests.opensearch_node.node import program_home
from tests.opensearch_node.program import PROGRAM

pytestmark = pytest.mark.opensearch

STOP_SECONDS = 60
OWNER = """
import signal
from tests.opensearch_node.node import OwnedNode
node = OwnedNode(fast=True)
node.start()
print(node.folder, node.pid, flush=True)
signal.pause()
"""


@pytest.mark.parametrize("origin", ["https://elsewhere.test", "http://localhost:3000", "null"])
def test_a_page_of_another_origin_can_have_nothing_done(opensearch_url: str, origin: str) -> None:
    """Not even what needs no body and no answer, such as emptying an index."""
    given = {"origin": origin, "content-type": "text/plain"}
    for method, path in (("GET", "/"), ("OPTIONS", "/"), ("POST", "/_cache/clear"), ("POST", "/_all/_close")):
        answer = httpx.request(method, opensearch_url + path, headers=given, trust_env=False)
        assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False)


@pytest.mark.soak
def test_a_node_ends_with_its_owner_even_if_that_is_killed(opensearch_url: str) -> None:
    if not (program_home() / PROGRAM).exists():
        pytest.skip("Another node is used: none is assembled here.")
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    try:
        assert owner.stdout is not None
        with owner.stdout:
            folder, pid = owner.stdout.readline().split()
        below = descendants(owner.pid)
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    assert int(pid) in below
    wait(lambda: not alive(below) and not Path(folder).exists(), STOP_SECONDS)
    assert alive(below) == set()
    assert not Path(folder).exists()


def test_a_missing_requirement_skips_a_test_and_fails_it_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    def start() -> None:
        raise RequirementMissing("There is no Java.", "Install one.")

    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match=r"There is no Java\. Install one\."):
        or_skipped(start)
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"There is no Java\. Install one\."):
        or_skipped(start)
