"""Resources and prompts that the suite reads."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import mcp.types as T
from mcp.server.context import CallNext, ServerRequestContext

from commonplace.web.mcp.declaration import Argument, Call, Caller, Listed, Prompt, Resource, Template
from tests.conformance.mcp.profile.asking import form
from tests.conformance.mcp.profile.plain import IMAGE, embedded, png

WATCHED = "test://watched-resource"


def resource(uri: str, mime_type: str, body: str | bytes) -> Resource:
    name = uri.rpartition("/")[2]
    told: dict[str, Any] = {"title": name, "description": f"Fixture of the conformance suite: {name}."}
    return Resource(uri=uri, name=name, mime_type=mime_type, read=lambda _: body, **told)


def _read(_: Call, variables: Mapping[str, str]) -> tuple[str, str]:
    told = {"id": variables["id"], "templateTest": True, "data": f"Data for ID: {variables['id']}"}
    return json.dumps(told), "application/json"


RESOURCES = (
    resource("test://static-text", "text/plain", "This is the content of the static text resource."),
    resource("test://static-binary", "image/png", base64.b64decode(png())),
    resource(WATCHED, "text/plain", "Watched by the tests."),
)
TEMPLATES = (
    Template(
        uri_template="test://template/{id}/data",
        name="template-data",
        title="template-data",
        description="Fixture of the conformance suite: data of an id.",
        mime_type="application/json",
        read=_read,
    ),
)


def listed(_: Caller) -> tuple[Listed, ...]:
    return (Listed("test://template/1/data", "template-1", "template-1", None, "application/json"),)


def _words(_: Caller, typed: str, given: Mapping[str, str]) -> list[str]:
    return [word for word in ("paris", "park", "party") if word.startswith(typed) and word not in given.values()]


def prompt(name: str, *arguments: str, text: str = "") -> Prompt:
    """Answers with its text, or with a result of the SDK that `raw_prompts` puts in its place."""
    asked = tuple(Argument(name=name, description=f"The argument {name}.", complete=_words) for name in arguments)
    told: dict[str, Any] = {"title": name, "description": f"Fixture of the conformance suite: {name}."}
    return Prompt(name=name, render=lambda _, given: text.format(**given), arguments=asked, **told)


PROMPTS = (
    prompt("test_simple_prompt", text="This is a simple prompt for testing."),
    prompt("test_prompt_with_arguments", "arg1", "arg2", text="Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"),
    prompt("test_prompt_with_embedded_resource", "resourceUri"),
    prompt("test_prompt_with_image"),
    prompt("test_input_required_result_prompt"),
)


def _user(*content: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": one} for one in content]}


def _raw(name: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    match name:
        case "test_prompt_with_embedded_resource":
            uri = (params.get("arguments") or {}).get("resourceUri", "")
            about = {"type": "text", "text": "Please process the embedded resource above."}
            return _user(embedded(uri, "Embedded resource content for testing."), about)
        case "test_prompt_with_image":
            return _user(IMAGE, {"type": "text", "text": "Please analyze the image above."})
        case "test_input_required_result_prompt" if not params.get("inputResponses"):
            asked = form("What context should the prompt use?", context={"type": "string"})
            return {"resultType": "input_required", "inputRequests": {"user_context": asked}}
        case "test_input_required_result_prompt":
            return _user({"type": "text", "text": "The context has come."})
        case _:
            return None


async def raw_prompts(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> Any:
    """The product's prompts are text; those of the suite are also images, resources and questions."""
    params = ctx.params or {}
    raw = _raw(str(params.get("name")), params) if ctx.method == "prompts/get" else None
    if raw is None:
        return await call_next(ctx)
    model = T.InputRequiredResult if "inputRequests" in raw else T.GetPromptResult
    return model.model_validate(raw)
