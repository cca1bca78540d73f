"""Entries and learnings written as YAML that people edit: fields in their order, long text as blocks, no anchors."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

WIDTH = 110
WORD = 64
"""Characters of a text that is shown in a line with others."""


def write(value: Any) -> str:
    """The text that `yaml_entries` reads back as the same value: lists, mappings, text, numbers, true, false, null."""
    import yaml

    class Dumper(yaml.CSafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - of the base class
            return True

    Dumper.add_representer(str, _text)
    Dumper.add_representer(list, _list)
    told: str = yaml.dump(value, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=WIDTH)
    return told


def _text(dumper: "yaml.CSafeDumper", text: str) -> "yaml.ScalarNode":
    """Several lines as a block, when a block can hold them as they are."""
    lines = text.split("\n")
    plain = all(line == line.rstrip() and (line.isprintable() or not line) for line in lines)
    block = len(lines) > 1 and plain and not lines[0].startswith(" ") and bool(lines[0])
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if block else None)


def _list(dumper: "yaml.CSafeDumper", values: list[Any]) -> "yaml.SequenceNode":
    """A few short words (roles, tags) in one line."""
    short = all(isinstance(one, str) and len(one) <= WORD for one in values)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=short)
