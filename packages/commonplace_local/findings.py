"""Findings as text: of a folder, of the last sync, of one file. One way of saying and counting for every command."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from commonplace.documents.content.findings import Finding, Findings, types_of
from commonplace.documents.content.judgement import Judgement
from commonplace.repository.problems import Problem, Tally
from commonplace_local.terminal import counted, printable

LISTED = 10
"""Findings of one code that are listed one by one; of more, some examples. Errors are always listed."""
EXAMPLES = 3


def finding_lines(findings: Findings, *, every: bool = False) -> Iterator[str]:
    """Errors and warnings, a line each or a line for many with some examples; then hints, a line for each code."""
    hints: list[str] = []
    for group in findings.groups():
        count = len(group.findings)
        if every or group.severity == "error" or (group.severity == "warning" and count <= LISTED):
            lines = [finding_line(one) for one in group.findings]
        elif group.severity == "warning":
            lines = [f"warning: {group.title}, {count} times ({group.code}):"]
            # What is wrong most often, and the first place of each.
            often = Counter(sentence(one.problem) for one in group.findings).most_common(EXAMPLES)
            for text, times in often:
                first = next(one for one in group.findings if sentence(one.problem) == text)
                more = f", and {counted(times - 1, 'more place', 'more places')}" if times > 1 else ""
                lines.append(f"  {printable(first.path)}{place(first.problem)}{more}: {text}")
            if rest := count - sum(times for _, times in often):
                lines.append(f"  ... and {rest} more (--all)")
        else:
            paths = list(dict.fromkeys(printable(one.path) for one in group.findings))
            others = f" and {len(paths) - EXAMPLES} more" if len(paths) > EXAMPLES else ""
            repeated = f", {count} times" if count > 1 else ""
            lines = [f"hint: {group.title}{repeated} ({group.code}): {', '.join(paths[:EXAMPLES])}{others}"]
        if group.severity == "hint":
            hints += lines
        else:
            yield from lines
    if hints:
        yield from ("", "Hints, not counted as problems:", *hints)
    if findings.findings:
        yield ""


def finding_line(finding: Finding) -> str:
    """`path:line:column: severity: what is wrong (the cure)`."""
    problem = finding.problem
    return f"{printable(finding.path)}{place(problem)}: {problem.severity}: {sentence(problem)}"


def place(problem: Problem | None) -> str:
    """`:line:column`, as editors open it."""
    if problem is None:
        return ""
    return f":{problem.line or 1}" + (f":{problem.column}" if problem.column else "")


def sentence(problem: Problem) -> str:
    """What is wrong, what is written there, and the cure."""
    written = f", found: {problem.written}" if problem.written else ""
    return f"{problem.message}{written}" + (f" ({problem.hint})" if problem.hint else "")


def summary_lines(findings: Findings) -> Iterator[str]:
    """The count, the same everywhere, and what the tree holds."""
    yield tally_line(findings.tally)
    types = ", ".join(f"{count} {name}" for name, count in types_of(findings.published.values()).items())
    reasons = Counter(skip.reason for skip in findings.skipped.values()).most_common()
    why = f" ({', '.join(f'{count} {reason}' for reason, count in reasons)})" if reasons else ""
    yield f"{len(findings.published)} published ({types or 'nothing'}), {len(findings.skipped)} not published{why}"


def tally_line(tally: Tally) -> str:
    return f"Found {tally}"


def judgement_lines(judgement: Judgement, address: str | None = None) -> Iterator[str]:
    """Why one file is published or not."""
    path = printable(judgement.path)
    if judgement.ref:
        yield f"{path} is published as {judgement.ref}" + (f", at {address}" if address else "")
    elif judgement.served:
        yield f"{path} is served: a published document shows or links it"
    else:
        yield f"{path} is not published:"
    for problem in judgement.reasons:
        yield f"  {f'line {problem.line}: ' if problem.line else ''}{problem.message}"
        if problem.written:
            yield f"    found: {problem.written}"
        if problem.hint:
            yield f"    fix:   {problem.hint}"
    if judgement.findings:
        yield "Other problems in this file:" if judgement.reasons else "Problems in this file:"
    yield from (f"  line {one.line or 1}: {one.severity}: {sentence(one)}" for one in judgement.findings)


def judgement_facts(judgement: Judgement) -> dict[str, Any]:
    """For programs."""
    return {
        "path": judgement.path,
        "published": judgement.published,
        "ref": judgement.ref,
        "reasons": [Finding(judgement.path, one).facts() for one in judgement.reasons],
        "findings": [Finding(judgement.path, one).facts() for one in judgement.findings],
    }


def findings_facts(findings: Findings) -> dict[str, Any]:
    """Everything, for programs: what is counted, and each finding in the order of the tree."""
    tally = findings.tally
    return {
        "summary": {
            "problems": tally.problems,
            "errors": tally.errors,
            "warnings": tally.warnings,
            "hints": tally.hints,
            "published": types_of(findings.published.values()),
            "skipped": dict(Counter(skip.reason for skip in findings.skipped.values())),
            "counts": [
                {"severity": group.severity, "code": group.code, "count": len(group.findings)}
                for group in findings.groups()
            ],
        },
        "findings": [finding.facts() for finding in findings.findings],
    }
