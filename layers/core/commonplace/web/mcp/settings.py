"""Settings of the MCP server."""

import json
from collections.abc import Mapping
from typing import Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import model_validator

from commonplace.identity.principals import CALLS_A_MINUTE, TIERS, Tier
from commonplace.identity.settings import TOOLSET, Toolsets
from commonplace.kernel.configuration import (
    COUNT,
    FLAG,
    SECRET_ARN,
    URL,
    Kind,
    at_most,
    listed,
    matching,
    one_of,
    setting,
    setting_of,
    whole,
)
from commonplace.kernel.environment import SettingsError, bare_origin, is_loopback
from commonplace.kernel.settings import Appearance, Everything
from commonplace.repository.settings import GitHubApi
from commonplace.repository.slugs import slug
from commonplace.web.mcp.budgets import DOCUMENT_TOKENS, MAX_TOKENS
from commonplace.web.settings import ReaderSettings

Rated = Literal["read", "search", "write"]

DEFAULT_RATE_LIMITS = '{"memory": {"read": 300, "search": 120, "write": 120}}'
MAX_RATE_LIMITS = 300
"""Bytes. All settings of a function have to fit into 4 KB."""
FACTOR = whole(1, 100)
LISTENS = whole(0, 1_000, ", 0 for none")

ORIGIN = Kind("an origin", lambda given: (found := bare_origin(given)) and found.lower())
"""An origin as browsers write it: scheme, host and port, nothing else."""


def _rate_limits(given: str) -> Mapping[str, Mapping[Rated, int]] | None:
    found = json.loads(given)
    if not isinstance(found, dict) or not all(TOOLSET.read(name) for name in found):
        return None
    for classes in found.values():
        rows = classes.items() if isinstance(classes, dict) else [("", None)]
        if not all(name in get_args(Rated) and type(calls) is int and 0 <= calls <= 1_000_000 for name, calls in rows):
            return None
    return found


RATE_LIMITS = Kind(
    'a JSON object of calls a minute by toolset and class, such as {"memory": {"search": 120}}, 0 for no limit',
    _rate_limits,
)


class McpSettings(ReaderSettings, Toolsets, GitHubApi, Everything):
    base_url: str = setting(URL, "BASE_URL")
    read_only: bool = setting(FLAG, "MCP_READ_ONLY", key="mcpReadOnly", default=False)
    """`true` removes the tools that make proposals, and their [credentials](deploy.md#the-secret-for-proposals)."""
    allowed_origins: tuple[str, ...] = setting(
        listed(ORIGIN, "origins such as https://app.example.org with commas between them, or *", every="*"),
        "MCP_ALLOWED_ORIGINS",
        key="mcpAllowedOrigins",
        default=(),
        deployed=None,
        shown="every origin",
        context=listed(
            matching(r"https://[a-z0-9.-]+(:\d{1,5})?", "an origin"),
            "origins such as https://chat.example.org, each once and separated by commas, or * alone",
            every="*",
        ),
    )
    """Origins whose pages may call the MCP server from a browser, comma-separated, or `*`. No cookie grants access
    there."""
    full_text_tier: Tier = setting(one_of(*TIERS), "MCP_FULL_TEXT_TIER", key="fullTextTier", default="member")
    """Who reads [whole documents over MCP](deploy.md#connect-agents): `public`, `member` or `vibecoder`. On a laptop it
    is `public`."""
    document_tokens: int = setting(
        whole(1_000, MAX_TOKENS), "MCP_DOCUMENT_TOKENS", key="mcpDocumentTokens", default=DOCUMENT_TOKENS
    )
    """Default size in tokens of an MCP answer with whole documents (1,000 to 20,000). Some clients write answers above
    2,300 to a file."""
    site_description: str = setting_of(Appearance, "site_description")
    uri_host: str | None = setting(
        matching(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?", "a host name of lower-case letters, digits, dots and hyphens"),
        "MCP_URI_HOST",
        key="uriHost",
        default=None,
        shown="the site's name, as in `my-knowledge-base`",
    )
    """Host part of `mcp://` resource addresses. `mcp://superbenefit/…` works too."""
    names_authors: bool = setting(FLAG, "MCP_NAME_AUTHORS", key="nameAuthors", default=False)
    """Whether a proposal names its author, by wallet address or ENS name."""
    reads_per_minute: int = setting(COUNT, "MCP_RATE_LIMIT_READS", key="rateLimitMcpReads", default=60)
    """MCP reads per token (or anonymous address) and minute; 0 disables it."""
    searches_per_minute: int = setting(COUNT, "MCP_RATE_LIMIT_SEARCHES", key="rateLimitMcpSearches", default=20)
    """The same for searches."""
    writes_per_minute: int = setting(COUNT, "MCP_RATE_LIMIT_WRITES", key="rateLimitMcpWrites", default=10)
    """The same for proposals."""
    rate_limits: Mapping[str, Mapping[Rated, int]] = setting(
        RATE_LIMITS,
        "MCP_RATE_LIMITS",
        key="mcpRateLimits",
        default=DEFAULT_RATE_LIMITS,
        context=at_most(MAX_RATE_LIMITS, RATE_LIMITS),
    )
    """JSON object of limits for a toolset in place of the three above; 0 disables one; at most 300 bytes."""
    service_rate_factor: int = setting(FACTOR, "MCP_SERVICE_RATE_FACTOR", key="serviceRateFactor", default=5)
    """Factor for agents that sign in by themselves (1 to 100)."""
    account_rate_factor: int = setting(FACTOR, "MCP_ACCOUNT_RATE_FACTOR", key="accountRateFactor", default=3)
    """Factor for the reads and searches of all tokens of an account together (1 to 100); their writes count as one
    token's."""
    listens_per_account: int = setting(LISTENS, "MCP_LISTENS_PER_ACCOUNT", key="listensPerAccount", default=2)
    """Requests of one account that [wait for changes](../agents/mcp.md) at a time; 0 disables waiting. Each is a
    running function."""
    listens: int = setting(LISTENS, "MCP_LISTENS", key="listens", default=5)
    """The same for all accounts together, see [costs](costs.md#waiting-for-changes)."""
    github_writer_secret_arn: str | None = setting(SECRET_ARN, "GITHUB_WRITER_SECRET_ARN", default=None)
    """The secret [for proposals](deploy.md#the-secret-for-proposals); empty disables them."""
    assumed_tier: Tier | None = setting(one_of(*TIERS), "MCP_ASSUMED_TIER", default=None)
    """Laptop only: the tier of callers without a token (`commonplace dev --tier`)."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Whose pages may call. Every page that a laptop's owner opens reaches the laptop, so it answers its own."""
        loopback = is_loopback(urlsplit(self.base_url).hostname)
        return self.allowed_origins or (() if loopback else ("*",))

    @property
    def toolset_limits(self) -> Mapping[str, Mapping[Rated, int]]:
        """The limits that toolsets declare, in which `rate_limits` has the last word."""
        named = {*CALLS_A_MINUTE, *self.rate_limits}
        return {name: {**CALLS_A_MINUTE.get(name, {}), **self.rate_limits.get(name, {})} for name in named}

    @property
    def resource_host(self) -> str:
        """The host part of resources' addresses."""
        return self.uri_host or slug(self.site_name)[:63].strip("-") or "commonplace"

    @model_validator(mode="after")
    def _assumes_on_a_laptop(self) -> Self:
        """Anywhere else it would give strangers what is for members."""
        if self.assumed_tier and not self.on_this_machine:
            raise SettingsError(
                "MCP_ASSUMED_TIER is set. It must be absent where AWS_ENDPOINT_URL is not this machine."
            )
        return self
