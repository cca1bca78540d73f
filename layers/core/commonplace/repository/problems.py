"""Problems reported to editors: typed, with a line, and never quoting the text of a file."""

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]

_SEVERITIES: dict[str, Severity] = {
    "malformed-frontmatter": "error",
    "duplicate-key": "error",
    "not-a-mapping": "error",
    "unclosed-frontmatter": "error",
    "frontmatter-too-large": "error",
    "nested-too-deeply": "error",
    "invalid-utf8": "error",
    "too-large": "error",
    "unreadable": "error",
    "missing-date": "note",
    "aliased-type": "note",
    "renamed-field": "note",
    "id-collision": "note",
    "tag-used-once": "note",
    "tag-not-in-lexicon": "note",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing an editor can mend. Messages name fields and type values, nothing else that the file says."""

    code: str
    """Stable and kebab-case: `malformed-frontmatter`, `unknown-type`, `null-field` ..."""
    message: str
    hint: str | None = None
    line: int | None = None
    """1-based in the file."""
    column: int | None = None
    field: str | None = None

    @property
    def severity(self) -> Severity:
        """`error`: the file cannot be read; `warning`: something was mended or left out; `note`: good to know."""
        return _SEVERITIES.get(self.code, "warning")
