"""The repository that is measured on: any clone, or a synthetic one; and the work of a sync with nothing around it."""

import io
import os
import shutil
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import synthetic
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.reader import Published, contents_of, judge
from local.dev.source import Source, clone
from local.github.git import ObjectReader, git, git_text, neutral_environment

BRANCH = "main"
ABSENT = b"BAD"
"""What `git ls-tree -l` prints for the size of an object that a partial clone does not hold."""
PERSON = {
    "GIT_AUTHOR_NAME": "Editor",
    "GIT_AUTHOR_EMAIL": "editor@example.org",
    "GIT_COMMITTER_NAME": "Editor",
    "GIT_COMMITTER_EMAIL": "editor@example.org",
}


@dataclass(frozen=True, slots=True)
class Push:
    """The branch went from one commit to another; `before` is None when it is new."""

    before: str | None
    after: str


class Corpus:
    """A bare repository at `git_dir`. `head` is its newest commit, `large` the push with the most changed paths."""

    def __init__(self, label: str, git_dir: Path, head: str, large: Push) -> None:
        self.label, self.git_dir, self.head, self.large = label, git_dir, head, large

    @property
    def source(self) -> Source:
        """Return the source as `commonplace dev PATH` takes it."""
        return clone(self.git_dir, BRANCH)

    def show(self, commit: str) -> None:
        """Moves the branch."""
        self.git("update-ref", f"refs/heads/{BRANCH}", commit)

    def read(self, commit: str, path: str) -> bytes:
        return self._raw("cat-file", "blob", f"{commit}:{path}")

    def commit(self, files: Mapping[str, bytes | None]) -> Push:
        """Adds a commit to the branch that writes (None: removes) these files, and moves the branch to it."""
        before = self.git("rev-parse", BRANCH)
        after = self._commit(self._tree(before, files), [before])
        self.show(after)
        return Push(before, after)

    def changed_paths(self, push: Push) -> list[str]:
        """Renames count as two, as in GitHub's events."""
        if push.before is None:
            return _split(self._raw("ls-tree", "-r", "-z", "--name-only", "--full-tree", push.after))
        return _split(self._raw("diff-tree", "-r", "-z", "--name-only", "--no-renames", push.before, push.after))

    def without_absent_files(self, commit: str, parents: Sequence[str] = ()) -> str:
        """The commit, or one on top of it without the files whose content this clone does not hold."""
        absent = self._absent(commit)
        if not absent and not parents:
            return commit
        return self._commit(self._tree(commit, dict.fromkeys(absent)), [*parents, commit])

    def git(self, *arguments: str) -> str:
        return git_text(f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment())

    def _absent(self, commit: str) -> list[str]:
        listing = self._raw("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        lines = [line.split(b"\t", 1) for line in listing.split(b"\0") if line]
        return [os.fsdecode(path) for facts, path in lines if facts.split()[3] == ABSENT]

    def _tree(self, commit: str, files: Mapping[str, bytes | None]) -> str:
        environment = neutral_environment() | {"GIT_INDEX_FILE": str(self.git_dir / "bench.index")}
        here = f"--git-dir={self.git_dir}"
        git(here, "read-tree", commit, environment=environment)
        git(here, "update-index", "-z", "--index-info", environment=environment, data=self._entries(files))
        return git_text(here, "write-tree", "--missing-ok", environment=environment)

    def _entries(self, files: Mapping[str, bytes | None]) -> bytes:
        """What `git update-index --index-info` reads; mode 0 removes."""
        entries = []
        for path, content in files.items():
            mode, sha = ("0", "0" * 40) if content is None else ("100644", self._blob(content))
            entries.append(f"{mode} {sha}\t".encode() + os.fsencode(path) + b"\0")
        return b"".join(entries)

    def _blob(self, content: bytes) -> str:
        return os.fsdecode(self._raw("hash-object", "-w", "--stdin", data=content)).strip()

    def _commit(self, tree: str, parents: Iterable[str]) -> str:
        named = [part for parent in parents for part in ("-p", parent)]
        return git_text(
            f"--git-dir={self.git_dir}",
            *("commit-tree", tree, *named, "-m", "Change"),
            environment=neutral_environment() | PERSON,
        )

    def _raw(self, *arguments: str, data: bytes = b"") -> bytes:
        return git(f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment(), data=data)


def asked_for(arguments: Sequence[str]) -> Path | None:
    """The clone named on the command line, else in `REPOSITORY`, else none: the synthetic one."""
    named = arguments[0] if arguments else os.environ.get("REPOSITORY", "")
    return Path(named) if named else None


def open_corpus(repository: Path | None, folder: Path, *, every: int = 1) -> Corpus:
    """`every` makes the synthetic one so many times smaller. Raises CommandError when `repository` is no clone."""
    git_dir = folder / "corpus.git"
    if repository is None:
        before, after = synthetic.write(git_dir, every)
        return Corpus("synthetic", git_dir, after, Push(before, after))
    return _borrowed(clone(repository), git_dir)


def _borrowed(source: Source, git_dir: Path) -> Corpus:
    """The clone's history in a repository of our own, which borrows its objects: the clone is only read."""
    if source.git_dir is None or source.common_dir is None or source.revision is None:
        raise ValueError("a plain folder has no history to measure on")
    git("init", "--quiet", "--bare", f"--initial-branch={BRANCH}", str(git_dir), environment=neutral_environment())
    (git_dir / "objects" / "info" / "alternates").write_text(f"{source.common_dir / 'objects'}\n", encoding="utf-8")
    if (source.common_dir / "shallow").exists():
        shutil.copyfile(source.common_dir / "shallow", git_dir / "shallow")
    newest = git_text(f"--git-dir={source.git_dir}", "rev-parse", f"{source.revision}^{{commit}}")
    corpus = Corpus(f"{source.name} at {newest[:8]}", git_dir, newest, Push(None, newest))
    large = _largest_push(corpus)
    if large.before is not None:
        before = corpus.without_absent_files(large.before)
        parents = [before] if before != large.before else []
        corpus.large = Push(before, corpus.without_absent_files(large.after, parents))
    corpus.head = corpus.without_absent_files(newest)
    corpus.show(corpus.head)
    return corpus


def _largest_push(corpus: Corpus) -> Push:
    """Along first parents, where each commit is what one push or merge brought to the branch."""
    listing = git(
        f"--git-dir={corpus.git_dir}",
        *("log", "--first-parent", "-m", "-z", "--name-only", "--no-renames", "--format=%x01%H %P", corpus.head),
        environment=neutral_environment(),
    )
    changed: Counter[Push] = Counter()
    push: Push | None = None
    for field in listing.split(b"\0"):
        if field.startswith(b"\x01"):
            commit, *parents = field[1:].decode().split()
            push = Push(parents[0], commit) if parents else None
        elif field.strip() and push is not None:
            changed[push] += 1
    return changed.most_common(1)[0][0] if changed else Push(None, corpus.head)


def _split(listing: bytes) -> list[str]:
    return [os.fsdecode(path) for path in listing.split(b"\0") if path]


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
    contents_of(verdict.file)
    return True
