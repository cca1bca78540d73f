"""The template of a deployment for members alone, made of the committed one: its synthesis takes half a minute.

`tests/infra/test_private.py` holds what it tells the functions against the synthesis.
"""

import copy
from collections.abc import Mapping
from typing import Any

from commonplace_local.dev.laptop import committed_template


def for_members() -> dict[str, Any]:
    """Return the committed template with what `siteTier=member` changes for a laptop: what the functions are told."""
    template = copy.deepcopy(dict(committed_template()))
    told = told_functions(template)
    added = told["rest"].keys() - told["site"].keys()
    told["site"] |= {name: told["rest"][name] for name in added if name.startswith(IDENTITY)}
    for one in told.values():
        if "SITE_TIER" in one:
            one["SITE_TIER"] = "member"
    return template


IDENTITY = ("HATS_", "IDENTITY_", "OIDC_CLAIMS_", "ROLE_CACHE_", "RPC_")
"""Beginnings of the names by which a function learns who is behind a session."""


def told_functions(template: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the variables of each function, by its name without the deployment's."""
    functions = [one["Properties"] for one in template["Resources"].values() if one["Type"] == "AWS::Lambda::Function"]
    return {
        one["FunctionName"].rpartition("-")[2]: one["Environment"]["Variables"]
        for one in functions
        if "Environment" in one
    }
