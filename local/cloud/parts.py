"""What a template came to: the running resources, and what the host, the gateway and the event sources shall do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.cloud.asynchronous import AsyncConfig
from local.cloud.calls import Function
from local.cloud.http_event import Route
from local.cloud.pipes import Pipe
from local.cloud.rotations import RotatedSecret
from local.cloud.schedules import Rule
from local.cloud.sqs_mapping import QueueMapping
from local.cloud.template import TemplateError


@dataclass(slots=True)
class Parts:
    """What a template came to, by logical id."""

    functions: dict[str, Function] = field(default_factory=dict)
    buckets: dict[str, str] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    queues: dict[str, str] = field(default_factory=dict)  # URLs
    secrets: dict[str, str] = field(default_factory=dict)  # ARNs
    machines: dict[str, str] = field(default_factory=dict)  # ARNs
    mappings: dict[str, QueueMapping] = field(default_factory=dict)
    pipes: dict[str, Pipe] = field(default_factory=dict)
    asynchronous: dict[str, AsyncConfig] = field(default_factory=dict)  # by the ARN of an alias
    rotations: list[RotatedSecret] = field(default_factory=list)
    rules: dict[str, Rule] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    notifications: dict[str, dict[str, Any]] = field(default_factory=dict)  # by bucket name
    deferred: list[Callable[[], None]] = field(default_factory=list)  # slow, and nobody needs the result


def refuse(logical_id: str, properties: Mapping[str, Any], *names: str) -> None:
    """Raise when the resource has one of these properties, none of which a laptop can honour."""
    for name in names:
        if properties.get(name):
            raise TemplateError(f"{logical_id} has the property {name}, which the laptop cloud does not emulate.")
