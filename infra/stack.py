"""The stack: every capability once, and what is told about them when they stand."""

from typing import Any

from aws_cdk import App, CfnOutput, Environment, Fn, Stack
from constructs import Construct

from infra.configuration import Configuration
from infra.functions import Platform
from infra.indexing import Indexing
from infra.observability import Observability, Watched
from infra.rest import WEBHOOK_PATH, Rest
from infra.schedules import Schedules
from infra.secrets import Secrets
from infra.state import State
from infra.store import Store
from infra.sync import Sync
from infra.webhook import Webhook


class CommonplaceStack(Stack):
    """One deployment of Commonplace."""

    def __init__(self, scope: Construct, construct_id: str, configuration: Configuration, **options: Any) -> None:
        super().__init__(scope, construct_id, **options)
        platform = Platform(self, "Platform", configuration)
        store = Store(self, "Store", configuration)
        state = State(self, "State", configuration)
        secrets = Secrets(self, "Secrets", configuration)
        sync = Sync(self, "Sync", platform, store=store, state=state, secrets=secrets)
        webhook = Webhook(self, "Webhook", platform, state=state, secrets=secrets, sync=sync)
        indexing = Indexing(self, "Index", platform, store)
        rest = Rest(self, "Rest", platform, store=store, state=state, webhook=webhook)
        schedules = Schedules(self, "Schedules", platform, sync=webhook, index=indexing.function)
        functions = (webhook, sync.run, sync.store, indexing.function, rest.function)
        dead_letters = {"index": indexing.dead, "schedules": schedules.dead}
        observability = Observability(
            self,
            "Observability",
            configuration,
            Watched(
                functions=functions,
                dead_letters=dead_letters,
                index_queue=indexing.queue,
                machine=sync.machine,
                api=rest.api,
            ),
        )
        self._say(
            BaseUrl=rest.base_url,
            RestUrl=f"{rest.base_url}/api/v1",
            WebhookUrl=f"{rest.base_url}{WEBHOOK_PATH}",
            GithubSecretArn=secrets.github.secret_arn,
            ContentBucket=store.bucket.bucket_name,
            ActivityTable=state.activity.table_name,
            CacheTable=state.cache.table_name,
            SyncMachineArn=sync.machine.state_machine_arn,
            IndexQueueUrl=indexing.queue.queue_url,
            DlqUrls=Fn.join(",", [queue.queue_url for queue in dead_letters.values()]),
            AlarmTopicArn=observability.topic.topic_arn,
            DashboardUrl=observability.dashboard_url,
            WebhookFunction=webhook.live.function_arn,
            SyncRunFunction=sync.run.live.function_arn,
            SyncStoreFunction=sync.store.live.function_arn,
            IndexFunction=indexing.function.live.function_arn,
            RestFunction=rest.function.live.function_arn,
        )
        if rest.domain:
            self._say(DomainTarget=rest.domain.regional_domain_name)

    def _say(self, **outputs: str) -> None:
        for name, value in outputs.items():
            CfnOutput(self, name, value=value)


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
