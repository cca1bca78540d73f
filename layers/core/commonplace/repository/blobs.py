"""Ids of Git blobs."""

import hashlib
from typing import NewType

BlobSha = NewType("BlobSha", str)
"""A Git blob id: forty lower-case hexadecimal digits."""


def git_blob_sha(raw: bytes) -> BlobSha:
    """The id that Git gives these bytes."""
    return BlobSha(hashlib.sha1(b"blob %d\0%b" % (len(raw), raw), usedforsecurity=False).hexdigest())


MAX_POINTER_BYTES = 1024
"""Pointers of Git LFS are smaller (git-lfs/docs/spec.md)."""


def is_lfs_pointer(raw: bytes) -> bool:
    """Whether the bytes stand for a file that Git LFS holds elsewhere."""
    return len(raw) < MAX_POINTER_BYTES and raw.startswith(b"version https://git-lfs.github.com/spec/v1")
