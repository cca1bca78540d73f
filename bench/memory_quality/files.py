"""The files that the entries come from, as a team without a memory keeps and reads them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from bench.memory_quality.judged import JudgedMemory
from commonplace.memory.model import Entry


def whole_files(judged: JudgedMemory) -> Mapping[str, str]:
    """The text of each source file: stories under headings, one bullet a fact; templates as they are."""
    by_file: dict[str, list[Entry]] = defaultdict(list)
    for entry in judged.entries.values():
        by_file[entry.source_file or ""].append(entry)
    return {name: _file(name, entries) for name, entries in by_file.items()}


def story_files(judged: JudgedMemory) -> Mapping[str, str]:
    """As if each story had a file of its own, and somebody knew which ones to open."""
    by_story: dict[str, list[Entry]] = defaultdict(list)
    for entry in judged.entries.values():
        by_story[story_of(entry)].append(entry)
    return {name: _file(name, entries) for name, entries in by_story.items()}


def story_of(entry: Entry) -> str:
    """The smallest file that holds the entry: its story's, else the one it came from."""
    return entry.source_story or entry.source_file or ""


def _file(name: str, entries: Sequence[Entry]) -> str:
    if all(entry.entry_type == "template" for entry in entries):
        return "\n".join(entry.content for entry in entries)
    by_story: dict[str | None, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_story[entry.source_story].append(entry)
    parts = [f"# {name}"]
    for story, told in sorted(by_story.items(), key=lambda each: each[0] or ""):
        lines = [f"## {story}"] if story else []
        lines += [entry.content + "\n" for entry in told if entry.entry_type == "summary"]
        lines += [f"- {entry.content}" for entry in told if entry.entry_type != "summary"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
