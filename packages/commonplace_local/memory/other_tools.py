"""What other tools remember, as entries: notes of basic-memory, the graph of MCP's memory server, exports of mem0.

A note or an entity becomes a summary with its relations as metadata, what was observed of it a fact below.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.memory.client.learnings import recap
from commonplace.memory.entry_files import SUPERSEDED_BY, Parsed, Read, Seed, Unread, tags
from commonplace.memory.lesson_words import patterns
from commonplace.memory.model import MAX_CONTENT_BYTES, MAX_SOURCE_CHARACTERS, EntryType, Role
from commonplace_local.memory.dates import first_date
from commonplace_local.memory.markdown import front_matter, without_front_matter
from commonplace_local.memory.stories import DROPPED_CONFIDENCE

_MAX_RELATIONS = 5_000
"""Characters of the relations that one entry has as metadata: with them it stays below the metadata's bound."""
_WORDS = patterns("other_tools")
_DATES = ("date", "created", "created at", "updated")


def basic_memory(file: str, text: str, roles: tuple[Role, ...]) -> Parsed:
    front = {line.label.casefold(): line for line in front_matter(text)}
    fields = {name: line.rest for name, line in front.items()}
    title = fields.pop("title", "") or re.sub(r"\.md\Z", "", file.rpartition("/")[2])
    prose: list[str] = []
    facts: list[tuple[int, Seed]] = []
    relations: list[tuple[int, dict[str, str]]] = []
    fenced, last = False, 0
    for number, line in enumerate(without_front_matter(text).split("\n"), start=1):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        item = None if fenced else _WORDS["item"].fullmatch(line)
        relation = _WORDS["relation"].fullmatch(item["text"]) if item else None
        said = _WORDS["observation"].fullmatch(item["text"]) if item and not relation else None
        if relation:
            told = {"type": relation["quoted"] or relation["type"] or "relates_to", "target": relation["target"]}
            relations.append((number, told | ({"context": relation["context"]} if relation["context"] else {})))
        elif said and not (said["category"] and _WORDS["mark"].fullmatch(said["category"])):
            kinds = (said["category"] or "", *re.findall(r"(?<!\S)#([^\s#]+)", said["content"]))
            about = {"context": said["context"]} if said["context"] else {}
            facts.append((number, _seed(said["content"], roles, tags=tags(kinds), metadata=about)))
            last = number
        elif last == number - 1 and re.match(r"[ \t]+\S", line) and not item:
            at, fact = facts.pop()
            facts.append((at, replace(fact, content=f"{fact.content} {line.strip()}")))
            last = number
        elif not _WORDS["heading"].fullmatch(line) and line.strip("# ") != title:
            prose.append(line)
    dates = [one for name in _DATES if name in fields and (one := first_date(fields.pop(name)))]
    kinds = (*re.split(r"[,;]\s*", fields.pop("tags", "")), fields.get("type", "").removeprefix("note"))
    known = {name: value for name, value in fields.items() if len(value) <= MAX_SOURCE_CHARACTERS}
    summary = _seed(
        re.sub(r"\n{3,}", "\n\n", "\n".join(prose)).strip(),
        roles,
        "summary",
        tags=tags(kinds),
        source_file=file,
        ref=fields.get("permalink") or file,
        metadata=known | ({"date": dates[0].iso} if dates and dates[0].iso else {}),
    )
    return _thing(title, summary, facts, relations)


def mcp_memory(_file: str, text: str, roles: tuple[Role, ...]) -> Parsed:
    whole = _json(text)
    if isinstance(whole, dict) and ("entities" in whole or "relations" in whole):
        kinds = (("entity", whole.get("entities")), ("relation", whole.get("relations")))
        records = [(_line(text, one), {"type": kind, **one}) for kind, many in kinds for one in _objects(many)]
    else:
        records = [(at, _json(line)) for at, line in enumerate(text.split("\n"), start=1) if line.strip()]
    lost: list[Unread] = []
    relations: dict[str, list[tuple[int, dict[str, str]]]] = {}
    entities: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for at, one in records:
        match one:
            case {"type": "entity", "name": str(name), "observations": list()} if name and name not in entities:
                entities[name] = at, one
            case {"type": "relation", "from": str(name), "to": str(to), "relationType": str(kind)}:
                relations.setdefault(name, []).append((at, {"type": kind, "target": to}))
            case _:
                lost.append(Unread(at, "neither a new entity nor a relation"))
    parts = []
    for name, (at, entity) in entities.items():
        kind = str(entity.get("entityType") or "")
        said = [told for told in entity["observations"] if isinstance(told, str) and told.strip()]
        lost += [Unread(at, "an observation that is no text")] * (len(said) < len(entity["observations"]))
        about = {"type": kind} if kind else {}
        summary = _seed("", roles, "summary", tags=tags((kind,)), ref=name, metadata=about)
        facts = [(at, _seed(told, roles)) for told in said]
        parts.append(_thing(name, summary, facts, relations.pop(name, []), at))
    lost += [Unread(at, "a relation of no entity of this file") for many in relations.values() for at, _ in many]
    return Parsed(
        tuple(seed for one in parts for seed in one.seeds),
        read=tuple(read for one in parts for read in one.read),
        unread=tuple(sorted((*lost, *(left for one in parts for left in one.unread)), key=lambda one: one.line)),
    )


def mem0(_file: str, text: str, roles: tuple[Role, ...]) -> Parsed:
    """Return a fact of each memory of an export: the answer of `get_all`, a list of memories, or one on each line."""
    whole = _json(text)
    lists = [whole.get(name) for name in ("results", "memories", "data")] if isinstance(whole, dict) else [whole]
    found = next((one for one in lists if isinstance(one, list)), None)
    seeds, lost = [], []
    for one in found if found is not None else map(_json, filter(str.strip, text.split("\n"))):
        texts = [one.get(name) for name in ("memory", "text", "content")] if isinstance(one, dict) else []
        said = next((told for told in texts if isinstance(told, str) and told.strip()), None)
        if said is None:
            lost.append(Unread(_line(text, one), "no memory with a text in `memory`"))
            continue
        metadata = dict(one["metadata"]) if isinstance(one.get("metadata"), dict) else {}
        metadata |= {name: str(one[name]) for name in ("user_id", "agent_id", "app_id", "run_id") if one.get(name)}
        if dated := first_date(str(one.get("created_at") or "")):
            metadata["date"] = dated.iso
        kinds = one.get("categories") if isinstance(one.get("categories"), list) else []
        seeds.append(_seed(said, roles, tags=tags(map(str, kinds)), metadata=metadata))
    for one in _objects(whole.get("relations")) if isinstance(whole, dict) else ():
        lost.append(Unread(_line(text, one), "a relation of mem0's graph, which entries do not have"))
    return Parsed(tuple(seeds), read=tuple(Read(1, "fact", one.content) for one in seeds), unread=tuple(lost))


def _thing(
    title: str,
    summary: Seed,
    facts: Sequence[tuple[int, Seed]],
    relations: Sequence[tuple[int, dict[str, str]]],
    at: int = 1,
) -> Parsed:
    """Return the summary, whose content is yet without its title, and the facts below it."""
    story, kept, lost = title[:MAX_SOURCE_CHARACTERS], list(relations), []
    while len(json.dumps([one for _, one in kept])) > _MAX_RELATIONS:
        lost.append(Unread(kept.pop()[0], "more relations than an entry has room for"))
    replaced = next((one["target"] for _, one in relations if _WORDS["replaced"].fullmatch(one["type"])), "")
    told = {"title": story} | ({SUPERSEDED_BY: replaced} if replaced else {})
    content = f"{title}\n\n{summary.content}"
    if not summary.content or len(content.encode()) > MAX_CONTENT_BYTES:
        lost += [Unread(at, f"a text of more than the {MAX_CONTENT_BYTES:,} bytes of an entry")] * bool(summary.content)
        content = recap(title, "", "", (), [("Observations", [one.content for _, one in facts])])
    links = {"relations": [one for _, one in kept]} if kept else {}
    certain = DROPPED_CONFIDENCE if replaced else 1.0
    own: dict[str, Any] = {"source_file": summary.source_file, "source_story": story, "confidence": certain}
    seeds = [replace(summary, content=content, metadata={**summary.metadata, **told, **links}, **own)]
    for _, one in facts:
        more: dict[str, Any] = {"tags": tags((*one.tags, *summary.tags)), "metadata": {**one.metadata, **told}}
        seeds.append(replace(one, parent_ref=summary.ref, **more, **own))
    read = [Read(at, "story", story), *(Read(line, "fact", one.content) for line, one in facts)]
    return Parsed(tuple(seeds), read=tuple(read), unread=tuple(lost))


def _seed(content: str, roles: tuple[Role, ...], entry_type: EntryType = "fact", **more: Any) -> Seed:
    return Seed(content=content, entry_type=entry_type, roles=roles, **more)


def _objects(value: Any) -> Iterable[dict[str, Any]]:
    return (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def _json(text: str) -> Any:
    """Return what a text holds; None for what is no JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _line(text: str, record: Any) -> int:
    """Return the line of a record, by the longest text in it; 1 where it is not found."""
    texts = [one for one in record.values() if isinstance(one, str)] if isinstance(record, dict) else []
    mark = max(texts, key=len, default="")
    at = max(text.find(json.dumps(mark, ensure_ascii=plain)) for plain in (True, False)) if mark else 0
    return text.count("\n", 0, max(at, 0)) + 1


READERS: Mapping[str, Callable[[str, str, tuple[Role, ...]], Parsed]] = {
    "basic-memory": basic_memory,
    "mcp-memory": mcp_memory,
    "mem0": mem0,
}
"""Each takes a file's name and its text."""
