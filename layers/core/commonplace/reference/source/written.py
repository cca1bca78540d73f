"""An entry that was read, and where."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from commonplace.reference.entries import Entry
from commonplace.reference.source.findings import At


@dataclass(frozen=True, slots=True)
class Written:
    """An entry, and where it is written."""

    entry: Entry
    path: str
    """Of the file, in the catalogue's folder."""
    line: int | None = None
    lines: Mapping[str, int] = field(default_factory=dict)
    """Of its fields, in snake_case."""
    content_line: int | None = None
    """At which its content begins, where the content is the text of a file."""

    def at(self, name: str | None = None) -> At:
        """Where it stands, or a field of it."""
        return At(self.path, self.lines.get(name or "", self.line), self.entry.id)
