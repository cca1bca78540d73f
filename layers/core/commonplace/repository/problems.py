"""Problems reported to editors: typed, with a line and a severity. One table says how severe each of them is."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "hint"]
"""`error`: the file cannot be read; `warning`: something is lost or does not show; `hint`: could be better, is not
counted as a problem."""

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
"""Most severe first."""

KINDS: dict[str, tuple[Severity, str]] = {
    "malformed-frontmatter": ("error", "the frontmatter cannot be read"),
    "duplicate-key": ("error", "a field is given twice"),
    "not-a-mapping": ("error", "the frontmatter is not a list of fields"),
    "unclosed-frontmatter": ("error", "the frontmatter is never closed"),
    "frontmatter-too-large": ("error", "the frontmatter is too large"),
    "nested-too-deeply": ("error", "the frontmatter nests too deeply"),
    "invalid-utf8": ("error", "the file is not UTF-8"),
    "too-large": ("error", "the file is too large"),
    "unreadable": ("error", "the file cannot be read"),
    "publish-not-true": ("warning", "`publish` is something else than `true`"),
    "publish-misspelt": ("warning", "a field looks like `publish`, and is not"),
    "publish-outside": ("warning", "`publish` stands outside of the frontmatter"),
    "frontmatter-not-first": ("warning", "something stands before the frontmatter"),
    "frontmatter-fence": ("warning", "the frontmatter is not between lines `---`"),
    "draft-not-understood": ("warning", "`draft` is neither `true` nor `false`"),
    "excluded": ("warning", "the file lies in a folder that is left out"),
    "unsupported-suffix": ("warning", "the file is Markdown by another suffix"),
    "id-collision": ("warning", "the id is taken by another document too"),
    "attachment-not-served": ("warning", "a linked file is not served"),
    "broken-content": ("warning", "a published page shows something broken"),
    "not-stored": ("warning", "a file cannot be stored"),
    "too-much-markup": ("warning", "a file has more markup than is read"),
    "broken-link": ("warning", "a link leads nowhere"),
    "link-to-unpublished": ("warning", "a link leads to a page that is not published"),
    "wrong-shape": ("warning", "a field has another shape than its meaning needs"),
    "odd-tag": ("hint", "a tag is not lower-case letters, digits and hyphens"),
    "bare-pipe": ("warning", "a wiki link is cut by a table"),
    "bad-date": ("warning", "a date is not one of the calendar"),
    "bad-url": ("warning", "an address is not one of the web"),
    "unknown-value": ("warning", "a field has a value that is not known"),
    "unknown-field": ("warning", "a field is not known"),
    "unknown-type": ("warning", "a type is not known"),
    "abstract-type": ("warning", "a type is a group of types"),
    "missing-field": ("warning", "a field that the type needs is missing"),
    "missing-description": ("hint", "a document has no description"),
    "missing-date": ("hint", "a document has no date"),
    "null-field": ("hint", "a field is empty"),
    "aliased-type": ("hint", "a type goes by another name"),
    "renamed-field": ("hint", "a field goes by an older name"),
    "tag-used-once": ("hint", "a tag is used once"),
    "tag-not-in-lexicon": ("hint", "a tag has no entry in the lexicon"),
    "unreadable-and-private": ("hint", "the frontmatter of a private page cannot be read"),
    "draft": ("hint", "a page is a draft"),
    "no-publish": ("hint", "a page does not say `publish`"),
    "no-frontmatter": ("hint", "a page has no frontmatter"),
    "empty-file": ("hint", "a file is empty"),
    "not-linked": ("hint", "no published document shows or links the file"),
    "publish-false": ("hint", "a page says that it is not published"),
}
"""Code -> its severity, and what it says of any file."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing an editor can mend. Messages name fields and type values, nothing else that the file says."""

    code: str
    """One of `KINDS`."""
    message: str
    hint: str | None = None
    """The cure."""
    line: int | None = None
    """1-based in the file."""
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
