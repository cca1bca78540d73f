"""The model that comes with a package: what it answers, and that it never asks anybody."""

import math
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from commonplace.kernel.errors import Unavailable
from commonplace.search.models.local import LocalEmbeddings, _read_model

CORE = Path(__file__).parents[3] / "layers" / "core"


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


@pytest.fixture(scope="module")
def local() -> LocalEmbeddings:
    """It reads its files here, whatever another test has read before."""
    _read_model.cache_clear()
    return LocalEmbeddings()


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the model reached for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def test_vectors_have_the_promised_size_and_length_one(local: LocalEmbeddings) -> None:
    for vector in local.embed(["The tide comes in.", "x", "潮汐"]):
        assert len(vector) == local.dimension
        assert math.sqrt(cosine(vector, vector)) == pytest.approx(1.0, abs=1e-5)


def test_near_meanings_are_nearer_than_far_ones(local: LocalEmbeddings) -> None:
    dog, puppy, tax = local.embed(["a dog barks", "puppies are barking", "annual tax return"])

    assert cosine(dog, puppy) > cosine(dog, tax) + 0.2


def test_texts_do_not_influence_each_other(local: LocalEmbeddings) -> None:
    texts = [f"word {number} " * (number % 7 + 1) for number in range(150)]

    together = local.embed(texts)

    assert [list(vector) for vector in together] == [list(local.embed([text])[0]) for text in texts]


def test_case_changes_no_vector(local: LocalEmbeddings) -> None:
    one, other = local.embed(["Straße am Watt: DAOs", "STRASSE AM WATT: DAOS"])

    assert list(one) == list(other)


def test_text_without_a_token_is_near_to_nothing(local: LocalEmbeddings) -> None:
    empty, word = local.embed(["", "word"])

    assert cosine(empty, word) == 0


def test_any_string_can_be_embedded(local: LocalEmbeddings) -> None:
    assert len(local.embed(["\ud800", "\x00", "x" * 100_000, "🦀" * 1_000])) == 4
    assert local.embed([]) == []


def test_missing_files_are_told_as_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="lacks"):
        LocalEmbeddings(tmp_path).embed(["x"])


def test_nothing_heavy_is_imported_before_the_first_use() -> None:
    program = (
        "import sys; from commonplace.search.models.local import LocalEmbeddings;"
        "from commonplace.search.embedded.published import open_index;"
        "from commonplace.search.service import SearchService;"
        "model = LocalEmbeddings(); model.name, model.revision, model.dimension;"
        "print([name for name in ('numpy', 'tokenizers', 'wordllama', 'markdown_it') if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(CORE)}, capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "[]"
