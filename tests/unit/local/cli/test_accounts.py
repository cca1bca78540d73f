"""What `commonplace dev` makes of `--rpc` and `--allow`."""

import json

import pytest

from commonplace.identity.roles import RoleMap
from commonplace_local.dev.laptop import committed_template
from commonplace_local.dev.settings import asked_line, endpoints, role_map
from commonplace_local.errors import CommandError

WALLET = "0x" + "aB" * 20


def test_nobody_is_asked_unless_that_is_wanted() -> None:
    assert endpoints(committed_template(), []) == {"optimism": [], "mainnet": []}


def test_public_endpoints_are_those_of_the_template() -> None:
    configured = endpoints(committed_template(), [], public=True)
    assert configured["optimism"][0] == "https://mainnet.optimism.io"
    assert all(len(urls) == 2 for urls in configured.values())


def test_public_endpoints_and_ones_own_exclude_each_other() -> None:
    with pytest.raises(CommandError, match="--chain public and --rpc exclude each other"):
        endpoints(committed_template(), ["https://a.example"], public=True)


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
def test_who_names_an_endpoint_has_no_other_asked(given: list[str], optimism: list[str], mainnet: list[str]) -> None:
    assert endpoints(committed_template(), given) == {"optimism": optimism, "mainnet": mainnet}


@pytest.mark.parametrize("given", ["polygon=https://a.example", "ftp://a.example", "a.example", "mainnet=", "https://"])
def test_what_is_no_endpoint_is_refused(given: str) -> None:
    with pytest.raises(CommandError, match="is not an endpoint"):
        endpoints(committed_template(), [given])


def test_a_wallet_on_the_list_needs_neither_hat_nor_chain() -> None:
    roles = RoleMap.from_json(role_map([f"{WALLET}=vibecoder"], chain=False)["ROLE_MAP"])
    assert roles.hats == {}
    assert roles.addresses[WALLET.lower()].tier == "vibecoder"


def test_with_a_chain_hats_count_beside_the_list() -> None:
    given = json.loads(role_map([f"{WALLET}=member"], chain=True)["ROLE_MAP"])
    assert given.keys() == {"addresses"}


def test_without_a_list_hats_count_where_their_chain_is_asked_and_nothing_does_elsewhere() -> None:
    assert role_map([], chain=True) == {}
    assert json.loads(role_map([], chain=False)["ROLE_MAP"]) == {"hats": {}, "addresses": {}}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"optimism": [], "mainnet": []}, "No chain is used"),
        ({"optimism": ["https://node.example/v2/secret"], "mainnet": []}, "node.example"),
        ({"optimism": [], "mainnet": ["https://user:secret@names.example"]}, "names.example"),
    ],
)
def test_it_is_told_who_is_asked_without_the_keys_of_providers(asked: dict[str, list[str]], told: str) -> None:
    line = asked_line(asked)
    assert told in line
    assert "secret" not in line


@pytest.mark.parametrize("given", [WALLET, f"{WALLET}=admin", "0x12=member", f"{WALLET[2:]}=member"])
def test_what_is_no_wallet_with_a_tier_is_refused(given: str) -> None:
    with pytest.raises(CommandError, match="not a wallet with a tier"):
        role_map([given], chain=False)
