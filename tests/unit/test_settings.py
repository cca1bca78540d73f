import pytest

from commonplace.settings import (
    IndexSettings,
    RestSettings,
    SettingsError,
    SyncSettings,
    WebhookSettings,
)

ENVIRONMENT = {
    "STAGE": "dev",
    "CONTENT_BUCKET": "content",
    "ACTIVITY_TABLE": "activity",
    "SYNC_MACHINE_ARN": "arn:aws:states:us-east-1:123456789012:stateMachine:commonplace-dev-sync",
    "GITHUB_REPOSITORY": "octo-org/field.notes",
    "GITHUB_BRANCH": "main",
    "GITHUB_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:github-AbCdEf",
    "INDEX_LOCATION": "s3://content/index/documents.sqlite",
}
KINDS = [WebhookSettings, SyncSettings, IndexSettings, RestSettings]


@pytest.mark.parametrize("kind", KINDS)
def test_a_complete_environment_is_read(kind: type[WebhookSettings]) -> None:
    assert kind.from_environ(ENVIRONMENT).stage == "dev"


def test_defaults_are_those_of_the_public_services() -> None:
    sync = SyncSettings.from_environ(ENVIRONMENT)
    rest = RestSettings.from_environ(ENVIRONMENT)

    assert (sync.github_api_url, sync.exclude) == ("https://api.github.com", None)
    assert (rest.search_engine, rest.embedding_provider, rest.base_url) == ("embedded", "local", None)
    assert (rest.site_name, rest.reads_per_minute, rest.searches_per_minute) == ("Commonplace", 600, 60)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (WebhookSettings, "ACTIVITY_TABLE SYNC_MACHINE_ARN GITHUB_REPOSITORY GITHUB_BRANCH GITHUB_SECRET_ARN"),
        (SyncSettings, "CONTENT_BUCKET ACTIVITY_TABLE GITHUB_REPOSITORY GITHUB_BRANCH GITHUB_SECRET_ARN"),
        (IndexSettings, "CONTENT_BUCKET INDEX_LOCATION"),
        (RestSettings, "CONTENT_BUCKET ACTIVITY_TABLE GITHUB_REPOSITORY GITHUB_BRANCH INDEX_LOCATION"),
    ],
)
def test_a_missing_or_blank_variable_is_named(kind: type[WebhookSettings], names: str) -> None:
    for name in ["STAGE", *names.split()]:
        for without in ({key: ENVIRONMENT[key] for key in ENVIRONMENT if key != name}, ENVIRONMENT | {name: " "}):
            with pytest.raises(SettingsError, match=f"^{name} is not set. It must be "):
                kind.from_environ(without)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STAGE", "Production!"),
        ("GITHUB_REPOSITORY", "field.notes"),
        ("GITHUB_REPOSITORY", "octo-org/.."),
        ("GITHUB_REPOSITORY", "octo-org/notes/extra"),
        ("GITHUB_BRANCH", "two words"),
        ("GITHUB_BRANCH", "a..b"),
        ("GITHUB_BRANCH", "/main"),
        ("GITHUB_SECRET_ARN", "arn:aws:states:us-east-1:123456789012:stateMachine:x"),
        ("GITHUB_SECRET_ARN", "not-an-arn"),
        ("GITHUB_API_URL", "http://api.github.com"),
        ("GITHUB_API_URL", "https://user@api.github.com"),
        ("GITHUB_API_URL", "ftp://127.0.0.1"),
        ("EXCLUDE", "drafts/"),
        ("EXCLUDE", "{}"),
        ("EXCLUDE", '["drafts/", 3]'),
    ],
)
def test_a_malformed_sync_variable_is_named_with_its_valid_values(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        SyncSettings.from_environ(ENVIRONMENT | {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("INDEX_LOCATION", "https://example.org/index"),
        ("INDEX_LOCATION", "s3://bucket"),
        ("INDEX_LOCATION", "file://host/path"),
        ("SEARCH_ENGINE", "grep"),
        ("EMBEDDING_PROVIDER", "magic"),
        ("BASE_URL", "example.org"),
        ("RATE_LIMIT_READS", "-1"),
        ("RATE_LIMIT_READS", "many"),
        ("RATE_LIMIT_SEARCHES", "99999999"),
    ],
)
def test_a_malformed_rest_variable_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"^{name} is malformed. It must be "):
        RestSettings.from_environ(ENVIRONMENT | {name: value})


def test_a_laptop_environment_is_read() -> None:
    laptop = ENVIRONMENT | {
        "GITHUB_API_URL": "http://127.0.0.1:8123/",
        "INDEX_LOCATION": "file:///data/documents.sqlite",
        "BASE_URL": "http://localhost:8000",
        "EXCLUDE": '["drafts/", "tools/"]',
        "GITHUB_BRANCH": "feature/näher",
    }

    sync, rest = SyncSettings.from_environ(laptop), RestSettings.from_environ(laptop)

    assert (sync.github_api_url, sync.exclude) == ("http://127.0.0.1:8123", ("drafts/", "tools/"))
    assert (rest.index_location, rest.base_url) == ("file:///data/documents.sqlite", "http://localhost:8000")
    assert rest.branch == "feature/näher"
