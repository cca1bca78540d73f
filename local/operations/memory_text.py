"""What the memory answers, as text for a terminal."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from commonplace.memory.client.client import Planted
from commonplace.memory.client.learnings import Learnings
from local.operations.counting import counted
from local.operations.tables import clean

MAX_SHOWN_FAULTS = 20
MAX_LINES = 6
"""Of an entry in a list of results."""
PLAIN_STEP = 500
"""Entries between two lines of progress where no line can be written over."""


class Tell(Protocol):
    def __call__(self, done: int, total: int) -> None: ...


@contextmanager
def progress(what: str) -> Iterator[Tell]:
    """A bar on a terminal, else a line now and then. On standard error, so that what is printed stays clean."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _Lines(console, what)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    def __init__(self, console: Any, what: str) -> None:
        self._console, self._what, self._said = console, what, 0

    def __call__(self, done: int, total: int) -> None:
        if done >= self._said + PLAIN_STEP and done < total:
            self._said = done
            self._console.print(f"{self._what}: {done:,} of {total:,}", markup=False, soft_wrap=True)


def planted_text(file: str, planted: Planted) -> str:
    """One line for a file, and one for each entry that was refused."""
    lines = [f"{file}: {counted(planted.imported)} imported, {planted.skipped:,} there already."]
    return "\n".join([*lines, *fault_lines(file, planted.errors)])


def fault_lines(file: str, faults: Mapping[int, str]) -> list[str]:
    lines = [f"{file}, entry {place + 1}: {clean(told)}" for place, told in sorted(faults.items())[:MAX_SHOWN_FAULTS]]
    more = len(faults) - MAX_SHOWN_FAULTS
    return [*lines, f"{file}: and {more:,} more."] if more > 0 else lines


def results_text(answer: Mapping[str, Any]) -> str:
    """What a search has found, the best first."""
    found: Sequence[Mapping[str, Any]] = answer.get("entries") or []
    parts = [entry_text(place, one) for place, one in enumerate(found, start=1)]
    if not found:
        parts.append("Nothing was found. Ask in other words, for another role, or with a lower --min-confidence.")
    if answer.get("fallback"):
        parts.append("The model did not answer: this is by words alone.")
    return "\n\n".join(parts)


def entry_text(place: int, entry: Mapping[str, Any]) -> str:
    """A line of facts, the text indented, and a line that names it."""
    facts = [str(entry.get("entry_type", "")), "for " + ", ".join(entry.get("roles") or [])]
    facts += [f"{entry['confidence']:.2f} sure"] if isinstance(entry.get("confidence"), int | float) else []
    facts += [str(entry["source_story"])] if entry.get("source_story") else []
    facts += ["#" + " #".join(entry["tags"])] if entry.get("tags") else []
    text = str(entry.get("content") or "")
    lines = [clean(line).rstrip() for line in text.splitlines()]
    shown = [f"   {line}" for line in lines[:MAX_LINES]] + (["   …"] if len(lines) > MAX_LINES else [])
    return "\n".join([f"{place}. {clean(' · '.join(facts))}", *shown, f"   {clean(str(entry.get('id', '')))}"])


def stats_text(stats: Mapping[str, Any]) -> str:
    """Figures, one to a line."""
    lines = [f"Entries: {stats.get('total_entries', 0):,}"]
    for title, name in (("By type", "by_type"), ("By role", "by_role")):
        told = ", ".join(f"{count:,} {kind}" for kind, count in (stats.get(name) or {}).items() if count)
        lines += [f"{title}: {told}"] if told else []
    lines.append(f"Mean confidence: {float(stats.get('avg_confidence') or 0):.2f}")
    lines.append(f"Last change: {stats.get('last_updated') or 'none yet'}")
    lines.append(f"Vectors kept: {int(stats.get('cache_size') or 0):,}")
    if queries := _queries(stats.get("queries") or {}):
        lines.append(f"Searches: {queries}")
    return "\n".join(clean(line) for line in lines)


def _queries(queries: Mapping[str, Mapping[str, int]]) -> str:
    """By phase and role."""
    return "; ".join(f"{count} {phase}, {role}" for phase, roles in queries.items() for role, count in roles.items())


def learnings_text(file: str, learnings: Learnings) -> str:
    """What a LEARNINGS.yaml says now."""
    left = learnings.pending
    if not left:
        return f"{learnings.story}: {counted(len(learnings.entries))} in the memory, see {file}."
    lines = [
        f"{learnings.story}: {counted(len(left))} of {len(learnings.entries):,} not in the memory yet, see {file}."
    ]
    lines += [f"  {one.id}: {clean(one.error)}" for one in left if one.error]
    return "\n".join(lines)
