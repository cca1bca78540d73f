"""The repository that is measured on: any clone, or a synthetic one; and the work of a sync with nothing around it."""

import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import synthetic
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.reader import Published, contents_of, judge
from commonplace_local.dev.source import Source, clone
from commonplace_local.github.git import ObjectReader, git, git_text, neutral_environment

BRANCH = "main"
ABSENT = b"BAD"
"""What `git ls-tree -l` prints for the size of an object that a partial clone does not hold."""
EXCLUSIONS = Exclusions()


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

    def git(self, *arguments: str) -> str:
        return self._raw(*arguments).decode().strip()

    def show(self, commit: str) -> None:
        """Move the branch."""
        self.git("update-ref", f"refs/heads/{BRANCH}", commit)

    def read(self, commit: str, path: str) -> bytes:
        return self._raw("cat-file", "blob", f"{commit}:{path}")

    def commit(self, files: Mapping[str, bytes | None]) -> Push:
        """Add a commit to the branch that writes (None: removes) these files, and move the branch to it."""
        before = self.git("rev-parse", BRANCH)
        after = self._commit(before, files, [before])
        self.show(after)
        return Push(before, after)

    def changed_paths(self, push: Push) -> list[str]:
        """Return the paths; a rename counts as two, as in GitHub's events."""
        options = ("-r", "-z", "--name-only")
        listing = (
            self._raw("ls-tree", *options, "--full-tree", push.after)
            if push.before is None
            else self._raw("diff-tree", *options, "--no-renames", push.before, push.after)
        )
        return [os.fsdecode(path) for path in listing.split(b"\0") if path]

    def without_absent_files(self, commit: str, parents: Sequence[str] = ()) -> str:
        """Return the commit, or one on top of it without the files whose content this clone does not hold."""
        listing = self._raw("ls-tree", "-r", "-l", "-z", "--full-tree", commit)
        lines = [line.split(b"\t", 1) for line in listing.split(b"\0") if line]
        absent = [os.fsdecode(path) for facts, path in lines if facts.split()[3] == ABSENT]
        if not absent and not parents:
            return commit
        return self._commit(commit, dict.fromkeys(absent), [*parents, commit])

    def largest_push(self) -> Push:
        """Look along first parents, where each commit is what one push or merge brought to the branch."""
        options = ("--first-parent", "-m", "-z", "--name-only", "--no-renames", "--format=%x01%H %P")
        changed: Counter[Push] = Counter()
        push: Push | None = None
        for field in self._raw("log", *options, self.head).split(b"\0"):
            if field.startswith(b"\x01"):
                commit, *parents = field[1:].decode().split()
                push = Push(parents[0], commit) if parents else None
            elif field.strip() and push is not None:
                changed[push] += 1
        return changed.most_common(1)[0][0] if changed else Push(None, self.head)

    def _raw(self, *arguments: str, data: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        return git(
            f"--git-dir={self.git_dir}", *arguments, environment=neutral_environment() | {**(more or {})}, data=data
        )

    def _commit(self, base: str, files: Mapping[str, bytes | None], parents: Sequence[str]) -> str:
        """Write a commit with the tree of `base` and these files; mode 0 of `--index-info` removes."""
        entries = b""
        for path, content in files.items():
            blob = self._raw("hash-object", "-w", "--stdin", data=content) if content is not None else b""
            entries += (b"100644 %b\t" % blob.strip() if blob else b"0 %b\t" % (40 * b"0")) + os.fsencode(path) + b"\0"
        index = {"GIT_INDEX_FILE": str(self.git_dir / "bench.index")}
        self._raw("read-tree", base, more=index)
        self._raw("update-index", "-z", "--index-info", data=entries, more=index)
        tree = self._raw("write-tree", "--missing-ok", more=index).decode().strip()
        named = [part for parent in parents for part in ("-p", parent)]
        person = {f"GIT_{role}_NAME": "Editor" for role in ("AUTHOR", "COMMITTER")}
        person |= {f"GIT_{role}_EMAIL": "editor@example.org" for role in ("AUTHOR", "COMMITTER")}
        return self._raw("commit-tree", tree, *named, "-m", "Change", more=person).decode().strip()


def open_corpus(repository: Path | None, folder: Path, *, every: int = 1) -> Corpus:
    """Open a corpus; `every` makes the synthetic one so many times smaller.

    A clone's history stands in a repository of our own, which borrows its objects: the clone is only read. Raises
    CommandError when `repository` is no clone.
    """
    git_dir = folder / "corpus.git"
    if repository is None:
        before, after = synthetic.write(git_dir, every)
        return Corpus("synthetic", git_dir, after, Push(before, after))
    source = clone(repository)
    if source.git_dir is None or source.common_dir is None or source.revision is None:
        raise ValueError("a plain folder has no history to measure on")
    git("init", "--quiet", "--bare", f"--initial-branch={BRANCH}", str(git_dir), environment=neutral_environment())
    (git_dir / "objects" / "info" / "alternates").write_text(f"{source.common_dir / 'objects'}\n", encoding="utf-8")
    if (source.common_dir / "shallow").exists():
        shutil.copyfile(source.common_dir / "shallow", git_dir / "shallow")
    newest = git_text(f"--git-dir={source.git_dir}", "rev-parse", f"{source.revision}^{{commit}}")
    corpus = Corpus(f"{source.name} at {newest[:8]}", git_dir, newest, Push(None, newest))
    corpus.large = large = corpus.largest_push()
    if large.before is not None:
        before = corpus.without_absent_files(large.before)
        parents = [before] if before != large.before else []
        corpus.large = Push(before, corpus.without_absent_files(large.after, parents))
    corpus.head = corpus.without_absent_files(newest)
    corpus.show(corpus.head)
    return corpus


def parse_push(corpus: Corpus, push: Push) -> int:
    """Read what a push brought (a first one: the whole tree) and return how many published files are among it."""
    reader, published = ObjectReader(corpus.git_dir), 0
    try:
        for path in filter(EXCLUSIONS.is_content, corpus.changed_paths(push)):
            found = reader.read(f"{push.after}:{path}")
            verdict = judge(found.body) if found is not None and found.kind == "blob" else None
            if isinstance(verdict, Published):
                normalise(path, verdict.file)
                contents_of(verdict.file)
                published += 1
    finally:
        reader.close()
    return published
