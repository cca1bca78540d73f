"""Entries as YAML files: a list of them, or `entries:` with a list, as `kb_bulk_import` takes them.

Read within the bounds of `kernel.yaml`; written for people to edit: fields in their order, long text as blocks, no
anchors.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from commonplace.kernel.errors import CommonplaceError, InvalidInput, TooLarge
from commonplace.kernel.yaml import Reason, YamlError
from commonplace.kernel.yaml import read as read_values
from commonplace.memory.model import MAX_IMPORT, MAX_TAG_CHARACTERS, MAX_TAGS, EntryType, Role, content_hash, content_of

if TYPE_CHECKING:
    import yaml


ALSO_IN = "also_in"
"""Key of an entry's metadata: other stories that say the very same."""

SUPERSEDED_BY = "superseded_by"
"""Key of an entry's metadata: the story that replaces its own, as the file names it."""

MAX_BYTES = 4_000_000
MAX_DEPTH = 9
"""Of a whole text: the list, an entry, and what its metadata may hold."""
MAX_VALUES = 500_000
"""Keys and values, nested ones included: what ten thousand entries with all their fields and tags need, and more."""

_EXAMPLE = "Write a list of entries, each beginning with `- content:`."
_REFUSED: dict[Reason, str] = {
    "syntax": "The YAML cannot be read",
    "documents": "The YAML holds more than one document",
    "reference": "The YAML has an anchor, an alias or a tag, which are not read",
    "depth": f"The YAML is nested deeper than {MAX_DEPTH} levels",
    "duplicate": "The YAML gives a field of an entry twice",
    "key": "The YAML has a list or a mapping for a field's name",
}

IMPORTED = (
    *("ref", "content", "entry_type", "roles", "tags", "confidence", "source_file", "source_story", "parent_id"),
    *("parent_ref", "superseded_by_ref", "metadata"),
)
"""The fields of an entry of an import, in the order of files."""

WIDTH = 110
WORD = 64
"""Characters of a text that is shown in a line with others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """One entry of an import. `ref` names it there, `parent_ref` its parent, `superseded_by_ref` its replacement."""

    content: str
    entry_type: EntryType
    roles: tuple[Role, ...]
    tags: tuple[str, ...] = ()
    source_file: str | None = None
    source_story: str | None = None
    ref: str | None = None
    parent_ref: str | None = None
    parent_id: str | None = None
    superseded_by_ref: str | None = None
    confidence: float = 1.0
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def hash(self) -> str:
        """Of the content as the memory will keep it."""
        try:
            return content_hash(content_of(self.content))
        except CommonplaceError:
            return content_hash(self.content)

    def as_import(self) -> dict[str, Any]:
        """The fields of `kb_bulk_import`, those left out that say nothing."""
        fields = {name: getattr(self, name) for name in IMPORTED}
        fields |= {"roles": list(self.roles), "tags": list(self.tags), "metadata": dict(self.metadata)}
        return {name: value for name, value in fields.items() if value not in (None, {}) or name in ("roles", "tags")}


Kind = Literal["story", "group", "section", "fact", "code", "field", "told", "nothing", "introduction", "template"]
"""`told`: by the summary alone; `code`: of the lesson above it."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a parser has recognised at a line, from 1."""

    line: int
    kind: Kind
    what: str


@dataclass(frozen=True, slots=True)
class Unread:
    """What a parser has made nothing of, and why."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """The entries that a parser made of a file, its remarks, and what it has recognised and what not, by lines."""

    seeds: tuple[Seed, ...]
    remarks: tuple[str, ...] = ()
    read: tuple[Read, ...] = ()
    unread: tuple[Unread, ...] = ()


def tag(text: str) -> str:
    """A tag of this text: lower case, words joined by `-`, at most as long as tags may be. Empty if no word is left."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("'", "").replace("’", "")
    words = re.sub(r"[^\w.@/+#]+|_+", "-", plain).strip("-./@")
    return words[:MAX_TAG_CHARACTERS].strip("-./@")


def tags(texts: Iterable[str]) -> tuple[str, ...]:
    """Tags of these texts, each once and in order, at most as many as an entry may have."""
    found = dict.fromkeys(one for one in map(tag, texts) if one)
    return tuple(found)[:MAX_TAGS]


def merged(seeds: Sequence[Seed]) -> tuple[Seed, ...]:
    """Without repetitions: two entries of an organisation never have the same content.

    The first stands for the others, takes their tags and roles, and names their stories.
    """
    kept: dict[str, Seed] = {}
    for seed in seeds:
        if (first := kept.get(seed.hash)) is None:
            kept[seed.hash] = seed
            continue
        stories = list(first.metadata.get(ALSO_IN, ()))
        if seed.source_story and seed.source_story not in (first.source_story, *stories):
            stories.append(seed.source_story)
        roles: tuple[Role, ...] = tuple(dict.fromkeys((*first.roles, *seed.roles)))
        kept[seed.hash] = replace(
            first,
            tags=tags((*first.tags, *seed.tags)),
            roles=("all",) if "all" in roles else roles,
            metadata=dict(first.metadata) | ({ALSO_IN: stories} if stories else {}),
        )
    return tuple(kept.values())


def linked(seeds: Iterable[Seed]) -> tuple[Seed, ...]:
    """Link each seed of a superseded story to the summary of the story that replaces it, where that is among them."""
    seeds = tuple(seeds)
    summaries = {_id(one.source_story): one.ref for one in seeds if one.ref and one.source_story}
    return tuple(
        replace(one, superseded_by_ref=ref)
        if (ref := summaries.get(_id(one.metadata.get(SUPERSEDED_BY)))) and ref not in (one.ref, one.parent_ref)
        else one
        for one in seeds
    )


def _id(story: Any) -> str:
    """Return `adr-9` for `ADR-0009` and `ADR 9`."""
    return re.sub(r"[\W_]+0*(?=\d)", "-", str(story or "")).casefold()


def combined(parts: Sequence[Parsed]) -> Parsed:
    """The seeds of several files as those of one: names are made distinct, repetitions joined."""
    taken: set[str] = set()
    found: list[Seed] = []
    for part in parts:
        names: dict[str, str] = {}
        for ref in (seed.ref for seed in part.seeds if seed.ref):
            number = 1
            while (name := ref if number == 1 else f"{ref}#{number}") in taken:
                number += 1
            taken.add(name)
            names[ref] = name
        for seed in part.seeds:
            above = names.get(seed.parent_ref or "")
            found.append(replace(seed, ref=names.get(seed.ref or ""), parent_ref=above))
    return Parsed(linked(merged(found)), tuple(remark for part in parts for remark in part.remarks))


def read(text: str) -> list[Any]:
    """The entries as they are written, unchecked. Raises InvalidInput, and TooLarge for more than is read."""
    entries = listed(document(text))
    if not isinstance(entries, list):
        raise InvalidInput("The YAML is not a list of entries.", hint=_EXAMPLE)
    if len(entries) > MAX_IMPORT:
        raise TooLarge(f"The YAML has more than {MAX_IMPORT:,} entries.", hint="Import it in several parts.")
    return entries


def listed(root: Any) -> Any:
    """What stands where the entries should. Raises InvalidInput for anything beside them."""
    if not isinstance(root, dict):
        return root
    if unknown := [str(name) for name in root if name != "entries"]:
        hint = f"Only `entries` is read there, and not {unknown[0][:60]!r}. {_EXAMPLE}"
        raise InvalidInput("The YAML has fields other than `entries`.", hint=hint)
    return root.get("entries")


def document(text: str, *, max_bytes: int = MAX_BYTES, max_values: int = MAX_VALUES) -> Any:
    """Whatever one document holds, read with the same care. Raises InvalidInput and TooLarge."""
    if len(text) > max_bytes or len(text.encode("utf-8", "replace")) > max_bytes:
        raise TooLarge(f"The YAML is larger than {max_bytes:,} bytes.", hint="Import it in several parts.")
    try:
        return read_values(text, max_depth=MAX_DEPTH, max_values=max_values).value
    except YamlError as error:
        # The place is reported and never the text.
        if error.reason == "values":
            raise TooLarge("The YAML contains too many values.", hint="Import it in several parts.") from None
        if error.reason == "half-character":
            raise InvalidInput("The YAML contains a lone surrogate.", hint="Send whole Unicode characters.") from None
        where = f" (line {error.line})" if error.line is not None else ""
        raise InvalidInput(f"{_REFUSED[error.reason]}{where}.", hint=_EXAMPLE) from None


def write(value: Any) -> str:
    """The text that `yaml_entries` reads back as the same value: lists, mappings, text, numbers, true, false, null."""
    import yaml

    class Dumper(yaml.CSafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - of the base class
            return True

    Dumper.add_representer(str, _text)
    Dumper.add_representer(list, _list)
    told: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return told


def _text(dumper: "yaml.CSafeDumper", text: str) -> "yaml.ScalarNode":
    """Several lines as a block, when a block can hold them as they are."""
    lines = text.split("\n")
    plain = all(line == line.rstrip() and (line.isprintable() or not line) for line in lines)
    block = len(lines) > 1 and plain and not lines[0].startswith(" ") and bool(lines[0])
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if block else None)


def _list(dumper: "yaml.CSafeDumper", values: list[Any]) -> "yaml.SequenceNode":
    """A few short words (roles, tags) in one line."""
    short = all(isinstance(one, str) and len(one) <= WORD for one in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=short)
