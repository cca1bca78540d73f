import re
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from commonplace_local.wheel_models import ONNX
from infra.node import provide_node
from infra.providers import deployed
from infra.requirements import CORE, DATA_FILE, GROUPS, IN_THE_RUNTIME, REQUIREMENTS_FILE, ROOT, exported

MEBIBYTE = 2**20
AARCH64 = 183
"""Machine number in an ELF file's header."""

BUDGETS = {
    "functions/webhook": 17,
    "functions/bootstrap": 17,
    "functions/sync": 48,
    "functions/index": 124,
    "functions/site": 130,
    "functions/rest": 128,
    "functions/mcp": 140,
    "functions/rotate": 30,
    "functions/redact": 90,
}
"""MiB unzipped: the library, the packages and the handler. Lambda ends at 250."""

LIBRARY_BUDGET = 4.25


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every bundle as a deployment would upload it, by source folder; the library beside them."""
    provide_node()
    from infra import bundling

    folder = tmp_path_factory.mktemp("bundles")
    bundling.build_library(folder / "library")
    for source in BUDGETS:
        bundling.build_handler(source, folder / source / "handler")
    for source in GROUPS:
        bundling.build_dependencies(source, folder / source / "packages")
    return folder


@pytest.mark.parametrize("source", GROUPS)
def test_requirements_are_what_the_lock_says(source: str) -> None:
    told = exported(source)
    assert told == {name: (ROOT / source / name).read_text() for name in told}, "run `make requirements`"
    assert told.keys() == {file.name for file in _requirements(source)}


@pytest.mark.parametrize("source", GROUPS)
def test_requirements_are_pinned_by_hash_and_name_no_registry(source: str) -> None:
    for file in _requirements(source):
        text = file.read_text()
        pinned = re.findall(r"^[a-z0-9-]+==", text, re.MULTILINE)
        assert pinned
        assert len(re.findall(r"^[a-z0-9-]+==.*\n    --hash=", text, re.MULTILINE)) == len(pinned)
        assert "://" not in text


@pytest.mark.parametrize("source", GROUPS)
def test_what_the_runtime_brings_is_not_bundled(source: str) -> None:
    packages = set(re.findall(r"^([a-z0-9-]+)==", (ROOT / source / REQUIREMENTS_FILE).read_text(), re.MULTILINE))
    assert not packages & {*IN_THE_RUNTIME}


@pytest.mark.parametrize("source", BUDGETS)
def test_a_function_stays_within_its_budget(bundles: Path, source: str) -> None:
    size = _size(bundles / "library") + _size(bundles / CORE) + _size(bundles / source)
    assert size <= BUDGETS[source] * MEBIBYTE, f"{source} has {size / MEBIBYTE:.1f} MiB"


def test_the_library_stays_small(bundles: Path) -> None:
    assert _size(bundles / "library") <= LIBRARY_BUDGET * MEBIBYTE


def test_onnx_fits_beside_the_packages_of_the_functions_that_use_it(bundles: Path) -> None:
    layer = _size(bundles / ONNX)
    for source in ("functions/index", "functions/site", "functions/rest", "functions/mcp"):
        left = 250 * MEBIBYTE - _size(bundles / "library") - _size(bundles / CORE) - _size(bundles / source) - layer
        assert left > 50 * MEBIBYTE, f"{left / MEBIBYTE:.0f} MiB are left for models beside {source}"


def test_the_layer_with_onnx_holds_nothing_that_the_functions_have_already(bundles: Path) -> None:
    packages = {each.name for each in (bundles / ONNX / "packages/python").iterdir()}
    assert "onnxruntime" in packages
    assert not packages & {"numpy", "tokenizers", "grpc"}


@pytest.mark.parametrize("source", ["functions/index", "functions/site", "functions/rest", "functions/mcp"])
def test_functions_that_search_carry_their_own_http_and_no_sdk(bundles: Path, source: str) -> None:
    packages = {each.name for each in (bundles / source / "packages/python").iterdir()}
    assert "urllib3" in packages
    assert not {"grpc", "google", "aiohttp", "boto3"} & packages


def test_nobodys_tests_are_bundled(bundles: Path) -> None:
    packages = bundles / "functions/mcp/packages/python"
    assert (packages / "numpy/linalg").is_dir()
    assert not [folder for folder in packages.rglob("tests") if folder.is_dir()]


def test_a_model_is_where_its_function_is_told_to_look(tmp_path: Path) -> None:
    provide_node()
    from infra.bundling import build_models

    for name in ("model.onnx", "tokenizer.json", ".cache"):
        (tmp_path / "encoder" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "encoder" / name).write_text(name)
    build_models([tmp_path / "encoder"], tmp_path / "layer")
    found = {str(file.relative_to(tmp_path / "layer")) for file in _files(tmp_path / "layer")}
    assert found == {"models/encoder/model.onnx", "models/encoder/tokenizer.json"}
    assert deployed(f"onnx:{tmp_path}/encoder") == "onnx:/opt/models/encoder"


def test_every_compiled_module_is_for_the_functions_processor(bundles: Path) -> None:
    modules = [file for file in _files(bundles) if re.search(r"\.so(\.\d+)*$", file.name)]
    assert len(modules) > 20
    assert {struct.unpack_from("<H", file.read_bytes(), 18)[0] for file in modules} == {AARCH64}


def test_a_handler_is_at_the_root_of_its_zip_and_nearly_alone(bundles: Path) -> None:
    for source in BUDGETS:
        names = {file.name for file in _files(bundles / source / "handler") if file.suffix != ".pyc"}
        assert "handler.py" in names, source
        assert not names & {REQUIREMENTS_FILE, DATA_FILE, "README.md", "machine.asl.json"}, source


def test_the_library_is_where_python_looks_for_it_in_a_layer(bundles: Path) -> None:
    assert (bundles / "library/python/commonplace/kernel/settings.py").is_file()
    assert not (bundles / "library/python/commonplace/reference/generating").exists()


@pytest.mark.parametrize("source", [source for source in GROUPS if (ROOT / source / DATA_FILE).exists()])
def test_the_embedding_model_is_bundled_without_its_code(bundles: Path, source: str) -> None:
    model = bundles / source / "packages/python/wordllama"
    data = {str(file.relative_to(model)) for file in _files(model) if file.suffix != ".pyc"}
    weights, tokenizer = "weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"
    assert data == {"__init__.py", weights, tokenizer}
    assert (model / weights).stat().st_size > 10 * MEBIBYTE


def _requirements(source: str) -> list[Path]:
    return [*(ROOT / source).glob("*requirements.txt")]


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_file())


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in _files(folder))
