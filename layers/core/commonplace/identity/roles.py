"""Roles and what each gives: configuration; the default is the seed's (seed 000, section 2.4)."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Self

from commonplace.identity.accounts import LOCAL, OIDC, Hats, Standing
from commonplace.identity.principals import CATALOGUE, DECLARED, TIERS, Tier, covers, highest, scope
from commonplace.kernel.environment import is_organisation
from commonplace.kernel.errors import Unavailable

ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")

DEFAULT_SCOPES: Mapping[Tier, frozenset[str]] = {
    tier: frozenset(
        scope(one.toolset, level)
        for one in DECLARED
        for level, least in one.tiers.items()
        if least in TIERS[: rank + 1]
    )
    for rank, tier in enumerate(TIERS)
}
"""The scopes of the accounts of a tier, as the capabilities declare it."""

MAX_RULES = 200
MAX_GROUPS = 64
"""Rules of groups: an access token has room for the ids of all."""
EVERYBODY = "*"
"""The rule of groups for everybody who signs in at the provider."""
RULE_CHARACTERS = 12


class RoleMapError(ValueError):
    """The role map cannot be used; the text says what would be valid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """The rights of a hat, an address on the list, or a group of an OIDC provider."""

    name: str
    tier: Tier = "public"
    scopes: frozenset[str] = frozenset()
    """Beside those of the tier."""
    organisation: str | None = None


CONTRIBUTOR = Role(name="contributor", tier="vibecoder")
MEMBER = Role(name="member", tier="member")


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleMap:
    """From what an account has to what it may. Raises RoleMapError when it is made of nonsense."""

    hats: Mapping[str, Role] = field(default_factory=lambda: {"30.3.1": CONTRIBUTOR, "30.3.5": MEMBER})
    """The roles by path in the tree, such as `30.3.1`."""
    addresses: Mapping[str, Role] = field(default_factory=dict)
    """The roles of wallets on the operator's list, by address in lower case."""
    groups: Mapping[str, Role] = field(default_factory=dict)
    """The roles by a claim of an OIDC provider, such as `groups:editors`; `*` is everybody who signs in there."""
    scopes: Mapping[Tier, frozenset[str]] = field(default_factory=lambda: DEFAULT_SCOPES)
    organisation: str | None = None
    """The organisation of accounts without another by a role."""

    @classmethod
    def from_json(cls, text: str, *, organisation: str | None = None) -> Self:
        """`{"hats": {"30.3.1": {"role", "tier", "scopes", "organisation"}}, "addresses", "groups", "tiers"}`.

        A part that is absent is the default's; one that is there replaces it whole. Raises RoleMapError.
        """
        try:
            values = json.loads(text)
        except ValueError:
            values = None
        if not isinstance(values, dict) or set(values) - {"hats", "addresses", "groups", "tiers"}:
            raise RoleMapError('the role map must be a JSON object of "hats", "addresses", "groups" and "tiers"')
        parts: dict[str, Any] = {"organisation": organisation}
        for name in ("hats", "addresses", "groups"):
            if name in values:
                rules, most = values[name], MAX_GROUPS if name == "groups" else MAX_RULES
                if not isinstance(rules, dict) or len(rules) > most:
                    raise RoleMapError(f"{name} must be an object of at most {most} rules")
                parts[name] = dict(_rule(name, key, rule) for key, rule in rules.items())
        if "tiers" in values:
            tiers = values["tiers"]
            if not isinstance(tiers, dict) or set(tiers) - set(TIERS):
                raise RoleMapError(f"tiers must be an object of lists of scopes, by {', '.join(TIERS)}")
            parts["scopes"] = {tier: _scopes(f"tiers[{tier!r}]", listed) for tier, listed in tiers.items()}
        return cls(**parts)

    @property
    def organisations(self) -> frozenset[str]:
        """The organisations that accounts can have."""
        rules = (*self.hats.values(), *self.addresses.values(), *self.groups.values())
        return frozenset(filter(None, (self.organisation, *(role.organisation for role in rules))))

    def standing(self, roles: Iterable[Role], rules: Iterable[str] = ()) -> Standing:
        """Return what these roles amount to together; `rules` as in `Standing`."""
        held = list(roles)
        tier = highest(role.tier for role in held)
        scopes = frozenset().union(
            *(self.scopes.get(name, frozenset()) for name in TIERS[: TIERS.index(tier) + 1]),
            *(role.scopes for role in held),
        )
        named = next((role.organisation for role in held if role.organisation), None)
        return Standing(
            tier=tier,
            roles=tuple(sorted({role.name for role in held})),
            rules=tuple(rules),
            scopes=scopes,
            organisation=named or self.organisation,
        )

    def ways(self, tier: Tier, wanted: str | None = None) -> list[str]:
        """In words: what gives this tier, and the scope `wanted`. Wallets and people on a list are not named."""
        hats = [(f"wear the hat {path}", role) for path, role in self.hats.items()]
        groups = [(_group_words(claim), role) for claim, role in self.groups.items()]
        listed = [("ask an operator to put your wallet on the list", role) for role in self.addresses.values()]
        rules = (*hats, *groups, *listed)
        found = [f"{way} ({role.name})" for way, role in rules if self._enough(role, tier, wanted)]
        return list(dict.fromkeys(found))

    def gives(self, held: Tier, tier: Tier, wanted: str | None = None) -> bool:
        """Return whether accounts of the tier `held` have this one, and the scope."""
        return self._enough(Role(name=held, tier=held), tier, wanted)

    def _enough(self, role: Role, tier: Tier, wanted: str | None) -> bool:
        standing = self.standing([role])
        enough = TIERS.index(standing.tier) >= TIERS.index(tier)
        return enough and (wanted is None or covers(standing.scopes, wanted))


class MappedStandings:
    """`accounts.Standings` by a role map: wallets by hats and the list, OIDC accounts by claims or a token's rules."""

    def __init__(self, roles: RoleMap, hats: Hats, local: Mapping[str, Tier] | None = None) -> None:
        """`local` are the accounts of a laptop, by subject."""
        self._map = roles
        self._hats = hats
        self._local = dict(local or {})
        self._groups = {rule_id(claim): (claim, role) for claim, role in roles.groups.items()}

    def of(
        self, subject: str, *, claims: tuple[str, ...] = (), rules: tuple[str, ...] = (), fresh: bool = False
    ) -> Standing:
        if subject.startswith(OIDC):
            given = {EVERYBODY, *claims}
            found = {rule: role for rule, (claim, role) in self._groups.items() if claim in given or rule in rules}
            return self._map.standing(found.values(), found)
        if subject.startswith(LOCAL):
            tier = self._local.get(subject, "public")
            return self._map.standing(() if tier == "public" else (Role(name=tier, tier=tier),))
        if not ADDRESS.fullmatch(subject):
            return self._map.standing(())
        listed = self._map.addresses.get(subject.lower())
        own = [listed] if listed else []
        try:
            worn = self._hats.worn(subject, fresh=fresh).hats if self._map.hats else frozenset()
        except Unavailable:
            # The list alone may give as much as it does with every hat: then nothing depends on the chain.
            least, most = self._map.standing(own), self._map.standing([*self._map.hats.values(), *own])
            if not ((least.tier, least.scopes, least.organisation) == (most.tier, most.scopes, most.organisation)):
                raise
            worn = frozenset()
        held = [role for path, role in self._map.hats.items() if path in worn]
        return self._map.standing([*held, *own])


def _group_words(claim: str) -> str:
    """A claim may be somebody's address: none but the names of groups and roles are given away."""
    kind, _, name = claim.partition(":")
    if claim == EVERYBODY:
        return "sign in with the account of your organisation"
    if kind in ("groups", "roles"):
        return f"join the {kind[:-1]} {name} of your organisation"
    return "ask an operator to name your account"


def rule_id(claim: str) -> str:
    """Names the rule of a group in access tokens. A digest: the group may be somebody's address."""
    return sha256(f"groups|{claim}".encode("utf-8", "surrogateescape")).hexdigest()[:RULE_CHARACTERS]


def _rule(part: str, key: str, rule: Any) -> tuple[str, Role]:
    where = f"{part}[{key!r}]"
    if part == "hats":
        hat_id(key)
    if part == "addresses" and not ADDRESS.fullmatch(key):
        raise RoleMapError(f"{where}: an address is 0x and 40 hex digits")
    if not isinstance(rule, dict) or set(rule) - {"role", "tier", "scopes", "organisation"}:
        raise RoleMapError(f'{where} must be an object of "role", "tier", "scopes" and "organisation"')
    tier, organisation = rule.get("tier", "public"), rule.get("organisation")
    if tier not in TIERS:
        raise RoleMapError(f"{where}: tier must be one of {', '.join(TIERS)}")
    if organisation is not None and not is_organisation(organisation):
        raise RoleMapError(f"{where}: an organisation is up to 64 lower-case letters, digits and hyphens")
    name = rule.get("role", tier)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}", name):
        raise RoleMapError(f"{where}: a role is up to 64 letters, digits, spaces, dots and hyphens")
    role = Role(name=name, tier=tier, scopes=_scopes(where, rule.get("scopes", [])), organisation=organisation)
    return (key.lower() if part == "addresses" else key), role


def _scopes(where: str, values: Any) -> frozenset[str]:
    if not isinstance(values, list) or not all(isinstance(one, str) and one in CATALOGUE for one in values):
        raise RoleMapError(f"{where}: scopes must be among {', '.join(CATALOGUE)}")
    return frozenset(values)


def hat_id(path: str) -> int:
    """The 256-bit id of a hat: 4 bytes of the tree, then 14 levels of 2 bytes. Raises RoleMapError.

    Source: Hats Protocol, "Hat IDs".
    """
    parts = path.split(".")
    if not all(re.fullmatch(r"[1-9][0-9]{0,9}", part) for part in parts) or len(parts) > 15:
        raise RoleMapError(f"{path[:80]!r} is not a hat: it must be numbers with dots between them, such as 30.3.1")
    top, *rest = (int(part) for part in parts)
    if top >= 1 << 32 or any(one >= 1 << 16 for one in rest):
        raise RoleMapError(f"{path[:80]!r} is not a hat: a tree is below 2^32, a level below 2^16")
    return top << 224 | sum(one << 208 - 16 * level for level, one in enumerate(rest))
