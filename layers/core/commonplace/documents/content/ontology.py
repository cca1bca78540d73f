"""The ontology: types, parents, fields, aliases and folders, read from `ontology.toml` (seed 000, section 3)."""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from commonplace.kernel.errors import InvalidInput
from commonplace.kernel.terms import forms
from commonplace.repository.problems import Problem

ROOT_TYPE = "file"

FieldKind = Literal[
    "line",
    "text",
    "slug",
    "list",
    "tags",
    "terms",
    "date",
    "url",
    "email",
    "number",
    "flag",
    "embed",
    "coordinates",
    "type",
]


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """The declaration of a frontmatter field."""

    name: str
    kind: FieldKind
    description: str
    required: bool = False
    enum: tuple[str, ...] = ()
    names: str | None = None
    """The type of document that the values point to, if they do."""
    synonyms: tuple[str, ...] = ()
    """Names that the field had earlier."""
    examples: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """One content type with every field it has, inherited ones first."""

    name: str
    parent: str | None
    abstract: bool
    """A grouping (`resource`, `story` ...): as a filter it stands for all its children."""
    description: str
    prefixes: tuple[str, ...]
    fields: Mapping[str, FieldSpec]


class Ontology:
    """The table, and the few questions that everything else asks of it."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._table = table
        self.fields: dict[str, FieldSpec] = {name: _field(name, row) for name, row in table["fields"].items()}
        self.aliases: dict[str, str] = dict(table.get("aliases", {}))
        self.types: dict[str, TypeSpec] = {}
        for name, row in table["types"].items():
            self.types[name] = self._type(name, row)
        self.prefixes: dict[str, str] = {prefix: spec.name for spec in self.types.values() for prefix in spec.prefixes}
        if unknown := set(self.aliases.values()) - self.types.keys():
            raise ValueError(f"aliases lead to unknown types: {sorted(unknown)}")

    def _type(self, name: str, row: Mapping[str, Any]) -> TypeSpec:
        parent = row.get("parent")
        fields = dict(self.types[parent].fields) if parent else {}
        fields |= {field: self.fields[field] for field in row.get("fields", ())}
        for field, values in row.get("enums", {}).items():
            fields[field] = replace(fields[field], enum=tuple(values))
        for field in row.get("required", ()):
            fields[field] = replace(fields[field], required=True)
        return TypeSpec(
            name=name,
            parent=parent,
            abstract=row.get("abstract", False),
            description=row["description"],
            prefixes=tuple(row.get("prefixes", ())),
            fields=fields,
        )

    @cached_property
    def fingerprint(self) -> str:
        """Changes whenever the table says something else; comments and layout do not count."""
        canonical = json.dumps(self._table, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()[:16]

    def type_of_path(self, path: str) -> str:
        """The type that the folder implies: the longest prefix that ends at a `/`, else `file` (section 3.5)."""
        folder, slash, _ = path.rpartition("/")
        while slash:
            if folder in self.prefixes:
                return self.prefixes[folder]
            folder, slash, _ = folder.rpartition("/")
        return ROOT_TYPE

    def resolve_type(self, authored: object, path: str) -> tuple[str, Problem | None]:
        """The type of a document: the frontmatter's `type` if it is known or an alias, else the folder's."""
        by_path = self.type_of_path(path)
        if authored is None:
            return by_path, None
        words = [word for word in _words(authored) if word]
        known = next((name for word in words if (name := self._known(word))), None)
        if known is None:
            return by_path, self._unknown_type(words, by_path)
        if self.types[known].abstract:
            return self._most_specific(known, by_path)
        return known, None if authored == known else _aliased(words, known)

    def _known(self, word: str) -> str | None:
        folded = word.casefold()
        if folded in self.types:
            return folded
        return self.aliases.get(folded)

    def _most_specific(self, grouping: str, by_path: str) -> tuple[str, Problem | None]:
        if by_path != grouping and grouping in self.lineage(by_path):
            return by_path, None
        children = ", ".join(self.children(grouping))
        message = f"`{grouping}` is a group of types, not a type of its own"
        return grouping, Problem("abstract-type", message, hint=f"use one of: {children}", field="type")

    def _unknown_type(self, words: list[str], by_path: str) -> Problem:
        if not words:
            return Problem("wrong-shape", "`type` is not a word", hint=f"it is taken as `{by_path}`", field="type")
        near = get_close_matches(words[0].casefold(), [*self.types, *self.aliases], n=1)
        hint = f"did you mean `{near[0]}`? " if near else ""
        return Problem(
            "unknown-type",
            f"`{_shown(words[0])}` is not a known type; the folder makes it `{by_path}`",
            hint=f"{hint}known types: {', '.join(self.types)}",
            field="type",
        )

    def lineage(self, content_type: str) -> tuple[str, ...]:
        """The type and its ancestors, the type first."""
        names, name = [], content_type
        while name:
            names.append(name)
            name = self.types[name].parent or ""
        return tuple(names)

    def children(self, content_type: str) -> tuple[str, ...]:
        """Types directly below, in the table's order."""
        return tuple(spec.name for spec in self.types.values() if spec.parent == content_type)

    def expand(self, content_type: str) -> tuple[str, ...]:
        """The types that a filter stands for: a grouping stands for itself and all below it.

        Aliases are accepted, and any letter case and number. Raises InvalidInput, naming the valid types.
        """
        spellings = forms(content_type.strip().casefold())
        name = next((known for spelling in spellings if (known := self._known(spelling))), None)
        if name is None:
            problem = self._unknown_type([content_type], ROOT_TYPE)
            raise InvalidInput(f"`{_shown(content_type)}` is not a known type", hint=problem.hint)
        if not self.types[name].abstract:
            return (name,)
        return tuple(other for other in self.types if name in self.lineage(other))

    def field(self, content_type: str, name: str) -> FieldSpec | None:
        """What a field means on a type; fields that the type does not declare mean what they mean elsewhere."""
        return self.types[content_type].fields.get(name) or self.fields.get(name)

    @cached_property
    def field_names(self) -> dict[str, str]:
        """Folded spelling (`linktype`, `source` ...) -> the ontology's name of the field."""
        names = {_folded(name): name for name in self.fields}
        for spec in self.fields.values():
            names |= {_folded(synonym): spec.name for synonym in spec.synonyms}
        return names

    def field_name(self, authored: str) -> str | None:
        """The ontology's name for a field, whatever the case, hyphens or underscores; None when there is none."""
        return authored if authored in self.fields else self.field_names.get(_folded(authored))

    def describe(self) -> dict[str, Any]:
        """The whole ontology as plain JSON, for readers (agents, editors, sites) that want to know what exists."""
        return {
            "fingerprint": self.fingerprint,
            "types": [self._describe_type(spec) for spec in self.types.values()],
            "fields": [_describe_field(spec) for spec in self.fields.values()],
            "aliases": dict(sorted(self.aliases.items())),
            "folders": dict(sorted(self.prefixes.items())),
        }

    def _describe_type(self, spec: TypeSpec) -> dict[str, Any]:
        return {
            "name": spec.name,
            "parent": spec.parent,
            "abstract": spec.abstract,
            "description": spec.description,
            "children": list(self.children(spec.name)),
            "folders": list(spec.prefixes),
            "fields": list(spec.fields),
            "required": [field.name for field in spec.fields.values() if field.required],
            "enums": {field.name: list(field.enum) for field in spec.fields.values() if field.enum},
        }


def _field(name: str, row: Mapping[str, Any]) -> FieldSpec:
    listed = {key: tuple(row[key]) for key in ("enum", "synonyms", "examples") if key in row}
    return FieldSpec(name=name, **{**row, **listed})


def _describe_field(spec: FieldSpec) -> dict[str, Any]:
    facts = {"name": spec.name, "kind": spec.kind, "description": spec.description}
    if spec.names:
        facts["names"] = spec.names
    return facts | ({"examples": list(spec.examples)} if spec.examples else {})


def _words(authored: object) -> Iterator[str]:
    values = authored if isinstance(authored, list) else [authored]
    for value in values:
        if isinstance(value, str):
            yield from (word.strip() for word in value.split(","))


def _aliased(words: list[str], known: str) -> Problem:
    return Problem(
        "aliased-type",
        f"`{_shown(', '.join(words))}` is read as `{known}`",
        hint=f"write `type: {known}`",
        field="type",
    )


def _shown(value: str) -> str:
    """A type value, cut and printable, fit for a message."""
    return "".join(char if char.isprintable() else "?" for char in value[:60])


def _folded(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")


def load(path: Path) -> Ontology:
    """Reads an ontology table. Raises ValueError or KeyError when the table contradicts itself."""
    return Ontology(tomllib.loads(path.read_text(encoding="utf-8")))


ONTOLOGY = load(Path(__file__).with_name("ontology.toml"))
