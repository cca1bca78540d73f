"""What each function reads from its environment, checked once when the function starts.

A missing or malformed variable raises `SettingsError` with a sentence that names the variable and its valid values.
Standard library only: the webhook function carries no third-party package.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Self, TypeVar, cast
from urllib.parse import urlsplit

SearchEngine = Literal["embedded"]
EmbeddingProviderName = Literal["local", "none"]

GITHUB_API = "https://api.github.com"

_LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
_REPOSITORY = re.compile(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_BRANCH = re.compile(r"(?![/.-])(?!.*(?:\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])")
_ARN = re.compile(r"arn:[a-z-]+:(?P<service>[a-z-]+):[a-z0-9-]*:[0-9]*:.+")

T = TypeVar("T")


class SettingsError(ValueError):
    """The environment does not say what the function needs."""


class Environment:
    """Reads variables; every complaint names the variable and what it may be."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def text(self, name: str, valid: str, default: str | None = None) -> str:
        value = self._variables.get(name, "").strip() or default
        if value is None:
            raise SettingsError(f"{name} is not set. It must be {valid}.")
        return value

    def parsed(self, name: str, valid: str, parse: Callable[[str], T | None], default: str | None = None) -> T:
        """The value as `parse` reads it; None or ValueError from `parse` means malformed."""
        text = self.text(name, valid, default)
        try:
            value = parse(text)
        except ValueError:
            value = None
        if value is None:
            raise SettingsError(f"{name} is malformed. It must be {valid}.")
        return value

    def matching(self, name: str, valid: str, pattern: re.Pattern[str]) -> str:
        return self.parsed(name, valid, lambda text: text if pattern.fullmatch(text) else None)

    def choice(self, name: str, choices: tuple[str, ...], default: str | None = None) -> str:
        valid = "one of: " + ", ".join(choices)
        return self.parsed(name, valid, lambda text: text if text in choices else None, default)

    def arn(self, name: str, service: str) -> str:
        def parse(text: str) -> str | None:
            match = _ARN.fullmatch(text)
            return text if match and match["service"] == service else None

        return self.parsed(name, f"an ARN of {service}, arn:aws:{service}:REGION:ACCOUNT:...", parse)

    def count(self, name: str, default: int) -> int:
        return self.parsed(name, "a whole number from 0 to 1000000, 0 for no limit", _count, str(default))

    def url(self, name: str, default: str | None = None) -> str:
        """An origin, with or without a path: https, or http to this very machine; no trailing slash."""
        return self.parsed(name, "an https:// URL, or an http:// URL of this machine", _web_url, default)

    def stage(self) -> str:
        return self.matching(
            "STAGE", "a name of lower-case letters, digits and hyphens", re.compile(r"[a-z][a-z0-9-]{0,19}")
        )

    def bucket(self) -> str:
        return self.text("CONTENT_BUCKET", "the name of the bucket that holds the canonical store")

    def activity_table(self) -> str:
        return self.text("ACTIVITY_TABLE", "the name of the table that holds run state, deliveries and counters")

    def repository(self) -> str:
        return self.matching("GITHUB_REPOSITORY", "owner/name, as in a GitHub address", _REPOSITORY)

    def branch(self) -> str:
        return self.matching("GITHUB_BRANCH", "the name of a branch, without refs/heads/", _BRANCH)

    def engine(self) -> SearchEngine:
        return cast(SearchEngine, self.choice("SEARCH_ENGINE", ("embedded",), "embedded"))

    def index_location(self) -> str:
        return self.parsed("INDEX_LOCATION", "s3://BUCKET/KEY or file:///ABSOLUTE/PATH", _location)

    def embedding_provider(self) -> EmbeddingProviderName:
        return cast(EmbeddingProviderName, self.choice("EMBEDDING_PROVIDER", ("local", "none"), "local"))


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    stage: str
    activity_table: str
    machine_arn: str
    repository: str
    branch: str
    github_secret_arn: str

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            activity_table=env.activity_table(),
            machine_arn=env.arn("SYNC_MACHINE_ARN", "states"),
            repository=env.repository(),
            branch=env.branch(),
            github_secret_arn=env.arn("GITHUB_SECRET_ARN", "secretsmanager"),
        )


@dataclass(frozen=True, slots=True)
class SyncSettings:
    stage: str
    content_bucket: str
    activity_table: str
    repository: str
    branch: str
    github_api_url: str
    github_secret_arn: str
    exclude: tuple[str, ...] | None
    """Path patterns that are never read; None means the defaults of `content.exclusions`."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            content_bucket=env.bucket(),
            activity_table=env.activity_table(),
            repository=env.repository(),
            branch=env.branch(),
            github_api_url=env.url("GITHUB_API_URL", GITHUB_API),
            github_secret_arn=env.arn("GITHUB_SECRET_ARN", "secretsmanager"),
            exclude=_exclude(env) if environ.get("EXCLUDE", "").strip() else None,
        )


@dataclass(frozen=True, slots=True)
class IndexSettings:
    stage: str
    content_bucket: str
    search_engine: SearchEngine
    index_location: str
    embedding_provider: EmbeddingProviderName

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            content_bucket=env.bucket(),
            search_engine=env.engine(),
            index_location=env.index_location(),
            embedding_provider=env.embedding_provider(),
        )


@dataclass(frozen=True, slots=True)
class RestSettings:
    stage: str
    content_bucket: str
    activity_table: str
    repository: str
    branch: str
    search_engine: SearchEngine
    index_location: str
    embedding_provider: EmbeddingProviderName
    base_url: str | None
    """Public origin without trailing slash; None means that it is derived from the request's Host."""
    site_name: str
    reads_per_minute: int
    """Per client address; 0 switches the limit off."""
    searches_per_minute: int

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        env = Environment(environ)
        return cls(
            stage=env.stage(),
            content_bucket=env.bucket(),
            activity_table=env.activity_table(),
            repository=env.repository(),
            branch=env.branch(),
            search_engine=env.engine(),
            index_location=env.index_location(),
            embedding_provider=env.embedding_provider(),
            base_url=env.url("BASE_URL") if environ.get("BASE_URL", "").strip() else None,
            site_name=env.text("SITE_NAME", "the name that readers see", "Commonplace"),
            reads_per_minute=env.count("RATE_LIMIT_READS", 600),
            searches_per_minute=env.count("RATE_LIMIT_SEARCHES", 60),
        )


def is_loopback(host: str | None) -> bool:
    """Whether the host is this very machine."""
    return host in _LOOPBACK_HOSTS


def _web_url(text: str) -> str | None:
    parts = urlsplit(text)
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
    plain = parts.username is None and not parts.query and not parts.fragment
    return text.rstrip("/") if secure and plain and parts.hostname else None


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,7}", text) and int(text) <= 1_000_000 else None


def _location(text: str) -> str | None:
    parts = urlsplit(text)
    in_bucket = parts.scheme == "s3" and parts.netloc and len(parts.path) > 1
    on_disk = parts.scheme == "file" and not parts.netloc and len(parts.path) > 1
    return text if in_bucket or on_disk else None


def _exclude(env: Environment) -> tuple[str, ...]:
    def parse(text: str) -> tuple[str, ...] | None:
        patterns = json.loads(text)
        if not isinstance(patterns, list) or not all(isinstance(item, str) and item for item in patterns):
            return None
        return tuple(patterns)

    return env.parsed("EXCLUDE", 'a JSON list of path patterns, for example ["drafts/", "tools/"]', parse)
