"""The reader of a catalogue: files of a folder become entries, settings and problems. Pure, and never raises."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from commonplace.reference.model import SETTINGS_FILE, Problem
from commonplace.reference.source import bounds
from commonplace.reference.source.checks import check, check_examples, check_links
from commonplace.reference.source.drafts import SUFFIXES, Draft, drafts, is_read, kind_of, left_out
from commonplace.reference.source.entry_fields import entry_of
from commonplace.reference.source.findings import At, Findings, Written
from commonplace.reference.source.settings_file import CatalogueSettings, read_settings

__all__ = ["READER_VERSION", "Reading", "Written", "read_catalogue"]

READER_VERSION = "1"
"""Part of the fingerprint of what decides what a file becomes: another value means that every file is read anew."""


_MEANT_AS_SETTINGS = {"catalogue.yml", "catalogue.json", "catalog.yaml", "catalog.yml", "catalog.json"}


@dataclass(frozen=True, slots=True)
class Reading:
    """The contents of a folder. It is published whole, and only without errors."""

    name: str
    settings: CatalogueSettings
    entries: tuple[Written, ...]
    """By id."""
    problems: tuple[Problem, ...]
    """In order of file and line."""

    @property
    def publishable(self) -> bool:
        return not self.errors

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(one for one in self.problems if one.severity == "error")

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(one for one in self.problems if one.severity == "warning")


def read_catalogue(files: Mapping[str, bytes], name: str) -> Reading:
    """`files`: paths inside the catalogue's folder -> bytes; what is left out (`selecting`) may be among them.

    The same files give the same value, in whatever order they come.
    """
    findings = Findings()
    settings, problems = read_settings(files.get(SETTINGS_FILE), name)
    findings.take(problems)
    read = [path for path in files if is_read(path)]
    size = sum(len(files[path]) for path in read)
    if len(read) > bounds.MAX_FILES:
        message = f"The catalogue has {len(read):,} files; at most {bounds.MAX_FILES:,} are read."
        findings.error("too-many", message, "Put several entries into one file.", At())
    if size > bounds.MAX_CATALOGUE_BYTES:
        message = f"The catalogue is larger than {bounds.MAX_CATALOGUE_BYTES // 1_000_000} MB."
        findings.error("too-large", message, "Divide it into several catalogues.", At())
    if not (len(read) <= bounds.MAX_FILES and size <= bounds.MAX_CATALOGUE_BYTES):
        return Reading(name, settings, (), findings.told())
    found: list[Written] = []
    broken: set[str] = set()
    for count, draft in enumerate(_drafts(files, findings), start=1):
        if count > bounds.MAX_ENTRIES:
            message = f"The catalogue has more than {bounds.MAX_ENTRIES:,} entries."
            findings.error("too-many", message, "Divide it into several catalogues.", At(draft.fields.at.path))
            break
        entry = entry_of(draft)
        if entry is not None:
            at, line = draft.fields.at, draft.body_line if draft.body is not None else None
            found.append(Written(entry, at.path or "", at.line, draft.fields.lines, line))
        elif isinstance(id := draft.fields.values.get("id", draft.id), str):
            broken.add(id)
    entries = tuple(sorted(found, key=lambda one: (one.entry.id, one.path, one.line or 0)))
    check(entries, settings, broken, findings)
    check_examples(entries, settings, findings)
    check_links(entries, files.keys(), findings)
    return Reading(name, settings, entries, findings.told())


def _drafts(files: Mapping[str, bytes], findings: Findings) -> Iterator[Draft]:
    for path in sorted(files):
        kind = kind_of(path)
        if path.lower() in _MEANT_AS_SETTINGS:
            message = f"Settings of a catalogue are read from `{SETTINGS_FILE}` alone."
            findings.error("malformed-settings", message, f"Call it `{SETTINGS_FILE}`.", At(path))
        elif kind is None and not left_out(path):
            hint = f"Catalogues are made of {', '.join(SUFFIXES)} files."
            suffix = PurePosixPath(path).suffix or "no suffix"
            message = f"The file is not read: {suffix} is not a kind of file that a catalogue is made of."
            findings.warning("unknown-file", message, hint, At(path))
        elif kind is not None and kind != "settings":
            yield from drafts(path, kind, files[path], findings)
