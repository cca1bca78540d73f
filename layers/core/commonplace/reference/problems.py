"""What is wrong with a catalogue: where, what, and what would be right."""

from typing import Literal

from commonplace.kernel.stored import Stored

Severity = Literal["error", "warning"]


class Problem(Stored):
    """One thing to mend. An error keeps the whole catalogue from being published; a warning does not."""

    code: str
    """Stable and kebab-case: `malformed-file`, `duplicate-id`, `dangling-relation` ..."""
    severity: Severity
    message: str
    hint: str | None = None
    path: str | None = None
    """Of the file, in the catalogue's folder."""
    line: int | None = None
    """1-based."""
    entry: str | None = None
    """Id of the entry."""
