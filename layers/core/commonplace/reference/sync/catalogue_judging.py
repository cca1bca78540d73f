"""What the files of a head amount to: a catalogue to publish, or errors. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from commonplace.reference.problems import Problem
from commonplace.reference.settings import CatalogueSource
from commonplace.reference.source.reader import Reading, read_catalogue
from commonplace.reference.source.selecting import is_read
from commonplace.reference.sync.catalogue_report import Status
from commonplace.reference.sync.plan import nothing_there, prefix_of, readable
from commonplace.repository.blobs import BlobSha
from commonplace.repository.ports import TreeFile
from commonplace.repository.slugs import is_markdown

NOT_FETCHED = Problem(
    code="not-fetched",
    severity="error",
    message="Files of the catalogue could not be fetched from GitHub.",
    hint="Nothing needs to be mended: the next run tries again.",
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a head amounts to."""

    outcome: Status
    files: Mapping[str, BlobSha]
    """Path in the repository -> blob id, of those that are read and not left out."""
    problems: tuple[Problem, ...]
    """Errors first."""
    reading: Reading | None = None


def judge_files(
    source: CatalogueSource,
    folder: Sequence[TreeFile],
    wanted: Mapping[str, BlobSha],
    raws: Mapping[BlobSha, bytes],
) -> Judged:
    """`folder` is everything in the catalogue's folder, `wanted` what is to be read of it, by path."""
    prefix = prefix_of(source)
    shut = {file.path for file in readable(folder, source)} - wanted.keys()
    # Of other files only the names count: entries may link them.
    given = {file.path.removeprefix(prefix): b"" for file in folder if file.path not in shut}
    given |= {path.removeprefix(prefix): raws[blob_sha] for path, blob_sha in wanted.items()}
    reading, files = read_catalogue(given, source.name), wanted
    if hidden := unpublished(reading, given):
        reading = read_catalogue({path: raw for path, raw in given.items() if path not in hidden}, source.name)
        files = {path: blob_sha for path, blob_sha in wanted.items() if path.removeprefix(prefix) not in hidden}
    if reading.publishable and not reading.entries:
        return Judged("refused", files, (nothing_there(source), *reading.problems))
    problems = sorted(reading.problems, key=lambda problem: problem.severity)
    return Judged("published" if reading.publishable else "refused", files, tuple(problems), reading)


def unpublished(reading: Reading, given: Mapping[str, bytes]) -> set[str]:
    """Files that say of themselves that they are not for readers. Only of a whole reading: what has errors and is no
    entry may be anything."""
    if not reading.publishable:
        return set()
    pages = {path for path in given if is_markdown(path) and is_read(path)}
    return pages - {one.path for one in reading.entries} - {problem.path for problem in reading.problems}
