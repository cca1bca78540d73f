from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatch
from typing import Any, Self, cast

import pytest

from commonplace.capabilities import served_toolsets
from commonplace.documents.settings import ConsoleSettings, DocumentsSettings
from commonplace.governance.settings import GovernanceSettings, GovernanceTables, WebhookSecret
from commonplace.hive.settings import HiveServiceSettings
from commonplace.identity.name_cache import RememberedNames
from commonplace.identity.role_cache import RememberedHats
from commonplace.identity.settings import AuthSettings, GuardSettings, RotationSettings, SessionSettings
from commonplace.identity.store.guard import OF_LAST_USE, DynamoGuard
from commonplace.identity.store.sign_ins import DynamoSignIns
from commonplace.kernel.audit import AuditRecord
from commonplace.kernel.audit_store import CONSOLE, DENIED, DynamoAudit
from commonplace.kernel.configuration import Settings
from commonplace.kernel.limit_store import DynamoCounters
from commonplace.memory.settings import MemorySettings, MemoryToolSettings
from commonplace.redaction.settings import RedactionSettings, RedactSettings
from commonplace.reference import settings as reference
from commonplace.repository.run_state import DynamoSyncState
from commonplace.repository.settings import SyncSettings, WebhookSettings
from commonplace.search.model import RecordId
from commonplace.search.settings import IndexSettings
from commonplace.search.source import Change
from commonplace.search.store import DynamoChanges
from commonplace.web.mcp.settings import McpSettings
from commonplace.web.settings import RestSettings, SiteSettings
from infra.declarations import declarations
from tests.infra.templates import Template


class CatalogueSettings(reference.CatalogueSettings):
    """What every function reads of the catalogues that are configured."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        reference.catalogue_sources(environ)
        return super().from_environ(environ)


class ToolsetSettings:
    """What every function reads that takes tokens, or gives them."""

    @staticmethod
    def from_environ(environ: Mapping[str, str]) -> bool:
        return bool(served_toolsets(environ))


FUNCTIONS = {
    "webhook": ("functions/webhook", "handler.handler", 256, 10, WebhookSettings, CatalogueSettings),
    "sync-run": ("functions/sync", "handler.run", 1024, 600, SyncSettings, DocumentsSettings, CatalogueSettings),
    "sync-store": ("functions/sync", "handler.store", 512, 120, SyncSettings, DocumentsSettings, CatalogueSettings),
    "index": (
        "functions/index",
        "handler.handler",
        1024,
        120,
        IndexSettings,
        MemorySettings,
        CatalogueSettings,
        GovernanceTables,
    ),
    "site": ("functions/site", "handler.handler", 1024, 29, SiteSettings),
    "rest": (
        "functions/rest",
        "handler.handler",
        1024,
        29,
        RestSettings,
        SessionSettings,
        RedactionSettings,
        HiveServiceSettings,
        MemoryToolSettings,
        ToolsetSettings,
    ),
    "mcp": (
        "functions/mcp",
        "handler.handler",
        1769,
        29,
        McpSettings,
        GuardSettings,
        RedactionSettings,
        HiveServiceSettings,
        MemoryToolSettings,
        CatalogueSettings,
        GovernanceSettings,
    ),
    "console": (
        "functions/console",
        "handler.handler",
        1024,
        29,
        SiteSettings,
        SessionSettings,
        ConsoleSettings,
        RedactionSettings,
        HiveServiceSettings,
        MemoryToolSettings,
        GovernanceSettings,
        WebhookSecret,
    ),
    "auth": ("functions/auth", "handler.handler", 1769, 29, AuthSettings, ToolsetSettings, GovernanceTables),
    "rotate": ("functions/rotate", "handler.handler", 512, 30, RotationSettings),
    "redact": ("functions/redact", "handler.handler", 1769, 15, RedactSettings),
}


STAGES = ("template", "prod", "opensearch", "large", "serverless", "existing", "identified", "referenced")


class Environment(dict[str, str]):
    """Variables that remember which of them were asked for."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables)
        self.asked: set[str] = set()

    def get(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)


def functions(template: Template) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from template.of("AWS::Lambda::Function").items()


def test_the_functions_are_those_of_the_table(template: Template) -> None:
    names = {
        each["FunctionName"].removeprefix("commonplace-dev-") for each in template.properties("AWS::Lambda::Function")
    }
    assert names == FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_source_handler_memory_and_timeout_are_those_of_the_table(template: Template, name: str) -> None:
    (resource,) = [each for _, each in functions(template) if each["Properties"]["FunctionName"].endswith(f"-{name}")]
    properties = resource["Properties"]
    source = resource["Metadata"]["commonplace:source"]
    assert (source, properties["Handler"], properties["MemorySize"], properties["Timeout"]) == FUNCTIONS[name][:4]


def test_every_function_runs_on_the_platform_its_bundle_is_made_for(template: Template) -> None:
    for name, resource in functions(template):
        properties = resource["Properties"]
        assert (properties["Runtime"], properties["Architectures"]) == ("python3.13", ["arm64"]), name


def test_every_function_traces_and_logs_json_to_a_group_of_its_own(template: Template) -> None:
    groups = [resource["Properties"]["LoggingConfig"]["LogGroup"]["Ref"] for _, resource in functions(template)]
    assert len(set(groups)) == len(groups)
    for name, resource in functions(template):
        assert resource["Properties"]["TracingConfig"] == {"Mode": "Active"}, name
        assert resource["Properties"]["LoggingConfig"]["LogFormat"] == "JSON", name


def test_no_log_is_kept_for_ever(template: Template) -> None:
    groups = template.properties("AWS::Logs::LogGroup")
    assert len(groups) == len(FUNCTIONS) + 2  # the state machine, the API's access
    assert {group["RetentionInDays"] for group in groups} == {30}


def test_everything_calls_functions_by_their_alias(template: Template) -> None:
    aliases = template.of("AWS::Lambda::Alias")
    assert {each["Properties"]["Name"] for each in aliases.values()} == {"live"}
    called = [
        *(each["FunctionName"] for each in template.properties("AWS::Lambda::EventSourceMapping")),
        *(each["FunctionName"] for each in template.properties("AWS::Lambda::Permission")),
        *(each["IntegrationUri"] for each in template.properties("AWS::ApiGatewayV2::Integration")),
        *(target["Arn"] for each in template.properties("AWS::Events::Rule") for target in each["Targets"]),
        *template.properties("AWS::StepFunctions::StateMachine")[0]["DefinitionSubstitutions"].values(),
        *(each["RotationLambdaARN"] for each in template.properties("AWS::SecretsManager::RotationSchedule")),
        *(
            told["REDACT_FUNCTION"]
            for each in template.properties("AWS::Lambda::Function")
            if "REDACT_FUNCTION" in (told := each["Environment"]["Variables"])
        ),
    ]
    assert len(called) == 48
    assert {reference["Ref"] for reference in called} == aliases.keys()


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_given_what_its_settings_read_and_nothing_else(
    name: str, stage: str, request: pytest.FixtureRequest
) -> None:
    template: Template = request.getfixturevalue(stage)
    variables = template.environment(template.function(name))
    environment = Environment(variables)
    readers: tuple[Any, ...] = FUNCTIONS[name][4:]
    assert all(settings.from_environ(environment) for settings in readers)
    declared = {said.variable for _, said in declarations(each for each in readers if issubclass(each, Settings))}
    assert set(variables) <= environment.asked | declared


def test_what_is_configured_reaches_the_functions(prod: Template) -> None:
    rest = RestSettings.from_environ(prod.environment(prod.function("rest")))
    assert (rest.stage, rest.base_url) == ("prod", "https://knowledge.example.org")
    variables = prod.environment(prod.function("sync-run"))
    sync = SyncSettings.from_environ(variables)
    assert (sync.repository, sync.branch) == ("example/knowledge-base", "main")
    assert DocumentsSettings.from_environ(variables).exclude == ("drafts/",)


def test_what_is_configured_of_the_memory_reaches_the_functions(prod: Template) -> None:
    variables = prod.environment(prod.function("mcp"))
    mcp = McpSettings.from_environ(variables)
    assert (mcp.rate_limits, mcp.service_rate_factor) == ({"memory": {"search": 7}}, 9)
    assert (mcp.account_rate_factor, mcp.listens_per_account, mcp.listens) == (2, 1, 3)
    memory = MemoryToolSettings.from_environ(variables)
    assert (memory.default_limit, memory.min_confidence, memory.batch) == (5, 0.25, 50)
    assert memory.fusion == "min-max:0.5,0.5"
    kept = MemorySettings.from_environ(prod.environment(prod.function("index")))
    assert (kept.batch, kept.organisation) == (50, "default")


def test_readers_look_where_the_index_is_written(template: Template) -> None:
    def index(name: str) -> tuple[str, ...]:
        variables = template.environment(template.function(name))
        return variables["INDEX_LOCATION"], variables["SEARCH_ENGINE"], variables["EMBEDDING_PROVIDER"]

    assert index("rest") == index("mcp") == index("index")


class Asked(Exception):
    """Ends a call as soon as it is known what it asks for."""


class Table:
    """A DynamoDB client that only notes partition keys."""

    def __init__(self) -> None:
        self.partitions: list[str] = []
        self.attributes: set[str] = set()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def note(**arguments: Any) -> Any:
            keys = (
                arguments.get("Key") or arguments.get("Item") or {"pk": arguments["ExpressionAttributeValues"][":pk"]}
            )
            self.partitions.append(keys["pk"]["S"])
            self.attributes = {*arguments.get("ExpressionAttributeNames", {}).values(), *keys}
            raise Asked

        return note


def test_roles_are_for_the_partitions_that_the_adapters_use(template: Template) -> None:
    table: Any = Table()
    webhook = WebhookSettings.from_environ(template.environment(template.function("webhook")))
    with pytest.raises(Asked):
        DynamoSyncState(table, webhook.activity_table, webhook.repository, webhook.branch).read()
    with pytest.raises(Asked):
        DynamoCounters(table, webhook.activity_table).add("203.0.113.7", 1, 60)
    changes = DynamoChanges(table, webhook.activity_table)
    with pytest.raises(Asked):
        changes.append([Change(RecordId("document/pattern/a"), "written", 1, True)])
    with pytest.raises(Asked):
        changes.position()
    state, counter, told, heard = table.partitions
    assert [state] == _partitions(template, "Webhook")
    for role in ("Rest", "Mcp"):
        assert any(fnmatch(counter, key) for key in _partitions(template, role)), role
    assert any(fnmatch(told, key) for key in _partitions(template, "Index"))
    assert heard in _partitions(template, "Mcp")


def test_a_guard_asks_for_no_more_than_its_role_allows(template: Template) -> None:
    table: Any = Table()
    guard = DynamoGuard(table, "identity")
    for ask in (lambda: guard.grant("abc"), guard.jwks, lambda: guard.touch("abc", 1, "198.51.100.7")):
        with pytest.raises(Asked):
            ask()
    assert table.attributes == set(OF_LAST_USE)
    hats: Any = None
    with pytest.raises(Asked):
        RememberedHats(hats, table, "cache", key=lambda: b"k", chain_id=10, contract="0x0", paths=()).worn("0x1")
    for role in ("Rest", "Mcp"):
        allowed = _partitions(template, role)
        assert not [asked for asked in table.partitions if not any(fnmatch(asked, key) for key in allowed)], role


def test_the_console_asks_for_no_more_than_its_role_allows(template: Template) -> None:
    table: Any = Table()
    sessions, hats = DynamoSignIns(table, "identity"), cast(Any, None)
    record = AuditRecord(event="console", outcome="ok", at=1)
    for ask in (
        lambda: sessions.session("abc"),
        lambda: sessions.end_session("abc"),
        lambda: sessions.provider_session("abc"),
        lambda: DynamoAudit(table, "activity", CONSOLE).write(record),
        lambda: DynamoAudit(table, "activity", DENIED).write(record),
        lambda: DynamoCounters(table, "activity").add("203.0.113.7", 1, 60),
        lambda: RememberedHats(hats, table, "cache", key=lambda: b"k", chain_id=10, contract="0x0", paths=()).worn(
            "0x1"
        ),
    ):
        with pytest.raises(Asked):
            ask()
    allowed = _partitions(template, "Console")
    assert not [asked for asked in table.partitions if not any(fnmatch(asked, key) for key in allowed)]
    assert not any(fnmatch("audit#default", key) for key in allowed), "records of sign-ins"


def test_the_authorization_server_records_and_remembers_where_it_may(template: Template) -> None:
    table: Any = Table()
    with pytest.raises(Asked):
        DynamoAudit(table, "activity").write(AuditRecord(event="signin", outcome="ok", at=1))
    names: Any = None
    with pytest.raises(Asked):
        RememberedNames(names, table, "cache", key=lambda: b"k").of("0x1")
    with pytest.raises(Asked):
        DynamoCounters(table, "activity").add("203.0.113.7", 1, 60)
    for asked in table.partitions:
        assert any(fnmatch(asked, key) for key in _partitions(template, "AuthRole")), asked


def _partitions(template: Template, role: str) -> list[str]:
    return [
        key
        for statement in template.statements(role)
        for key in statement.get("Condition", {}).get("ForAllValues:StringLike", {}).get("dynamodb:LeadingKeys", [])
    ]
