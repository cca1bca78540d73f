"""Settings of the hive."""

from collections.abc import Mapping
from typing import Self

from commonplace.kernel.configuration import setting, text, whole
from commonplace.kernel.settings import Activity, Limited, OrganisationNames


class HiveTables(Activity):
    """Where contributions are."""

    records_table: str = setting(text("the name of the table that holds what is contributed"), "RECORDS_TABLE")

    @classmethod
    def where_contributed(cls, environ: Mapping[str, str]) -> Self | None:
        """None for a deployment without RECORDS_TABLE."""
        return cls.from_environ(environ) if environ.get("RECORDS_TABLE", "").strip() else None


class HiveSettings(HiveTables, OrganisationNames):
    """What organisations are called."""


class HiveServiceSettings(HiveSettings, Limited):
    """Of functions that take contributions."""

    contributions_per_hour: int = setting(
        whole(0, 100_000), "HIVE_CONTRIBUTIONS_PER_HOUR", key="hiveContributionsPerHour", default=60
    )
    """Contributions of one agent per hour, ten times as many per organisation; 0 is no limit."""
    max_pending: int = setting(whole(1, 100_000), "HIVE_MAX_PENDING", key="hiveMaxPending", default=5_000)
    """Pending contributions of an organisation."""
