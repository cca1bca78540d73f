"""The file `catalogue.yaml`: the product's name and command, and what is generated from what."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, TypeVar

from commonplace.kernel.yaml import Parsed, YamlError
from commonplace.kernel.yaml import read as read_yaml
from commonplace.reference.model import SETTINGS_FILE, Problem
from commonplace.reference.source import bounds
from commonplace.reference.source.drafts import kind_of
from commonplace.reference.source.fields import SLUG, Fields, fields_of, shown, snake
from commonplace.reference.source.findings import At, Findings
from commonplace.reference.source.values import sentence

T = TypeVar("T")

KINDS = ("openapi", "console", "click", "argparse", "typer", "help")
"""What entries can be generated from."""

_MAX_BYTES = 256_000
_MAX_VALUES = 20_000
_KNOWN = ("title", "description", "version", "roots", "synonyms", "categories", "modules", "servers", "generate")
_ITEM = f"Write kind (one of {', '.join(KINDS)}), source and into, such as `into: commands.json`."
_WORDS = f"Write `word: [others that mean it]`, at most {bounds.MAX_SYNONYMS_OF_ONE} of them."
_TITLES = "Write `slug: Title`; a slug is small letters, digits and hyphens."
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Generation:
    """An item of `generate:`."""

    kind: str
    """One of KINDS."""
    source: str
    """A path from the catalogue's folder, or what names a program: `package.module:app`, a command line."""
    into: str
    """The JSON file of the catalogue that is written."""
    options: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    """Every other key of the item, as it is written: what they mean is the generator's."""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogueSettings:
    """The settings of a catalogue. Where there is no such file the defaults hold, except for the title."""

    title: str
    description: str = ""
    version: str | None = None
    """Of the product."""
    roots: tuple[str, ...] = ()
    synonyms: Mapping[str, list[str]] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    servers: tuple[str, ...] = ()
    """URLs of the API."""
    generate: tuple[Generation, ...] = ()


def read_settings(raw: bytes | None, name: str) -> tuple[CatalogueSettings, tuple[Problem, ...]]:
    """Never raises. What cannot be read is reported, and has its default."""
    findings, settings = Findings(), CatalogueSettings(name)
    if raw is not None:
        settings = _read(raw, name, findings)
    # Whatever is invalid in this file keeps it from being used: one code says so.
    return settings, tuple(
        one.model_copy(update={"code": "malformed-settings"}) if one.severity == "error" else one
        for one in findings.found
    )


def _read(raw: bytes, name: str, findings: Findings) -> CatalogueSettings:
    at, default = At(SETTINGS_FILE), CatalogueSettings(name)
    if len(raw) > _MAX_BYTES:
        _malformed(findings, f"It is larger than {_MAX_BYTES:,} bytes.", at)
        return default
    try:
        parsed = read_yaml(raw.decode("utf-8-sig"), max_depth=8, max_values=_MAX_VALUES, lines_to_depth=3)
    except UnicodeDecodeError:
        _malformed(findings, "It is not UTF-8.", at)
        return default
    except YamlError as error:
        _malformed(findings, sentence(error.reason), at.on(error.line))
        return default
    if parsed.value is None:
        return default
    if not isinstance(parsed.value, dict):
        _malformed(findings, "It is not a mapping of settings.", at.on(1))
        return default
    fields = fields_of(parsed.value, (), parsed, at, findings)
    for key in sorted(fields.values.keys() - set(_KNOWN)):
        hint = f"Known settings are {', '.join(_KNOWN)}."
        fields.findings.warning("unknown-field", f"`{fields.called(key)}` is not a setting.", hint, fields.where(key))
    roots = fields.texts("roots", bounds.MAX_ROOTS, 100)
    if any(len(root.split()) != 1 for root in roots):
        fields.invalid("roots", "contains more than single words", "Write the first word of each kind of command.")
        roots = []
    return CatalogueSettings(
        title=fields.text("title", bounds.MAX_TITLE) or name,
        description=fields.text("description", bounds.MAX_DESCRIPTION) or "",
        version=fields.text("version", bounds.MAX_VERSION) or None,
        roots=tuple(roots),
        synonyms=_mapping(fields, "synonyms", bounds.MAX_SYNONYMS, _synonyms, _WORDS),
        categories=_mapping(fields, "categories", bounds.MAX_TITLES, _title, _TITLES, slugs=True),
        modules=_mapping(fields, "modules", bounds.MAX_TITLES, _title, _TITLES, slugs=True),
        servers=tuple(fields.texts("servers", bounds.MAX_SERVERS, 500)),
        generate=tuple(_generations(fields, parsed)),
    )


def _malformed(findings: Findings, message: str, at: At) -> None:
    findings.error("malformed-settings", message, f"Known settings are {', '.join(_KNOWN)}.", at)


def _title(value: Any) -> str | None:
    return " ".join(value.split()) if isinstance(value, str) and 0 < len(value.strip()) <= bounds.MAX_TITLE else None


def _synonyms(value: Any) -> list[str] | None:
    given = value if isinstance(value, list) else [value]
    words = [one.strip() for one in given if isinstance(one, str) and 0 < len(one.strip()) <= bounds.MAX_KEYWORD]
    return words if len(words) == len(given) and len(words) <= bounds.MAX_SYNONYMS_OF_ONE else None


def _mapping(
    fields: Fields, name: str, most: int, read: Callable[[Any], T | None], hint: str, *, slugs: bool = False
) -> dict[str, T]:
    value = fields.values.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > most:
        fields.invalid(name, f"is not a mapping of at most {most:,} keys", hint)
        return {}
    found: dict[str, T] = {}
    for key, one in value.items():
        valid = 0 < len(key.strip()) <= bounds.MAX_KEYWORD
        if slugs:
            valid = bool(SLUG.match(key)) and len(key) <= bounds.MAX_SLUG
        read_one = read(one) if valid else None
        if read_one is None:
            fields.invalid(name, "has a key or a value that cannot be used", hint)
            return {}
        found[key.strip()] = read_one
    return found


def _generations(fields: Fields, parsed: Parsed) -> Iterator[Generation]:
    given = fields.values.get("generate")
    if given is None:
        return
    if not isinstance(given, list) or len(given) > bounds.MAX_GENERATIONS:
        fields.invalid("generate", f"is not a list of at most {bounds.MAX_GENERATIONS} items", _ITEM)
        return
    written: set[str] = set()
    for index, one in enumerate(given):
        at = fields.at.on(parsed.lines.get(("generate", index)))
        if not isinstance(one, dict):
            fields.findings.error("invalid-field", "An item of `generate` is not a mapping.", _ITEM, at)
            continue
        item = fields_of(one, ("generate", index), parsed, at, fields.findings, within=f"generate[{index}].")
        if generation := _generation(item, one):
            if generation.into in written:
                item.invalid("into", f"is `{shown(generation.into)}` again", "Give each item a file of its own.")
            written.add(generation.into)
            yield generation


def _generation(fields: Fields, given: Mapping[str, Any]) -> Generation | None:
    kind = fields.one_of("kind", KINDS)
    source, into = fields.text("source", bounds.MAX_SOURCE), fields.text("into", bounds.MAX_SOURCE)
    for name in ("kind", "source", "into"):
        if fields.absent(name):
            fields.missing(name, _ITEM)
    if into and not writable(into):
        fields.invalid(
            "into", "is not a JSON file of the catalogue", "Write a path in this folder, such as `commands.json`."
        )
        return None
    if not kind or not source or not into:
        return None
    options = {key: value for key, value in given.items() if snake(key) not in ("kind", "source", "into")}
    return Generation(kind, source, into, MappingProxyType(options), fields.at.line)


def writable(into: str) -> bool:
    """Return whether a catalogue reads what is written there, and it lies inside its folder."""
    path = PurePosixPath(into)
    inside = not path.is_absolute() and ".." not in path.parts and "\\" not in into
    return inside and kind_of(path.as_posix()) == "json"
