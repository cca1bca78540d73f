"""docs/operate/configuration.md and the code name the same settings."""

import json
import re

from commonplace.search.opensearch.roles import READER, WRITER
from tests.unit.docs.pages import ROOT, blocks, first_cells

PAGE = ROOT / "docs" / "operate" / "configuration.md"
SETTINGS = [*(ROOT / "layers" / "core" / "commonplace").rglob("settings.py")]


def variables() -> set[str]:
    """Return the variables that the page names, beside their context keys and in the table of the others."""
    return {name for name in first_cells(PAGE) if name.isupper()}


def test_the_environment_variables_are_those_the_functions_read() -> None:
    read = {
        name for path in SETTINGS for name in re.findall(r'"([A-Z][A-Z0-9_]{3,})"', path.read_text(encoding="utf-8"))
    }
    assert variables() == read


def test_the_template_sets_no_variable_that_is_not_documented() -> None:
    template = json.loads((ROOT / "packages" / "commonplace_local" / "template.json").read_text(encoding="utf-8"))
    functions = [item for item in template["Resources"].values() if item["Type"] == "AWS::Lambda::Function"]
    given = {
        name for function in functions for name in function["Properties"].get("Environment", {}).get("Variables", {})
    }
    assert given <= variables() | {"CACHE_TABLE", "AWS_LAMBDA_EXEC_WRAPPER"}


def test_the_outputs_of_the_stack_are_listed() -> None:
    template = json.loads((ROOT / "packages" / "commonplace_local" / "template.json").read_text(encoding="utf-8"))
    listed = set(first_cells(ROOT / "docs" / "operate" / "deploy.md", "3. Look, then deploy"))
    optional = {
        "OidcSecretArn",
        "OpenAiSecretArn",
        "ChatSecretArn",
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
        block.text
        for block in blocks(ROOT / "docs" / "operate" / "deploy.md", "json")
        if "cluster_permissions" in block.text
    ]
    role = json.loads(shown)
    (index,) = role["index_permissions"]
    assert role["cluster_permissions"] == WRITER["cluster_permissions"]
    assert index["allowed_actions"] == WRITER["actions"]
    page = (ROOT / "docs" / "operate" / "deploy.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in (*READER["cluster_permissions"], *READER["actions"]))
