"""Calls to `git`, the same way everywhere: no prompts, no optional locks, nothing of the caller's `GIT_*`."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class GitError(Exception):
    """`git` answered with an error; the text is what it wrote."""


def git_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment for a `git` process: a hook's or a shell's `GIT_DIR` must not redirect it."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"} | dict(extra or {})


def neutral_environment() -> dict[str, str]:
    """As `git_environment`, without the user's settings: for repositories that are ours alone."""
    return git_environment({"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull})


def git(
    *arguments: str,
    directory: Path | None = None,
    environment: Mapping[str, str] | None = None,
    data: bytes = b"",
) -> bytes:
    """Runs `git` and returns what it wrote. Raises GitError when it fails or is not installed."""
    command = ["git", *(("-C", str(directory)) if directory else ()), *arguments]
    try:
        done = subprocess.run(
            command, input=data, capture_output=True, env=dict(environment or git_environment()), check=False
        )
    except FileNotFoundError as error:
        raise GitError("git is not installed") from error
    if done.returncode:
        raise GitError(done.stderr.decode(errors="replace").strip() or f"git {arguments[0]} failed")
    return done.stdout


def git_text(*arguments: str, directory: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The one line that `git` wrote."""
    return os.fsdecode(git(*arguments, directory=directory, environment=environment)).strip()
