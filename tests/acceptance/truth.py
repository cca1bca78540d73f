"""What a commit publishes, from Git's own listing and the reader of this package; and statements of what holds."""

import subprocess
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from bench.table import Row, Value
from commonplace_local.github.git import GitError, git, neutral_environment
from tests.acceptance.reading import Links, Page, links_of, read

REGULAR = (b"100644", b"100755")
MOST_ATTACHMENT_BYTES = 4_500_000


@dataclass(frozen=True, slots=True)
class Tree:
    """The regular files of a commit: path -> blob id."""

    commit: str
    blobs: Mapping[str, str]


@dataclass(frozen=True)
class Truth:
    """Everything the checks want to know of one commit."""

    tree: Tree
    pages: Mapping[str, Page]
    """Every Markdown file whose bytes are here, excluded folders too."""
    raw: Mapping[str, bytes]
    """The bytes of those files."""
    excluded: frozenset[str]
    absent: frozenset[str]
    """Files whose bytes a partial clone does not hold."""

    @cached_property
    def published(self) -> dict[str, Page]:
        return {
            path: page for path, page in self.pages.items() if page.gate == "published" and path not in self.excluded
        }

    @cached_property
    def unpublished(self) -> dict[str, Page]:
        return {path: page for path, page in self.pages.items() if path not in self.published}

    @cached_property
    def links(self) -> Links:
        return links_of(self.published, frozenset(path for path in self.tree.blobs if not is_markdown(path)))


@dataclass
class Gates:
    """What is published at any commit of one repository; each blob is read once."""

    git_dir: Path
    patterns: Sequence[str]
    _gates: dict[str, str] = field(default_factory=dict)

    def at(self, tree: Tree) -> "Expected":
        content = {path: blob for path, blob in tree.blobs.items() if is_content(path, self.patterns)}
        unread = {blob for blob in content.values() if blob not in self._gates}
        for blob, raw in blobs(self.git_dir, unread):
            self._gates[blob] = "absent" if raw is None else read(raw).gate
        published = {path: blob for path, blob in content.items() if self._gates[blob] == "published"}
        doubtful = {path for path, blob in content.items() if self._gates[blob] in ("unreadable", "absent")}
        return Expected(published, doubtful)


@dataclass(frozen=True, slots=True)
class Expected:
    """`published` must be stored, `doubtful` paths may keep what was published there once."""

    published: Mapping[str, str]
    doubtful: set[str]

    def faults(self, found: Mapping[str, str], earlier: Mapping[str, set[str]]) -> list[str]:
        """What is wrong with a store that holds these blobs at these paths."""
        wrong = [f"missing: {path}" for path in self.published.keys() - found.keys()]
        for path, blob in found.items():
            if path in self.published:
                if blob != self.published[path]:
                    wrong.append(f"out of date: {path}")
            elif path not in self.doubtful:
                wrong.append(f"not published: {path}")
            elif blob not in earlier.get(path, ()):
                wrong.append(f"never published like that: {path}")
        return sorted(wrong)


def truth_at(git_dir: Path, commit: str, patterns: Sequence[str]) -> Truth:
    tree = tree_at(git_dir, commit)
    markdown = {path: blob for path, blob in tree.blobs.items() if is_markdown(path)}
    bytes_of = dict(blobs(git_dir, set(tree.blobs.values()), contents=set(markdown.values())))
    raw = {path: body for path, blob in markdown.items() if (body := bytes_of[blob]) is not None}
    return Truth(
        tree,
        {path: read(body) for path, body in raw.items()},
        raw,
        frozenset(path for path in markdown if not is_content(path, patterns)),
        frozenset(path for path, blob in tree.blobs.items() if bytes_of[blob] is None),
    )


def tree_at(git_dir: Path, commit: str) -> Tree:
    listing = git(f"--git-dir={git_dir}", "ls-tree", "-r", "-z", "--full-tree", commit, environment=_environment())
    found: dict[str, str] = {}
    for line in filter(None, listing.split(b"\0")):
        facts, path = line.split(b"\t", 1)
        mode, _, blob = facts.split()
        if mode in REGULAR:
            found[path.decode(errors="replace")] = blob.decode()
    return Tree(commit, found)


def blobs(
    git_dir: Path, wanted: Iterable[str], contents: Iterable[str] | None = None
) -> Iterator[tuple[str, bytes | None]]:
    """Each wanted blob and its bytes, None when the clone lacks it; those not in `contents` come empty."""
    names = sorted(set(wanted))
    full = set(names if contents is None else contents)
    yield from _ask(git_dir, "--batch", [name for name in names if name in full])
    yield from _ask(git_dir, "--batch-check", [name for name in names if name not in full])


def _ask(git_dir: Path, mode: str, names: Sequence[str]) -> Iterator[tuple[str, bytes | None]]:
    asked = "".join(f"{name}\n" for name in names).encode()
    command = ["git", f"--git-dir={git_dir}", "cat-file", mode]
    done = subprocess.run(command, input=asked, capture_output=True, env=_environment(), check=False)
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace"))
    answer, at = done.stdout, 0
    for name in names:
        end = answer.index(b"\n", at)
        header, at = answer[at:end].split(), end + 1
        if header[1] == b"missing":
            yield name, None
        elif mode == "--batch-check":
            yield name, b""
        else:
            size = int(header[2])
            yield name, answer[at : at + size]
            at += size + 1


def blob(git_dir: Path, name: str) -> bytes | None:
    return next(body for _, body in blobs(git_dir, [name]))


def servable(git_dir: Path, truth: Truth) -> dict[str, bytes]:
    """The files that published pages embed or link: not those in hidden folders, too large, or not in this clone."""
    shown = [path for path in truth.links.files if not any(part.startswith(".") for part in path.split("/"))]
    found = {path: blob(git_dir, truth.tree.blobs[path]) for path in shown}
    return {path: body for path, body in found.items() if body is not None and len(body) <= MOST_ATTACHMENT_BYTES}


def is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


def is_content(path: str, patterns: Sequence[str]) -> bool:
    """Whether a file may be published at all. Raises ValueError for a pattern this reader does not know."""
    return is_markdown(path) and not any(_excludes(pattern.casefold(), path.casefold()) for pattern in patterns)


def _excludes(pattern: str, path: str) -> bool:
    """`name/` at the top, `**/name/` or `**/name` anywhere (with `*` in the name), or one file."""
    if pattern.startswith("**/") and pattern.count("/") == 2 and pattern.endswith("/"):
        return any(fnmatchcase(folder, pattern[3:-1]) for folder in path.split("/")[:-1])
    if pattern.startswith("**/") and pattern.count("/") == 1:
        return fnmatchcase(path.rpartition("/")[2], pattern[3:])
    if any(letter in pattern for letter in "*?["):
        raise ValueError(f"acceptance cannot read the exclusion {pattern!r}")
    return path.startswith(pattern) if pattern.endswith("/") else path == pattern


def _environment() -> dict[str, str]:
    """A partial clone must not fetch what it lacks."""
    return neutral_environment() | {"GIT_NO_LAZY_FETCH": "1"}


EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    expected: Value
    found: Value
    holds: bool
    examples: tuple[str, ...] = ()
    """Some of what makes it false."""


def equal(text: str, expected: Value, found: Value, examples: Iterable[str] = ()) -> Statement:
    return Statement(text, expected, found, expected == found, _some(examples))


def same(text: str, expected: Collection[str], found: Collection[str]) -> Statement:
    """Both hold the same members; the figures are their numbers."""
    wanted, there = set(expected), set(found)
    examples = [f"missing: {name}" for name in sorted(wanted - there)]
    examples += [f"not expected: {name}" for name in sorted(there - wanted)]
    return Statement(text, len(wanted), len(there), wanted == there and len(found) == len(there), _some(examples))


def all_of(text: str, count: int, faults: Collection[str]) -> Statement:
    """Each of `count` things is as it should be, but for the faults."""
    return Statement(text, count, count - len(faults), not faults, _some(faults))


def none(text: str, faults: Collection[str]) -> Statement:
    return Statement(text, 0, len(faults), not faults, _some(faults))


def fact(text: str, found: Value) -> Statement:
    """A figure that nothing is expected of."""
    return Statement(text, None, found, holds=True)


def rows(statements: Sequence[Statement]) -> list[Row]:
    """For a table of `bench.table`."""
    return [
        {
            "statement": item.text,
            "expected": "" if item.expected is None else item.expected,
            "found": "" if item.found is None else item.found,
            "verdict": "FALSE" if not item.holds else "" if item.expected is None else "true",
        }
        for item in statements
    ]


def failures(statements: Iterable[Statement]) -> list[str]:
    """Every false statement with its examples, a line each."""
    lines = []
    for item in statements:
        if not item.holds:
            lines.append(f"FALSE: {item.text}")
            lines += [f"  {example}" for example in item.examples]
    return lines


def _some(examples: Iterable[str]) -> tuple[str, ...]:
    known = list(examples)
    more = [f"and {len(known) - EXAMPLES} more"] if len(known) > EXAMPLES else []
    return (*known[:EXAMPLES], *more)
