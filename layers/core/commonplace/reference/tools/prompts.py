"""What a person starts: an assistant of the product, and a command explained."""

from collections.abc import Mapping
from functools import partial

from commonplace.kernel.errors import InvalidInput
from commonplace.reference.tools.guidance import quoted, system_prompt
from commonplace.reference.tools.resources import command_names, completer, product
from commonplace.reference.tools.services import ReferenceServices
from commonplace.web.mcp.declaration import Argument, Call, Prompt

PAGE_CONTEXT = "pageContext"


def prompts(using: ReferenceServices) -> tuple[Prompt, ...]:
    return (
        Prompt(
            name="reference-assistant",
            title="Be an assistant of this product",
            description="The system prompt in place of a list of commands: search first, never make up a command.",
            arguments=(Argument(name=PAGE_CONTEXT, description="Where in the product the user is", required=False),),
            render=partial(_assistant, using),
        ),
        Prompt(
            name="explain-command",
            title="Explain a command",
            description="What a command does, its exact syntax, its options, and what to be careful with.",
            arguments=(Argument(name="command", description="Its name", complete=completer(using, command_names)),),
            render=partial(_explain, using),
        ),
    )


def _assistant(using: ReferenceServices, _: Call, given: Mapping[str, str]) -> str:
    return system_prompt(product(using), given.get(PAGE_CONTEXT))


def _explain(using: ReferenceServices, _: Call, given: Mapping[str, str]) -> str:
    command = quoted(given["command"])
    if not command:
        raise InvalidInput("`command` is empty.", hint="Say which command.")
    return f"""\
Explain the command {command} of {product(using)} as its reference documents it.

Get it with get_command. Say, in this order: its exact syntax in a code block, what it does, its options, an example, \
what to be careful with, what to use instead or next. Name the source. If get_command does not know it, say so and \
give the names that it suggested; do not explain a command that is not in the reference."""
