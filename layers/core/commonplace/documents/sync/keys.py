"""Keys of what a run keeps in the store.

All but the public summary are below the operators' prefix, and most of them expire.
"""

from commonplace.documents.content.keys import METADATA_PREFIX
from commonplace.kernel.objects import OPERATIONS_PREFIX
from commonplace.repository.blobs import BlobSha

KNOWN_KEY = f"{OPERATIONS_PREFIX}known.json"
"""What the last run learned: the head's ETag and the verdicts on files that are not published."""


STAGED_PREFIX = f"{OPERATIONS_PREFIX}blobs/"
"""Bytes of published files and their attachments, by blob id, until they are published; those of one archive's files
in one object by the name of the run."""


REPORTS_PREFIX = f"{OPERATIONS_PREFIX}reports/"

HISTORY_KEY = f"{OPERATIONS_PREFIX}history.json"  # The last runs, newest first

SUMMARY_KEY = f"{METADATA_PREFIX}sync.json"  # What the public may know of the last run


def staged_key(blob_sha: BlobSha) -> str:
    return f"{STAGED_PREFIX}{blob_sha}"


def bundle_key(run: str) -> str:
    return f"{STAGED_PREFIX}{run}.zip"


def report_key(commit_sha: str) -> str:
    """Return the full report of the run that published a commit."""
    return f"{REPORTS_PREFIX}{commit_sha}.json"
