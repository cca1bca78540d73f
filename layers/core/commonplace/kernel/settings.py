"""Settings that several rooms share; rooms build theirs from these and their own."""

import json
import re
from collections.abc import Mapping
from typing import Self
from urllib.parse import urlsplit

from pydantic import model_validator

from commonplace.kernel.configuration import FLAG, URL, Kind, Settings, matching, setting, text
from commonplace.kernel.environment import ORGANISATION, SettingsError, is_loopback


class Deployment(Settings):
    stage: str = setting(
        matching(r"[a-z][a-z0-9-]{0,19}", "a name of lower-case letters, digits and hyphens"),
        "STAGE",
        key="stage",
        deployed="dev",
        context=matching(r"[a-z][a-z0-9-]{0,15}", "lower-case letters, digits and dashes (at most 16)"),
    )
    """Name of the deployment and part of resource names. `prod` retains its data and must set repository and branch."""


class Activity(Settings):
    activity_table: str = setting(
        text("the name of the table that holds run state, deliveries and counters"), "ACTIVITY_TABLE"
    )
    """The table with run state, counters, audit records and recent changes. Empty for index disables change
    notifications."""


class Limited(Deployment, Activity):
    """Of a function whose callers are counted."""

    @property
    def counter_secret(self) -> bytes:
        """What the names of counters are made with: those of two deployments differ."""
        return f"{self.stage}/{self.activity_table}".encode()


class ContentStore(Settings):
    content_bucket: str = setting(text("the name of the bucket that holds the canonical store"), "CONTENT_BUCKET")
    """The bucket with the canonical store."""


class SiteName(Settings):
    site_name: str = setting(
        text("the name that readers see"),
        "SITE_NAME",
        key="siteName",
        default="Commonplace",
        context=matching(r"[^\x00-\x1f]{1,80}", "a title of at most 80 characters"),
    )
    """Name on the site, in `/llms.txt`, feeds and the API description."""


LOGO = matching(
    r"(?!/)[^\x00-\x1f]{1,200}\.(?:svg|png|webp|avif|jpe?g|gif)",
    "the path of an image in the repository, without a / before it",
)
ACCENT = matching(r"#[0-9a-fA-F]{6}", "a colour such as #0b6e4f")


class Appearance(SiteName):
    """Of functions that show pages."""

    site_description: str = setting(
        text("what the knowledge base is, in a sentence"),
        "SITE_DESCRIPTION",
        key="siteDescription",
        default="",
        context=matching(r"[^\x00-\x1f]{0,300}", "a text of at most 300 characters"),
    )
    """A sentence or two for the home page and link previews."""
    site_accent: str = setting(ACCENT, "SITE_ACCENT", key="siteAccent", default="#0b6e4f")
    """Colour of links and buttons, `#rrggbb`, adjusted for contrast."""
    site_logo: str | None = setting(LOGO, "SITE_LOGO", key="siteLogo", default=None)
    """Path of an image in the repository, shown beside the name on every page."""


class Organisation(Settings):
    organisation: str = setting(
        matching(ORGANISATION, "up to 64 lower-case letters, digits and hyphens"),
        "ORGANISATION",
        key="organisation",
        default="default",
    )
    """The organisation of accounts whose roles name no other: up to 64 lower-case letters, digits, hyphens."""


def _names(given: str) -> Mapping[str, str] | None:
    names = json.loads(given or "{}")
    valid = isinstance(names, dict) and all(
        re.fullmatch(ORGANISATION, key) and isinstance(name, str) and 0 < len(name) <= 80 for key, name in names.items()
    )
    return names if valid else None


class OrganisationNames(Organisation):
    names: Mapping[str, str] = setting(
        Kind('a JSON object of public names by organisation, such as {"acme": "Acme DAO"}', _names, compact=True),
        "ORGANISATION_NAMES",
        key="organisationNames",
        default="{}",
    )
    """Public names of organisations, `{"acme": "Acme DAO"}`, for attribution of public knowledge; without one the key
    is shown."""


class Cloud(Settings):
    cloud: str | None = setting(URL, "AWS_ENDPOINT_URL", default=None)
    """The address of AWS on a laptop; the stack never sets it."""

    @property
    def on_this_machine(self) -> bool:
        """Whether the cloud is a laptop's: what helps a developer may be dangerous anywhere else."""
        return is_loopback(urlsplit(self.cloud or "").hostname)


class Everything(Cloud):
    """Of every function: `instrument` refuses to start one on AWS with it."""

    everything: bool = setting(FLAG, "SHOW_EVERYTHING", default=False)
    """Laptop only: `true` shows files that say nothing about publishing (`commonplace dev --everything`)."""

    @model_validator(mode="after")
    def _everything_on_a_laptop(self) -> Self:
        if self.everything and not self.on_this_machine:
            raise SettingsError("SHOW_EVERYTHING is set. It must be absent where AWS_ENDPOINT_URL is not this machine.")
        return self
