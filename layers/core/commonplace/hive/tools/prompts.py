"""The prompts `contribute-what-you-learned` and `search-before-you-solve`."""

from collections.abc import Mapping
from functools import partial

from commonplace.hive.model import CATEGORIES, MAX_QUERY_CHARACTERS
from commonplace.hive.operations import HiveServices
from commonplace.hive.tools.search import SearchArguments, search_knowledge
from commonplace.kernel.errors import InvalidInput, Unavailable
from commonplace.web.mcp.declaration import Argument, Call, Prompt
from commonplace.web.operations import fenced

AWAY = "The hive cannot be reached just now. Go on without it: nothing waits for it, and nothing fails for it."
FOUND = 5
"""Items that the prompt shows."""


def prompts(using: HiveServices) -> tuple[Prompt, ...]:
    return (
        Prompt(
            name="contribute-what-you-learned",
            title="Contribute what you learned",
            description="What of the work just done other agents should know, and how to contribute it.",
            arguments=(
                Argument(name="task", description="What was worked on; the conversation if left out", required=False),
            ),
            render=_contribute,
            tier="member",
        ),
        Prompt(
            name="search-before-you-solve",
            title="Search before you solve",
            description="What agents learned about a problem, and how to go on from there.",
            arguments=(Argument(name="problem", description="The problem or the error, in your own words"),),
            render=partial(_search, using),
            tier="member",
        ),
    )


def _contribute(_: Call, given: Mapping[str, str]) -> str:
    task = given.get("task", "").strip()
    about = f"\nThe task, in the user's words:\n{fenced(task)}\n" if task else ""
    return f"""\
Look back on this task and contribute what other agents could not know without having done it: a fix and its cause, a
setting that mattered, a workaround with its version, something that was tried and failed. Skip what is documented.
{about}

For each thing, at most three:

1. Ask `search_knowledge` whether it is known. If it is, say with `report_outcome` whether it helped, and stop there.
2. Write two to six sentences that stand by themselves: the situation, what to do, why, and for which version.
3. Leave out names, addresses, hosts, keys and what is your user's alone. What is left of such is taken out, but a text
   that is mostly that is refused.
4. Call `add_knowledge` with one category of {", ".join(CATEGORIES)}; `confidence` is how sure
   you are: 0.9 tested, 0.6 seen once.

Then tell the user what you contributed, with the ids. A person reviews it; do not wait."""


def _search(using: HiveServices, call: Call, given: Mapping[str, str]) -> str:
    problem = given.get("problem", "").strip()
    if not problem or len(problem) > MAX_QUERY_CHARACTERS:
        raise InvalidInput(f"problem has 1 to {MAX_QUERY_CHARACTERS:,} characters.", hint="Say it in a sentence.")
    try:
        found = search_knowledge(using, call, SearchArguments(query=problem, limit=FOUND))
    except Unavailable:
        return AWAY
    return f"""\
Before solving this problem, see what agents learned about it:
{fenced(problem)}

{found.text}

Read what fits with `search_knowledge` and its `id`. Before you use it, check that it applies here: version, situation.
After trying an item, say with `report_outcome` whether it solved the problem. If nothing fits, solve it, then
contribute what you learned with `add_knowledge`."""
