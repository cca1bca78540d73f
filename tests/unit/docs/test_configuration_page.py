"""docs/configuration.md and the code name the same settings."""

import dataclasses
import json
import re

from commonplace.search.opensearch.roles import READER, WRITER
from infra.configuration import Configuration
from tests.unit.docs.pages import ROOT, blocks, first_cells, rows, section

PAGE = ROOT / "docs" / "configuration.md"
MODULES = ("kernel/settings.py", "identity/settings.py", "memory/settings.py", "reference/settings.py")
SETTINGS = [ROOT / "layers" / "core" / "commonplace" / name for name in MODULES]


def camel_case(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def test_the_context_keys_are_those_of_the_configuration() -> None:
    keys = [camel_case(field.name) for field in dataclasses.fields(Configuration)]
    assert sorted(first_cells(PAGE, "Context keys")) == sorted(keys)


def test_the_documented_defaults_are_the_real_ones() -> None:
    documented = {row[0].strip("`"): row[1].strip("`") for row in rows(section(PAGE, "Context keys"))}
    for field in dataclasses.fields(Configuration):
        if field.default is not None and field.name != "removal_policy":
            shown = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
            assert documented[camel_case(field.name)] == shown


def test_the_environment_variables_are_those_the_functions_read() -> None:
    read = {
        name for path in SETTINGS for name in re.findall(r'"([A-Z][A-Z0-9_]{3,})"', path.read_text(encoding="utf-8"))
    }
    assert set(first_cells(PAGE, "Environment variables")) == read


def test_the_template_sets_no_variable_that_is_not_documented() -> None:
    template = json.loads((ROOT / "infra" / "template.json").read_text(encoding="utf-8"))
    functions = [item for item in template["Resources"].values() if item["Type"] == "AWS::Lambda::Function"]
    variables = {
        name for function in functions for name in function["Properties"].get("Environment", {}).get("Variables", {})
    }
    assert variables <= set(first_cells(PAGE, "Environment variables")) | {"CACHE_TABLE"}


def test_the_outputs_of_the_stack_are_listed() -> None:
    template = json.loads((ROOT / "infra" / "template.json").read_text(encoding="utf-8"))
    listed = set(first_cells(ROOT / "docs" / "deploy.md", "3. Look, then deploy"))
    optional = {
        "OidcSecretArn",
        "OpenAiSecretArn",
        "DomainTarget",
        "SearchEndpoint",
        "IndexBuildMachineArn",
        "IndexBuildFunction",
        "BootstrapFunction",
        "Catalogues",
    }
    assert listed == set(template["Outputs"]) | optional


def test_the_role_that_is_shown_for_a_domain_of_ones_own_is_the_one_that_we_make() -> None:
    (shown,) = [
        block.text for block in blocks(ROOT / "docs" / "deploy.md", "json") if "cluster_permissions" in block.text
    ]
    role = json.loads(shown)
    (index,) = role["index_permissions"]
    assert role["cluster_permissions"] == WRITER["cluster_permissions"]
    assert index["allowed_actions"] == WRITER["actions"]
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in (*READER["cluster_permissions"], *READER["actions"]))
