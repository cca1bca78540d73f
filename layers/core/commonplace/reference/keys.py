"""Where catalogues are kept in the store."""

from commonplace.kernel.objects import OPERATIONS_PREFIX

REFERENCE_PREFIX = "reference/"


def manifest_key(name: str) -> str:
    return f"{REFERENCE_PREFIX}{name}/manifest.json"


def catalogues_prefix(name: str) -> str:
    return f"{REFERENCE_PREFIX}{name}/catalogues/"


def catalogue_key(name: str, digest: str) -> str:
    """Of one publication; `digest` is of its bytes."""
    return f"{catalogues_prefix(name)}{digest}.json"


def report_key(name: str) -> str:
    """What the last run found, for operators: problems with their files, also those of a catalogue that was refused."""
    return f"{OPERATIONS_PREFIX}reference/{name}/report.json"


def catalogue_blobs_prefix(name: str) -> str:
    """Bytes of the files of a catalogue's head, by blob id: the next run fetches only what has changed. Kept."""
    return f"{OPERATIONS_PREFIX}reference/{name}/blobs/"


def catalogue_known_key(name: str) -> str:
    """What the last run of a catalogue learned: head, files, what came of them."""
    return f"{OPERATIONS_PREFIX}reference/{name}/known.json"
