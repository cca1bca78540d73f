from collections.abc import Callable

import pytest

from commonplace.identity.local_accounts import LocalAccount
from commonplace.identity.settings import AuthSettings, GuardSettings, oidc_parameters
from commonplace.kernel.environment import SettingsError

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


def auth(**more: str) -> AuthSettings:
    arn = ENVIRONMENT["IDENTITY_SECRET_ARN"]
    return AuthSettings.from_environ(
        ENVIRONMENT | {"STAGE": "dev", "ACTIVITY_TABLE": "activity", "SIGNING_SECRET_ARN": arn} | more
    )


@pytest.mark.parametrize("environment", [{}, ENVIRONMENT | {"IDENTITY_TABLE": " "}])
def test_without_its_table_there_is_no_identity(environment: dict[str, str]) -> None:
    assert GuardSettings.where_signed_in(environment) is None


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


def test_parameters_for_a_provider_are_none_of_those_that_we_send() -> None:
    assert oidc_parameters("access_type=offline&prompt=consent") == {"access_type": "offline", "prompt": "consent"}
    ours = ("client_id", "redirect_uri", "scope", "state", "nonce", "code_challenge", "response_type", "request_uri")
    for odd in (
        "",
        "a",
        "a=",
        "=b",
        "a=b&a=c",
        "a=b&",
        "A=b",
        "a=b;c",
        "a=" + "b" * 201,
        *(f"{one}=x" for one in ours),
    ):
        assert oidc_parameters(odd) is None
    assert oidc_parameters("&".join(f"p{number}={'x' * 90}" for number in range(4))) is None


def test_the_age_of_groups_and_parameters_of_a_provider_are_configuration() -> None:
    more = {"OIDC_ISSUER": "https://id.example.org", "OIDC_CLIENT_ID": "us"}
    settings = auth(**more)
    assert (settings.oidc_claims_seconds, settings.oidc_parameters) == (86_400, {})
    settings = auth(**more, OIDC_CLAIMS_HOURS="8", OIDC_PARAMETERS="prompt=consent")
    assert (settings.oidc_claims_seconds, settings.oidc_parameters) == (8 * 3_600, {"prompt": "consent"})
    for name, value in (("OIDC_CLAIMS_HOURS", "0"), ("OIDC_PARAMETERS", "state=x")):
        with pytest.raises(SettingsError, match=name):
            auth(**more | {name: value})


LAPTOP = {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "BASE_URL": "http://localhost:8787"}


@pytest.mark.parametrize("settings", [read, auth])
@pytest.mark.parametrize(
    "elsewhere",
    [
        {"AWS_ENDPOINT_URL": ""},
        {"AWS_ENDPOINT_URL": "https://dynamodb.eu-central-1.amazonaws.com"},
        {"BASE_URL": "https://kb.example.org"},
    ],
)
def test_local_accounts_are_for_laptops_alone(
    settings: Callable[..., GuardSettings], elsewhere: dict[str, str]
) -> None:
    accounts = {"LOCAL_ACCOUNTS": "Ada=member,Guest=public"}
    assert settings(**LAPTOP, **accounts).local_accounts == (
        LocalAccount("Ada", "member"),
        LocalAccount("Guest", "public"),
    )
    with pytest.raises(SettingsError, match=r"^LOCAL_ACCOUNTS is set\. It must be absent"):
        settings(**LAPTOP | accounts | elsewhere)


@pytest.mark.parametrize("text", ["Ada", "ada=member", "Ada=admin", "Ada=member,", "Ada Lovelace=member"])
def test_a_local_account_is_a_name_with_a_tier(text: str) -> None:
    with pytest.raises(SettingsError, match=r"^LOCAL_ACCOUNTS is malformed\. It must be names with their tiers"):
        read(**LAPTOP, LOCAL_ACCOUNTS=text)
