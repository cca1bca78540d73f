"""Help tables of a console: lists and objects of `{command, description, usage, options, examples}`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from commonplace.reference.model import Example
from generators import tsx
from generators.commands import Command, Option, slug
from generators.console_evaluating import Evaluator
from generators.console_usage import name_of
from generators.console_values import Text

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 12
NAMES = ("command", "cmd", "name", "usage", "syntax")
DESCRIPTIONS = ("description", "desc", "summary", "help", "about")
_FUNCTION = object()
"""Stands for a function in what is read of an object."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a table says of a command."""

    command: Command
    line: int
    handled: bool
    """Whether a function stands beside it, which carries it out."""
    named: bool = True
    """Whether the table says that it is a command. An object with a name and a description may be anything."""


def told(source: tsx.Source, evaluator: Evaluator) -> "Iterator[Told]":
    """In the order of the source."""
    for node in tsx.walk(source.root):
        if node.type != "object":
            continue
        value = _value(node, evaluator)
        found = _command(value, _key_above(node, evaluator)) if isinstance(value, dict) else None
        if found is not None:
            named = any(name in value for name in ("command", "cmd", "usage", "syntax"))
            yield Told(found, tsx.line(node), _FUNCTION in value.values(), named)


def examples(source: tsx.Source, evaluator: Evaluator) -> "Iterator[Example]":
    """Objects that show a command and say what it does: `{description, code}`."""
    for node in tsx.walk(source.root):
        if node.type == "object":
            value = _value(node, evaluator)
            found = (
                _example(value) if isinstance(value, dict) and not any(name in value for name in NAMES[:3]) else None
            )
            if found is not None:
                yield found


def _command(value: Mapping[str, Any], key: str | None) -> Command | None:
    said = next((value[name] for name in NAMES if isinstance(value.get(name), str)), None) or key
    summary = next((value[name] for name in DESCRIPTIONS if isinstance(value.get(name), str)), "")
    usage = next((value[name] for name in ("usage", "syntax") if isinstance(value.get(name), str)), None)
    words = name_of(said) if said else ()
    if not words or not (summary or usage):
        return None
    syntax = usage or (said if said and said != " ".join(words) else None)
    replaced_by = _text(value, "replacedBy", "replaced_by", "useInstead")
    deprecated = value.get("deprecated")
    return Command(
        words=words,
        title=_text(value, "title", "label"),
        summary=summary,
        description=_text(value, "details", "longDescription", "long", "notes") or "",
        syntax=syntax if syntax and " ".join(words) in " ".join(syntax.split()) else None,
        options=tuple(_options(value.get("options") or value.get("flags"))),
        arguments=tuple(_options(value.get("arguments") or value.get("args") or value.get("params"))),
        output=_text(value, "output", "returns", "prints"),
        examples=tuple(_examples(value.get("examples") or value.get("example"), summary)),
        aliases=tuple(_texts(value.get("aliases") or value.get("alias"))),
        keywords=tuple(_texts(value.get("keywords") or value.get("tags"))),
        related=tuple(_texts(value.get("seeAlso") or value.get("related"))),
        deprecated=bool(deprecated) or replaced_by is not None,
        replaced_by=replaced_by or (deprecated if isinstance(deprecated, str) else None),
        subcategory=_slug(value.get("subcategory")),
        module=_slug(value.get("module")),
    )


def _options(value: Any) -> Iterator[Option]:
    """`[{flag, description}]`, `{'--flag': 'what it does'}`, `['--flag']`."""
    pairs = (
        value.items() if isinstance(value, dict) else [(None, one) for one in value or () if isinstance(value, list)]
    )
    for name, one in pairs:
        if isinstance(one, dict):
            called = _text(one, "flag", "flags", "name", "option", "argument") or name
            summary = _text(one, *DESCRIPTIONS) or ""
        else:
            called, summary = (name, one if isinstance(one, str) else "") if name else (one, "")
        if isinstance(called, str) and called.strip():
            yield Option(called.strip(), summary)


def _examples(value: Any, summary: str) -> Iterator[Example]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, str) and one.strip():
            yield Example(description=summary, code=one.strip())
        elif isinstance(one, dict) and (found := _example(one, summary)) is not None:
            yield found


def _example(value: Mapping[str, Any], summary: str = "") -> Example | None:
    code = _text(value, "code", "command", "example")
    description = _text(value, *DESCRIPTIONS, "title") or summary
    return Example(description=description, code=code, output=_text(value, "output")) if code and description else None


def _key_above(node: "Node", evaluator: Evaluator) -> str | None:
    """`'gw users list': {...}`: the key by which the object stands in another."""
    pair = node.parent
    if pair is None or pair.type != "pair":
        return None
    key = pair.child_by_field_name("key")
    return _key(key, evaluator) if key is not None and key.type != "property_identifier" else None


def _value(node: "Node", evaluator: Evaluator, depth: int = 0) -> Any:
    """Objects, lists, texts, numbers and truths as they are written; None for all else."""
    node = tsx.bare(node)
    if depth > MAX_DEPTH:
        return None
    match node.type:
        case "object":
            return _object(node, evaluator, depth)
        case "array":
            return [_value(one, evaluator, depth + 1) for one in node.named_children if one.type != "comment"]
        case "true" | "false":
            return node.type == "true"
        case "number":
            return tsx.text(node)
        case found if found in tsx.FUNCTIONS:
            return _FUNCTION
    said = evaluator.value(node, {})
    return said.said if isinstance(said, Text) else None


def _object(node: "Node", evaluator: Evaluator, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in node.named_children:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type == "method_definition":
            found[tsx.text(pair.child_by_field_name("name") or pair)] = _FUNCTION
        elif key is not None and value is not None and (name := _key(key, evaluator)):
            found[name] = _value(value, evaluator, depth + 1)
    return found


def _key(key: "Node", evaluator: Evaluator) -> str | None:
    if key.type == "property_identifier":
        return tsx.text(key)
    value = evaluator.value(key.named_children[0] if key.type == "computed_property_name" else key, {})
    return value.said if isinstance(value, Text) else None


def _text(value: Mapping[str, Any], *names: str) -> str | None:
    return next((said.strip() for name in names if isinstance(said := value.get(name), str) and said.strip()), None)


def _texts(value: Any) -> list[str]:
    found = value if isinstance(value, list) else [value]
    return [one for one in found if isinstance(one, str) and one.strip()]


def _slug(value: Any) -> str | None:
    return slug(value) or None if isinstance(value, str) else None
