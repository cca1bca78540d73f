"""What `commonplace dev` makes of `--rpc` and `--allow`."""

import json

import pytest

from commonplace.identity.roles import RoleMap
from local.dev.accounts import endpoints, role_map
from local.dev.laptop import committed_template
from local.errors import CommandError

WALLET = "0x" + "aB" * 20


def test_without_endpoints_of_ones_own_those_of_the_template_are_asked() -> None:
    configured = endpoints(committed_template(), [])
    assert configured["optimism"][0] == "https://mainnet.optimism.io"
    assert all(len(urls) == 2 for urls in configured.values())


@pytest.mark.parametrize(
    ("given", "optimism", "mainnet"),
    [
        (["http://127.0.0.1:8545"], ["http://127.0.0.1:8545"], []),
        (
            ["https://a.example/v2/key=1", "optimism=https://b.example"],
            ["https://a.example/v2/key=1", "https://b.example"],
            [],
        ),
        (["mainnet=https://c.example/?key=x=y"], [], ["https://c.example/?key=x=y"]),
    ],
)
def test_who_names_an_endpoint_turns_the_others_off(given: list[str], optimism: list[str], mainnet: list[str]) -> None:
    assert endpoints(committed_template(), given) == {"optimism": optimism, "mainnet": mainnet}


@pytest.mark.parametrize("given", ["polygon=https://a.example", "ftp://a.example", "a.example", "mainnet=", "https://"])
def test_what_is_no_endpoint_is_refused(given: str) -> None:
    with pytest.raises(CommandError, match="is no endpoint"):
        endpoints(committed_template(), [given])


def test_a_wallet_on_the_list_needs_neither_hat_nor_chain() -> None:
    roles = RoleMap.from_json(role_map([f"{WALLET}=vibecoder"], chain=False)["ROLE_MAP"])
    assert roles.hats == {}
    assert roles.addresses[WALLET.lower()].tier == "vibecoder"


def test_with_a_chain_hats_count_beside_the_list() -> None:
    given = json.loads(role_map([f"{WALLET}=member"], chain=True)["ROLE_MAP"])
    assert given.keys() == {"addresses"}


def test_without_a_list_the_role_map_is_left_alone() -> None:
    assert role_map([], chain=False) == {}


@pytest.mark.parametrize("given", [WALLET, f"{WALLET}=admin", "0x12=member", f"{WALLET[2:]}=member"])
def test_what_is_no_wallet_with_a_tier_is_refused(given: str) -> None:
    with pytest.raises(CommandError, match="no wallet with a tier"):
        role_map([given], chain=False)
