"""The MCP server on Lambda: settings, deferred parts, toolsets, and the application over them.

Importing this loads the SDK and what declares the tools, nothing that a call may not need: clients of AWS, the index,
models and GitHub are loaded by the first call that asks them something.
"""

from __future__ import annotations

import gc

# What is imported stays. To look through it for garbage again and again is a tenth of a cold start.
gc.disable()

import logging
import os
import time
from typing import TYPE_CHECKING

from commonplace.documents.content.library import Library
from commonplace.documents.tools.services import KnowledgeServices
from commonplace.documents.tools.toolset import knowledge_toolset
from commonplace.identity.access_tokens import AccessTokens, RememberedKeys
from commonplace.identity.bearer_auth import TokenPrincipals
from commonplace.identity.principals import ANONYMOUS, Everybody, Level, Principal, Principals, scope
from commonplace.identity.resources import Resources
from commonplace.identity.settings import GuardSettings
from commonplace.kernel.deferred import deferred
from commonplace.kernel.limits import CounterStore, Limiter, Slots
from commonplace.kernel.settings import McpSettings
from commonplace.memory.settings import MemorySettings
from commonplace.memory.tools.services import MemoryServices
from commonplace.memory.tools.toolset import memory_toolset
from commonplace.reference.settings import catalogue_sources, max_age_seconds, served
from commonplace.reference.tools.services import ReferenceServices
from commonplace.reference.tools.toolset import reference_toolset
from commonplace.search.deferred import DeferredSearch
from commonplace.search.fusion import Fusion
from commonplace.web.challenges import Challenges
from commonplace.web.gateway import Gateway
from commonplace.web.mcp.app import create_app
from commonplace.web.mcp.limits import Throttle
from commonplace.web.mcp.surface import Surface, record
from commonplace.web.origin import origin_values

if TYPE_CHECKING:
    from commonplace.documents.proposals.ports import Proposals
    from commonplace.identity.accounts import Denials, Standings
    from commonplace.identity.store.guard import DynamoGuard
    from commonplace.kernel.limit_store import DynamoSlots
    from commonplace.kernel.objects import ObjectStore
    from commonplace.memory.service import Memory
    from commonplace.reference.service import Reference
    from commonplace.search.service import SearchService
    from commonplace.search.store import DynamoChanges
    from commonplace.web.mcp.declaration import Toolset

gc.freeze()
gc.enable()

logging.getLogger("commonplace").setLevel(logging.INFO)
for noisy in ("mangum", "mcp"):  # the gateway writes the access log, and the SDK a few lines for each request
    logging.getLogger(noisy).setLevel(logging.WARNING)

SETTINGS = McpSettings.from_environ(os.environ)
IDENTITY = GuardSettings.from_environ(os.environ) if SETTINGS.assumed_tier is None else None
REMEMBERING = MemorySettings.from_environ(os.environ)
CATALOGUES = catalogue_sources(os.environ)
REFERENCE_AGE_SECONDS = max_age_seconds(os.environ)
FUSION = Fusion.parse(SETTINGS.fusion) if SETTINGS.fusion else None


def _objects() -> ObjectStore:
    from commonplace.kernel import aws
    from commonplace.kernel.s3 import S3ObjectStore

    return S3ObjectStore(aws.s3(read_timeout_seconds=5), SETTINGS.content_bucket)


def _counters() -> CounterStore:
    from commonplace.kernel import aws
    from commonplace.kernel.limit_store import DynamoCounters

    return DynamoCounters(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)


def _changes() -> DynamoChanges:
    from commonplace.kernel import aws
    from commonplace.search.store import DynamoChanges

    # Whoever listens is told without the feed as well, only later: it is not worth waiting for.
    return DynamoChanges(aws.dynamodb(read_timeout_seconds=1, attempts=1), SETTINGS.activity_table)


def _slots() -> DynamoSlots:
    from commonplace.kernel import aws
    from commonplace.kernel.limit_store import DynamoSlots

    return DynamoSlots(aws.dynamodb(read_timeout_seconds=0.5, attempts=1), SETTINGS.activity_table)


def _proposals() -> Proposals:
    from commonplace.documents.proposals.github import CALL_SECONDS, GitHubProposals
    from commonplace.kernel import aws
    from commonplace.repository.github_client import GitHubClient, http_client
    from commonplace.repository.github_credentials import SecretCredentials
    from commonplace.repository.github_secrets import GitHubWriterSecrets

    github = GitHubClient(http_client(SETTINGS.github_api_url, seconds=CALL_SECONDS), SETTINGS.github_api_url)
    secrets = GitHubWriterSecrets(aws.secretsmanager(), SETTINGS.github_writer_secret_arn or "")
    return GitHubProposals(github, SETTINGS.repository, SETTINGS.branch, SecretCredentials(secrets.current))


OBJECTS = deferred(_objects)
LIBRARY = Library(OBJECTS)


def _search() -> SearchService:
    from commonplace.search import providers
    from commonplace.search.service import SearchService

    models = providers.embedding_providers(SETTINGS)
    return SearchService(
        providers.search_engine(SETTINGS, OBJECTS, next(iter(models), None), read_only=True),
        models,
        providers.reranker(SETTINGS),
        rerank_cache=providers.rerank_cache(SETTINGS),
        fusion=FUSION,
        documents=LIBRARY,
        publication=LIBRARY,
    )


def _memory(told: MemorySettings) -> MemoryServices:
    def memory() -> Memory:
        from commonplace.memory import wiring

        return wiring.memory(told, SETTINGS, OBJECTS)

    return MemoryServices(memory=deferred(memory), default_limit=told.default_limit, min_confidence=told.min_confidence)


def _reference() -> ReferenceServices:
    records = REMEMBERING.records_table if REMEMBERING is not None else None

    def reference() -> Reference:
        from commonplace.reference import wiring

        return wiring.reference(SETTINGS, CATALOGUES, OBJECTS, records, max_age_seconds=REFERENCE_AGE_SECONDS)

    return ReferenceServices(
        reference=deferred(reference), organisation=SETTINGS.organisation, keeps_gaps=records is not None
    )


def _toolsets() -> list[Toolset]:
    """Those that this deployment has."""
    memory = [memory_toolset(_memory(REMEMBERING))] if REMEMBERING is not None else []
    reference = [reference_toolset(_reference())] if CATALOGUES else []
    return [knowledge_toolset(KNOWLEDGE), *memory, *reference]


def _tokens(settings: GuardSettings) -> TokenPrincipals:
    """What reads tokens, grants and roles is loaded by the first token."""

    def guard() -> DynamoGuard:
        from commonplace.identity import wiring

        return wiring.guard(settings)

    def standings() -> Standings:
        from commonplace.identity import wiring

        return wiring.standings(settings)

    def denials() -> Denials:
        from commonplace.identity import wiring

        return wiring.denials(SETTINGS.activity_table, settings.organisation)

    store = deferred(guard)
    tokens = AccessTokens(settings.issuer, RememberedKeys(store, time.time))
    return TokenPrincipals(
        tokens, store, deferred(standings), time.time, names=SETTINGS.names_authors, denials=deferred(denials)
    )


def _principals() -> Principals:
    """Without identity nobody signs in. A laptop may take everybody for a member, or for more."""
    if IDENTITY is not None:
        return _tokens(IDENTITY)
    if SETTINGS.assumed_tier is None:
        return Everybody(ANONYMOUS)
    highest: Level = "admin" if SETTINGS.assumed_tier == "vibecoder" else "write"
    return Everybody(
        Principal(
            subject="laptop",
            organisation=SETTINGS.organisation,
            display_name="this laptop",
            tier=SETTINGS.assumed_tier,
            scopes=frozenset(scope(name, highest) for name in served(os.environ)),
        )
    )


KNOWLEDGE = KnowledgeServices(
    library=LIBRARY,
    search=DeferredSearch(_search),
    proposals=deferred(_proposals) if SETTINGS.github_writer_secret_arn else None,
    site_name=SETTINGS.site_name,
    uri_host=SETTINGS.uri_host,
    full_text_tier=SETTINGS.full_text_tier,
    names_authors=SETTINGS.names_authors,
)
COUNTING_SECRET = f"{SETTINGS.stage}/{SETTINGS.activity_table}".encode()
THROTTLE = Throttle(
    Limiter(deferred(_counters), time.time, secret=COUNTING_SECRET),
    {
        "read": SETTINGS.reads_per_minute,
        "search": SETTINGS.searches_per_minute,
        "write": SETTINGS.writes_per_minute,
    },
    toolsets=SETTINGS.rate_limits,
    service_factor=SETTINGS.service_rate_factor,
    account_factor=SETTINGS.account_rate_factor,
)
APP = create_app(
    _toolsets(),
    Surface(
        title=SETTINGS.site_name,
        base_url=SETTINGS.base_url,
        website_url=f"{SETTINGS.base_url}/connect",
        icons=("/icon.png",),
        spend=THROTTLE.spend,
        record=record,
    ),
    throttle=THROTTLE,
    default=SETTINGS.toolsets,
    origins=SETTINGS.allowed_origins,
    read_only=SETTINGS.read_only,
    principals=_principals(),
    challenges=Challenges(Resources(IDENTITY.issuer, SETTINGS.toolsets, served(os.environ)))
    if IDENTITY is not None
    else None,
    feed=deferred(_changes),
    slots=Slots(
        deferred(_slots),
        time.time,
        each=SETTINGS.listens_per_account,
        together=SETTINGS.listens,
        secret=COUNTING_SECRET,
    ),
)
handler = Gateway(APP, origin=origin_values(os.environ))
