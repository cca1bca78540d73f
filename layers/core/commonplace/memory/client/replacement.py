"""A seed file that was edited, in the place of what it brought before (`kb seed --replace`).

An entry of the file is one of the memory by its id or content; else it is the new text of the summary of its story, of
the template of its file, or of the fact with the nearest words. That one is changed, so its id, children and versions
stay. Only what came from the same file is compared, or, where entries name no file, from the same story.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from commonplace.kernel.errors import CommonplaceError
from commonplace.memory.model import content_hash, content_of

Entry = Mapping[str, Any]

SAME_STORY, OTHER_STORY = 0.5, 0.8
"""The least likeness of a fact to its new text: within one story, and where the story has changed."""
WITHIN = 0.8
"""Or so much of the shorter one is in the longer: a lesson to which something was added."""
FEW_WORDS = 4
MAX_COMPARED = 4_000_000
"""Pairs of a file: with more, facts are compared within their stories alone."""

_WORD = re.compile(r"\w{3,}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Entries of a file beside those of the memory. Places count from 0."""

    former: Mapping[int, Entry]
    """The entry of the memory that each one is, or was, by place."""
    gone: tuple[Entry, ...]
    """Entries of the memory that the file does not have any more."""


@dataclass(slots=True)
class Replaced:
    """The outcome of a file that was edited."""

    total: int
    gone: tuple[Entry, ...]
    """The same as in `Comparison`. They are still there: to leave something out of a file is not to delete it."""
    changed: list[str] = field(default_factory=list)
    imported: int = 0
    unchanged: int = 0
    errors: dict[int, str] = field(default_factory=dict)


def sources(entries: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the filters of `kb_list` for all that these entries may have been before."""
    found: dict[tuple[str, str], None] = {}
    for one in entries:
        if isinstance(one, Mapping):
            name = "source_file" if one.get("source_file") else "source_story"
            found |= {(name, str(one[name])): None} if one.get(name) else {}
    return [{name: value} for name, value in found]


def compare(entries: Sequence[Any], kept: Sequence[Entry]) -> Comparison:
    """Return which entry of the memory each is. `kept` are those that the filters of `sources` give."""
    stories = {str(one.get("source_story")) for one in entries if isinstance(one, Mapping)}
    files = {str(one["source_file"]) for one in entries if isinstance(one, Mapping) and one.get("source_file")}
    rest = {
        str(one["id"]): one
        for one in kept
        if (one["source_file"] in files if one.get("source_file") else one.get("source_story") in stories)
    }
    left = {place: one for place, one in enumerate(entries) if isinstance(one, Mapping)}
    former: dict[int, Entry] = {}

    def take(place: int, id: str) -> None:
        if place in left and id in rest:
            former[place] = rest.pop(id)
            del left[place]

    for place, one in list(left.items()):
        take(place, str(one.get("ref")))
    by_hash = {_hash(one): id for id, one in rest.items()}
    for place, one in list(left.items()):
        take(place, by_hash.get(_hash(one), ""))
    for place, id in _alone(left, rest):
        take(place, id)
    for _, place, id in sorted(_alike(left, rest), key=lambda found: (-found[0], found[1])):
        take(place, id)
    return Comparison(former, tuple(rest.values()))


def _hash(entry: Entry) -> str:
    try:
        return content_hash(content_of(str(entry.get("content"))))
    except CommonplaceError:
        return ""


def _alone(left: Mapping[int, Entry], rest: Mapping[str, Entry]) -> list[tuple[int, str]]:
    """Return the summaries of a story and templates of a file of which there is one on each side."""
    places: dict[tuple[Any, ...], list[int]] = {}
    ids: dict[tuple[Any, ...], list[str]] = {}
    for place, one in left.items():
        places.setdefault(_role(one), []).append(place)
    for id, one in rest.items():
        ids.setdefault(_role(one), []).append(id)
    return [
        (found[0], ids[role][0])
        for role, found in places.items()
        if any(role[1:]) and len(found) == 1 and len(ids.get(role, ())) == 1
    ]


def _role(entry: Entry) -> tuple[Any, ...]:
    match entry.get("entry_type"):
        case "summary":
            return "summary", entry.get("source_file"), entry.get("source_story")
        case "template":
            return "template", entry.get("source_file")
        case _:
            return ("fact",)


def _alike(left: Mapping[int, Entry], rest: Mapping[str, Entry]) -> Iterable[tuple[float, int, str]]:
    """Yield the pairs of one type whose words are near enough, with how near."""
    words = {id: _words(one) for id, one in rest.items()}
    across = len(left) * len(rest) <= MAX_COMPARED
    by_story: dict[Any, list[str]] = {}
    for id, one in rest.items():
        by_story.setdefault(one.get("source_story"), []).append(id)
    for place, one in left.items():
        own = _words(one)
        story = one.get("source_story")
        for id in rest if across else by_story.get(story, ()):
            same = rest[id].get("source_story") == story
            if rest[id].get("entry_type") != one.get("entry_type"):
                continue
            near = likeness(own, words[id], within=same)
            if near >= (SAME_STORY if same else OTHER_STORY):
                yield near + same, place, id


def _words(entry: Entry) -> frozenset[str]:
    return frozenset(_WORD.findall(str(entry.get("content")).casefold()))


def likeness(one: frozenset[str], other: frozenset[str], *, within: bool) -> float:
    """Return Dice's coefficient; `within` takes a text for like one that holds nearly all of it."""
    shared, fewer = len(one & other), min(len(one), len(other))
    if not shared:
        return 0.0
    dice = 2 * shared / (len(one) + len(other))
    return max(dice, SAME_STORY) if within and fewer >= FEW_WORDS and shared >= WITHIN * fewer else dice


def changes(entry: Entry, was: Entry, parent: str | None) -> dict[str, Any]:
    """Return what `kb_update` is to change, so that the memory's entry is that of the file; `parent` is its id.

    What the memory has learned since stays: other metadata, and the confidence of a text that is the same.
    """
    found: dict[str, Any] = {}
    if edited := _hash(entry) != _hash(was):
        found["content"] = entry.get("content")
    wanted = {"parent_id": parent, **{name: entry.get(name) for name in ("entry_type", "source_story", "source_file")}}
    found |= {name: value for name, value in wanted.items() if value and value != was.get(name)}
    removed = [name for name in ("parent_id", "source_story", "source_file") if was.get(name) and not wanted[name]]
    if removed:
        found["remove"] = removed
    for name in ("roles", "tags"):
        if name in entry and _folded(entry[name]) != _folded(was.get(name) or ()):
            found[name] = entry[name]
    if edited and entry.get("confidence") not in (None, was.get("confidence")):
        found["confidence"] = entry["confidence"]
    metadata, known = entry.get("metadata") or {}, was.get("metadata") or {}
    if isinstance(metadata, Mapping) and any(known.get(name) != value for name, value in metadata.items()):
        found["metadata"] = dict(metadata)
    return found


def _folded(words: Any) -> list[str]:
    return sorted(str(one).strip().casefold() for one in ([words] if isinstance(words, str) else words or ()))
