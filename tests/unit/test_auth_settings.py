import pytest

from commonplace.auth_settings import GuardSettings
from commonplace.settings import SettingsError

ENVIRONMENT = {
    "BASE_URL": "https://kb.example.org",
    "IDENTITY_TABLE": "commonplace-dev-identity",
    "ROLE_CACHE_TABLE": "commonplace-dev-cache",
    "IDENTITY_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:identity-AbCdEf",
    "RPC_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:rpc-AbCdEf",
}


def read(**more: str) -> GuardSettings:
    found = GuardSettings.from_environ(ENVIRONMENT | more)
    assert found is not None
    return found


@pytest.mark.parametrize("environment", [{}, ENVIRONMENT | {"IDENTITY_TABLE": " "}])
def test_without_its_table_there_is_no_identity(environment: dict[str, str]) -> None:
    assert GuardSettings.from_environ(environment) is None


def test_the_defaults_of_the_guard_are_those_of_hats_on_optimism() -> None:
    settings = read()

    assert settings.issuer == "https://kb.example.org"
    assert settings.hats_contract == "0x3bc1A0Ad72417f2d411118085256fC53CBdDd137"
    assert (settings.hats_chain_id, settings.role_seconds) == (10, 300)
    assert sorted(settings.role_map.hats) == ["30.3.1", "30.3.5"]
    assert settings.role_map.organisation == "default"


def test_roles_and_the_organisation_are_configuration() -> None:
    settings = read(ROLE_MAP='{"hats": {"7.1": {"role": "steward", "tier": "member"}}}', ORGANISATION="guild")

    assert [role.name for role in settings.role_map.hats.values()] == ["steward"]
    assert settings.role_map.organisation == "guild"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BASE_URL", "http://kb.example.org"),
        ("BASE_URL", "https://kb.example.org/knowledge"),
        ("ROLE_CACHE_TABLE", ""),
        ("IDENTITY_SECRET_ARN", "arn:aws:s3:::bucket"),
        ("RPC_SECRET_ARN", "https://rpc.example.org"),
        ("ROLE_MAP", '{"hats": {"30.3.1": {"tier": "admin"}}}'),
        ("ROLE_MAP", "[]"),
        ("ORGANISATION", "Super Benefit"),
        ("HATS_CONTRACT", "0x00"),
        ("HATS_CHAIN_ID", "optimism"),
        ("ROLE_CACHE_SECONDS", "-1"),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        GuardSettings.from_environ(ENVIRONMENT | {name: value})
