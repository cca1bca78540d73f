"""Problems reported to editors: typed, with a line and a severity. One table says how severe each of them is."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Severity = Literal["error", "warning", "hint"]
"""`error`: the file cannot be read; `warning`: something is lost or does not show; `hint`: could be better, is not
counted as a problem."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")  # Most severe first

KINDS: dict[str, tuple[Severity, str]] = {
    code: (severity, text)
    for code, (severity, text) in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
"""Code -> its severity, and what it says of any file."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing an editor can mend. Messages name fields and type values, nothing else that the file says."""

    code: str  # One of `KINDS`
    message: str
    hint: str | None = None  # The cure
    line: int | None = None  # 1-based in the file
    column: int | None = None
    field: str | None = None
    written: str | None = None
    """The line itself where the matter is one of spelling: for editors and operators, never for readers."""

    @property
    def severity(self) -> Severity:
        return KINDS[self.code][0]


LFS_POINTER = Problem(
    "broken-content", "the file is a pointer of Git LFS, without its content", "store it in Git itself", 1
)
"""Of a page, and of a file that a page shows or links."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How much there is to mend. Hints are no problems."""

    errors: int = 0
    warnings: int = 0
    hints: int = 0

    @classmethod
    def of(cls, problems: Iterable[Problem]) -> "Tally":
        found = [problem.severity for problem in problems]
        return cls(found.count("error"), found.count("warning"), found.count("hint"))

    @property
    def problems(self) -> int:
        return self.errors + self.warnings

    def __str__(self) -> str:
        """`8 problems (1 error, 7 warnings), 27 hints`."""
        parts = [_counted(self.errors, "error")] if self.errors else []
        parts += [_counted(self.warnings, "warning")] if self.warnings else []
        of_which = f" ({', '.join(parts)})" if parts else ""
        return f"{_counted(self.problems, 'problem')}{of_which}, {_counted(self.hints, 'hint')}"


def _counted(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
