"""Findings: the problems met while a catalogue is read, with their places and the nearest valid names."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from commonplace.reference.model import Entry, Problem, Severity
from commonplace.reference.source.bounds import MAX_PROBLEMS

_SEVERITIES: dict[Severity, int] = {"error": 0, "warning": 1}


@dataclass(frozen=True, slots=True)
class At:
    """A place in a file."""

    path: str | None = None
    line: int | None = None
    entry: str | None = None

    def on(self, line: int | None) -> "At":
        """The same file and entry, at this line if it is known."""
        return replace(self, line=line) if line is not None else self


@dataclass(slots=True)
class Findings:
    """Problems in the order in which they are met; per severity up to the bound, the others counted."""

    found: list[Problem] = field(default_factory=list)
    counts: dict[Severity, int] = field(default_factory=lambda: {"error": 0, "warning": 0})

    def error(self, code: str, message: str, hint: str | None, at: At) -> None:
        self._add("error", code, message, hint, at)

    def warning(self, code: str, message: str, hint: str | None, at: At) -> None:
        self._add("warning", code, message, hint, at)

    def _add(self, severity: Severity, code: str, message: str, hint: str | None, at: At) -> None:
        if self.counts[severity] < MAX_PROBLEMS:
            place = {"path": at.path, "line": at.line, "entry": at.entry}
            self.found.append(Problem(code=code, severity=severity, message=message, hint=hint, **place))
        self.counts[severity] += 1

    def take(self, problems: Iterable[Problem]) -> None:
        """Adds what was found elsewhere."""
        for one in problems:
            at = At(one.path, one.line, one.entry)
            self._add(one.severity, one.code, one.message, one.hint, at)

    @property
    def errors(self) -> int:
        return self.counts["error"]

    def told(self) -> tuple[Problem, ...]:
        """Return them by file and line. Of too many, errors come before warnings, and the rest is counted."""
        kept = sorted(self.found, key=lambda one: _SEVERITIES[one.severity])[:MAX_PROBLEMS]
        more = sum(self.counts.values()) - len(kept)
        if not more:
            return in_order(kept)
        rest = Problem(
            code="more-problems",
            severity="error" if self.errors > len(kept) else "warning",
            message=f"There are {more:,} more problems, which are not listed.",
            hint="Mend those that are listed first; many have one cause.",
        )
        return in_order([*kept, rest])


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems by file and line, the same however they came."""
    return tuple(sorted(problems, key=_order))


def _order(problem: Problem) -> tuple[bool, str, int, int, str, str, str]:
    severity = _SEVERITIES[problem.severity]
    place = (problem.path or "", problem.line or 0)
    return (problem.code == "more-problems", *place, severity, problem.code, problem.entry or "", problem.message)


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
        """Return where it stands, or a field of it."""
        return At(self.path, self.lines.get(name or "", self.line), self.entry.id)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The name with the fewest edits between (a swap of neighbours is one), if they are few for its length."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extractOne(name, known, scorer=OSA.distance, score_cutoff=max(2, len(name) // 3))
    return str(found[0]) if found else None
