"""The made-up repository has the measures it claims, and is the same every time."""

from collections import Counter
from functools import cache
from pathlib import Path
from statistics import median

import pytest

from bench import synthetic
from bench.corpus import open_corpus
from bench.synthetic import File
from commonplace.documents.content.normalise import normalise
from commonplace.documents.content.paths import Exclusions
from commonplace.documents.content.reader import Published, contents_of, judge
from commonplace.repository.markdown import ParsedFile


@cache
def tree() -> tuple[File, ...]:
    return tuple(synthetic.files())


@cache
def documents() -> dict[str, ParsedFile]:
    """What the publish gate lets through."""
    contents = Exclusions()
    judged = {file.path: judge(file.text) for file in tree() if contents.is_content(file.path)}
    return {path: verdict.file for path, verdict in judged.items() if isinstance(verdict, Published)}


def test_there_are_as_many_files_as_claimed() -> None:
    endings = Counter(file.path.rpartition(".")[2] for file in tree())
    assert endings.pop("md") == 2_156
    assert endings.total() == 130
    assert len({file.path for file in tree()}) == len({file.former_path for file in tree()}) == 2_286


def test_exactly_what_is_meant_to_be_published_passes_the_gate() -> None:
    assert documents().keys() == {file.path for file in tree() if file.published}
    assert len(documents()) == 272
    assert sum(path.endswith("index.md") for path in documents()) == 26


def test_bodies_are_as_long_as_real_ones() -> None:
    lengths = sorted(len(file.body.replace("\r\n", "\n")) for file in documents().values())
    assert median(lengths) == pytest.approx(6_000, rel=0.1)
    assert 30_000 < lengths[-1] < 60_000
    assert sum("\r\n" in file.body for file in documents().values()) == pytest.approx(111, abs=5)


def test_tags_are_as_many_and_as_unevenly_spread_as_real_ones() -> None:
    tags = Counter(tag for path, file in documents().items() for tag in normalise(path, file).tags)
    assert tags.total() == pytest.approx(620, abs=20)
    assert len(tags) == pytest.approx(114, abs=5)
    assert tags.most_common(1) == [("stewardship", 90)]


def test_documents_link_to_each_other_and_a_few_links_are_broken() -> None:
    targets = [link.target for file in documents().values() for link in contents_of(file).links]
    inside = sum(target in documents() for target in targets)
    assert inside / len(documents()) == pytest.approx(12, abs=1)
    assert sum("missing-" in target for target in targets) == 136


def test_the_large_push_moves_about_two_thousand_files(tmp_path: Path) -> None:
    corpus = open_corpus(None, tmp_path)
    assert len(corpus.changed_paths(corpus.large)) == pytest.approx(4_000, abs=100)
    assert sum(file.path != file.former_path for file in tree()) == pytest.approx(2_000, abs=50)


def test_two_repositories_are_the_same_commit(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    one, two = (open_corpus(None, tmp_path / folder, every=40) for folder in ("one", "two"))
    assert (one.head, one.large) == (two.head, two.large)


def test_every_file_of_the_newest_tree_is_in_the_repository(tmp_path: Path) -> None:
    corpus = open_corpus(None, tmp_path, every=40)
    for file in synthetic.files(every=40):
        assert corpus.read(corpus.head, file.path) == file.text
