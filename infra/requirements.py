"""The generator of each function's `requirements.txt` from the lock, so that bundling resolves nothing.

Run it with `make requirements`.
"""

import subprocess
import sys
from pathlib import Path

from commonplace_local.wheel_models import ONNX, uv

ROOT = Path(__file__).resolve().parent.parent

REQUIREMENTS_FILE = "requirements.txt"
DATA_FILE = "data-requirements.txt"

CORE = "layers/core"
OPENAI = "layers/openai"

GROUPS = {
    CORE: "core",
    "functions/sync": "sync",
    "functions/index": "index",
    "functions/rest": "rest",
    "functions/mcp": "mcp",
    "functions/auth": "auth",
    "functions/site": "site",
    "functions/console": "console",
    "functions/rotate": "rotate",
    "functions/redact": "redact",
    "functions/governance_webhooks": "webhooks",
    "functions/chat": "chat",
    ONNX: "onnx",
    OPENAI: "openai",
}
"""Source folder -> dependency group; `core` goes with every function. The webhook has none of its own."""

BESIDE = {ONNX: ("numpy", "tokenizers"), OPENAI: ("anyio", "httpx", "typing-extensions")}
"""Packages of a group that every function which uses the layer carries already."""

IN_THE_CORE = ("pydantic",)
"""What packages of a function need, and `core` brings."""

IN_THE_RUNTIME = ("boto3", "botocore", "s3transfer")
"""Every Python runtime of Lambda brings these."""

DATA_PACKAGE = "wordllama"
"""Bundled for its embedding table and tokenizer alone. Its compiled code has no wheel for Linux on ARM and is not used;
with it go the packages that it alone needs."""

DATA_FILES = ("wordllama/weights/*.safetensors", "wordllama/tokenizers/*.json")

TEST_FOLDERS = ("numpy/**/tests", "certifi/tests", "events/tests")
"""Installed with their packages, 9 MB with their bytecode, and run by nobody here."""

NEVER_IMPORTED = ("jsonschema",)
"""In `mcp` only the client looks at schemas with it (five packages); what a server has no use for but `mcp` imports at
once, such as `uvicorn`, stays. What else nobody imports is left out of the lock (`tool.uv` in `pyproject.toml`)."""


def exported(source: str) -> dict[str, str]:
    """File name -> contents: what the lock says the function's folder holds now."""
    group = GROUPS[source]
    beside = () if source == CORE else (*IN_THE_CORE, *BESIDE.get(source, ()))
    left_out = (DATA_PACKAGE, *NEVER_IMPORTED, *beside)
    files = {REQUIREMENTS_FILE: _export(group, *_each("--prune", left_out))}
    # The lines of one package: its pin and, indented below, its hashes.
    requirements = _export(group)
    lines: list[str] = []
    inside = False
    for line in requirements.splitlines(keepends=True):
        inside = line.startswith(f"{DATA_PACKAGE}==") or (inside and line.startswith(" "))
        lines += [line] if inside else []
    if data := "".join(lines):
        files[DATA_FILE] = data
    return files


def _export(group: str, *options: str) -> str:
    command = [uv(), "export", "--quiet", "--locked", "--only-group", group]
    command += ["--no-emit-project", "--no-header", "--no-annotate"]
    command += [*_each("--no-emit-package", IN_THE_RUNTIME), *options]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def _each(option: str, values: tuple[str, ...]) -> list[str]:
    return [word for value in values for word in (option, value)]


def main() -> int:
    """Rewrites every function's files and says which."""
    for source in GROUPS:
        for name, text in exported(source).items():
            (ROOT / source / name).write_text(text)
            print(f"{source}/{name}: {text.count('==')} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
