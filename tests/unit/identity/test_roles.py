"""What hats, the operator's list and groups amount to, and what a role map may say."""

import json
from typing import Any

import pytest

from commonplace.identity.accounts import Standing
from commonplace.identity.roles import MappedStandings, Role, RoleMap, RoleMapError, hat_id
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable
from tests.fakes.ethereum import FakeHats
from tests.fakes.identity_stores import Clock

ALICE = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
FRIEND = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
PUBLIC = {"governance:read", "governance:write", "governance:decide", "knowledge:read", "reference:read"}
MEMBER = PUBLIC | {"hive:read", "hive:write", "knowledge:write", "memory:read", "memory:write", "reference:write"}
MEMBER |= {"commons:read"}


class Deployment:
    """A role map, and hats that come and go."""

    def __init__(self, *, organisation: str | None = "default", **parts: Any) -> None:
        self.hats = FakeHats(Clock())
        self.map = RoleMap.from_json(json.dumps(parts), organisation=organisation)
        self.standings = MappedStandings(self.map, self.hats)

    def of(self, subject: str, *hats: str, claims: tuple[str, ...] = ()) -> Standing:
        self.hats.held[subject.lower()] = set(hats)
        return self.standings.of(subject, claims=claims)


@pytest.mark.parametrize(
    ("hats", "tier", "roles", "scopes"),
    [
        ((), "public", (), PUBLIC),
        (("30.3.5",), "member", ("member",), MEMBER),
        (("30.3.1",), "vibecoder", ("contributor",), MEMBER | {"commons:admin", "hive:admin", "memory:admin"}),
        (
            ("30.3.5", "30.3.1"),
            "vibecoder",
            ("contributor", "member"),
            MEMBER | {"commons:admin", "hive:admin", "memory:admin"},
        ),
        (("31.1",), "public", (), PUBLIC),
    ],
)
def test_the_hats_of_the_seed_give_its_tiers(
    hats: tuple[str, ...], tier: str, roles: tuple[str, ...], scopes: set[str]
) -> None:
    standing = Deployment().of(ALICE, *hats)
    assert (standing.tier, standing.roles, set(standing.scopes)) == (tier, roles, scopes)
    assert standing.organisation == "default"


def test_an_account_of_a_laptop_has_its_tier_and_is_nobody_where_there_is_none_of_the_name() -> None:
    standings = MappedStandings(RoleMap(organisation="default"), FakeHats(Clock()), {"local:ada": "member"})
    ada, eve = standings.of("local:ada"), standings.of("local:eve")
    assert (ada.tier, ada.roles, set(ada.scopes), ada.organisation) == ("member", ("member",), MEMBER, "default")
    assert (eve.tier, eve.roles, set(eve.scopes)) == ("public", (), PUBLIC)
    assert Deployment().of("local:ada").tier == "public"


def test_a_wallet_on_the_operators_list_has_its_role_in_any_spelling() -> None:
    deployment = Deployment(addresses={FRIEND: {"role": "friend", "tier": "member"}})
    assert deployment.of(FRIEND).tier == deployment.of(FRIEND.lower()).tier == "member"
    assert deployment.of(ALICE).tier == "public"
    assert deployment.of(FRIEND, "30.3.1").roles == ("contributor", "friend")


def test_a_role_gives_scopes_beside_its_tiers_and_names_an_organisation() -> None:
    deployment = Deployment(
        hats={"30.3.7": {"role": "archivist", "tier": "member", "scopes": ["memory:admin"], "organisation": "archive"}}
    )
    standing = deployment.of(ALICE, "30.3.7")
    assert (set(standing.scopes), standing.organisation) == (MEMBER | {"memory:admin"}, "archive")
    assert deployment.of(ALICE, "30.3.1") == Standing(scopes=frozenset(PUBLIC), organisation="default")


def test_tiers_of_ones_own_replace_the_defaults_whole_and_each_includes_those_before_it() -> None:
    deployment = Deployment(tiers={"public": ["knowledge:read"], "vibecoder": ["reference:admin"]})
    assert set(deployment.of(ALICE).scopes) == {"knowledge:read"}
    assert set(deployment.of(ALICE, "30.3.5").scopes) == {"knowledge:read"}
    assert set(deployment.of(ALICE, "30.3.1").scopes) == {"knowledge:read", "reference:admin"}


def test_groups_of_a_provider_give_roles_to_who_is_no_wallet_and_to_no_wallet() -> None:
    deployment = Deployment(
        groups={"groups:editors": {"role": "editor", "tier": "vibecoder"}, "*": {"role": "colleague"}}
    )
    someone = "oidc:https://id.example.org#1"
    assert deployment.of(someone, claims=("groups:editors",)).roles == ("colleague", "editor")
    assert deployment.of(someone).roles == ("colleague",)
    assert deployment.of(someone, claims=("editor",)).tier == "public", "the name of a role is nobody's claim"
    assert deployment.of(ALICE, claims=("groups:editors",)).tier == "public"
    assert deployment.hats.asked == 1
    assert deployment.of("agent:gardener", claims=("groups:editors",)) == deployment.of("agent:gardener")
    assert deployment.of("agent:gardener").roles == ()


def test_a_token_names_the_rule_that_gave_a_role_and_no_other_of_its_name() -> None:
    deployment = Deployment(
        groups={
            "email:rosa@example.org": {"role": "editor", "tier": "member"},
            "groups:senior": {"role": "editor", "tier": "vibecoder"},
        }
    )
    someone = "oidc:https://id.example.org#1"
    said = deployment.of(someone, claims=("email:rosa@example.org",))
    assert (said.tier, said.roles) == ("member", ("editor",))
    assert len(said.rules) == 1 and "rosa" not in said.rules[0]
    assert deployment.standings.of(someone, rules=said.rules) == said
    for odd in (("editor",), ("member",), ("groups:senior",), ("email:rosa@example.org",), ("*",), ("",)):
        assert deployment.standings.of(someone, rules=odd).roles == ()
    assert deployment.standings.of(ALICE, rules=said.rules).roles == (), "a wallet is judged by its address"


def test_a_chain_that_cannot_be_read_is_unavailable_and_never_no_roles() -> None:
    deployment = Deployment(addresses={FRIEND: {"tier": "member"}})
    deployment.hats.down = True
    for subject in (ALICE, FRIEND):
        with pytest.raises(Unavailable):
            deployment.of(subject)


def test_a_wallet_to_which_the_list_gives_as_much_as_any_hat_needs_no_chain() -> None:
    deployment = Deployment(addresses={FRIEND: {"role": "keeper", "tier": "vibecoder"}})
    deployment.hats.down = True
    assert (deployment.of(FRIEND).tier, deployment.of(FRIEND).roles) == ("vibecoder", ("keeper",))
    for more in ({"scopes": ["reference:admin"]}, {"organisation": "other"}):
        deployment = Deployment(
            hats={"30.3.1": {"tier": "vibecoder", **more}}, addresses={FRIEND: {"role": "keeper", "tier": "vibecoder"}}
        )
        deployment.hats.down = True
        with pytest.raises(Unavailable):
            deployment.of(FRIEND)


def test_without_hats_in_the_map_the_chain_is_never_asked() -> None:
    deployment = Deployment(hats={}, addresses={FRIEND: {"tier": "member"}})
    deployment.hats.down = True
    assert [deployment.of(FRIEND).tier, deployment.of(ALICE).tier] == ["member", "public"]
    assert deployment.hats.asked == 0


def test_a_fresh_standing_reads_the_hats_anew() -> None:
    asked: list[bool] = []

    class Hats(FakeHats):
        def worn(self, address: str, *, fresh: bool = False) -> Any:
            asked.append(fresh)
            return super().worn(address)

    standings = MappedStandings(RoleMap(), Hats(Clock()))
    standings.of(ALICE)
    standings.of(ALICE, fresh=True)
    assert asked == [False, True]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "JSON object"),
        ("{", "JSON object"),
        ('{"hat": {}}', "JSON object"),
        ('{"hats": []}', "hats must be an object"),
        ('{"hats": {"30..1": {}}}', "is not a hat"),
        ('{"hats": {"30.3.1": "member"}}', "must be an object"),
        ('{"hats": {"30.3.1": {"tier": "admin"}}}', "tier must be one of"),
        ('{"hats": {"30.3.1": {"level": 1}}}', "must be an object"),
        ('{"hats": {"30.3.1": {"role": "a:b"}}}', "a role is"),
        ('{"hats": {"30.3.1": {"scopes": ["everything"]}}}', "scopes must be among"),
        ('{"hats": {"30.3.1": {"scopes": "memory:read"}}}', "scopes must be among"),
        ('{"hats": {"30.3.1": {"organisation": "Big Org"}}}', "an organisation is"),
        ('{"addresses": {"alice.eth": {}}}', "an address is"),
        ('{"tiers": {"admin": []}}', "tiers must be"),
        ('{"tiers": {"member": ["a"]}}', "scopes must be among"),
    ],
)
def test_a_role_map_of_nonsense_says_what_would_be_valid(text: str, told: str) -> None:
    with pytest.raises(RoleMapError, match=told):
        RoleMap.from_json(text)


def test_a_role_map_has_a_bound() -> None:
    with pytest.raises(RoleMapError, match="at most 200"):
        RoleMap.from_json(json.dumps({"hats": {f"30.{number}": {} for number in range(1, 202)}}))
    with pytest.raises(RoleMapError, match="at most 64"):
        RoleMap.from_json(json.dumps({"groups": {f"groups:{number}": {} for number in range(65)}}))


@pytest.mark.parametrize(
    "path",
    [
        "",
        "0",
        "30.",
        ".30",
        "30.0",
        "30.03",
        "4294967296",
        "30.65536",
        "30.-1",
        "30.x",
        "30.3.1\n",
        "30." + "1." * 14 + "1",
        "٣٠",
    ],
)
def test_what_is_no_path_of_a_hat_has_no_id(path: str) -> None:
    with pytest.raises(RoleMapError):
        hat_id(path)


def test_the_highest_hat_of_all_has_256_bits() -> None:
    path = ".".join(["4294967295", *["65535"] * 14])
    assert hat_id(path) == 2**256 - 1


@pytest.mark.parametrize(
    ("text", "good"),
    [("default", True), ("a-b-1", True), ("A", False), ("-a", False), ("a" * 65, False), ("a#b", False), (None, False)],
)
def test_an_organisation_begins_keys_so_its_name_is_plain(text: Any, good: bool) -> None:
    assert is_organisation(text) == good


def test_the_default_map_is_the_seeds() -> None:
    assert RoleMap().hats == {
        "30.3.1": Role(name="contributor", tier="vibecoder"),
        "30.3.5": Role(name="member", tier="member"),
    }
