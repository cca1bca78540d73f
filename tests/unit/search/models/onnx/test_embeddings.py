import math
from pathlib import Path
from typing import Any

import numpy
import pytest
from onnx import TensorProto

from commonplace.kernel import onnx
from commonplace.kernel.onnx import ModelFolder
from commonplace.search.model import Vector
from commonplace.search.models.onnx import OnnxEmbeddings
from tests.fakes import onnx_models
from tests.fakes.onnx_models import DIMENSION, encoder, options

TEXTS = [
    "the tide",
    "tide pools are left by the sea",
    "a day at the beach",
    "",
    "council vote",
    "treasury budget of the council " * 30,
]


def similarity(one: Vector, other: Vector) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def reference(text: str, *, pooling: str = "mean", tokens: int = 512) -> "numpy.ndarray[Any, Any]":
    """What the graph and the pooling come to, one text at a time and without padding."""
    tokenizer = onnx_models.tokenizer()
    tokenizer.enable_truncation(tokens)
    hidden = onnx_models.weights()[tokenizer.encode(text).ids]
    pooled = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    return numpy.asarray(pooled / numpy.linalg.norm(pooled))


def test_vectors_are_those_of_a_plain_computation(tmp_path: Path) -> None:
    model = OnnxEmbeddings(encoder(tmp_path / "small"))

    vectors = model.embed(TEXTS)

    assert (model.name, model.dimension) == ("small", DIMENSION)
    for text, vector in zip(TEXTS, vectors, strict=True):
        numpy.testing.assert_allclose(numpy.asarray(vector), reference(text), atol=1e-6)


def test_meaning_is_in_the_vectors(tmp_path: Path) -> None:
    query, near, far = OnnxEmbeddings(encoder(tmp_path)).embed(
        ["tide pools", "what is left by the tide", "council vote"]
    )
    assert similarity(query, near) > similarity(query, far) + 0.1


@pytest.mark.parametrize("output", ["last_hidden_state", "token_embeddings", "hidden", "sentence_embedding"])
def test_outputs_are_found_under_their_various_names(tmp_path: Path, output: onnx_models.Output) -> None:
    (vector,) = OnnxEmbeddings(encoder(tmp_path, output=output)).embed(["tide pools"])
    numpy.testing.assert_allclose(numpy.asarray(vector), reference("tide pools"), atol=1e-6)


@pytest.mark.parametrize("kind", [TensorProto.INT64, TensorProto.INT32])
@pytest.mark.parametrize("type_ids", [False, True])
def test_a_graph_is_given_the_inputs_that_it_declares(tmp_path: Path, kind: int, type_ids: bool) -> None:
    (vector,) = OnnxEmbeddings(encoder(tmp_path, kind=kind, type_ids=type_ids)).embed(["tide pools"])
    numpy.testing.assert_allclose(numpy.asarray(vector), reference("tide pools"), atol=1e-6)


def test_the_first_token_can_stand_for_the_text(tmp_path: Path) -> None:
    folder = options(encoder(tmp_path), pooling="cls")
    (vector,) = OnnxEmbeddings(folder).embed(["tide pools"])
    numpy.testing.assert_allclose(numpy.asarray(vector), reference("tide pools", pooling="cls"), atol=1e-6)


def test_a_long_text_is_cut_at_the_tokens_that_are_allowed(tmp_path: Path) -> None:
    folder = options(encoder(tmp_path), maxTokens=16)
    text = "tide " * 10 + "council " * 100
    (vector,) = OnnxEmbeddings(folder).embed([text])
    numpy.testing.assert_allclose(numpy.asarray(vector), reference(text, tokens=16), atol=1e-6)


def test_a_tokenizer_that_knows_its_limit_is_believed(tmp_path: Path) -> None:
    folder = encoder(tmp_path)
    limited = onnx_models.tokenizer()
    limited.enable_truncation(20)
    limited.save(str(folder / "tokenizer.json"))
    text = "tide " * 10 + "council " * 100
    (vector,) = OnnxEmbeddings(folder).embed([text])
    numpy.testing.assert_allclose(numpy.asarray(vector), reference(text, tokens=20), atol=1e-6)


def test_queries_and_passages_get_the_words_before_them_that_the_model_was_trained_with(tmp_path: Path) -> None:
    model = OnnxEmbeddings(options(encoder(tmp_path), queryPrefix="what is ", passagePrefix="the "))

    (query,), (passage,) = model.embed(["tide"], query=True), model.embed(["tide"])

    numpy.testing.assert_allclose(numpy.asarray(query), reference("what is tide"), atol=1e-6)
    numpy.testing.assert_allclose(numpy.asarray(passage), reference("the tide"), atol=1e-6)


def test_texts_run_in_batches_of_about_one_length() -> None:
    lengths = [3] * 40 + [500] * 20 + [0] + [4]

    batches = list(onnx._batches(lengths))

    assert sorted(position for batch in batches for position in batch) == [*range(60), 61]
    assert all(len(batch) <= onnx.TEXTS_PER_RUN for batch in batches)
    assert all(len(batch) * max(lengths[each] for each in batch) <= onnx.TOKENS_PER_RUN for batch in batches)


def test_a_text_longer_than_a_batch_still_runs() -> None:
    assert list(onnx._batches([onnx.TOKENS_PER_RUN * 2])) == [[0]]


def test_text_without_a_token_is_near_to_nothing(tmp_path: Path) -> None:
    folder = encoder(tmp_path)
    onnx_models.tokenizer(special=False).save(str(folder / "tokenizer.json"))

    nothing, something = OnnxEmbeddings(folder).embed(["  ", "tide"])

    assert list(nothing) == [0.0] * DIMENSION
    assert math.hypot(*something) == pytest.approx(1)


def test_threads_are_bounded(tmp_path: Path) -> None:
    session = OnnxEmbeddings(encoder(tmp_path))._graph._session
    chosen = session.get_session_options()
    assert (chosen.intra_op_num_threads, chosen.inter_op_num_threads) == (onnx.THREADS, 1)
    assert 1 <= onnx.THREADS <= 4


def test_what_fills_up_a_batch_is_what_the_model_knows_as_padding(tmp_path: Path) -> None:
    folder = encoder(tmp_path)
    named = onnx_models.tokenizer()
    assert onnx._pad_id(named) == onnx_models.VOCABULARY["[PAD]"]
    named.enable_padding(pad_id=7)
    named.save(str(folder / "tokenizer.json"))

    opened = onnx.Graph(ModelFolder(folder))
    long, short = opened.encode_texts(["the tide", "tide"])

    tide = onnx_models.VOCABULARY["tide"]
    assert opened._padded([long, short], "input_ids", "int64").tolist()[1] == [2, tide, 3, 7]
    assert opened._padded([long, short], "attention_mask", "int64").tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
