"""Files that published documents embed or link: which are served, under which name and type. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from mimetypes import MimeTypes
from pathlib import PurePosixPath

from commonplace.documents.content.keys import ATTACHMENTS_PREFIX
from commonplace.documents.content.manifest import Attachment
from commonplace.documents.content.paths import assign_names
from commonplace.repository.blobs import BlobSha
from commonplace.repository.ports import TreeFile

MAX_ATTACHMENT_BYTES = 4_500_000
"""A Lambda answers at most 6 MB, and binary bodies travel as base64."""

_TYPES = MimeTypes()  # the library's own table: the machine's would make answers differ between machines
for _suffix, _type in (
    (".webp", "image/webp"),
    (".avif", "image/avif"),
    (".md", "text/markdown"),
    (".base", "text/yaml"),
):
    _TYPES.add_type(_type, _suffix)


@dataclass(frozen=True, slots=True)
class Wanted:
    """An attachment of the next publication; `before` is set when its object can stay."""

    name: str
    path: str
    blob_sha: BlobSha
    size: int
    before: Attachment | None

    @property
    def key(self) -> str:
        return f"{ATTACHMENTS_PREFIX}{self.name}"


def servable(file: TreeFile) -> bool:
    """Neither too large to be answered nor in a hidden folder (tool settings)."""
    return file.size <= MAX_ATTACHMENT_BYTES and not any(part.startswith(".") for part in file.path.split("/"))


def wanted(
    linked: Iterable[str], files: Mapping[str, TreeFile], before: Iterable[Attachment], held: Mapping[str, str]
) -> list[Wanted]:
    """The attachments to serve, by path. `held` is the store's object key -> ETag."""
    paths = sorted(path for path in linked if path in files and servable(files[path]))
    names = assign_names(paths)
    owned = {item.path: item for item in before}

    def kept(path: str) -> Attachment | None:
        item = owned.get(path)
        if item is None or item.name != names[path] or item.blob_sha != files[path].blob_sha:
            return None
        return item if held.get(item.key) == item.etag else None

    return [Wanted(names[path], path, files[path].blob_sha, files[path].size, kept(path)) for path in paths]


def media_type(path: str) -> str:
    """By the file name's suffix; what is unknown is bytes."""
    return _TYPES.guess_type(PurePosixPath(path).name)[0] or "application/octet-stream"
