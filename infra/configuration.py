"""What one deployment is: read from `cdk.json` and `-c key=value`, checked once, then only passed on."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Engine = Literal["embedded"]
EmbeddingProvider = Literal["local", "none"]
RemovalPolicy = Literal["destroy", "retain"]

EXAMPLE_REPOSITORY = "example/knowledge-base"
"""Stands in where no repository is configured, so that `make synth` works in a fresh clone. Never deployed to prod."""

LOG_RETENTION_DAYS = (1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653)
"""The periods CloudWatch Logs knows."""


class ConfigurationError(ValueError):
    """The context names a key that does not exist, or a value that cannot be. The text says what would be valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """One deployment. The context key of a field is its name in camelCase."""

    stage: str = "dev"
    repository: str = EXAMPLE_REPOSITORY
    branch: str = "main"
    domain: str | None = None
    certificate_arn: str | None = None
    engine: Engine = "embedded"
    embedding_provider: EmbeddingProvider = "local"
    removal_policy: RemovalPolicy = "destroy"
    region: str | None = None
    account: str | None = None
    site_name: str = "Commonplace"
    github_api_url: str = "https://api.github.com"
    alarm_email: str | None = None
    log_retention_days: int = 30
    reconcile_minutes: int = 60
    index_reconcile_hours: int = 6
    rate_limit_reads: int = 600
    rate_limit_searches: int = 60
    throttle_rate: int = 100
    throttle_burst: int = 200
    exclude: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.domain and not self.certificate_arn:
            raise ConfigurationError("domain needs certificateArn: the ACM certificate of that name in this region")
        if self.certificate_arn and not self.domain:
            raise ConfigurationError("certificateArn without domain has no use; set both or neither")
        if self.stage == "prod" and self.removal_policy != "retain":
            raise ConfigurationError("stage prod keeps its data: removalPolicy can only be retain")

    @property
    def retains(self) -> bool:
        """Whether data outlives the stack, and is protected from deletion."""
        return self.removal_policy == "retain"

    @property
    def base_url(self) -> str | None:
        """The public origin, where one is configured; else callers' own Host header tells."""
        return f"https://{self.domain}" if self.domain else None


def from_context(context: Mapping[str, Any]) -> Configuration:
    """The deployment that a CDK context describes. Values given on the command line are text and are read as such.

    Raises ConfigurationError for an unknown key, a value out of bounds, or a prod stage that leaves essentials open.
    """
    own = {key: value for key, value in context.items() if not _is_cdks(key)}
    if unknown := sorted(own.keys() - _READERS.keys()):
        raise ConfigurationError(f"unknown context {', '.join(unknown)}; known are {', '.join(sorted(_READERS))}")
    given = {key: value for key, value in own.items() if value not in (None, "")}
    if given.get("stage") == "prod":
        if missing := [key for key in ("repository", "branch") if key not in given]:
            raise ConfigurationError(f"stage prod needs {' and '.join(missing)}")
        given.setdefault("removalPolicy", "retain")
    return Configuration(**{_snake_case(key): _READERS[key](key, value) for key, value in given.items()})


def _is_cdks(key: str) -> bool:
    """Feature flags and the toolkit's own keys are namespaced: `@aws-cdk/…`, `aws:cdk:…`, `availability-zones:…`."""
    return any(mark in key for mark in "@/:")


def _snake_case(key: str) -> str:
    return re.sub(r"[A-Z]", lambda letter: f"_{letter[0].lower()}", key)


Reader = Callable[[str, Any], Any]


def _text(pattern: str, description: str) -> Reader:
    def read(key: str, value: Any) -> str:
        if isinstance(value, str) and re.fullmatch(pattern, value):
            return value
        raise ConfigurationError(f"{key} is {description}, not {value!r}")

    return read


def _one_of(*values: str) -> Reader:
    def read(key: str, value: Any) -> str:
        if value in values:
            return str(value)
        raise ConfigurationError(f"{key} is one of {', '.join(values)}, not {value!r}")

    return read


def _number(low: int, high: int, *, among: tuple[int, ...] = ()) -> Reader:
    def read(key: str, value: Any) -> int:
        text = "" if isinstance(value, bool) else str(value)
        number = int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else -1
        if low <= number <= high and (not among or number in among):
            return number
        valid = ", ".join(map(str, among)) if among else f"{low} to {high}"
        raise ConfigurationError(f"{key} is a whole number ({valid}), not {value!r}")

    return read


def _patterns(key: str, value: Any) -> tuple[str, ...]:
    """A JSON list, or the text of one as the command line gives it."""
    try:
        listed = json.loads(value) if isinstance(value, str) else value
    except ValueError:
        listed = None
    if isinstance(listed, list) and all(isinstance(item, str) and item for item in listed):
        return tuple(listed)
    raise ConfigurationError(f'{key} is a JSON list of path patterns such as ["drafts/"], not {value!r}')


_READERS: dict[str, Reader] = {
    "stage": _text(r"[a-z][a-z0-9-]{0,15}", "lower-case letters, digits and dashes (at most 16)"),
    "repository": _text(r"[A-Za-z0-9-]{1,39}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}", "owner/name on GitHub"),
    "branch": _text(
        r"(?![/.-])(?!.*(\.\.|//|@\{|/\.))[^\x00-\x20\x7f~^:?*\[\\]{1,200}(?<![/.])", "the name of a branch"
    ),
    "domain": _text(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "a lower-case host name without scheme or path"),
    "certificateArn": _text(r"arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[a-f0-9-]+", "the ARN of a certificate"),
    "engine": _one_of("embedded"),
    "embeddingProvider": _one_of("local", "none"),
    "removalPolicy": _one_of("destroy", "retain"),
    "region": _text(r"[a-z]{2}(-[a-z]+)+-\d", "an AWS region such as eu-central-1"),
    "account": _text(r"\d{12}", "an AWS account number of twelve digits"),
    "siteName": _text(r"[^\x00-\x1f]{1,80}", "a title of at most 80 characters"),
    "githubApiUrl": _text(r"https://[^\s/]+(/[^\s]*[^\s/])?", "an https URL without a slash at its end"),
    "alarmEmail": _text(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address"),
    "logRetentionDays": _number(1, 3653, among=LOG_RETENTION_DAYS),
    "reconcileMinutes": _number(5, 1440),
    "indexReconcileHours": _number(1, 24),
    "rateLimitReads": _number(0, 1_000_000),
    "rateLimitSearches": _number(0, 1_000_000),
    "throttleRate": _number(1, 10_000),
    "throttleBurst": _number(1, 5_000),
    "exclude": _patterns,
}
