"""Context keys of the front door: what stands before the API, and what is checked of it."""

from collections.abc import Mapping
from typing import Protocol

from infra.readers import ConfigurationError, Reader, flag, number, text

EDGE_REGION = "us-east-1"
"""Where CloudFront takes certificates, web ACLs and functions from; everything of the edge is there."""

EDGE_KEYS: Mapping[str, Reader] = {
    "edge": flag,
    "publicUrl": text(r"https://([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", "an https URL without a path"),
    "originLock": flag,
    "originSecretRotationDays": number(1, 365),
    "restoreChallenge": flag,
    "waf": flag,
    "wafRateLimit": number(10, 2_000_000),
    "wafAuthRateLimit": number(10, 2_000_000),
    "hstsDays": number(0, 730),
    "edgeLogs": flag,
}


class Chosen(Protocol):
    """What of a configuration is looked at here."""

    @property
    def edge(self) -> bool: ...
    @property
    def region(self) -> str | None: ...
    @property
    def domain(self) -> str | None: ...
    @property
    def certificate_arn(self) -> str | None: ...
    @property
    def public_url(self) -> str | None: ...


def check_edge(chosen: Chosen) -> None:
    """Raises ConfigurationError for what cannot stand together."""
    if chosen.public_url and chosen.domain:
        raise ConfigurationError("publicUrl is for a deployment without a domain; with one it is the domain's")
    if not chosen.edge:
        if chosen.public_url:
            raise ConfigurationError("publicUrl without edge has no use: it is the address of the distribution")
        return
    if not chosen.region:
        raise ConfigurationError("edge needs region: the secret of the front door is kept there, too")
    if chosen.certificate_arn and chosen.certificate_arn.split(":")[3] != EDGE_REGION:
        raise ConfigurationError(f"certificateArn names a certificate in {EDGE_REGION} when edge is true: CloudFront's")
