"""Settings of functions that answer requests."""

import re
from typing import Literal

from commonplace.identity.principals import TIERS, Tier
from commonplace.kernel.configuration import (
    COUNT,
    SECRET_ARN,
    URL,
    Kind,
    Settings,
    at_most,
    matching,
    one_of,
    setting,
    setting_of,
)
from commonplace.kernel.settings import Appearance, Cloud, ContentStore, Limited, SiteName
from commonplace.repository.settings import KnowledgeBase
from commonplace.search.settings import RankingSettings

MAX_DOCUMENT_URL = 300
"""Bytes. All settings of a function have to fit into 4 KB."""


def _document_url(given: str) -> str | None:
    absolute = re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]+[/?#][!-~]*", given)
    placeholders = set(re.findall(r"[{}][^{}]*}?", given))
    return given if absolute and placeholders == {"{type}", "{id}"} else None


DOCUMENT_URL = Kind(
    "an http:// or https:// URL with {type} and {id} in it, such as https://kb.example.org/{type}/{id}", _document_url
)


class ReaderSettings(RankingSettings, Limited, ContentStore, KnowledgeBase, SiteName):
    """The settings of functions that answer readers: which knowledge base, where it is, how it is searched."""

    stage: str = setting_of(Limited, "stage")
    document_url: str | None = setting(
        DOCUMENT_URL,
        "DOCUMENT_URL",
        key="documentUrl",
        default=None,
        shown="the page on this deployment's own site",
        context=at_most(MAX_DOCUMENT_URL, DOCUMENT_URL),
    )
    """Address of a document on a web site of yours, with `{type}` and `{id}`, at most 300 bytes. Answers, citations and
    feeds use it."""
    site_tier: Tier = setting(one_of(*TIERS), "SITE_TIER", key="siteTier", default="public")
    """Who reads what is published: `public`, or `member` or `vibecoder` for a [private
    deployment](identity.md#private-deployments)."""


class PublicSettings(ReaderSettings, Cloud):
    """The settings of the functions that answer readers over HTTP: REST and pages."""

    base_url: str | None = setting(URL, "BASE_URL", default=None)
    """Public origin and token issuer. mcp and auth require it, and mcp answers no other host; rest without identity
    uses the request's `Host`."""
    reads_per_minute: int = setting(COUNT, "RATE_LIMIT_READS", key="rateLimitReads", default=600)
    """REST requests per address (or account) and minute; 0 disables it."""
    searches_per_minute: int = setting(COUNT, "RATE_LIMIT_SEARCHES", key="rateLimitSearches", default=60)
    """The same for searches."""


class SiteSettings(PublicSettings, Appearance):
    """The settings of the functions that show pages."""


Audience = Literal["operators", "anyone"]


class RestSettings(PublicSettings, Appearance):
    explain: Audience = setting(one_of("operators", "anyone"), "EXPLAIN", default="operators")
    """Who may request explanations of a ranking: `operators` or `anyone`."""
    operator_key_hash: str | None = setting(
        matching(r"[0-9a-f]{64}", "the sha256 of the operators' key, 64 hexadecimal digits"),
        "OPERATOR_KEY_HASH",
        key="operatorKeyHash",
        default=None,
    )
    """SHA-256 in hexadecimal of the operators' key for explanations."""


class OriginSettings(Settings):
    """The settings of every function that answers requests."""

    secret_arn: str | None = setting(SECRET_ARN, "ORIGIN_SECRET_ARN", default=None)
    """The secret of [the distribution](deploy.md#behind-cloudfront); empty means that everybody may call the API
    directly."""


class OriginRotationSettings(Settings):
    """The settings of the function that changes that secret."""

    secret_arn: str = setting(SECRET_ARN, "ORIGIN_SECRET_ARN")
    distribution_id: str = setting(
        matching(r"[A-Z0-9]{10,20}", "the id of a CloudFront distribution, such as E1A2B3C4D5E6F7"), "DISTRIBUTION_ID"
    )
    """The CloudFront distribution whose header is rotated."""
