"""What a node is assembled from: three archives, each pinned to one version and one checksum.

Published metadata omits some of these versions: no range and no `LATEST` finds them. The distribution equals the file
whose checksum was published; none is published for the two plugins, so theirs are trust on first use.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from local.errors import CommandError
from local.opensearch.folders import PROGRAM, VERSION

MEGABYTES = 180
"""What all parts weigh together."""


@dataclass(frozen=True, slots=True)
class Part:
    """A zip archive in a Maven repository."""

    group: str
    artifact: str
    version: str
    sha256: str
    folder: str = ""
    """Where its content belongs; the distribution brings its own top folder."""

    @property
    def file(self) -> str:
        return f"{self.artifact}-{self.version}.zip"

    @property
    def place(self) -> str:
        """Where a Maven repository keeps it."""
        return f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}/{self.file}"


PARTS = (
    Part(
        "org.opensearch.distribution.integ-test-zip",
        "opensearch",
        VERSION,
        "a91faa1dc1cadc78cb278b4f63847e19e1627a4e9de698e14e7efc14ee37b286",
    ),
    Part(
        "org.opensearch.plugin",
        "opensearch-knn",
        "3.6.0.0",
        "ac392ca28a39b3bf290648a422ef30cb149dda2963a9d7feb26060e932341c9a",
        f"{PROGRAM}/plugins/opensearch-knn",
    ),
    Part(
        "org.opensearch.plugin",
        "neural-search",
        "3.6.0.0",
        "6ef1b206e79391e2e36268e32dc34d27fd8b8a59a8eb0a7393c97d53b038e433",
        f"{PROGRAM}/plugins/opensearch-neural-search",
    ),
)


def is_whole(part: Part, file: Path) -> bool:
    """Whether the file is there and is the pinned one."""
    return file.is_file() and _sha256(file) == part.sha256


def check(part: Part, file: Path, kept: str = "~/.m2/repository") -> None:
    """Removes a file that is not the pinned one and raises CommandError. `kept` is where Maven has its own copy."""
    found = _sha256(file)
    if found == part.sha256:
        return
    file.unlink()
    raise CommandError(
        f"{part.file} is not the file that is expected: its sha256 is {found}, not {part.sha256}. It was removed.",
        f"Maven may still hold it: remove {kept}/{part.place} and try again. If it comes back, do not use its source.",
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
