"""Language models: of Bedrock, of whatever speaks as OpenAI does, or none, which answers with what a search finds."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel

from commonplace.chat.model import DRAFT, SEARCH, SEARCH_ALL

if TYPE_CHECKING:
    from commonplace.chat.settings import ChatSettings

MODEL_SECONDS = 60.0
"""The longest silence of a model."""
ANSWER_TOKENS = 4_000
"""A model may use so many for one answer."""

NO_MODEL = "No language model is configured here, so these are the passages that fit best."
NO_DRAFTS = "You may not propose documents here: that takes the tier vibecoder, and an organisation on GitHub."
NOTHING = "Nothing in the knowledge base answers this."
NEAREST = "The nearest that it has:"
_DRAFT = re.compile(
    r"\s*draft(?:\s+(?P<type>[a-z-]+))?:\s*(?P<title>[^\n]{1,200})(?:\n(?P<body>.*))?\Z", re.DOTALL | re.I
)
_WORDS, _CALLOUT = re.compile(r"\s+"), re.compile(r"\[!\w+\][+-]?")


def model_of(settings: ChatSettings, region: str | None) -> Callable[[], Model]:
    """Return what gives the model for a run; `region` is that of Bedrock. Libraries, clients and keys are loaded by the
    first."""
    choice = settings.chat_model
    if choice is None or choice.kind == "none":
        extractive = FunctionModel(stream_function=passages, model_name="extractive")
        return lambda: extractive
    if choice.kind == "bedrock":
        return _bedrock(choice.model, region)
    return _openai(choice.model, settings)


def _bedrock(name: str, region: str | None) -> Callable[[], Model]:
    made: list[Model] = []

    def model() -> Model:
        if not made:
            from pydantic_ai.models.bedrock import BedrockConverseModel, BedrockModelSettings
            from pydantic_ai.providers.bedrock import BedrockProvider

            from commonplace.kernel import aws

            client = aws.bedrock("bedrock-runtime", region=region, read_timeout_seconds=MODEL_SECONDS)
            settings = BedrockModelSettings(max_tokens=ANSWER_TOKENS)
            made.append(BedrockConverseModel(name, provider=BedrockProvider(bedrock_client=client), settings=settings))
        return made[0]

    return model


def _openai(name: str, settings: ChatSettings) -> Callable[[], Model]:
    """Return a model with the key as it is now: one that was put into its secret counts without a new start."""
    made: dict[str, Model] = {}
    arn = settings.secret_arn
    secret: Any = None

    def model() -> Model:
        nonlocal secret
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
        from pydantic_ai.providers.openai import OpenAIProvider

        if arn and secret is None:
            from commonplace.kernel import aws
            from commonplace.kernel.secrets import KeptSecret

            secret = KeptSecret(aws.secretsmanager(), arn, lambda text: str(json.loads(text)["apiKey"]))
        # A service of this machine may take none, and its client insists on one.
        key = (secret.current() if secret else settings.api_key) or "none"
        if key not in made:
            client = AsyncOpenAI(base_url=settings.base_url, api_key=key, timeout=MODEL_SECONDS, max_retries=1)
            made.clear()
            most = OpenAIChatModelSettings(max_tokens=ANSWER_TOKENS)
            made[key] = OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client), settings=most)
        return made[key]

    return model


async def passages(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
    """Answer without a language model: search with the person's own words, then quote what was found."""
    parts = messages[-1].parts
    # What was not approved comes back beside the person's next message, which is what counts.
    asked = any(isinstance(part, UserPromptPart) for part in parts)
    returned = {part.tool_name: part for part in parts if isinstance(part, ToolReturnPart) and not asked}
    if not returned:
        text = _asked(messages)
        tools = {tool.name for tool in info.function_tools}
        if (draft := _DRAFT.match(text)) and DRAFT not in tools:
            yield NO_DRAFTS
        elif draft:
            given = {"title": draft["title"].strip(), "contentType": draft["type"] or "article"}
            arguments = given | {"body": (draft["body"] or "").strip() or f"# {given['title']}\n"}
            yield {0: DeltaToolCall(name=DRAFT, json_args=json.dumps(arguments))}
        else:
            search = SEARCH_ALL if SEARCH_ALL in tools else SEARCH
            yield {0: DeltaToolCall(name=search, json_args=json.dumps({"query": text[:1_000]}))}
    elif DRAFT in returned:
        yield _drafted(returned[DRAFT])
    else:
        for line in _quoted([*returned.values()][-1]):
            yield line


def _asked(messages: Sequence[ModelMessage]) -> str:
    """Return the person's last message."""
    prompts = [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    last = prompts[-1] if prompts else ""
    return last if isinstance(last, str) else " ".join(one for one in last if isinstance(one, str))


def _drafted(part: ToolReturnPart) -> str:
    if part.outcome == "denied":
        return "The draft was declined, so nothing was proposed."
    if isinstance(part.content, dict) and "url" in part.content:
        return f"The draft is proposed: {part.content['url']}"
    return f"The draft was not proposed. {part.content}"


def _quoted(part: ToolReturnPart) -> list[str]:
    """Return the passages that fit as quotes with numbers; without one, what is nearest, by name alone."""
    content = part.content
    if part.outcome != "success" or not isinstance(content, dict):
        return [f"The search failed. {content}"]
    results: list[dict[str, Any]] = content.get("results") or []
    silent = [f"{one['source']} ({one['why']})" for one in content.get("unanswered") or ()]
    unheard = [f"\n\nNo answer from {', '.join(silent)}."] if silent else []
    # In the order of the search, to the last that fits.
    last = max((at for at, one in enumerate(results, 1) if not one.get("weak")), default=0)
    if not last:
        near = "\n".join(f"- {one['title']} [{one['n']}]" for one in results)
        return [NOTHING, f"\n\n{NEAREST}\n\n{near}" if near else "", *unheard]
    lines = [NO_MODEL]
    for one in results[:last]:
        heading = f", {one['heading']}" if one.get("heading", one["title"]) != one["title"] else ""
        passage = _WORDS.sub(" ", _CALLOUT.sub("", one.get("passage") or one.get("text") or "")).strip()
        quote = f"\n\n> {passage}" if passage else ""
        lines.append(f"\n\n**{one['title']}**{heading} [{one['n']}]{quote}")
    return [*lines, *unheard]
