"""Any clone can be measured on, and is only read."""

from pathlib import Path

import pytest

from bench.corpus import Corpus, open_corpus, parse_push
from commonplace_local.github.git import git, git_environment
from tests.integration.repositories import Clone, document


@pytest.fixture
def user(tmp_path: Path) -> Clone:
    """Three pushes: two documents, both moved, one edited."""
    user = Clone(tmp_path / "clone")
    user.write("links/one.md", document("One"))
    user.write("links/two ü.md", document("Two", publish=False))
    user.commit()
    (user.folder / "links").rename(user.folder / "data")
    user.commit()
    user.write("data/one.md", document("One", "Edited.\n"))
    user.commit()
    return user


@pytest.fixture
def corpus(user: Clone, tmp_path: Path) -> Corpus:
    (tmp_path / "bench").mkdir()
    return open_corpus(user.folder, tmp_path / "bench")


def test_the_push_with_the_most_changed_paths_is_found(user: Clone, corpus: Corpus) -> None:
    assert corpus.head == user.git("rev-parse", "HEAD")
    assert corpus.large.after == user.git("rev-parse", "HEAD~1")
    assert sorted(corpus.changed_paths(corpus.large)) == [
        "data/one.md",
        "data/two ü.md",
        "links/one.md",
        "links/two ü.md",
    ]


def test_a_commit_of_ours_leaves_the_clone_as_it_was(user: Clone, corpus: Corpus) -> None:
    before = user.fingerprint()
    push = corpus.commit({"data/new.md": b"New.\n", "data/two ü.md": None})
    assert corpus.read(push.after, "data/new.md") == b"New.\n"
    assert sorted(corpus.changed_paths(push)) == ["data/new.md", "data/two ü.md"]
    assert user.fingerprint() == before


def test_files_that_a_partial_clone_does_not_hold_are_left_out(user: Clone, tmp_path: Path) -> None:
    user.git("config", "uploadpack.allowFilter", "true")
    user.write("picture.png", bytes(9_000))
    user.write("later.md", document("Later"))
    user.commit()
    partial = tmp_path / "partial.git"
    address = user.folder.as_uri()
    git("clone", "--quiet", "--bare", "--filter=blob:limit=5k", address, str(partial), environment=git_environment())
    git("config", "--unset", "remote.origin.promisor", directory=partial)
    git("remote", "remove", "origin", directory=partial)
    (tmp_path / "bench").mkdir()
    corpus = open_corpus(partial, tmp_path / "bench")
    assert corpus.git("ls-tree", "-r", "--name-only", corpus.head).split("\n") == [
        "data/one.md",
        '"data/two \\303\\274.md"',
        "later.md",
    ]
    assert corpus.git("rev-parse", f"{corpus.head}^") == user.git("rev-parse", "HEAD")


def test_the_bare_work_counts_what_is_published(corpus: Corpus) -> None:
    whole = type(corpus.large)(None, corpus.head)
    assert parse_push(corpus, whole) == 1
    assert parse_push(corpus, corpus.large) == 1
