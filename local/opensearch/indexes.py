"""Removes what a deployment left on a node."""

from urllib.parse import quote

from local.opensearch.asking import NoAnswer, ask


def drop_indexes(url: str, prefix: str) -> list[str]:
    """Deletes every index of every collection whose name begins so. Returns the names; a node that is gone has none."""
    try:
        names = sorted(ask(url, f"/{quote(prefix)}-*/_settings?flat_settings=true&expand_wildcards=all"))
        for name in names:
            ask(url, f"/{quote(name)}", method="DELETE", seconds=30)
    except NoAnswer:
        return []
    return names
