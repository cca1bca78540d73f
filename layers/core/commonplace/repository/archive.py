"""A whole tree from one download: the blobs a plan needs, checked by their ids, and the files they embed. Pure."""

import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from commonplace.repository.blobs import BlobSha, git_blob_sha
from commonplace.repository.ports import TreeFile


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    path: str
    blob_sha: BlobSha
    raw: bytes


def archived_files(archive: BinaryIO, wanted: Mapping[str, TreeFile]) -> Iterator[ArchivedFile]:
    """Each wanted file whose bytes are the blob the tree names.

    GitHub wraps the tree in one folder, and `.gitattributes` may leave files out or rewrite them: what is missing
    here is fetched by its id afterwards. Raises tarfile.TarError for a broken download.
    """
    with tarfile.open(fileobj=archive, mode="r:gz") as tar:
        for member in tar:
            path = member.name.partition("/")[2]
            planned = wanted.get(path)
            if planned is None or not member.isfile() or member.size != planned.size:
                continue
            stream = tar.extractfile(member)
            raw = stream.read() if stream else b""
            if git_blob_sha(raw) == planned.blob_sha:
                yield ArchivedFile(path, planned.blob_sha, raw)
