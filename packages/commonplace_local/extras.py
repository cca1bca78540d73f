"""Parts of this program that few need: whether one is installed, and the command that installs it."""

import json
import sys
from importlib.metadata import Distribution, PackageNotFoundError
from importlib.util import find_spec
from pathlib import Path

from commonplace_local.errors import CommandError
from commonplace_local.project import CHECKOUT, DISTRIBUTION

MODULES = {
    "wallets": ("siwe", "web3", "eth_abi", "eth_hash", "eth_utils", "pyunormalize"),
    "redaction": ("re2", "onnxruntime", "phonenumbers", "stdnum"),
    "opensearch": ("opensearchpy",),
    "reference": ("tree_sitter", "tree_sitter_typescript"),
    "openai": ("openai",),
}
"""Name of an extra in `pyproject.toml` -> top modules that it brings."""


def is_installed(extra: str) -> bool:
    """Return True when all of the extra is there."""
    return all(find_spec(module) for module in MODULES[extra])


def install_command(extra: str) -> str:
    """Return the command that installs an extra of the program that runs, by what installed the program."""
    if CHECKOUT:
        return f"make setup EXTRAS={extra}"
    wanted, here = f'"{DISTRIBUTION}[{extra}]{_origin()}"', Path(sys.prefix)
    if (here / "pipx_metadata.json").exists():
        return f"pipx install --force {wanted}"
    if (here / "uv-receipt.toml").exists():
        return f"uv tool install {wanted}"
    if any(part.startswith("archive-v") for part in here.parts):  # the cache of uv, where uvx keeps environments
        return f"uvx --from {wanted} commonplace"
    return f"{sys.executable} -m pip install {wanted}" if find_spec("pip") else f"uv pip install -p {here} {wanted}"


def missing_line() -> str:
    """Return what a start lacks, with the commands that install it; empty where nothing is missing."""
    told = {"redaction": "contributed knowledge", "wallets": "sign-in by wallet"}
    lines = [f"{one} ({what}): {install_command(one)}" for one, what in told.items() if not is_installed(one)]
    return f"Not installed: {'; '.join(lines)}" if lines else ""


def require(extra: str, what: str) -> None:
    """Raise CommandError, with the command that installs the extra, where it is missing. `what` needs it."""
    if not is_installed(extra):
        raise lacks(extra, what)


def lacks(extra: str, what: str) -> CommandError:
    """Return the error of something that needs an extra."""
    return CommandError(
        f"{what} needs the extra `{extra}`, which is not installed.", f"Install it: {install_command(extra)}"
    )


def extra_of(error: ModuleNotFoundError) -> str | None:
    """Return the extra that brings a module which was not found; None for a module of none."""
    module = (error.name or "").partition(".")[0]
    return next((extra for extra, modules in MODULES.items() if module in modules), None)


def _origin() -> str:
    """Return ` @ URL` for a program that was installed from a wheel in a file, which the package index may not have."""
    try:
        url = json.loads(Distribution.from_name(DISTRIBUTION).read_text("direct_url.json") or "{}").get("url", "")
    except PackageNotFoundError:
        return ""
    return f" @ {url}" if url.endswith(".whl") else ""
