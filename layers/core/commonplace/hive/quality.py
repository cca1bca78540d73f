"""The published quality of an item: outcomes, freshness and the contributor's confidence."""

from collections.abc import Mapping
from datetime import datetime

from commonplace.hive.model import Category, Contribution, Counts, Item, Quality

HALF_LIFE_DAYS: dict[Category, int] = {"version_workaround": 180, "pricing_data": 90}
"""Of categories that age."""


def quality(contribution: Contribution, counts: Counts, now: datetime) -> Quality:
    """A Beta prior on outcomes, decay by age where the category ages, and the confidence."""
    outcomes = (counts.helpful + 1) / (counts.helpful + counts.not_helpful + 2)
    half_life = HALF_LIFE_DAYS.get(contribution.category)
    age = max(0.0, (now - datetime.fromisoformat(contribution.valid_at)).total_seconds() / 86_400)
    freshness = 0.5 ** (age / half_life) if half_life else 1.0
    return Quality(round(outcomes, 4), round(freshness, 4), contribution.confidence)


def item_of(
    organisation: str, contribution: Contribution, counts: Counts, names: Mapping[str, str], now: datetime
) -> Item:
    """As somebody of this organisation sees it; `names` are the public ones of organisations."""
    return Item(
        contribution,
        counts,
        quality(contribution, counts, now),
        names.get(contribution.organisation, contribution.organisation),
        own=contribution.organisation == organisation,
    )
