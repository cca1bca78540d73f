"""Prompts, workflows that a person starts: research a topic, explain a pattern, compare two practices."""

from collections.abc import Mapping
from functools import partial

from commonplace.documents.tools import completions
from commonplace.documents.tools.completions import completer
from commonplace.documents.tools.services import KnowledgeServices, title
from commonplace.kernel.errors import InvalidInput
from commonplace.web.mcp.declaration import Argument, Call, Prompt
from commonplace.web.mcp.resources import choices

MAX_ARGUMENT_CHARACTERS = 200

DEPTHS = ("shallow", "deep")

_SHALLOW = """\
Give a brief summary:
1. The key definition from the lexicon
2. The most relevant pattern, practice or article
3. One or two outside resources from the library"""

_DEEP = """\
Give a thorough analysis:
1. Core concepts, with their definitions from the lexicon
2. Related patterns and practices, and how they build on each other
3. Case studies and articles that show them at work
4. Outside resources from the library
5. Links to other topics worth following
6. Gaps: what the knowledge base does not say, or says in documents that disagree"""

_CITING = (
    "Cite the title and documentUrl of every document you use. Where nothing is documented, say so instead of filling "
    "the gap from general knowledge."
)


def prompts(using: KnowledgeServices) -> tuple[Prompt, ...]:
    practices = completer(using, completions.titles(*completions.PRACTICES))
    return (
        Prompt(
            name="research-topic",
            title="Research a topic",
            description="What the knowledge base says about a topic, briefly or in depth.",
            arguments=(
                Argument(name="topic", description="What to research", complete=completer(using, completions.topics)),
                Argument(
                    name="depth",
                    description="shallow (default) or deep",
                    required=False,
                    complete=choices(*DEPTHS),
                ),
            ),
            render=partial(_research, using),
        ),
        Prompt(
            name="explain-pattern",
            title="Explain a pattern",
            description="What a pattern is, how it works in practice, and when to use another.",
            arguments=(
                Argument(
                    name="pattern",
                    description="Name of the pattern",
                    complete=completer(using, completions.titles(*completions.PATTERNS)),
                ),
            ),
            render=partial(_explain, using),
        ),
        Prompt(
            name="compare-practices",
            title="Compare practices",
            description="What two practices share, where they differ, and when to use which.",
            arguments=(
                Argument(name="practice1", description="First practice or pattern", complete=practices),
                Argument(name="practice2", description="Second practice or pattern", complete=practices),
            ),
            render=partial(_compare, using),
        ),
    )


def _research(using: KnowledgeServices, _: Call, given: Mapping[str, str]) -> str:
    topic, depth = quoted(given, "topic"), given.get("depth", "").strip().casefold() or DEPTHS[0]
    if depth not in DEPTHS:
        raise InvalidInput("There is no such depth.", hint=f"It is {' or '.join(DEPTHS)}.")
    return f"""\
Research the topic {topic} in the knowledge base of {title(using)}.

{_DEEP if depth == "deep" else _SHALLOW}

Use define_term and search_knowledge, and follow get_related where it leads on. {_CITING}"""


def _explain(using: KnowledgeServices, _: Call, given: Mapping[str, str]) -> str:
    return f"""\
Explain the pattern {quoted(given, "pattern")} as the knowledge base of {title(using)} documents it.

Include:
1. What it is: the context it applies in, the problem, the solution
2. How it works in practice
3. Examples from the organisation's own experience
4. Related patterns
5. When to use it, and when another serves better

Use search_knowledge to find the pattern, get_document to read it whole, get_related for its neighbours and \
define_term for its terms. {_CITING}"""


def _compare(using: KnowledgeServices, _: Call, given: Mapping[str, str]) -> str:
    return f"""\
Compare {quoted(given, "practice1")} and {quoted(given, "practice2")} as the knowledge base of {title(using)} \
documents them.

Structure the comparison:
1. A brief definition of each
2. What they share
3. Where they differ
4. When to use which
5. How they may complement each other

Use search_knowledge to find documents on both, and get_document to read the best one on each. {_CITING}"""


def quoted(given: Mapping[str, str], name: str) -> str:
    """An argument in quotes that it cannot end: one line, bounded, printable. Raises InvalidInput if it is empty."""
    words = given.get(name, "").replace('"', "'").split()
    line = "".join(char for char in " ".join(words) if char.isprintable())[:MAX_ARGUMENT_CHARACTERS].strip()
    if not line:
        raise InvalidInput(f"`{name}` is empty.", hint="Say what it should be about.")
    return f'"{line}"'
