"""A deployment as its MCP servers present it, and the record of each call. Independent of the SDK.

A log line says what was called, how it ended and how long it took; nothing of arguments or answers. The function's
metrics are counted from these lines. `logging` reserves `name`, so the called tool or resource is `target`.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from mcp_types import INTERNAL_ERROR

from commonplace import __version__
from commonplace.identity.principals import Tier
from commonplace.kernel.telemetry import count
from commonplace.web.mcp.declaration import Caller, Cost

logger = logging.getLogger(__name__)

CALLER = "commonplace.caller"
"""Key in the ASGI scope under which the guard leaves a `declaration.Caller`."""

Era = Literal["modern", "legacy"]
"""Of the protocol: without a handshake (2026-07-28 and later), or with one."""

UNEXPECTED = ("INTERNAL_ERROR", str(INTERNAL_ERROR))
"""Outcomes that nobody expected: the first of tools, the second, JSON-RPC's, of everything else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """The outcome of one call, without arguments, answers or the caller's name."""

    method: str
    name: str
    """Of the tool or prompt, the resource's URI or template; or "unknown". Never the caller's words."""
    outcome: str
    """`ok`, or the code of an error: `NOT_FOUND`, `ACCESS_DENIED`, `CANCELLED`, `INTERNAL_ERROR`, a JSON-RPC code."""
    milliseconds: float
    answer_tokens: int
    era: Era
    tier: Tier
    client: str
    """What the client calls itself, at most 64 characters. For telemetry, never for a decision."""


def spend_nothing(caller: Caller, cost: Cost, toolset: str | None = None) -> None:
    """No rate limit."""


def record_nothing(record: CallRecord) -> None:
    """No telemetry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """One deployment, as its MCP servers present it."""

    name: str = "commonplace"
    title: str = "Commonplace"
    version: str = __version__
    base_url: str = ""
    """The public origin, without a slash at its end."""
    website_url: str | None = None
    icons: tuple[str, ...] = ()
    """URLs, or paths of this deployment. Only https ones are shown: clients refuse the others."""
    spend: Callable[[Caller, Cost, str], None] = spend_nothing
    """Counts one `tools/call` of a toolset; raises RateLimited. Other methods are the edge's to count, by `cost_of`."""
    record: Callable[[CallRecord], None] = record_nothing
    """Called for every tools/call, resources/read, prompts/get and completion/complete."""
    page_size: int = 100

    def icon_urls(self) -> tuple[str, ...]:
        """The icons that may be shown."""
        whole = (f"{self.base_url}{icon}" if icon.startswith("/") else icon for icon in self.icons)
        return tuple(icon for icon in whole if icon.startswith("https://"))


def record(call: CallRecord) -> None:
    """Logs and counts the call.

    Every value of a dimension makes a metric that is paid for, so no caller may add to them: tools are those that are
    declared, and the names of resources, which are as many as documents, are no dimension.
    """
    count("McpCalls", Method=call.method, Outcome=call.outcome)
    if call.method == "tools/call":
        count("McpToolCalls", Tool=call.name, Outcome=call.outcome)
        count("McpToolMilliseconds", round(call.milliseconds, 1), "Milliseconds", Tool=call.name)
    if call.outcome in UNEXPECTED:
        count("McpFailures")
    logger.info(
        "mcp call",
        extra={
            "method": call.method,
            "target": call.name,
            "outcome": call.outcome,
            "milliseconds": round(call.milliseconds, 1),
            "answerTokens": call.answer_tokens,
            "era": call.era,
            "tier": call.tier,
            "client": call.client,
        },
    )
