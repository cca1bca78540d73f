"""Repositories elsewhere, as bare clones of our own that are fetched at each start: no files on disk, no hooks."""

import hashlib
import os
import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import typer

from commonplace.kernel.environment import is_loopback
from commonplace_local.dev.source import NAME_CHARACTERS, Source, clone
from commonplace_local.errors import CommandError
from commonplace_local.github.git import GitError, git, git_answer, git_environment
from commonplace_local.project import STATE
from commonplace_local.terminal import printable

GITHUB = "https://github.com"
CLONES = STATE / "clones"
BRANCHES = "refs/heads/"

_NAMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/(?!\.{1,2}\Z)[A-Za-z0-9._][A-Za-z0-9._-]{0,99}")
_OVER_SSH = re.compile(r"\w[\w.-]*@[A-Za-z0-9][\w.-]*:(?!:)[^\s:]+")
_SETTINGS = (
    *("core.hooksPath=/dev/null", "gc.auto=0", "maintenance.auto=false", "fetch.negotiationAlgorithm=noop"),
    *("http.lowSpeedLimit=1000", "http.lowSpeedTime=30"),
)


class Unreachable(CommandError):
    """The network, not the repository, is the cause."""


class Locked(CommandError):
    """The clone here is the cause: a process left a lock, or a branch now stands where a folder of branches was."""


_NO_LOGIN = r"could not read (?:Username|Password)|Authentication failed|Permission denied|Host key|error: 40[13]"
_NOT_THERE = r"(?i)not found|does not exist|not appear to be a git repo|No such file"
_NO_NETWORK = r"(?i)could not resolve|unable to access|could not connect|connection|timed out|too slow"
_LOCKED = r"cannot lock ref|could not lock|\.lock'"
_CAUSES = (
    (_LOCKED, Locked, "{} cannot be fetched: {}"),
    (_NO_LOGIN, CommandError, "{} is not there, or needs a login that Git does not have."),
    (_NOT_THERE, CommandError, "There is no repository at {}."),
    (_NO_NETWORK, Unreachable, "{} cannot be reached."),
    ("", CommandError, "{} cannot be fetched: {}"),
)
"""What Git says -> what is wrong."""


def address(text: str) -> str | None:
    """Return the URL of `owner/name` on GitHub, or a URL itself; None for a path. Raises CommandError."""
    if _NAMED.fullmatch(text):
        return f"{GITHUB}/{text}"
    if _OVER_SSH.fullmatch(text):
        return text
    if "://" not in text and "::" not in text:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    host = parts.hostname or ""
    secure = parts.scheme in ("https", "ssh") and host[:1].isalnum()
    near = (parts.scheme == "http" and is_loopback(host)) or (parts.scheme == "file" and not host)
    secret = parts.password or (parts.username and parts.scheme != "ssh")
    if not (secure or near) or secret or not re.fullmatch(r"[!-~]+", text):
        hint = "Give owner/name of GitHub, https://…, ssh://…, git@host:path or file:///…, without a password or token."
        raise CommandError(f"{printable(text)} is not an address of a repository that is read.", hint)
    return text


def fetched(url: str, branch: str | None = None, clones: Path = CLONES) -> Source:
    """Return a branch as it is there now; without a network, as it was fetched last. Raises CommandError."""
    name = NAME_CHARACTERS.sub("-", url.rstrip("/").removesuffix(".git").rpartition("/")[2].rpartition(":")[2])
    folder = clones / hashlib.sha256(url.encode()).hexdigest()[:12] / f"{name or 'repository'}.git"
    try:
        return _fetched(url, branch, folder)
    except Locked:
        shutil.rmtree(folder)
        return _fetched(url, branch, folder)


def _fetched(url: str, branch: str | None, folder: Path) -> Source:
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"url": url, "promisor": "true", "partialclonefilter": "blob:none"}
    written = ("--git-dir", str(folder), "config", "--get")
    if any(git_answer(*written, f"remote.origin.{key}") != value for key, value in settings.items()):
        _git(url, folder, "init", "--quiet", "--bare", "--template=")
        for key, value in settings.items():
            _git(url, folder, "config", f"remote.origin.{key}", value)
    try:
        listed = _git(url, folder, "ls-remote", "--symref", "origin", "HEAD", f"{BRANCHES}*")
    except Unreachable as error:
        known = branch or git_answer("symbolic-ref", "--short", "HEAD", directory=folder)
        if not git_answer("rev-parse", "--verify", f"{BRANCHES}{known}", directory=folder):
            raise
        typer.echo(f"{error.message} Showing what was fetched last.", err=True)
        return replace(clone(folder, known), origin=url)
    facts = [line.partition("\t") for line in listed.splitlines()]
    heads = [ref.removeprefix(BRANCHES) for _, _, ref in facts if ref.startswith(BRANCHES)]
    default = next((told.removeprefix(f"ref: {BRANCHES}") for told, _, ref in facts if told.startswith("ref: ")), "")
    shown = branch or (default if default in heads else next(iter(heads), ""))
    if shown not in heads:
        what = f"There is no branch {printable(shown)} at {url}" if heads else f"{url} has no commits yet"
        raise CommandError(f"{what}.", f"Its branches: {', '.join(map(printable, heads[:10])) or 'none'}.")
    fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none")
    _git(url, folder, *fetch, "origin", f"+{BRANCHES}{shown}:{BRANCHES}{shown}")
    _git(url, folder, "symbolic-ref", "HEAD", f"{BRANCHES}{shown}")
    # The whole history without contents, which dates need, and the contents of the newest commit alone.
    objects = _git(url, folder, "rev-list", "--objects", "--no-walk", "--missing=print", f"{BRANCHES}{shown}")
    if missing := "".join(f"{line[1:]}\n" for line in objects.splitlines() if line.startswith("?")):
        _git(url, folder, *fetch, "--stdin", "origin", data=missing.encode())
    return replace(clone(folder, shown), origin=url)


def _git(url: str, folder: Path, *arguments: str, data: bytes = b"") -> str:
    """Run Git, which asks nobody anything, over the protocols of such addresses alone. Raises CommandError."""
    ssh = git_answer("config", "--get", "core.sshCommand", directory=folder) or "ssh"
    scheme = url.partition("://")[0]
    quiet = {
        "GIT_ASKPASS": "",
        "GCM_INTERACTIVE": "never",
        "GIT_SSH_COMMAND": f"{ssh} -o BatchMode=yes -o ConnectTimeout=15",
        "GIT_ALLOW_PROTOCOL": scheme if scheme in ("file", "http") else "https:ssh",
    }
    settings = [part for one in _SETTINGS for part in ("-c", one)]
    try:
        told = git(*settings, *arguments, directory=folder, environment=git_environment(quiet), data=data)
    except GitError as error:
        kind, message = next((kind, text) for said, kind, text in _CAUSES if re.search(said, str(error)))
        hint = f"Check the name, the login and the network, until this works: git ls-remote {url}"
        raise kind(message.format(url, printable(str(error))), hint) from error
    return os.fsdecode(told)
