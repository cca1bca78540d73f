"""Runs: a message of a person becomes an answer, streamed as it comes and written to a journal for others to follow.

A run is a task of its own: whoever goes away does not end it. It holds a lease, which it extends; one that does not is
taken to have ended, and the next run stores what there is of it. Nothing that a client claims about earlier messages,
arguments of tools or approvals counts: the conversation is the server's.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError
from pydantic_ai import Agent, CancellationToken, DeferredToolRequests
from pydantic_ai.conversation import Conversation
from pydantic_ai.conversation_store import ConversationConflict
from pydantic_ai.exceptions import (
    ModelAPIError,
    RunCancelled,
    RunTimedOut,
    UnexpectedModelBehavior,
    UsageLimitExceeded,
    UserError,
)
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRunResult
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from pydantic_ai.ui.vercel_ai._event_stream import VercelAIEventStream
from pydantic_ai.ui.vercel_ai.request_types import SubmitMessage, TextUIPart, UIMessage
from pydantic_ai.ui.vercel_ai.response_types import (
    BaseChunk,
    DataChunk,
    DoneChunk,
    ErrorChunk,
    TextDeltaChunk,
    TextEndChunk,
    TextStartChunk,
)
from pydantic_ai.usage import RunUsage, UsageLimits
from starlette.requests import Request

from commonplace.chat.agent.conversations import Conversations, whole_characters
from commonplace.chat.agent.tools import Run
from commonplace.chat.history import pending_calls, turn_sources
from commonplace.chat.model import (
    DRAFT,
    ID,
    LEASE_SECONDS,
    MAX_PROMPT_CHARACTERS,
    MAX_STEPS,
    TITLE_CHARACTERS,
    Citations,
    Live,
    Owner,
    State,
)
from commonplace.chat.store import ChatStore, Reserved
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.errors import CommonplaceError, Forbidden, InvalidInput
from commonplace.kernel.telemetry import count
from commonplace.web.faults import words

logger = logging.getLogger(__name__)

RUN_SECONDS = 120.0
LEAST_SECONDS = 5.0
"""What is left of a request's time when its run has to end, for what is written then."""
RUN_TOKENS = 40_000
"""The most that one run of the usual steps may use, which is reserved when it begins."""
FLUSH_SECONDS = 0.5
EXTEND_SECONDS = LEASE_SECONDS / 3
MAX_PIECE_BYTES, MAX_DELTA_CHARACTERS = 64 * 1024, 16 * 1024
CHARACTERS_PER_TOKEN = 4
"""By which tokens are estimated where a model has not said how many there were."""
KEEP_ALIVE_SECONDS = 15.0
KEEP_ALIVE = ": still here\n\n"

NO_ANSWER = "The language model does not answer just now. Try again in a moment."
WRONG = "Something went wrong here. Try again."
MISFIT = "This message does not fit the conversation as it is stored. Load the conversation again."
TOO_LONG = "This took more steps, or more tokens, than one answer may use. Ask for less at once."


def said(error: Exception) -> str:
    """Return what a person is told of a failure: nothing of its text, which may be anybody's."""
    match error:
        case UsageLimitExceeded():
            return TOO_LONG
        case ConversationConflict() | UserError():
            return MISFIT
        case ModelAPIError() | UnexpectedModelBehavior():
            return NO_ANSWER
        case CommonplaceError():
            return error.message
    return WRONG


@dataclass
class Events(VercelAIEventStream[Run, Any]):
    """The events of a run, whose errors say nothing of what is inside."""

    failed: Callable[[Exception], None] = lambda _: None

    async def on_error(self, error: Exception) -> AsyncIterator[BaseChunk]:
        self.failed(error)
        async for chunk in super().on_error(error):
            yield ErrorChunk(error_text=said(error)) if isinstance(chunk, ErrorChunk) else chunk


@dataclass
class Adapter(VercelAIAdapter[Run, Any]):
    failed: Callable[[Exception], None] = lambda _: None

    def build_event_stream(self) -> Events:
        return Events(
            self.run_input,
            accept=self.accept,
            sdk_version=self.sdk_version,
            server_message_id=self.server_message_id,
            failed=self.failed,
        )


@dataclass
class Journal:
    """What a run has said and not yet written: pieces of text that follow one another become one."""

    store: ChatStore
    owner: Owner
    conversation: str
    run: str
    _chunks: list[BaseChunk] = field(default_factory=list)
    _pieces: list[str] = field(default_factory=list)
    _written: int = 0

    def add(self, chunk: BaseChunk) -> None:
        last = self._chunks[-1] if self._chunks else None
        match last, chunk:
            case TextDeltaChunk(id=before, delta=text), TextDeltaChunk(id=now) if (
                before == now and not chunk.provider_metadata and len(text) < MAX_DELTA_CHARACTERS
            ):
                self._chunks[-1] = last.model_copy(update={"delta": last.delta + chunk.delta})
            case _:
                self._chunks.append(chunk)

    async def flush(self) -> None:
        """Write what there is. What cannot be written is kept for the next time. Raises Unavailable."""
        chunks, self._chunks = self._chunks, []
        piece, size = "", 0
        for frame in map(framed, chunks):
            length = len(frame.encode())
            if piece and size + length > MAX_PIECE_BYTES:
                self._pieces.append(piece)
                piece, size = "", 0
            piece, size = piece + frame, size + length
        self._pieces += [piece] if piece else []
        while self._pieces:
            number, frames = self._written + 1, self._pieces[0]
            await asyncio.to_thread(self.store.write, self.owner, self.conversation, self.run, number, frames)
            self._written = number
            del self._pieces[0]


def framed(chunk: BaseChunk) -> str:
    return f"data: {chunk.encode(7)}\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A message of a person, as the routes take it: who asks, and with what the tools work."""

    owner: Owner
    tools: Run
    audit: Callable[[str, Mapping[str, str]], AuditRecord]
    """`(event, details)` -> the record, which names who has asked and by which client."""
    may_approve: bool
    """Whether this caller may approve what the agent wants to do."""
    seconds: float
    """How long the request may take."""


@dataclass(slots=True)
class Going:
    """A run that goes on."""

    asked: Asked
    id: str
    run: str
    adapter: Adapter
    journal: Journal
    conversations: Conversations
    used: RunUsage
    reserved: Reserved
    prompt: UIMessage | None
    began: float = field(default_factory=time.perf_counter)
    token: CancellationToken = field(default_factory=CancellationToken)
    frames: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    state: State = "done"
    error: Exception | None = None
    revision: str | None = None
    heard: int = 0
    """Characters of the answer so far."""

    def put(self, chunk: BaseChunk) -> None:
        if isinstance(chunk, TextDeltaChunk):
            self.heard += len(chunk.delta)
            if not chunk.delta.isascii():
                chunk = chunk.model_copy(update={"delta": whole_characters(chunk.delta)})
        frame = framed(chunk)
        self.journal.add(chunk)
        self.frames.put_nowait(frame)

    def fail(self, error: Exception) -> None:
        self.state, self.error = "failed", error


@dataclass(slots=True, kw_only=True)
class Runs:
    """Begins runs, and drives them to their end."""

    store: ChatStore
    agent: Agent[Run, str | DeferredToolRequests]
    model: Callable[[], Model]
    tokens_per_day: int
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def begin(self, request: Request, asked: Asked, release: Callable[[], None]) -> AsyncIterator[str]:
        """Return the frames of a new run; `release` is called when it has ended. Raises InvalidInput, Forbidden,
        Conflict while another goes on, RateLimited, and Unavailable; then nothing has begun."""
        run = uuid.uuid4().hex
        adapter = await _read(request, self.agent, owner := asked.owner, run)
        id = adapter.run_input.id
        asked.tools.conversation = id
        prompt = new_prompt(adapter)
        title = " ".join(text_of(prompt).split())[:TITLE_CHARACTERS] if prompt else ""
        conversations = Conversations(
            self.store,
            owner,
            id,
            title or "Conversation",
            lambda: asked.audit("turn", {"conversation": id, "run": run}),
        )
        adapter.conversation_store = conversations
        before = await asyncio.to_thread(self.store.record, owner, id)
        known = json.loads(before) if before is not None else {}
        pending = pending_calls(known)
        approvals = _decisions(adapter, pending)
        if any(approved for approved, *_ in approvals.values()) and not asked.may_approve:
            raise Forbidden(
                "This token may not approve what the agent wants to do.",
                hint="Approve it in the console, or with a token whose permission is action.",
            )
        if prompt is None and (not approvals or approvals.keys() != pending.keys()):
            raise InvalidInput(MISFIT, hint="Send a message, or an answer to each call that waits for approval.")
        shown = json.dumps(prompt.model_dump(mode="json", by_alias=True, exclude_none=True)) if prompt else ""
        left = await asyncio.to_thread(self.store.begin, owner, id, run, shown)
        reserved: Reserved | None = None
        try:
            if left is not None:
                await self.keep(owner, conversations, left)
            record = await conversations.read_record(id)
            if approvals and (record is None or record.revision != known["revision"]):
                raise InvalidInput(MISFIT, hint="Somebody has decided or replied in the meantime.")
            if prompt is None and (stored := await asyncio.to_thread(self.store.conversation, owner, id)) is not None:
                asked.tools.sources.extend(turn_sources(stored.messages))
            most = RUN_TOKENS * asked.tools.steps // MAX_STEPS
            reserved = await asyncio.to_thread(self.store.reserve, owner, self.tokens_per_day, most)
            await asyncio.to_thread(self.store.list_up, owner, id, title or "Conversation")
            for call, (approved, tool, arguments) in approvals.items():
                digest = hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).hexdigest()
                details = {"conversation": id, "call": call, "tool": tool, "sha256": digest}
                decided = asked.audit("approval" if approved else "refusal", details)
                # A draft has a key of its own; what a partner was asked to do cannot be asked again by mistake.
                once = f"{known['revision']}#{call}" if approved and tool != DRAFT else ""
                await asyncio.to_thread(self.store.record_audit, decided, owner, id, once)
        except BaseException:
            if reserved is not None:
                await asyncio.to_thread(self.store.settle, reserved, 0)
            await asyncio.to_thread(self.store.end, owner, id, run, "failed")
            raise
        going = Going(
            asked=asked,
            id=id,
            run=run,
            adapter=adapter,
            journal=Journal(self.store, owner, id, run),
            conversations=conversations,
            used=record.usage if record else RunUsage(),
            reserved=reserved,
            prompt=prompt,
            revision=record.revision if record else None,
        )
        adapter.failed = going.fail
        task = asyncio.create_task(self._drive(going, release))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return frames_of(going.frames)

    async def _drive(self, going: Going, release: Callable[[], None]) -> None:
        asked = going.asked
        watcher = asyncio.create_task(self._watch(going))
        limits = UsageLimits(
            request_limit=going.used.requests + asked.tools.steps,
            total_tokens_limit=going.used.total_tokens + going.reserved.tokens,
        )

        async def stopped(cancelled: RunCancelled) -> None:
            going.state = "failed" if isinstance(cancelled, RunTimedOut) else "stopped"
            asked.tools.usage = cancelled.usage
            if not await self._holds(going):
                return
            kept = Conversation(
                messages=cancelled.all_messages(),
                conversation_id=going.id,
                revision=going.revision,
                usage=cancelled.usage,
            )
            await going.conversations.save(kept, scope=asked.owner.account)

        try:
            async for chunk in going.adapter.run_stream(
                model=self.model(),
                deps=asked.tools,
                conversation_id=going.id,
                usage_limits=limits,
                cancellation_token=going.token,
                timeout=max(1.0, min(RUN_SECONDS, asked.seconds - LEAST_SECONDS)),
                on_complete=lambda result: completed(asked, result),
                on_cancel=stopped,
            ):
                going.put(chunk)
        except Exception as error:  # noqa: BLE001 - the boundary of a run: whatever it was, its people are told
            going.fail(error)
            going.put(ErrorChunk(error_text=said(error)))
            going.put(DoneChunk())
        finally:
            watcher.cancel()
            await asyncio.wait([watcher])
            try:
                await self._finish(going)
                await asyncio.to_thread(release)
            finally:
                going.frames.put_nowait(None)

    async def _watch(self, going: Going) -> None:
        """Write the journal, look whether the run is to stop, and extend its lease. A run that has lost it ends."""
        asked, extended = going.asked, time.monotonic()
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            try:
                await going.journal.flush()
                live = await asyncio.to_thread(self.store.live, asked.owner, going.id, consistent=False)
                if live is not None and live.run == going.run and live.stop:
                    going.token.cancel()
                if time.monotonic() - extended >= EXTEND_SECONDS:
                    extended = time.monotonic()
                    if not await self._holds(going):
                        going.token.cancel()
            except Exception as error:  # noqa: BLE001 - what fails now may work the next time, or the lease is lost
                logger.warning("a run could not be looked after", extra={"error": type(error).__name__})

    async def _holds(self, going: Going) -> bool:
        """Extend the lease of a run, and return whether it had it still: without, another may have taken its place."""
        return await asyncio.to_thread(self.store.extend, going.asked.owner, going.id, going.run)

    async def _finish(self, going: Going) -> None:
        """Write down how the run has ended. A failure to do so is logged: the lease ends by itself."""
        asked, usage = going.asked, going.asked.tools.usage
        spent = max(0, usage.total_tokens - going.used.total_tokens) if usage else 0
        if going.state != "done" or not spent:
            # A model says at the end of each answer what it took: of one that was broken off, nobody knows.
            estimate = (asked.tools.sent + going.heard) // CHARACTERS_PER_TOKEN
            spent = max(spent, min(estimate, going.reserved.tokens))
        steps = usage.requests - going.used.requests if usage else 0
        with _logged("a run could not be settled"):
            await asyncio.to_thread(self.store.settle, going.reserved, spent)
        with _logged("the journal of a run could not be written"):
            await going.journal.flush()
        with _logged("a run could not be written down"):
            if going.state == "failed" and going.prompt is not None and await self._holds(going):
                live = Live(going.run, "failed", 0, 0, going.prompt.model_dump_json(by_alias=True, exclude_none=True))
                await self.keep(asked.owner, going.conversations, live)
        with _logged("a run could not be ended"):
            await asyncio.to_thread(self.store.end, asked.owner, going.id, going.run, going.state)
        count("ChatRuns", Outcome=going.state)
        if going.state == "failed":
            count("ChatFailures")
        logger.info(
            "chat run",
            extra={
                "outcome": going.state,
                "error": type(going.error).__name__ if going.error else "",
                "tokens": spent,
                "steps": steps,
                "milliseconds": round((time.perf_counter() - going.began) * 1_000),
            },
        )

    async def keep(self, owner: Owner, conversations: Conversations, left: Live) -> None:
        """Store what there is of a run that has not ended well: the person's message, and what was said so far."""
        if not left.prompt:
            return
        prompt = UIMessage.model_validate_json(left.prompt)
        text = ""
        pieces = await asyncio.to_thread(lambda: list(self.store.journal(owner, conversations.id, left.run)))
        for _, frames in pieces:
            for line in frames.split("\n\n"):
                if line.startswith('data: {"type":"text-delta"'):
                    text += json.loads(line.removeprefix("data: "))["delta"]
        request = Adapter.load_messages([prompt])[0]
        added = [request, ModelResponse(parts=[TextPart(text)], state="interrupted")] if text else [request]
        loaded = await conversations.load(conversations.id, scope=owner.account)
        if loaded is not None and any(_same_prompt(one, prompt) for one in loaded.messages):
            return
        conversation = loaded or Conversation(conversation_id=conversations.id)
        conversation.messages.extend(added)
        with suppress(ConversationConflict):
            await conversations.save(conversation, scope=owner.account)


async def _read(request: Request, agent: Agent[Run, Any], owner: Owner, run: str) -> Adapter:
    """Return what a request asks. Raises InvalidInput."""
    try:
        adapter = await Adapter.from_request(
            request,
            agent=agent,
            sdk_version=7,
            server_message_id=run,
            conversation_scope=owner.account,
        )
        assert isinstance(adapter, Adapter)  # noqa: S101 - the class that was asked
    except ValidationError as error:
        where = [(".".join(map(str, one["loc"]))[:100], words(one)) for one in error.errors()[:5]]
        faults = [{"field": field, "message": message} for field, message in where]
        raise InvalidInput("This is not a message as the AI SDK sends it.", fields=faults) from None
    if not ID.fullmatch(adapter.run_input.id):
        hint = "It has 8 to 64 letters, digits, - and _."
        raise InvalidInput("This is not an id of a conversation.", hint=hint, field="id")
    return adapter


async def completed(asked: Asked, result: AgentRunResult[Any]) -> AsyncIterator[BaseChunk]:
    """Yield what an answer has to say of itself: which of its sources it cites."""
    if not isinstance(result.output, str):
        return
    parts = [part for message in result.new_messages() for part in message.parts]
    text = "\n\n".join(part.content for part in parts if isinstance(part, TextPart))
    citations = Citations.of(text, asked.tools.sources)
    yield DataChunk(type="data-citations", data={"cited": citations.cited, "unknown": citations.unknown})
    drafted = any(getattr(part, "tool_name", "") == DRAFT for part in parts)
    if citations.notice and not drafted:
        id = f"notice-{uuid.uuid4().hex}"
        yield TextStartChunk(id=id)
        yield TextDeltaChunk(id=id, delta=citations.notice)
        yield TextEndChunk(id=id)


def new_prompt(adapter: VercelAIAdapter[Run, Any]) -> UIMessage | None:
    """Return the person's new message, with its text alone; None for an answer to what waits for approval.

    Raises InvalidInput for one that is empty, or too long.
    """
    messages = adapter.run_input.messages
    if not messages:
        raise InvalidInput("There is no message.", field="messages")
    last = messages[-1]
    if last.role != "user":
        # Of earlier messages a client's answers to what waits count alone; under its id the client goes on with it.
        adapter.server_message_id = last.id[:100]
        adapter.run_input = adapter.run_input.model_copy(update={"messages": [last]})
        return None
    text = "\n\n".join(part.text for part in last.parts if isinstance(part, TextUIPart)).strip()
    if not text or len(text) > MAX_PROMPT_CHARACTERS:
        raise InvalidInput(f"A message has 1 to {MAX_PROMPT_CHARACTERS:,} characters of text.", field="messages")
    prompt = UIMessage(id=last.id[:100], role="user", parts=[TextUIPart(text=text)])
    # Who sends a message again may say so or not: what is stored of it gives way, and what was refused is not stored.
    adapter.run_input = SubmitMessage(id=adapter.run_input.id, messages=[prompt])
    return prompt


def text_of(prompt: UIMessage) -> str:
    return " ".join(part.text for part in prompt.parts if isinstance(part, TextUIPart))


def _decisions(
    adapter: VercelAIAdapter[Run, Any], pending: Mapping[str, tuple[str, Any]]
) -> dict[str, tuple[bool, str, Any]]:
    """Return what the person decides of the calls that wait: approved or not, with tool and arguments as stored."""
    answers = adapter.deferred_tool_results
    given = answers.approvals if answers else {}
    return {call: (given[call] is True, *pending[call]) for call in given if call in pending}


def _same_prompt(message: Any, prompt: UIMessage) -> bool:
    own = ((message.metadata or {}).get("__pydantic_ai__") or {}).get("ui_message_id")
    return isinstance(message, ModelRequest) and own == prompt.id and _has_prompt(message)


def _has_prompt(message: ModelRequest) -> bool:
    return any(isinstance(part, UserPromptPart) for part in message.parts)


async def frames_of(queue: asyncio.Queue[str | None]) -> AsyncIterator[str]:
    """Yield frames until None, and a comment in every silence, so that no proxy takes the stream for dead."""
    while True:
        try:
            frame = await asyncio.wait_for(queue.get(), KEEP_ALIVE_SECONDS)
        except TimeoutError:
            yield KEEP_ALIVE
            continue
        if frame is None:
            return
        yield frame


class _logged(suppress):
    """Suppresses what goes wrong at the end of a run, and logs that it did."""

    def __init__(self, message: str) -> None:
        super().__init__(Exception)
        self._message = message

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        if error is not None and isinstance(error, Exception):
            logger.error(self._message, extra={"error": type(error).__name__})
        return bool(super().__exit__(kind, error, trace))
