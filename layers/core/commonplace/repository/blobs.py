"""Ids of Git blobs."""

import hashlib
import re
from typing import NewType

BlobSha = NewType("BlobSha", str)  # A Git blob id: forty lower-case hexadecimal digits


def git_blob_sha(raw: bytes) -> BlobSha:
    """Return the id that Git gives these bytes."""
    return BlobSha(hashlib.sha1(b"blob %d\0%b" % (len(raw), raw), usedforsecurity=False).hexdigest())


MAX_POINTER_BYTES = 1024  # Pointers of Git LFS are smaller (git-lfs/docs/spec.md)

_POINTER = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\r?\n(?:ext-.*\n)*oid ")


def is_lfs_pointer(raw: bytes) -> bool:
    """Return whether the bytes stand for a file that Git LFS holds elsewhere."""
    return len(raw) < MAX_POINTER_BYTES and _POINTER.match(raw) is not None
