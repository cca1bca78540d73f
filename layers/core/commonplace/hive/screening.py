"""The screening of contributions: text that gives orders to agents, and near duplicates. Pure."""

from collections.abc import Sequence

from commonplace.hive.model import Mark


def orders(text: str) -> Sequence[Mark]:  # noqa: ARG001 - follows
    """What in a text gives orders to agents, or hides."""
    return ()


def signature(text: str) -> str:  # noqa: ARG001 - follows
    """MinHash of the text's word shingles, in hex."""
    return ""


def similarity(one: str, other: str) -> float:  # noqa: ARG001 - follows
    """The share of equal hashes of two signatures: an estimate of Jaccard's index, from 0 to 1."""
    return 0.0


def bands(signature: str) -> tuple[str, ...]:  # noqa: ARG001 - follows
    """Keys of which two near duplicates share at least one, almost surely (locality-sensitive hashing)."""
    return ()
