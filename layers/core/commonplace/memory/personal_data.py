"""Personal data and secrets in entries: masked, or a reason to refuse the entry.

Where a deployment redacts nothing, secrets alone are refused, by the rules that the redaction has for them.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from commonplace.kernel.errors import InvalidInput, TooLarge
from commonplace.memory.model import BATCH, Changes, Import, NewEntry
from commonplace.memory.validation import Refused
from commonplace.redaction.model import Kind, Policy
from commonplace.redaction.ports import Redactor

SCREENED = ("content", "tags", "source_file", "source_story", "metadata")
"""The fields with text of an entry, and of a change."""

FIELDS_AT_ONCE = 64
"""Texts of one call of the redactor."""
CALLS_AT_ONCE = 8

MORE_KINDS = {
    "pem": "a private key",
    "private_key": "a private key",
    "mnemonic": "a seed phrase",
    "jwt": "a token",
    "assigned": "a password, key or token",
    "header": "a password, key or token",
    "query": "a password, key or token",
    "credentials": "a password in an address",
}
"""By the label of a rule. The others are called by their provider."""


@dataclass(frozen=True, slots=True)
class EntryRedaction:
    """Takes personal data out of every text of entries. Raises Unavailable where the redaction does not answer."""

    redactor: Redactor
    mode: Literal["mask", "refuse"]
    policy: Policy = field(default_factory=Policy)

    def new(self, entry: NewEntry) -> NewEntry:
        return replace(entry, **self._screened(entry))

    def changes(self, changes: Changes) -> Changes:
        return replace(changes, **self._screened(changes))

    def imports(self, items: Sequence[Import | Refused]) -> list[Import | Refused]:
        """Screen each by itself, so that it becomes the same whatever stands beside it.

        Raises TooLarge for more than one call can redact: nothing may wait in a job as it was written.
        """
        if len(items) > BATCH:
            raise TooLarge(
                f"`entries` are more than {BATCH}, and this deployment looks for personal data in each.",
                hint="Import them in several calls, parents first; `commonplace kb seed` does.",
            )

        def screened(item: Import | Refused) -> Import | Refused:
            try:
                return item if isinstance(item, Refused) else replace(item, entry=self.new(item.entry))
            except InvalidInput as error:
                return Refused.of(error)

        with ThreadPoolExecutor(CALLS_AT_ONCE) as pool:
            return list(pool.map(screened, items))

    def _screened(self, one: NewEntry | Changes) -> dict[str, Any]:
        """Return the screened fields. A tag in which something was found is left out: its placeholder is no subject."""
        fields = {name: value for name in SCREENED if (value := getattr(one, name, None))}
        texts = list(dict.fromkeys(text for _, _, text in _texts(fields)))
        masked: dict[str, str] = {}
        counts: dict[Kind, int] = {}
        for first in range(0, len(texts), FIELDS_AT_ONCE):
            part = texts[first : first + FIELDS_AT_ONCE]
            redacted = self.redactor.redact({str(place): text for place, text in enumerate(part)}, self.policy)
            masked |= {text: redacted.fields[str(place)] for place, text in enumerate(part)}
            counts |= {kind: counts.get(kind, 0) + number for kind, number in redacted.counts.items()}
        if self.mode == "refuse" and any(text != left for text, left in masked.items()):
            found = ", ".join(f"{number} {kind}" for kind, number in counts.items())
            raise InvalidInput(
                f"The entry has personal data or secrets in it ({found}), so it was not stored.",
                hint="Write placeholders such as [NAME] or [API_KEY] in their place, and send it again.",
            )
        tags = tuple(tag for tag in fields.get("tags", ()) if masked[tag] == tag)
        return {name: tags if name == "tags" else _rewritten(value, masked) for name, value in fields.items()}


def refuse_secrets(sent: Mapping[str, Any]) -> None:
    """Refuse a key, token or password in the fields of an entry as they were sent.

    Raises InvalidInput, which names its kind and where it stands.
    """
    # Compiling the rules takes longer than most calls: only who writes waits for it.
    from commonplace.redaction.secret_rules import LIKELY_MNEMONIC, find_secrets
    from commonplace.redaction.views import view_of

    for place, name, own in _texts(sent):
        text = f"{name}: {own}" if name else own
        if place == "source_file":
            # The rules take what stands in an address for a part of it.
            text = text.replace("/", " ")
        view = view_of(text)
        # A list of words may be one. Masked it is no loss, but nobody could record it.
        if found := next((one for one in find_secrets(view.text) if one.label != LIKELY_MNEMONIC), None):
            line = text.count("\n", 0, view.original(found.start, found.end)[0]) + 1
            kind = MORE_KINDS.get(found.label, f"a key of {found.label.replace('_', ' ')}")
            raise InvalidInput(
                f"`{place}` has {kind} in it (line {line}), so it was not stored.",
                hint="Write a placeholder such as [API_KEY] in its place, and send it again. Revoke it if it was real.",
            )


def without_secrets(items: Sequence[Import | Refused], sent: Sequence[Any]) -> list[Import | Refused]:
    """Return the entries of an import, those refused whose fields as they were sent have a secret in them."""
    kept: list[Import | Refused] = []
    for item, fields in zip(items, sent, strict=True):
        try:
            if isinstance(item, Import):
                refuse_secrets(fields)
            kept.append(item)
        except InvalidInput as error:
            kept.append(Refused.of(error))
    return kept


def _texts(fields: Mapping[Any, Any], above: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield every text, after the name of the entry's field that it is in, and its own within an object."""
    for name, value in fields.items():
        place, own = above or str(name), str(name) if above else ""
        if above and isinstance(name, str):
            yield place, "", name
        values = [value]
        while values:
            match values.pop():
                case str() as text if text:
                    yield place, own, text
                case Mapping() as inner:
                    yield from _texts(inner, place)
                case list() | tuple() as listed:
                    values += reversed(listed)


def _rewritten(value: Any, texts: Mapping[str, str]) -> Any:
    match value:
        case str():
            return texts.get(value, value)
        case Mapping():
            return {texts.get(name, name): _rewritten(inner, texts) for name, inner in value.items()}
        case list() | tuple():
            return [_rewritten(inner, texts) for inner in value]
        case _:
            return value
