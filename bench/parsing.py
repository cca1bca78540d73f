"""The work of a sync without anything around it: the files out of Git, and what is published of them, parsed."""

import io
import tarfile
from collections.abc import Iterator

from bench.corpus import Corpus, Push
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.reader import Published, extract_links, judge
from local.github.git import ObjectReader, git, neutral_environment

EXCLUSIONS = Exclusions()


def parse_push(corpus: Corpus, push: Push) -> int:
    """Reads what a push brought (a first one: the whole tree) and answers how many published files are among it."""
    files = _archived(corpus, push.after) if push.before is None else _changed(corpus, push)
    return sum(_parse(path, raw) for path, raw in files if EXCLUSIONS.is_content(path))


def _archived(corpus: Corpus, commit: str) -> Iterator[tuple[str, bytes]]:
    archive = git(f"--git-dir={corpus.git_dir}", "archive", "--format=tar", commit, environment=neutral_environment())
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            if member.isfile() and (file := tar.extractfile(member)):
                yield member.name, file.read()


def _changed(corpus: Corpus, push: Push) -> Iterator[tuple[str, bytes]]:
    reader = ObjectReader(corpus.git_dir)
    try:
        for path in corpus.changed_paths(push):
            found = reader.read(f"{push.after}:{path}")
            if found is not None and found.kind == "blob":
                yield path, found.body
    finally:
        reader.close()


def _parse(path: str, raw: bytes) -> bool:
    verdict = judge(raw)
    if not isinstance(verdict, Published):
        return False
    normalise(path, verdict.file)
    extract_links(verdict.file)
    return True
