"""The sync benchmark on a small made-up repository: its counts are within the targets, and they count something."""

from pathlib import Path

import pytest

from bench import synthetic
from bench.corpus import open_corpus
from bench.speed import sync

SMALLER = 24
"""Times; the sync fetches up to about 50 files one by one, and only more of them as an archive."""

pytestmark = pytest.mark.laptop


def test_a_small_repository_syncs_within_every_target(tmp_path: Path) -> None:
    figures = {figure.name: figure for figure in sync.measure(open_corpus(None, tmp_path, every=SMALLER), tmp_path)}
    assert [sentence for figure in figures.values() for sentence in figure.missed] == []

    published = sum(file.published for file in synthetic.files(SMALLER))
    first = figures["first sync"]
    assert first.highest("documents") == published
    assert first.highest("texts_embedded") >= published
    assert first.highest("github_calls") > 0

    unchanged = figures["nothing changed"]
    assert (unchanged.highest("documents"), unchanged.highest("embedding_calls")) == (0, 0)
    assert unchanged.highest("github_calls") > 0

    one_file = figures["push of one file"]
    assert (one_file.paths, one_file.highest("documents"), one_file.highest("blobs")) == (1, 1, 1)
    assert one_file.highest("texts_embedded") > 0
    assert figures["the large push"].paths > 50
