"""Personal data and secrets in entries, where a deployment wants none: masked, or a reason to refuse the entry."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from commonplace.kernel.errors import InvalidInput
from commonplace.memory.model import Changes, NewEntry
from commonplace.redaction.model import Kind, Policy
from commonplace.redaction.ports import Redactor


@dataclass(frozen=True, slots=True)
class EntryRedaction:
    """Content and tags of entries without personal data. Raises Unavailable where the redaction does not answer."""

    redactor: Redactor
    mode: Literal["mask", "refuse"]
    policy: Policy = field(default_factory=Policy)

    def new(self, entry: NewEntry) -> NewEntry:
        content, tags = self._screened(entry.content, entry.tags)
        return replace(entry, content=content or "", tags=tags or ())

    def changes(self, changes: Changes) -> Changes:
        content, tags = self._screened(changes.content, changes.tags)
        return replace(changes, content=content, tags=tags)

    def _screened(self, content: str | None, tags: tuple[str, ...] | None) -> tuple[str | None, tuple[str, ...] | None]:
        """A tag in which something was found is left out: what stands in its place is no subject."""
        fields = {f"tags.{index}": tag for index, tag in enumerate(tags or ())}
        if content is not None:
            fields["content"] = content
        if not fields:
            return content, tags
        redacted = self.redactor.redact(fields, self.policy)
        changed = {name for name, text in redacted.fields.items() if text != fields[name]}
        if changed and self.mode == "refuse":
            raise _refusal(redacted.counts)
        kept = tuple(tag for index, tag in enumerate(tags or ()) if f"tags.{index}" not in changed)
        return redacted.fields.get("content"), tags and kept


def _refusal(counts: Mapping[Kind, int]) -> InvalidInput:
    found = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    return InvalidInput(
        f"The entry has personal data or secrets in it ({found}), so it was not stored.",
        hint="Write placeholders such as [NAME] or [API_KEY] in their place, and send it again.",
    )
