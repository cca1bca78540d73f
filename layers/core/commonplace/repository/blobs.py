"""Ids of Git blobs."""

import hashlib
from typing import NewType

BlobSha = NewType("BlobSha", str)
"""A Git blob id: forty lower-case hexadecimal digits."""


def git_blob_sha(raw: bytes) -> BlobSha:
    """The id that Git gives these bytes."""
    return BlobSha(hashlib.sha1(b"blob %d\0%b" % (len(raw), raw), usedforsecurity=False).hexdigest())
