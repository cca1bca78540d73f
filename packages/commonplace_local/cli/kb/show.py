"""What commands show: how far they have come, which entries were refused, and entries themselves."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from commonplace_local.terminal import clean

MAX_SHOWN_FAULTS = 20
MAX_LINES = 6
"""The lines of an entry in a list of results."""
MAX_BEGINNING = 90
PLAIN_STEP = 500
"""Entries between two lines of progress where no line can be written over."""


class Report(Protocol):
    """Called with how many entries are done, and of how many."""

    def __call__(self, done: int, total: int) -> object: ...


@contextmanager
def progress(what: str) -> Iterator[Report]:
    """Show a bar on a terminal, else a line now and then, on standard error: what is printed stays clean."""
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        said = 0

        def line(done: int, total: int) -> None:
            nonlocal said
            if said + PLAIN_STEP <= done < total:
                said = done
                console.print(f"{what}: {done:,} of {total:,}", markup=False, soft_wrap=True)

        yield line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def faults_told(errors: dict[int, str]) -> list[dict[str, Any]]:
    return [{"entry": place + 1, "error": told} for place, told in sorted(errors.items())]


def fault_lines(file: str, faults: Mapping[int, str]) -> list[str]:
    lines = [f"{file}, entry {place + 1}: {clean(told)}" for place, told in sorted(faults.items())[:MAX_SHOWN_FAULTS]]
    more = len(faults) - MAX_SHOWN_FAULTS
    return [*lines, f"{file}: and {more:,} more."] if more > 0 else lines


def beginning(content: str) -> str:
    """Return as much of an entry as stands in a line with others."""
    return clean(content.strip().splitlines()[0][:MAX_BEGINNING])


def entry_text(place: int, entry: Mapping[str, Any]) -> str:
    """Return a line of facts, the text indented, and a line that names it."""
    facts = [str(entry.get("entry_type", "")), "for " + ", ".join(entry.get("roles") or [])]
    facts += [f"confidence {entry['confidence']:.2f}"] if isinstance(entry.get("confidence"), int | float) else []
    facts += [str(entry["source_story"])] if entry.get("source_story") else []
    facts += ["#" + " #".join(entry["tags"])] if entry.get("tags") else []
    if entry.get("seen"):
        # The newest stories are named, all are counted.
        more = int(entry["seen"]) - len(entry.get("seen_in") or ())
        facts.append(
            f"seen again in {', '.join(entry.get('seen_in') or ())}{f' and {more:,} more' if more > 0 else ''}"
        )
    text = str(entry.get("content") or "")
    lines = [clean(line).rstrip() for line in text.splitlines()]
    shown = [f"   {line}" for line in lines[:MAX_LINES]] + (["   …"] if len(lines) > MAX_LINES else [])
    return "\n".join([f"{place}. {clean(' · '.join(facts))}", *shown, f"   {clean(str(entry.get('id', '')))}"])
