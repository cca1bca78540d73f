"""Check for entries that were generated from another state of their source than the present one."""

import posixpath
from collections.abc import Callable, Iterable
from hashlib import sha256

from commonplace.reference.model import Problem
from commonplace.reference.source.drafts import SOURCES
from commonplace.reference.source.findings import At, Findings, Written
from commonplace.reference.source.reader import Reading

GENERATED = "auto-generated:"
_FILES = ("openapi", "console")
"""Kinds of generators whose source is a file; of the others, only another run can show it."""

MADE_ANEW = "Run `commonplace reference generate` and review its changes."


def check_sources(reading: Reading, source: Callable[[str], bytes | None]) -> tuple[Problem, ...]:
    """One warning for each file of entries and source. `source` gives a file by its path from the catalogue's folder,
    None if there is none."""
    # Entries by their file and by where their source may lie: where `generate:` says, else where they say.
    rules = {rule.into: rule for rule in reading.settings.generate}
    generated: dict[tuple[str, tuple[str, ...]], list[Written]] = {}
    for one in reading.entries:
        if one.entry.source_hash is None:
            continue
        if rule := rules.get(one.path):
            places: tuple[str, ...] = (rule.source,) if rule.kind in _FILES else ()
        else:
            name = (one.entry.source or "").removeprefix(GENERATED)
            places = (name, f"{SOURCES}/{name}") if name else ()
        if places:
            generated.setdefault((one.path, places), []).append(one)
    findings = Findings()
    hashes: dict[str, str | None] = {}
    for (path, paths), entries in generated.items():
        found = next((one for one in paths if _hash(one, source, hashes)), None)
        if found is None:
            if len(paths) == 1:
                message = f"{_count(entries)} generated from `{paths[0]}`, which is not there."
                findings.warning("missing-source", message, "Restore it, or write the entries by hand.", At(path))
            continue
        stale = [one for one in entries if one.entry.source_hash != hashes[found]]
        if stale:
            message = f"{_count(stale)} generated from another state of `{found}`."
            findings.warning("stale-source", message, MADE_ANEW, At(path, stale[0].line, stale[0].entry.id))
    return tuple(findings.found)


def _hash(path: str, source: Callable[[str], bytes | None], hashes: dict[str, str | None]) -> str | None:
    if path not in hashes:
        raw = source(path)
        if raw is None:
            hashes[path] = None
        elif not path.endswith((".json", ".yaml", ".yml")):
            hashes[path] = sha256(raw).hexdigest()
        else:  # over every file of an API document that is several
            from commonplace_generators.openapi.documents import fingerprint, gathered

            beside = posixpath.dirname(path)
            others = gathered(raw, lambda other: source(posixpath.normpath(posixpath.join(beside, other))))
            hashes[path] = fingerprint(raw, others)
    return hashes[path]


def _count(entries: Iterable[Written]) -> str:
    number = len(list(entries))
    return "One entry was" if number == 1 else f"{number:,} entries were"
