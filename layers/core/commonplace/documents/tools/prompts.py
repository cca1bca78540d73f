"""Prompts, workflows that a person starts: research a topic, explain a pattern, compare two practices."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from string import Template

from commonplace.documents.tools import completions
from commonplace.documents.tools.completions import completer
from commonplace.documents.tools.services import KnowledgeServices, title
from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.completions import choices
from commonplace.web.mcp.declaration import Argument, Call, Prompt

MAX_ARGUMENT_CHARACTERS = 200
DEPTHS = ("shallow", "deep")
TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def prompts(using: KnowledgeServices) -> tuple[Prompt, ...]:
    practices = completer(using, completions.titles(*completions.PRACTICES))
    patterns = completer(using, completions.titles(*completions.PATTERNS))
    topics = completer(using, completions.topics)
    topic = Argument(name="topic", description="What to research", complete=topics)
    depths = choices(*DEPTHS)
    depth = Argument(name="depth", description="shallow (default) or deep", required=False, complete=depths)
    return (
        _prompt(using, "research-topic", topic, depth),
        _prompt(
            using, "explain-pattern", Argument(name="pattern", description="Name of the pattern", complete=patterns)
        ),
        _prompt(
            using,
            "compare-practices",
            Argument(name="practice1", description="First practice or pattern", complete=practices),
            Argument(name="practice2", description="Second practice or pattern", complete=practices),
        ),
    )


def _prompt(using: KnowledgeServices, name: str, *arguments: Argument) -> Prompt:
    texts = TEXTS[name]

    def render(_: Call, given: Mapping[str, str]) -> str:
        values = {one.name: quoted(given, one.name) for one in arguments if one.required}
        depth = given.get("depth", "").strip().casefold() or DEPTHS[0]
        if len(values) < len(arguments) and depth not in DEPTHS:
            raise InvalidInput("There is no such depth.", hint=f"It is {' or '.join(DEPTHS)}.")
        values |= {"title": title(using), "goal": texts.get(depth, ""), "citing": TEXTS["citing"]}
        return Template(texts["text"]).substitute(values)

    return Prompt(name=name, title=texts["title"], description=texts["description"], arguments=arguments, render=render)


def quoted(given: Mapping[str, str], name: str) -> str:
    """Return an argument in quotes that it cannot end: one line, bounded, printable. Raises InvalidInput if empty."""
    words = given.get(name, "").replace('"', "'").split()
    line = "".join(char for char in " ".join(words) if char.isprintable())[:MAX_ARGUMENT_CHARACTERS].strip()
    if not line:
        raise InvalidInput(f"`{name}` is empty.", hint="Say what it should be about.")
    return f'"{line}"'
