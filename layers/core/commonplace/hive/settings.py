"""Settings of the hive."""

import json
import re
from collections.abc import Mapping
from typing import Self

from commonplace.kernel.configuration import Kind, setting, text, whole
from commonplace.kernel.environment import ORGANISATION
from commonplace.kernel.settings import Activity, Limited, Organisation


def _names(given: str) -> Mapping[str, str] | None:
    names = json.loads(given or "{}")
    valid = isinstance(names, dict) and all(
        re.fullmatch(ORGANISATION, key) and isinstance(name, str) and 0 < len(name) <= 80 for key, name in names.items()
    )
    return names if valid else None


class HiveTables(Activity):
    """Where contributions are."""

    records_table: str = setting(text("the name of the table that holds what is contributed"), "RECORDS_TABLE")

    @classmethod
    def where_contributed(cls, environ: Mapping[str, str]) -> Self | None:
        """None for a deployment without RECORDS_TABLE."""
        return cls.from_environ(environ) if environ.get("RECORDS_TABLE", "").strip() else None


class HiveSettings(HiveTables, Organisation):
    """What organisations are called."""

    names: Mapping[str, str] = setting(
        Kind('a JSON object of public names by organisation, such as {"acme": "Acme DAO"}', _names, compact=True),
        "ORGANISATION_NAMES",
        key="organisationNames",
        default="{}",
    )
    """Public names of organisations, `{"acme": "Acme DAO"}`: what an item of public knowledge is attributed to. An
    organisation without one is shown by its key."""


class HiveServiceSettings(HiveSettings, Limited):
    """Of functions that take contributions."""

    contributions_per_hour: int = setting(
        whole(0, 100_000), "HIVE_CONTRIBUTIONS_PER_HOUR", key="hiveContributionsPerHour", default=60
    )
    """Contributions that one agent may make within an hour; 0 is no limit. Ten times as many for all of an
    organisation. Reviewers who fill the hive over REST are not counted."""
    max_pending: int = setting(whole(1, 100_000), "HIVE_MAX_PENDING", key="hiveMaxPending", default=5_000)
    """Contributions of an organisation that may wait for review at a time."""
