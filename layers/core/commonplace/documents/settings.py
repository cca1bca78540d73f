"""Settings of the sync of documents, and of the console's pages about it."""

import json

from commonplace.kernel.configuration import Kind, Settings, arn, setting, setting_of
from commonplace.kernel.settings import Appearance, Everything


def _patterns(given: str) -> tuple[str, ...] | None:
    found = json.loads(given)
    return tuple(found) if isinstance(found, list) and all(isinstance(each, str) and each for each in found) else None


class DocumentsSettings(Everything):
    exclude: tuple[str, ...] | None = setting(
        Kind('a JSON list of path patterns, for example ["drafts/", "tools/"]', _patterns),
        "EXCLUDE",
        key="exclude",
        default=None,
        shown="the [usual folders](../write/write-content.md#folders-that-are-never-read)",
    )
    """JSON list of paths that are never read; replaces the default."""
    site_logo: str | None = setting_of(Appearance, "site_logo")


class ConsoleSettings(Settings):
    webhook_function: str = setting(arn("lambda"), "WEBHOOK_FUNCTION")
    """The function that starts a sync run."""
