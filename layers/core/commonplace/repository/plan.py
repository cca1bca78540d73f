"""The plan of a run, and the keys of what it keeps between its steps."""

from datetime import datetime

from commonplace.kernel.objects import OPERATIONS_PREFIX
from commonplace.kernel.stored import Stored
from commonplace.repository.blobs import BlobSha
from commonplace.repository.ports import TreeFile
from commonplace.repository.slugs import is_markdown

RUNS_PREFIX = f"{OPERATIONS_PREFIX}runs/"
ARCHIVE_THRESHOLD = 50  # More blobs than this are had by one archive download instead of a call each
ITEM_SIZE = 5  # Blobs in one item of the workflow's Map


class Plan(Stored):
    """The work of one run, kept for its later steps at `operations/runs/{run}/plan.json`."""

    commit_sha: str
    head_etag: str | None
    manifest_etag: str | None
    """The manifest this plan was made against; publishing over another one would undo a newer run."""
    started_at: datetime
    full: bool
    files: list[TreeFile]  # Every regular file of the tree, content or not
    needed: list[BlobSha]  # Blobs of content files that must be fetched and judged
    working_copy: bool = False  # Nobody else has the commit
    github_calls: int = 0  # Calls of GitHub that this plan took

    @property
    def others(self) -> dict[str, TreeFile]:
        """Files that are not Markdown, by path: what documents may embed or link."""
        return {file.path: file for file in self.files if not is_markdown(file.path)}


def plan_key(run: str) -> str:
    return f"{RUNS_PREFIX}{run}/plan.json"


def items_key(run: str) -> str:
    """Return the array that the workflow's Map reads: one item is a short list of blob ids."""
    return f"{RUNS_PREFIX}{run}/items.json"


def outcomes_prefix(run: str) -> str:
    return f"{RUNS_PREFIX}{run}/outcomes/"
