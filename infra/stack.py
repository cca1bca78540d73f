"""The stack, its outputs, and the one way to synthesize it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from aws_cdk import App, CfnOutput, Environment, Fn, Stack
from aws_cdk import aws_sqs as sqs
from cdk_nag import AwsSolutionsChecks
from constructs import Construct

from infra.access import grant
from infra.configuration import Configuration, from_context
from infra.edge import build_edge
from infra.front import (
    ANY,
    MCP_PATHS,
    POST,
    REST_PATHS,
    Front,
    console_function,
    mcp_function,
    rest_function,
    site_function,
)
from infra.functions import Platform, dead_letters
from infra.identity import AUTH_PATHS, CONSOLE_PATHS, IdentityState, auth_function, signing_function
from infra.index import Index, Migration
from infra.metrics import WatchedSearch
from infra.models import OpenAi
from infra.observability import Observability, Watched
from infra.opensearch_domain import Domain
from infra.providers import deployed
from infra.records_functions import brought, share
from infra.redaction import redaction_function
from infra.requirements import ROOT
from infra.search_engine import Collection, EmbeddedIndex, ExistingOpenSearch
from infra.secrets import Secrets, lock_origin
from infra.store import State, Store
from infra.streaming_functions import streaming
from infra.sync import WEBHOOK_PATH, Schedules, Sync, webhook_function

WITHOUT_BUNDLES: Mapping[str, Any] = {"aws:cdk:bundling-stacks": [], "aws:cdk:disable-asset-staging": True}
"""Context for a template alone: no packages are installed, no zips are made."""


Engine = EmbeddedIndex | Domain | Collection | ExistingOpenSearch


class CommonplaceStack(Stack):
    """One deployment of Commonplace."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration, **options: Any) -> None:
        super().__init__(scope, construct_id, **options)
        platform = Platform(self, "Platform", configuration)
        store = Store(self, "Store", configuration)
        state = State(self, "State", configuration)
        secrets = Secrets(self, "Secrets", configuration)
        identity = IdentityState(self, "Identity", configuration)
        front = Front(self, "Rest", configuration)
        _wire(platform, store=store, state=state, secrets=secrets, identity=identity, front=front)
        sync = Sync(self, "Sync", platform, store=store, state=state, secrets=secrets)
        webhook = webhook_function(self, platform, state=state, secrets=secrets, sync=sync)
        redaction = redaction_function(self, platform)
        failed = dead_letters(self, "FailedInvocations")
        engine = _engine(self, platform, store, failed)
        index = Index(self, "Index", platform, store=store, state=state, engine=engine)
        own = brought(self, platform, configuration, state)
        guarded: Any = {"state": state, "engine": engine, "identity": identity}
        rest = rest_function(front, platform, **guarded)
        site = site_function(self, platform, **guarded)
        mcp = mcp_function(self, platform, secrets=secrets, **guarded)
        console = console_function(self, platform, webhook=webhook, **guarded)
        for function in (rest, mcp, console):
            function.allow(["lambda:InvokeFunction"], [redaction.live.function_arn])
        streams = streaming(self, platform, configuration, front, secrets=secrets, **guarded)
        auth, signing = (
            auth_function(self, platform, state=state, identity=identity),
            signing_function(self, platform, identity),
        )
        front.rest_of_the_paths("Site", site)
        front.route("Webhook", webhook, POST, WEBHOOK_PATH)
        for function, paths in ((rest, REST_PATHS), (mcp, MCP_PATHS), (console, CONSOLE_PATHS), (auth, AUTH_PATHS)):
            front.route(function.name.capitalize(), function, ANY, *paths)
        lock_origin(configuration, webhook, site, rest, mcp, console, auth, *(one.function for one in streams))
        self.api, self.streams = front.api, streams
        Schedules(self, "Schedules", platform, sync=webhook, index=index.function, dead=failed)
        functions = [
            *(one.function for one in own),
            *(one.function for one in streams),
            webhook,
            sync.run,
            sync.store,
            index.function,
            site,
            rest,
            mcp,
            console,
            auth,
            signing,
            redaction,
        ]
        users_of_models = [index.function, site, rest, mcp, console, *(one.function for one in streams)]
        search: WatchedSearch | None = None
        if not isinstance(engine, EmbeddedIndex):
            migration = Migration(self, "Migration", platform, engine=engine)
            functions.append(migration.function)
            users_of_models.append(migration.function)
            search = engine.watched(migration.machine)
            self._say(
                IndexBuildMachineArn=migration.machine.state_machine_arn,
                IndexBuildFunction=migration.function.live.function_arn,
                SearchEndpoint=engine.environment["OPENSEARCH_ENDPOINT"],
            )
        if isinstance(engine, Domain):
            functions.append(engine.bootstrap)
            self._say(BootstrapFunction=engine.bootstrap.live.function_arn)
        grant(functions, configuration, store, state.tables | {"identity": identity.table})
        if configuration.asks_openai:
            openai = OpenAi(self, "OpenAi", configuration)
            openai.admit(users_of_models)
            self._say(OpenAiSecretArn=openai.secret.secret_arn)
        share(own, functions)
        set_aside = {
            "index": index.dead,
            "records": index.records.dead,
            "invocations": failed,
            **{one.said.name: one.records.dead for one in own},
        }
        observability = Observability(
            self,
            "Observability",
            configuration,
            Watched(
                functions=functions,
                dead_letters=set_aside,
                index_queue=index.queue,
                records=index.records,
                machine=sync.machine,
                api=front.api,
                search=search,
                foreign_models=bool(set(configuration.providers) - {"local"}),
            ),
        )
        self._say(
            BaseUrl=front.base_url,
            RestUrl=f"{front.base_url}/api/v1",
            McpUrl=f"{front.base_url}/mcp",
            WebhookUrl=f"{front.base_url}{WEBHOOK_PATH}",
            GithubSecretArn=secrets.github.secret_arn,
            ContentBucket=store.bucket.bucket_name,
            ActivityTable=state.activity.table_name,
            CacheTable=state.cache.table_name,
            RecordsTable=state.records.table_name,
            SyncMachineArn=sync.machine.state_machine_arn,
            IndexQueueUrl=index.queue.queue_url,
            RecordsQueueUrl=index.records.queue.queue_url,
            DlqUrls=Fn.join(",", [queue.queue_url for queue in set_aside.values()]),
            AlarmTopicArn=observability.topic.topic_arn,
            DashboardUrl=observability.dashboard_url,
            WebhookFunction=webhook.live.function_arn,
            SyncRunFunction=sync.run.live.function_arn,
            SyncStoreFunction=sync.store.live.function_arn,
            IndexFunction=index.function.live.function_arn,
            SiteFunction=site.live.function_arn,
            RestFunction=rest.live.function_arn,
            McpFunction=mcp.live.function_arn,
            ConsoleFunction=console.live.function_arn,
            RedactFunction=redaction.live.function_arn,
            AuthFunction=auth.live.function_arn,
            RotateFunction=signing.live.function_arn,
            Organisation=configuration.organisation,
            IdentityTable=identity.table.table_name,
            IdentitySecretArn=identity.pseudonyms.secret_arn,
            SigningSecretArn=identity.signing.secret_arn,
            RpcSecretArn=identity.rpc.secret_arn,
            Catalogues=configuration.catalogues,
            GovernanceScheme=configuration.governance_scheme,
            GithubWriterSecretArn=secrets.github_writer.secret_arn if secrets.github_writer else None,
            OidcSecretArn=identity.oidc.secret_arn if identity.oidc else None,
            **{name: value for one in streams for name, value in one.outputs.items()},
            DomainTarget=front.domain.regional_domain_name if front.domain else None,
        )

    def _say(self, **outputs: str | None) -> None:
        """Add an output for each value that exists."""
        for name, value in outputs.items():
            if value is not None:
                CfnOutput(self, name, value=value)


def _wire(
    platform: Platform, *, store: Store, state: State, secrets: Secrets, identity: IdentityState, front: Front
) -> None:
    """Variables of functions about what the stack makes, as far as they read them."""
    configuration = platform.configuration
    platform.wire(
        CONTENT_BUCKET=store.bucket.bucket_name,
        ACTIVITY_TABLE=state.activity.table_name,
        CACHE_TABLE=state.cache.table_name,
        RECORDS_TABLE=state.records.table_name,
        ROLE_CACHE_TABLE=state.cache.table_name,
        GITHUB_SECRET_ARN=secrets.github.secret_arn,
        GITHUB_WRITER_SECRET_ARN=secrets.github_writer.secret_arn if secrets.github_writer else None,
        IDENTITY_TABLE=identity.table.table_name,
        IDENTITY_SECRET_ARN=identity.pseudonyms.secret_arn,
        SIGNING_SECRET_ARN=identity.signing.secret_arn,
        RPC_SECRET_ARN=identity.rpc.secret_arn,
        OIDC_SECRET_ARN=identity.oidc.secret_arn if identity.oidc else None,
        BASE_URL=front.base_url,
        EMBEDDING_PROVIDER=deployed(configuration.embedding_provider),
        EMBEDDING_PROVIDER_NEXT=deployed(configuration.embedding_provider_next or ""),
        RERANK_PROVIDER=deployed(configuration.rerank_provider),
    )


def _engine(scope: Construct, platform: Platform, store: Store, failed: sqs.Queue) -> Engine:
    configuration = platform.configuration
    made: Engine
    if configuration.makes_domain:
        made = Domain(scope, "OpenSearch", platform, failed)
    elif configuration.makes_collection:
        made = Collection(scope, "OpenSearch", configuration)
    elif configuration.engine == "opensearch":
        made = ExistingOpenSearch(scope, "OpenSearch", configuration)
    else:
        made = EmbeddedIndex(configuration, store)
    platform.wire(**made.environment)
    return made


def build(app: App, configuration: Configuration) -> CommonplaceStack:
    """Adds the deployment to the app. Without account and region the template fits any."""
    return CommonplaceStack(
        app,
        f"Commonplace-{configuration.stage}",
        configuration,
        description=f"Commonplace ({configuration.stage}): {configuration.repository}, kept and served",
        env=Environment(account=configuration.account, region=configuration.region),
        tags={"application": "commonplace", "stage": configuration.stage},
        termination_protection=configuration.retains,
    )


def application(outdir: Path | None, context: Mapping[str, Any] | None = None) -> tuple[App, CommonplaceStack]:
    """An app that is ready to synthesize, and its first stack.

    Only CDK's command line loads `cdk.json`, so it is loaded here for everybody.

    Raises ConfigurationError when the context is not valid.
    """
    settings = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(outdir=str(outdir) if outdir else None, context={**settings, **(context or {})})
    configuration = from_context(app.node.get_all_context())
    stack = build(app, configuration)
    if configuration.edge:
        build_edge(app, configuration, stack.api, stack.streams)
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    return app, stack
