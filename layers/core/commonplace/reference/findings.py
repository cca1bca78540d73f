"""Collects what is wrong with a catalogue while it is read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from commonplace.reference.bounds import MAX_PROBLEMS
from commonplace.reference.problems import Problem, Severity

_SEVERITIES: dict[Severity, int] = {"error": 0, "warning": 1}


@dataclass(frozen=True, slots=True)
class At:
    """Where something stands."""

    path: str | None = None
    line: int | None = None
    entry: str | None = None

    def on(self, line: int | None) -> "At":
        """The same file and entry, at this line if it is known."""
        return replace(self, line=line) if line is not None else self


@dataclass(slots=True)
class Findings:
    """Problems in the order in which they are met."""

    found: list[Problem] = field(default_factory=list)

    def error(self, code: str, message: str, hint: str | None, at: At) -> None:
        self.found.append(_problem(code, "error", message, hint, at))

    def warning(self, code: str, message: str, hint: str | None, at: At) -> None:
        self.found.append(_problem(code, "warning", message, hint, at))

    @property
    def broken(self) -> bool:
        return any(one.severity == "error" for one in self.found)


def _problem(code: str, severity: Severity, message: str, hint: str | None, at: At) -> Problem:
    return Problem(code=code, severity=severity, message=message, hint=hint, path=at.path, line=at.line, entry=at.entry)


def told(found: Iterable[Problem]) -> tuple[Problem, ...]:
    """In order of file and line. Where there are too many, errors are kept before warnings, and the rest is counted."""
    everything = sorted(found, key=_order)
    if len(everything) <= MAX_PROBLEMS:
        return tuple(everything)
    worst = sorted(everything, key=lambda one: _SEVERITIES[one.severity])
    kept = worst[:MAX_PROBLEMS]
    more = Problem(
        code="more-problems",
        severity=worst[MAX_PROBLEMS].severity,
        message=f"There are {len(everything) - MAX_PROBLEMS:,} more problems, which are not listed.",
        hint="Mend those that are listed first; many have one cause.",
    )
    return (*sorted(kept, key=_order), more)


def _order(problem: Problem) -> tuple[str, int, int, str, str, str]:
    line = problem.line or 0
    severity = _SEVERITIES[problem.severity]
    return (problem.path or "", line, severity, problem.code, problem.entry or "", problem.message)
