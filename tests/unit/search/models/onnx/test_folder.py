import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from onnx import TensorProto

from commonplace.kernel.environment import SettingsError
from commonplace.search.models.onnx import OnnxEmbeddings, OnnxReranker
from tests.fakes.onnx_models import cross_encoder, encoder, options


def refused(folder: Path, kind: Any = OnnxEmbeddings) -> str:
    with pytest.raises(SettingsError) as raised:
        kind(folder)
    return str(raised.value)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "model") == f"The model folder {tmp_path}/model does not exist."


def test_what_a_folder_lacks_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path) == f"The model folder {tmp_path} lacks model.onnx and tokenizer.json."
    encoder(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    assert refused(tmp_path, OnnxReranker) == f"The model folder {tmp_path} lacks tokenizer.json."


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    encoder(tmp_path)
    (tmp_path / name).write_bytes(b"nothing of the sort")
    assert name in refused(tmp_path)


def test_a_graph_that_asks_for_more_than_text_is_refused(tmp_path: Path) -> None:
    encoder(tmp_path, kind=TensorProto.INT64, type_ids=True)
    raw = (tmp_path / "model.onnx").read_bytes()
    (tmp_path / "model.onnx").write_bytes(raw.replace(b"token_type_ids", b"pixel_value_id"))
    assert "asks for pixel_value_id of tensor(int64); known are input_ids" in refused(tmp_path)


def test_an_encoder_is_no_cross_encoder_and_one_of_many_classes_is_none_either(tmp_path: Path) -> None:
    assert "not a cross-encoder" in refused(encoder(tmp_path / "encoder"), OnnxReranker)
    assert "not a cross-encoder" in refused(cross_encoder(tmp_path / "classes", labels=3), OnnxReranker)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"pooling": "max"}, "pooling in .* must be mean or cls"),
        ({"maxTokens": 4}, "maxTokens in .* must be a whole number from 16 to 8192"),
        ({"maxTokens": True}, "maxTokens in .* must be"),
        ({"name": "two\nlines"}, "name in .* must be a name in one line"),
        ({"queryPrefix": 3}, "queryPrefix in .* must be text"),
        ({"normalise": True}, "no other keys than name, pooling, maxTokens, queryPrefix, passagePrefix"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, values: dict[str, object], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        OnnxEmbeddings(options(encoder(tmp_path), **values))


@pytest.mark.parametrize("text", ["{", "[]", '"mean"'])
def test_options_that_are_no_object_are_refused(tmp_path: Path, text: str) -> None:
    encoder(tmp_path)
    (tmp_path / "commonplace.json").write_text(text)
    assert "commonplace.json is" in refused(tmp_path)


def test_the_options_may_name_the_model(tmp_path: Path) -> None:
    assert OnnxEmbeddings(options(encoder(tmp_path), name="our model")).name == "our model"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "commonplace.json", "model.onnx_data"])
def test_any_change_of_what_decides_a_vector_is_another_revision(tmp_path: Path, name: str) -> None:
    folder = options(encoder(tmp_path))
    before = OnnxEmbeddings(folder).revision
    assert OnnxEmbeddings(folder).revision == before

    path = folder / name
    path.write_bytes((path.read_bytes() if path.exists() else b"") + b" ")
    (folder / "README.md").write_text("what does not decide anything")

    from commonplace.kernel.onnx import ModelFolder

    assert ModelFolder(folder).revision != before
    assert len(before) == 16


def test_without_the_runtime_a_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module

    def without(name: str, package: str | None = None) -> ModuleType:
        if name == "onnxruntime":
            raise ModuleNotFoundError(name=name)
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    assert refused(encoder(tmp_path)) == "A model folder needs the package onnxruntime: install the group `onnx`."
