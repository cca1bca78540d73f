"""docs/governance.md says what governance does: its file founds an organisation, its addresses and limits are real."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from commonplace.governance import founding, listings, prompts
from commonplace.governance.capability import GOVERNANCE
from commonplace.governance.governance import Governance
from commonplace.governance.model import INVITATION_DAYS
from commonplace.governance.settings import GovernanceScheme, GovernanceSettings
from commonplace.governance.store import PROCESSES, TEAMS, Store
from commonplace.governance.watch import MAX_ADDRESSES
from tests.dynamodb_fixture import new_table
from tests.unit.docs.pages import ROOT, blocks, rows, section

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

PAGE = ROOT / "docs" / "governance.md"
TEXT = PAGE.read_text(encoding="utf-8").replace("\n", " ")


def test_the_file_on_the_page_founds_an_organisation(aws: None, dynamodb_client: DynamoDBClient) -> None:
    (file,) = blocks(PAGE, "yaml")
    tables = new_table(dynamodb_client, "records"), new_table(dynamodb_client, "activity")
    governance = Governance(store=Store(dynamodb_client, *tables))
    plan = founding.founding(file.text, governance)
    secrets = founding.carry_out(plan, governance, lambda subject: subject.replace(":", "-"))
    assert secrets.keys() == {"bo"} and len(governance.store.all("rock-pool", TEAMS)) == 2
    phases = {(one.kind, one.phase) for one in governance.store.all("rock-pool", PROCESSES)}
    assert phases == {("topic", "resolved"), ("voting", "open"), ("election", "discussion")}


def test_the_bounds_of_a_file_are_the_real_ones() -> None:
    assert f"at most {founding.MAX_BYTES // 1_000_000} MB and {founding.MAX_VALUES:,} values" in TEXT


def test_the_page_lists_every_address_with_its_kind() -> None:
    told = [
        (cells[0].strip("`").replace("(nothing)", ""), cells[1].strip("`"))
        for cells in rows(section(PAGE, "Addresses"))
    ]
    real = [(one.address.partition("{?")[0].removeprefix("orgas/{orgaId}"), one.kind) for one in listings.OPERATIONS]
    assert told == real and len(real) == 14


def test_the_page_lists_every_prompt_with_arguments_and_kind() -> None:
    told = [[cell.replace("`", "").replace(",", "") for cell in cells[:3]] for cells in rows(section(PAGE, "Prompts"))]
    assert told == [[name, one["arguments"], one["kind"]] for name, one in prompts.WORDS["prompts"].items()]
    assert f"at most {prompts.TOKENS:,} tokens" in TEXT


def test_kinds_scopes_and_limits_are_the_declared_ones() -> None:
    scopes = GOVERNANCE.scopes
    assert scopes is not None
    kinds = re.search(r"\*\*Kinds\*\*: (.*?)\.", TEXT)
    assert kinds and tuple(re.findall(r"`(\w+)`", kinds[1])) == scopes.kinds
    assert all(f"`governance:{level}`" in TEXT for level in scopes.levels)
    assert all(f"`{alias}`" in TEXT for alias in scopes.aliases)
    calls = scopes.calls_a_minute
    assert f"{calls['read']} reads and {calls['search']} searches a minute" in TEXT
    assert f"at most {MAX_ADDRESSES} addresses" in TEXT and f"valid for {INVITATION_DAYS} days" in TEXT


def test_the_settings_on_the_page_are_real() -> None:
    (setting,) = blocks(PAGE, "json")
    assert GovernanceScheme.from_environ({"GOVERNANCE_SCHEME": json.loads(f"{{{setting.text}}}")["governanceScheme"]})
    assert GovernanceSettings.model_fields["founded_per_account"].default == 3
    assert "how many organisations one account may found (3)" in TEXT
