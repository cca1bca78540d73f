"""The chat, built from settings: the agent over the tools of the knowledge base, and the application over it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from commonplace.chat.agent.models import model_of
from commonplace.chat.agent.runs import Runs
from commonplace.chat.agent.tools import agent_of
from commonplace.chat.routes import Chat, create_app
from commonplace.chat.settings import ChatSettings
from commonplace.identity.authorization import Need
from commonplace.identity.composition import token_principals, visitors
from commonplace.identity.principals import APART, highest
from commonplace.identity.resources import Resources
from commonplace.kernel import aws
from commonplace.kernel.limit_store import DynamoSlots, counters_of
from commonplace.kernel.limits import Limiter, Slots
from commonplace.web.challenges import Accounts, Challenges
from commonplace.web.mcp.declaration import Answer, Caller, Toolset
from commonplace.web.mcp.invocation import invoke
from commonplace.web.mcp.offer import offer_of
from commonplace.web.mcp.throttle import Throttle
from commonplace.web.stack import Limits

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from commonplace.identity.settings import SessionSettings
    from commonplace.web.mcp.settings import McpSettings

RUNS_EACH, FOLLOWERS_EACH = 2, 4
"""Of one account at once."""
WRITING, FOLLOWING = "slots#chat-runs", "slots#chat-followers"
MEMBER = Need("member", "knowledge:read", "documents")
CREATE = "create_draft"


def application(
    own: ChatSettings,
    settings: McpSettings,
    identity: SessionSettings,
    toolsets: Iterable[Toolset],
    served: tuple[str, ...],
) -> Starlette:
    """Return the application. `toolsets` are that of the knowledge base and, where there are partners, theirs;
    `served` are the names of all toolsets that scopes are granted for."""
    offers = {one.name: offer_of([one]) for one in toolsets}
    offer, commons = offers["knowledge"], offers.get("commons")
    limiter = Limiter(counters_of(settings), time.time, secret=settings.counter_secret)
    throttle = Throttle.of(settings, limiter)

    def call(caller: Caller, name: str, given: Mapping[str, Any]) -> Answer:
        # What a person approves call by call reaches this when they have.
        whose = offer if commons is None or name in offer.tools else commons
        return invoke(whose, caller, name, given, spend=throttle.spend, base_url=settings.base_url, asking=True)

    dynamodb = aws.dynamodb(read_timeout_seconds=1, attempts=2)

    def slots(partition: str, each: int) -> Slots:
        store = DynamoSlots(dynamodb, settings.activity_table, partition)
        return Slots(store, time.time, each=each, together=own.together, secret=settings.counter_secret)

    resources = Resources(identity.issuer, tuple(one for one in served if one not in APART), served)
    principals = token_principals(identity, settings.activity_table, names=True)
    store, draft = own.store(), offer.tools.get(CREATE)
    return create_app(
        Chat(
            store=store,
            runs=Runs(
                store=store,
                agent=agent_of(offer.tools["search_knowledge"].tool.arguments, draft.tool.arguments if draft else None),
                model=model_of(own, settings.bedrock_region),
                tokens_per_day=own.tokens_per_day,
            ),
            invoke=call,
            commons=commons,
            draft=draft.need if draft and settings.github_writer_secret_arn and not settings.read_only else None,
            need=Need(highest((MEMBER.tier, settings.site_tier)), MEMBER.scope, MEMBER.kind),
            accounts=Accounts(principals, Challenges(resources), resources.api),
            visitors=visitors(identity),
            origin=identity.issuer,
            limits=Limits(limiter, settings.reads_per_minute, settings.searches_per_minute),
            slots=slots(WRITING, RUNS_EACH),
            followers=slots(FOLLOWING, FOLLOWERS_EACH),
        )
    )
