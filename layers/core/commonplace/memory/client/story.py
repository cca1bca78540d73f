"""A story's own notes, from which its learnings are made: a summary, and lists of what was learned."""

from collections.abc import Iterator, Mapping
from typing import Any

from commonplace.kernel.errors import InvalidInput
from commonplace.memory.categories import CATEGORIES, Category
from commonplace.memory.client.learnings import PENDING, Learned, Learnings
from commonplace.memory.client.recap import recap
from commonplace.memory.entries import ROLES, Role
from commonplace.memory.entry_files import Seed, tags

SUMMARY_ROLES: tuple[Role, ...] = ("pm", "dev", "qa")

OTHER_NAMES = {
    "reuse_discoveries": "reuse",
    "blockers_hit": "blockers",
    "verification_notes": "verification",
    "high_cost": "high_cost_operations",
    "story": "story_id",
}
"""As the sections of a LESSONS-LEARNED.md are called, and as people shorten them."""

KNOWN = ("story_id", "title", "summary", "date", "roles", "tags", "source_file", *(one.key for one in CATEGORIES))

EXAMPLE = "A story's file begins: `story_id: WRKF-1021`, `summary: …`, `recommendations: [ … ]`."


def learnings_of(value: Any, at: str) -> Learnings:
    """The learnings of a story's file, all of them yet to be delivered. Raises InvalidInput, which names the field."""
    if not isinstance(value, Mapping):
        raise InvalidInput("This is no story's file.", hint=EXAMPLE)
    told = {OTHER_NAMES.get(str(name), str(name)): one for name, one in value.items()}
    if unknown := [name for name in told if name not in KNOWN]:
        raise InvalidInput(f"A story has no field {unknown[0][:60]!r}.", hint=f"Its fields are: {', '.join(KNOWN)}.")
    story = _line(told, "story_id")
    if not story:
        raise InvalidInput("`story_id` is missing.", hint=EXAMPLE)
    facts = [(kind, seed) for kind in CATEGORIES for seed in _facts(told, kind)]
    seen: dict[str, tuple[Category, Seed]] = {}
    for kind, seed in facts:
        seen.setdefault(seed.hash, (kind, seed))
    summary = _summary(told, story, list(seen.values()))
    seen.pop(summary.hash, None)
    top = Learned(id=f"{PENDING}1", seed=summary)
    below = [
        Learned(id=f"{PENDING}{number}", seed=seed, parent=top.id, category=kind.category)
        for number, (kind, seed) in enumerate(seen.values(), start=2)
    ]
    return Learnings(story=story, recorded_at=at, entries=(top, *below))


def _summary(told: Mapping[str, Any], story: str, facts: list[tuple[Category, Seed]]) -> Seed:
    """As it is written, after the story's name and title; made of the facts where nobody has written one."""
    title, said = _line(told, "title"), told.get("summary")
    if said is None:
        sections: dict[str, list[str]] = {}
        for kind, seed in facts:
            sections.setdefault(kind.title, []).append(seed.content)
        content = recap(story, title, _line(told, "date"), (), list(sections.items()))
    else:
        text = _text("summary", said)
        begun = f"{story}: {title} - " if title else f"{story}: "
        content = text if text.startswith(story) else begun + text
    return Seed(
        content=content,
        entry_type="summary",
        roles=_roles("roles", told.get("roles")) or SUMMARY_ROLES,
        tags=tags(_tags("tags", told.get("tags"))),
        source_file=_line(told, "source_file") or None,
        metadata={name: text for name in ("title", "date") if (text := _line(told, name))},
    )


def _facts(told: Mapping[str, Any], kind: Category) -> Iterator[Seed]:
    given = told.get(kind.key)
    listed = [given] if isinstance(given, str | Mapping) else given
    if listed is None:
        return
    if not isinstance(listed, list):
        raise InvalidInput(f"`{kind.key}` has to be a list.", hint="Write `- ` before each thing that was learned.")
    for place, one in enumerate(listed):
        where = f"{kind.key}[{place}]"
        fact = {"content": one} if isinstance(one, str) else one
        if not isinstance(fact, Mapping):
            raise InvalidInput(f"`{where}` has to be text, or an entry with `content`.", hint="Put text in quotes.")
        if unknown := set(fact) - {"content", "tags", "roles", "confidence", "metadata"}:
            hint = "It has: content, tags, roles, confidence, metadata."
            raise InvalidInput(f"`{where}` has no field {min(map(str, unknown))[:60]!r}.", hint=hint)
        yield Seed(
            content=_text(where, fact.get("content")),
            entry_type="fact",
            roles=_roles(f"{where}.roles", fact.get("roles")) or kind.roles,
            tags=tags((*kind.tags, *_tags(f"{where}.tags", fact.get("tags")), *_tags("tags", told.get("tags")))),
            source_file=_line(told, "source_file") or None,
            confidence=_confidence(where, fact.get("confidence", kind.confidence)),
            metadata=_metadata(where, fact.get("metadata")),
        )


def _line(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return "" if value is None else " ".join(str(value).split())


def _text(where: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"`{where}` says nothing.", hint="Say in a sentence what is worth knowing later.")
    return value.strip()


def _tags(where: str, value: Any) -> list[str]:
    listed = value.replace(",", " ").split() if isinstance(value, str) else value
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise InvalidInput(f"`{where}` has to be a list.", hint="For instance tags: [routing, vercel].")
    return [str(one) for one in listed]


def _roles(where: str, value: Any) -> tuple[Role, ...]:
    listed = [value] if isinstance(value, str) else value
    if listed is None:
        return ()
    if not isinstance(listed, list) or not all(one in ROLES for one in listed):
        raise InvalidInput(f"`{where}` has to name roles.", hint=f"There are: {', '.join(ROLES)}.")
    return tuple(role for role in ROLES if role in listed)


def _confidence(where: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"`{where}.confidence` has to be a number from 0 to 1.", hint="1 is certain.")
    return float(value)


def _metadata(where: str, value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"`{where}.metadata` has to be a mapping.", hint="For instance metadata: {phase: review}.")
    return dict(value)
