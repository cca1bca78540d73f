"""Tools that need something of the client before they can answer.

On 2026-07-28 a tool answers with its questions and is called again with the answers; before, it asks while it works,
which nothing stateless can do: those tools are here to fail for that reason and no other.
"""

from collections.abc import Mapping
from typing import Any

import mcp.types as T

from commonplace.web.mcp.declaration import Arguments, Call, Tool
from tests.conformance.mcp.profile.plain import text, tool

Asked = Mapping[str, dict[str, Any]]


def form(message: str, **properties: Any) -> dict[str, Any]:
    """A question to a person; every field is required unless it has a default."""
    required = [name for name, field in properties.items() if "default" not in field]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": schema}}


def prompt(words: str, max_tokens: int) -> dict[str, Any]:
    """A question to the client's model."""
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": max_tokens}}


ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}
NAME = form("What is your name?", name={"type": "string"})
CAPITAL = prompt("What is the capital of France?", 100)
GREETING = prompt("Generate a greeting", 50)
CONFIRM = form("Please confirm", ok={"type": "boolean"})
COLOUR = form("Step 2: What is your favorite color?", color={"type": "string"})


def ask(requests: Asked, state: str | None = None) -> T.InputRequiredResult:
    told: dict[str, Any] = {"resultType": "input_required", "inputRequests": dict(requests)}
    return T.InputRequiredResult.model_validate(told | ({"requestState": state} if state else {}))


def answers(call: Call) -> Mapping[str, Any]:
    """What the client sent back; what is not an object answers nothing."""
    found = (call.context.params or {}).get("inputResponses") or {}
    return {key: value for key, value in found.items() if isinstance(value, dict)}


def state(call: Call) -> str | None:
    """As the boundary has opened it."""
    found: str | None = (call.context.params or {}).get("requestState")
    return found


def single(name: str, requests: Asked, *, sealed: str | None = None, done: str = "Thank you.") -> Tool:
    """Asks until all answers are there; with `sealed`, until its own state has come back as well."""

    async def answer(call: Call) -> Any:
        if requests.keys() <= answers(call).keys() and state(call) == sealed:
            return text(done)
        return ask(requests, sealed)

    return tool(name, answer)


async def _rounds(call: Call) -> Any:
    match state(call):
        case "named" if "step1" in answers(call):
            return ask({"step2": COLOUR}, "coloured")
        case "coloured" if "step2" in answers(call):
            return text("Both answers came.")
        case _:
            return ask({"step1": NAME}, "named")


async def _able(call: Call) -> Any:
    """Only what this client declared for this request."""
    declared = call.context.session.client_capabilities
    possible = {"capital_question": CAPITAL} if declared and declared.sampling is not None else {}
    if declared and declared.elicitation is not None:
        possible["user_name"] = NAME
    return ask(possible) if possible and not answers(call) else text("Nothing is left to ask.")


class Words(Arguments):
    """What to ask on the legacy wire."""

    prompt: str = ""
    message: str = ""


async def _sample(call: Call) -> Any:
    asked = T.CreateMessageRequest.model_validate(prompt("Hello", 100))
    answer = await call.context.session.send_request(asked, T.CreateMessageResult)
    return text(f"LLM response: {answer.content}")


async def _elicit(call: Call) -> Any:
    asked = T.ElicitRequest.model_validate(form("Who are you?", username={"type": "string"}, email={"type": "string"}))
    answer = await call.context.session.send_request(asked, T.ElicitResult)
    return text(f"User response: {answer.action}")


LEGACY = (
    tool("test_sampling", _sample, arguments=Words),
    tool("test_elicitation", _elicit, arguments=Words),
    tool("test_elicitation_sep1034_defaults", _elicit),
    tool("test_elicitation_sep1330_enums", _elicit),
)
PREFIX = "test_input_required_result"
TOOLS: tuple[Tool, ...] = (
    *LEGACY,
    single("test_streaming_elicitation", {"user_name": NAME}),
    single(f"{PREFIX}_elicitation", {"user_name": NAME}),
    single(f"{PREFIX}_sampling", {"capital_question": CAPITAL}),
    single(f"{PREFIX}_list_roots", {"client_roots": ROOTS}),
    single(f"{PREFIX}_request_state", {"confirm": CONFIRM}, sealed="asked", done="state-ok"),
    single(
        f"{PREFIX}_tampered_state", {"confirm": CONFIRM}, sealed="asked", done="The state is the one that was given."
    ),
    single(
        f"{PREFIX}_multiple_inputs", {"user_name": NAME, "greeting": GREETING, "client_roots": ROOTS}, sealed="asked"
    ),
    tool(f"{PREFIX}_multi_round", _rounds),
    tool(f"{PREFIX}_capabilities", _able),
)
