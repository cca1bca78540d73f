"""Output of `commonplace reference`: problems and differences, as text and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from commonplace_local.files import workspace_prefix
from commonplace_local.terminal import annotation, clean, counted, printable

if TYPE_CHECKING:
    from commonplace.reference.model import Entry, Problem
    from commonplace.reference.source.compilation import Difference
    from commonplace.reference.source.reader import Reading
    from commonplace_local.cli.reference.folders import Folder

COLOURS = {"error": typer.colors.RED, "warning": typer.colors.YELLOW}
"""A pipe gets none."""
MAX_ALIKE = 20
"""Problems of one kind: many have one cause."""
MAX_SHOWN = 50
"""Lines of one kind of difference."""


def problems_text(folder: "Folder", reading: "Reading", problems: "Sequence[Problem]") -> str:
    counts = _counts(problems)
    lines = []
    shown = Counter[str]()
    for one in problems:
        shown[one.code] += 1
        if shown[one.code] > MAX_ALIKE:
            continue
        place = ""
        if one.path:  # as an editor or a terminal can follow it from here
            path = (folder.root / one.path).as_posix() if folder.root else f"{folder.shown.rstrip('/')}/{one.path}"
            place = f"{printable(path)}:{one.line or 1}: "
        entry = f"{clean(one.entry)}: " if one.entry else ""
        lines.append(f"{place}{typer.style(one.severity, fg=COLOURS[one.severity])}: {entry}{clean(_sentence(one))}")
    lines += [""] if problems else []
    for (severity, code), count in counts:
        more = f", {count - MAX_ALIKE:,} of them not shown: --json" if count > MAX_ALIKE else ""
        lines.append(f"{count:>6}  {severity:<8} {code}{more}")
    types = Counter(one.entry.type for one in reading.entries)
    listed = ", ".join(f"{count:,} {name}" for name, count in sorted(types.items()))
    errors = any(one.severity == "error" for one in problems)
    good, bad = "It can be published.", "It would not be published; the previous version would stay."
    lines.append(f"{clean(reading.settings.title)}: {counted(len(reading.entries))} ({listed or 'none'})")
    return "\n".join([*lines, bad if errors else good])


def _sentence(problem: "Problem") -> str:
    return f"{problem.message} {problem.hint}" if problem.hint else problem.message


def _counts(problems: "Iterable[Problem]") -> list[tuple[tuple[str, str], int]]:
    return sorted(Counter((one.severity, one.code) for one in problems).items())


def problems_json(reading: "Reading", problems: "Sequence[Problem]") -> dict[str, Any]:
    types = Counter(one.entry.type for one in reading.entries)
    return {
        "catalogue": reading.name,
        "title": reading.settings.title,
        "publishable": not any(one.severity == "error" for one in problems),
        "entries": dict(sorted(types.items())),
        "counts": [
            {"severity": severity, "code": code, "count": count} for (severity, code), count in _counts(problems)
        ],
        "problems": [one.model_dump(by_alias=True) for one in problems],
    }


def annotations(folder: "Folder", problems: "Iterable[Problem]") -> Iterator[str]:
    prefix = workspace_prefix(folder.root) if folder.root else ""
    for one in problems:
        file, entry = prefix + (one.path or "catalogue.yaml"), f"{one.entry}: " if one.entry else ""
        yield annotation(one.severity, one.code, entry + _sentence(one), file=file, line=one.line or 1)


def difference_text(found: "Difference") -> str:
    if found.nothing:
        return "No differences."
    lines = [
        *_section("Added", [_named(one) for one in found.added]),
        *_section("Removed", [_named(one) for one in found.removed]),
        *_section("Renamed", [f"{_named(one.old)} -> {_named(one.new)}" for one in found.renamed]),
        *_section(
            "Deprecated",
            [
                f"{_named(one)}, replaced by {one.replaced_by}" if one.replaced_by else f"{_named(one)}, not replaced"
                for one in found.deprecated
            ],
        ),
        *_section("Changed", [f"{_named(one.entry)}: {', '.join(one.fields)}" for one in found.changed]),
        *_section("Removed names (breaking)", [clean(one.called) for one in found.lost]),
    ]
    if found.breaking:
        lines.append("Keep an entry with the old name that says what it is `replacedBy`, or make it an alias.")
    return "\n".join(lines).strip()


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if not lines:
        return
    yield f"{title} ({len(lines):,})"
    yield from (f"  {line}" for line in lines[:MAX_SHOWN])
    if len(lines) > MAX_SHOWN:
        yield f"  and {len(lines) - MAX_SHOWN:,} more; --json lists them"
    yield ""


def _named(entry: "Entry") -> str:
    return clean(f"{entry.id} ({entry.called})")


def difference_json(found: "Difference") -> dict[str, Any]:
    return {
        "breaking": found.breaking,
        "added": [_entry(one) for one in found.added],
        "removed": [_entry(one) for one in found.removed],
        "renamed": [{"old": _entry(one.old), "new": _entry(one.new)} for one in found.renamed],
        "deprecated": [_entry(one) | {"replacedBy": one.replaced_by} for one in found.deprecated],
        "changed": [_entry(one.entry) | {"fields": list(one.fields)} for one in found.changed],
        "lost": [_entry(one) for one in found.lost],
    }


def _entry(entry: "Entry") -> dict[str, Any]:
    return {"id": entry.id, "type": entry.type, "called": entry.called}
