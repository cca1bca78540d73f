"""Which paths hold content: Markdown files outside the folders that configuration leaves out."""

import hashlib
import re
from collections.abc import Iterable
from functools import cached_property

from commonplace.repository.slugs import is_markdown

DEFAULT_EXCLUDES: tuple[str, ...] = (
    "archive/",
    "attachments/",
    "drafts/",
    "templates/",
    "tmp/",
    "tools/",
    "**/.*/",
    "**/node_modules/",
)
"""Tool folders at the top, and hidden folders anywhere (`.obsidian/`, `.github/`, `.trash/`)."""


class Exclusions:
    """Patterns over repository paths, letter case ignored.

    `tmp/` is the folder at the top and everything in it, `**/tmp/` is such a folder anywhere, a pattern without a
    final `/` is one file. `*` and `?` match within a segment, `**` across segments. Raises ValueError for a pattern
    that would leave out everything.
    """

    def __init__(self, patterns: Iterable[str] = DEFAULT_EXCLUDES) -> None:
        self.patterns = tuple(patterns)
        self._regex = re.compile("|".join(map(_regex, self.patterns)) or r"(?!)")

    def excludes(self, path: str) -> bool:
        return self._regex.match(path.casefold()) is not None

    def is_content(self, path: str) -> bool:
        """Whether a file may be a document; the publish gate has the last word."""
        return is_markdown(path) and not self.excludes(path)

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the patterns do; their order does not count."""
        return hashlib.sha256("\n".join(sorted(self.patterns)).encode()).hexdigest()[:16]


def _regex(pattern: str) -> str:
    body = pattern.casefold().removeprefix("/")
    if not body.strip("/*"):
        raise ValueError(f"an exclusion may not leave out everything: {pattern!r}")
    anywhere = body.startswith("**/")
    translated = (
        re.escape(body.removeprefix("**/")).replace(r"\*\*", ".*").replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
    )
    ending = "" if body.endswith("/") else r"\Z"
    return ("(?:.*/)?" if anywhere else "") + translated + ending
